"""Read of a loop what its story in a sentence needs, in time that does not depend on the loop's length."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.loop_status import Summary, state_after
from ralph_tracker.store.reading import read_lines


class RolledBack(NamedTuple):
    """An iteration that was rolled back, with the types of its CRITICAL alerts."""

    iteration: int
    alerts: tuple[str, ...]


class KeptPoint(NamedTuple):
    """What the trajectory holds of an iteration: its metrics by name and its score as it was recorded."""

    iteration: int
    values: Mapping[str, Any]
    score: float | None


def kept_point(paths: LoopPaths, number: int) -> KeptPoint:
    """Return an iteration's values; none where it is damaged."""
    row = state_after(paths, number).get("row")
    values, score = (row.get("metrics"), row.get("adjusted_score")) if isinstance(row, dict) else (None, None)
    return KeptPoint(number, values if isinstance(values, dict) else {}, score)


def rolled_back(paths: LoopPaths) -> tuple[RolledBack, ...]:
    """Return the iterations that rollbacks left behind, oldest first; a rollback that was undone leaves none.

    Each rollback leaves all iterations after its target; of several without an iteration between them the last counts.
    """
    left: set[int] = set()
    earlier: set[int] = set()
    latest: int | None = None
    for event in read_lines(paths.events):
        if (
            isinstance(event, dict)
            and event.get("event") == "rollback"
            and isinstance(event.get("to"), int)
            and isinstance(event.get("after"), int)
        ):
            if event["after"] != latest:
                earlier, latest = left, event["after"]
            left = (earlier | {*range(event["to"] + 1, event["after"] + 1)}) - {event["to"]}
    found = []
    for number in sorted(left):
        summary = state_after(paths, number).get("summary")
        alerts = (summary.get("alerts") or ()) if isinstance(summary, dict) else ()
        new = (each for each in alerts if isinstance(each, dict) and each.get("state") == "new")
        found.append(
            RolledBack(number, tuple(str(each.get("type")) for each in new if each.get("severity") == "CRITICAL"))
        )
    return tuple(found)


def selected(paths: LoopPaths) -> int | None:
    """Return the iteration that was selected last, None before a selection."""
    events = (event for event in reversed(read_lines(paths.events)) if isinstance(event, dict))
    numbers = (event.get("iteration") for event in events if event.get("event") == "selection")
    return next((number for number in numbers if isinstance(number, int)), None)


def advice(summary: Summary, selected: int | None) -> str:
    """Return what to do with the loop, in a short sentence; "" while it simply goes on."""
    best = summary.best_iteration
    if summary.status in {"abandoned", "rebaselined"}:
        return ""
    action = summary.decision["action"]
    if summary.status == "finished" or action == "stop":
        taken = best if selected is None else selected
        return "" if taken is None else f"Take iteration {taken}."
    if action == "rollback" and summary.carried_out is None:
        return f"Go back to iteration {summary.decision['target_iteration']}."
    return "A person has to decide." if action == "escalate" else ""
