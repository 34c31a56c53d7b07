"""The state of a plan as a plain document, and back; what an older version wrote still loads (seed: State schema)."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from ralph_tracker.steering.plan import STATUSES, TRIGGERS, OpenCheckpoint, Plan, PlanState, PlanTask, Task, TaskOutcome

SCHEMA_VERSION: Final = 1
_OUTCOMES: Final = ("complete", "failed")
_LISTS: Final = ("changed_files", "failing_tests", "open_alerts", "rolled_back")


def plan_digest(plan: Plan) -> str:
    """Return the sha256 of a plan as it is understood: of what it says, not of how it is written."""
    return hashlib.sha256(json.dumps(plan).encode()).hexdigest()


def state_to_plain(state: PlanState) -> dict[str, Any]:
    """Return the state as a document of plain values; what is not known is left out."""
    plain: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "digest": state.digest,
        "context": state.context,
        "current": state.current,
        "fired": list(state.fired),
        "scheduled_at": state.scheduled_at,
        "checkpoint": state.checkpoint and _known(state.checkpoint._asdict()),
        "dropped": list(state.dropped),
        "tasks": [_task_to_plain(each) for each in state.tasks],
    }
    return _known(plain)


def _task_to_plain(each: PlanTask) -> dict[str, Any]:
    outcome = each.outcome and {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in _known(each.outcome._asdict()).items()
    }
    task = each.task._asdict() | {"checks": list(each.task.checks)}
    worked = {"loops": list(each.loops) or None, "head": each.head}
    return _known({**task, "status": each.status, "outcome": outcome, **worked})


def _known(plain: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in plain.items() if value is not None}


def state_from_plain(plain: Any) -> PlanState:  # noqa: ANN401  # whatever a file held
    """Return the state that a document holds.

    Everything but a task's id and title may be missing: an older version did not know it. Raises ValueError, in a few
    words, for what is no such document.
    """
    _demand(isinstance(plain, dict) and isinstance(plain.get("tasks"), list), "no list of tasks")
    tasks = tuple(_task_from_plain(each) for each in plain["tasks"])
    ids = [each.id for each in tasks]
    _demand(len(set(ids)) == len(ids), "a task stands twice")
    fired = _texts(plain, "fired")
    return PlanState(
        tasks,
        current=_text_or_none(plain, "current"),
        fired=tuple(trigger for trigger in TRIGGERS if trigger in fired),
        scheduled_at=_count(plain, "scheduled_at"),
        checkpoint=_checkpoint(plain.get("checkpoint")),
        dropped=_texts(plain, "dropped"),
        context=_text_or_none(plain, "context") or "",
        digest=_text_or_none(plain, "digest") or "",
    )


def _task_from_plain(plain: Any) -> PlanTask:  # noqa: ANN401  # as above
    _demand(isinstance(plain, dict), "a task is no mapping")
    task_id, title, status = plain.get("id"), plain.get("title"), plain.get("status", "pending")
    _demand(isinstance(task_id, str | int) and not isinstance(task_id, bool), "a task without an id")
    _demand(isinstance(title, str), f"task {task_id}: no title")
    _demand(status in STATUSES, f"task {task_id}: no status {status!r}")
    task = Task(str(task_id), title, _text_or_none(plain, "description") or "", _texts(plain, "checks"))
    outcome = plain.get("outcome")
    return PlanTask(
        task,
        status,
        None if outcome is None else _outcome(outcome),
        loops=_texts(plain, "loops"),
        head=_text_or_none(plain, "head"),
    )


def _outcome(plain: Any) -> TaskOutcome:  # noqa: ANN401  # as above
    _demand(isinstance(plain, dict) and plain.get("status") in _OUTCOMES, "an outcome without a status")
    cost = plain.get("cost_usd")
    _demand(cost is None or (isinstance(cost, int | float) and not isinstance(cost, bool)), "a cost that is no number")
    lists = {name: _texts(plain, name) for name in _LISTS}
    return TaskOutcome(
        plain["status"],
        cost_usd=cost,
        commit=_text_or_none(plain, "commit"),
        fix_cycles=_count(plain, "fix_cycles"),
        validation_failure=_text_or_none(plain, "validation_failure"),
        reason=_text_or_none(plain, "reason") or "",
        **lists,
    )


def _checkpoint(plain: Any) -> OpenCheckpoint | None:  # noqa: ANN401  # as above
    if plain is None:
        return None
    _demand(isinstance(plain, dict) and plain.get("trigger") in TRIGGERS, "a checkpoint without a trigger")
    return OpenCheckpoint(plain["trigger"], _text_or_none(plain, "failed"))


def _texts(plain: Mapping[str, Any], name: str) -> tuple[str, ...]:
    values = plain.get(name, [])
    _demand(isinstance(values, list) and all(isinstance(value, str) for value in values), f"{name}: no list of texts")
    return tuple(values)


def _text_or_none(plain: Mapping[str, Any], name: str) -> str | None:
    value = plain.get(name)
    _demand(value is None or isinstance(value, str), f"{name}: no text")
    return value


def _count(plain: Mapping[str, Any], name: str) -> int:
    value = plain.get(name, 0)
    _demand(isinstance(value, int) and not isinstance(value, bool) and value >= 0, f"{name}: no count")
    return int(value)


def _demand(holds: bool, otherwise: str) -> None:  # noqa: FBT001  # a condition
    if not holds:
        raise ValueError(otherwise)
