"""The loop as one comment of a pull request, which its next version replaces: at most 60 lines."""

from collections.abc import Sequence
from typing import Final

from ralph_tracker.core.selection import Selection
from ralph_tracker.report.markdown import render
from ralph_tracker.report.selection_view import LoopStory, selection_view

LINES: Final = 60
# By this a workflow finds the comment that it wrote before.
MARK: Final = "<!-- ralph-tracker -->"
_ROWS: Final = 10
_ALERTS: Final = 8
_WRONG: Final = 10
_LONGEST: Final = 500


def pull_request(
    selection: Selection,
    story: LoopStory,
    *,
    wrong: Sequence[str],
    alerts: Sequence[str],
    decision: str,
    next_step: str,
) -> str:
    """Return the comment's text: the sentence, failing and lost tests, open alerts, the decision, picture and table."""
    view = selection_view(selection, story)
    shown = {row.iteration for row in view.rows[-_ROWS:]} | {view.selected, view.rows[0].iteration}
    table = [cells for row, cells in zip(view.rows, view.table, strict=True) if row.iteration in shown]
    return render(
        "pull-request.md.j2",
        {
            "mark": MARK,
            "s": view,
            "wrong": _few(wrong, _WRONG),
            "alerts": _few(alerts, _ALERTS),
            "decision": _cut(decision),
            "next_step": _cut(next_step),
            "table": table,
            "left_out": len(view.rows) - len(table),
        },
    )


def _few(lines: Sequence[str], most: int) -> list[str]:
    """Return the first lines, each cut to a readable length, and how many more there are."""
    rest = len(lines) - most
    return [*map(_cut, lines[:most]), *([f"and {rest} more"] if rest > 0 else [])]


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
