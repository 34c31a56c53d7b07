"""Count a session's token usage and cost, which our plugin sends with a stop."""

from pathlib import Path
from typing import Any

from ralph_tracker.agents.hosts.answer_usage import ModelAnswer, usage_since
from ralph_tracker.agents.hosts.host import Heard

_MILLISECONDS = 1000


def usage_of(event: Heard, _loop: Path, since: str, _began: float, counted: dict[str, Any]) -> dict[str, float]:
    """Return the usage since the last recorded iteration, {} if unknown; as `hosts.stops.UsageReader`."""
    listed = event.get("answers")
    answers = [
        ModelAnswer(each["at"] / _MILLISECONDS, int(each["input"]), int(each["output"]), float(each["cost"]))
        for each in (listed if isinstance(listed, list) else ())
    ]
    return usage_since(event, answers, since, counted)
