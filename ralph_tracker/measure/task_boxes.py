"""Count the tasks of a plan: ticked and open boxes in Markdown, stories of a `prd.json`.

The agent ticks them itself: they raise no score, and only keep a loop with open tasks from ending.
"""

import json
import re
from pathlib import Path
from typing import Any, Final

from ralph_tracker.config.regular_file import text_of

PLANS: Final = (
    "IMPLEMENTATION_PLAN.md",
    "fix_plan.md",
    "@fix_plan.md",
    "prd.json",
    "TODO.md",
    "PLAN.md",
    "tasks.md",
)
_BOX: Final = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+\[([ xX])\]\s", re.MULTILINE)
_FENCED: Final = re.compile(r"^(`{3,}|~{3,}).*?^\1", re.MULTILINE | re.DOTALL)
_LISTS: Final = ("userStories", "user_stories", "stories", "tasks")
_DONE: Final = ("passes", "done", "completed")


def count_tasks(root: Path, named: str | None = None) -> tuple[int, int] | None:
    """Return how many tasks of the plan are done and open; None without a plan or without tasks.

    `named` is the plan of the configuration, relative to the root; else the first of the usual names that has tasks.
    """
    for name in (named,) if named else PLANS:
        text = text_of(root / name)
        if text is None:
            continue
        ticks = (
            _stories(text)
            if Path(name).suffix == ".json"
            else [box != " " for box in _BOX.findall(_FENCED.sub("", text))]
        )
        if ticks:
            return sum(ticks), len(ticks) - sum(ticks)
    return None


def _stories(text: str) -> list[bool]:
    """Return for each story whether it is done; [] for a document of another shape."""
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if isinstance(document, dict):
        document = next((document[name] for name in _LISTS if isinstance(document.get(name), list)), None)
    stories = [each for each in document if isinstance(each, dict)] if isinstance(document, list) else []
    known = [each for each in stories if any(isinstance(each.get(name), bool) for name in _DONE)]
    return [any(each.get(name) is True for name in _DONE) for each in known]
