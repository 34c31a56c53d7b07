"""Revise the remaining tasks of a plan as a list: they can be removed or reordered."""

import re
from collections.abc import Collection
from typing import Final, NamedTuple

from ralph_tracker.errors import InputError
from ralph_tracker.steering.plan import PlanState

_HEAD: Final = """\
# The remaining tasks, in the order in which they will run.
# Delete a line to drop its task, put `skip:` before it to skip it, move lines to change the order.
# A task is known by its id, before the colon. Nothing can be added, no text can be changed.
"""
_BULLET: Final = re.compile(r"^[-*]\s+")
_SKIPPED: Final = re.compile(r"^skip\s*:\s*", re.IGNORECASE)
_UNCHANGED: Final = "nothing was changed"


class PlanAdjustment(NamedTuple):
    """The changes to the remaining tasks, by id.

    `reordered` is the new order; tasks that it does not contain come after it in their old order. None keeps the order.
    """

    dropped: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    reordered: tuple[str, ...] | None = None

    @property
    def is_empty(self) -> bool:
        """Return whether nothing is changed."""
        return self == PlanAdjustment()


class Revision(NamedTuple):
    """The meaning of an edited list: the adjustment, and a note for each ignored edit."""

    adjustment: PlanAdjustment
    notes: tuple[str, ...] = ()


def plan_revision_text(state: PlanState) -> str:
    """Return the remaining tasks as a list to edit, one per line."""
    return _HEAD + "".join(f"{task.id}: {_one_line(task.title)}\n" for task in state.pending)


def parse_plan_revision(state: PlanState, text: str) -> Revision:
    """Return the meaning of an edited list.

    Raises InputError, with the line number, for an id that is not a remaining task's, or is repeated.
    """
    titles = {task.id: _one_line(task.title) for task in state.pending}
    lines: dict[str, int] = {}
    skipped, notes = [], []
    for number, line in enumerate(text.splitlines(), 1):
        entry = _BULLET.sub("", line.strip())
        if not entry or entry.startswith("#"):
            continue
        entry, is_skipped = _SKIPPED.subn("", entry)
        task_id, told = _known_in(entry, titles, state, number)
        if task_id in lines:
            raise _refused(number, f"task {task_id} is given twice, first in line {lines[task_id]}; keep one of them")
        lines[task_id] = number
        if is_skipped:
            skipped.append(task_id)
        if told and _one_line(told) != titles[task_id]:
            notes.append(f"line {number}: the text of task {task_id} cannot be changed here; that edit is ignored")
    dropped = tuple(task_id for task_id in titles if task_id not in lines)
    kept = tuple(task_id for task_id in titles if task_id in lines)
    reordered = None if kept == tuple(lines) else tuple(lines)
    return Revision(PlanAdjustment(dropped, tuple(skipped), reordered), tuple(notes))


def _known_in(entry: str, titles: Collection[str], state: PlanState, number: int) -> tuple[str, str]:
    """Return the id at the start of a line, and the text after it."""
    head, _, told = entry.partition(":")
    task_id = head.strip()
    if task_id in titles:
        return task_id, told.strip()
    status = next((each.status for each in state.tasks if each.id == task_id), None)
    if status is not None:
        raise _refused(number, f"task {task_id} is {status} and stays as it is; delete the line")
    raise _refused(number, f"no remaining task {_cut(task_id)!r}; tasks cannot be added, and ids stay as they are")


def _refused(number: int, why: str) -> InputError:
    return InputError(f"line {number}: {why}; {_UNCHANGED}")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _cut(text: str, room: int = 40) -> str:
    return text if len(text) <= room else f"{text[:room]}…"


def format_adjustment(state: PlanState, adjustment: PlanAdjustment) -> str:
    """Return the question to confirm an adjustment."""
    after = apply_plan_adjustment(state, adjustment)
    told = []
    if adjustment.dropped:
        told.append(f"Dropping {_named(adjustment.dropped)}.")
    if adjustment.skipped:
        told.append(f"Skipping {_named(adjustment.skipped)}.")
    if adjustment.reordered is not None and after.pending:
        told.append(f"New order: {', '.join(task.id for task in after.pending)}.")
    if not after.pending:
        told.append("No task is left: the plan ends here.")
    return " ".join([*told, "Confirm?"])


def _named(ids: Collection[str]) -> str:
    return f"{'task' if len(ids) == 1 else 'tasks'} {', '.join(ids)}"


def apply_plan_adjustment(state: PlanState, adjustment: PlanAdjustment) -> PlanState:
    """Return a new state with an adjustment applied.

    Tasks that ran or were skipped keep their places, the pending ones share the other places in the new order, so that
    each kept one runs once. Raises InputError for an id that is unknown, repeated, or not pending.
    """
    status = {each.id: each.status for each in state.tasks}
    changed = (*adjustment.dropped, *adjustment.skipped)
    for ids in (changed, adjustment.reordered or ()):
        for task_id in ids:
            if task_id not in status:
                raise InputError(f"no task {_cut(task_id)!r} in the plan; {_UNCHANGED}")
            if status[task_id] != "pending":
                raise InputError(f"task {task_id} is {status[task_id]} and stays as it is; {_UNCHANGED}")
        doubled = next((each for at, each in enumerate(ids) if each in ids[:at]), None)
        if doubled is not None:
            raise InputError(f"task {doubled} is named twice; {_UNCHANGED}")
    dropped, skipped = frozenset(adjustment.dropped), frozenset(adjustment.skipped)
    pending = {each.id: each for each in state.tasks if each.status == "pending"}
    order = dict.fromkeys((*(adjustment.reordered or ()), *pending))
    pending |= {each: pending[each]._replace(status="skipped") for each in skipped}
    kept = iter([pending[each] for each in order if each not in dropped])
    placed = [next(kept, None) if each.status == "pending" else each for each in state.tasks]
    return state._replace(
        tasks=tuple(each for each in placed if each is not None),
        current=None if state.current in dropped | skipped else state.current,
        dropped=(*state.dropped, *adjustment.dropped),
    )
