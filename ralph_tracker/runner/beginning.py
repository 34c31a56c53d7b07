"""Begin a run, or take one up again: its loop, its baseline, its journal."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from ralph_tracker.errors import InputError, LoopError, RecordError
from ralph_tracker.iteration.measure import configured_by
from ralph_tracker.runner.attempt import is_startable
from ralph_tracker.runner.interrupts import Interrupts
from ralph_tracker.runner.journal import Journal, Plan, read_journal
from ralph_tracker.runner.running import Run, user_prompt
from ralph_tracker.runner.screen import Screen
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.lock import locked
from ralph_tracker.store.loop_status import NEXT_LOOP, paths_of, summary_at
from ralph_tracker.store.opened import OpenLoop
from ralph_tracker.store.summary import Summary
from ralph_tracker.tracker import Tracker

_LOCK: Final = "run.lock"
_ONCE: Final = "Ctrl-C: the iteration is finished first; again stops now"
_START: Final = "start with `ralph-tracker run -- AGENT COMMAND`"


class Asked(NamedTuple):
    """Hold what a command line asks for.

    `command` is the agent's, empty: as before. `plan` are the other parts of the plan that were named, `limits` keys of
    `loop` in the configuration, `checks` further ones of this loop.
    """

    command: tuple[str, ...]
    plan: Mapping[str, Any]
    limits: Mapping[str, Any]
    new: bool = False
    allow_missing: bool = False
    resume: bool = False
    checks: Mapping[str, Any] = MappingProxyType({})


@contextmanager
def opened(tracker: Tracker, asked: Asked, screen: Screen) -> Iterator[Run]:
    """Begin a loop, or take one up, and be the only run of it while the body runs.

    Raises StoreError where another run drives it, else as `begin` and `take_up` do.
    """
    journal = take_up(tracker, asked) if asked.resume else begin(tracker, asked)
    tracker = tracker._replace(loop_id=journal.loop_id)
    store = tracker.store()
    with locked(store.paths.folder / _LOCK, "run", patience_s=0):
        journal.write(store.paths)
        limits = OpenLoop.read(store, configured_by).config.rules.loop
        interrupts = Interrupts(lambda: screen.line(_ONCE))
        with interrupts:
            yield Run(tracker, store.paths, limits, journal, screen, interrupts)


def begin(tracker: Tracker, asked: Asked) -> Journal:
    """Take the baseline of a new loop.

    Raises LoopError where one is running, InputError for a command or a prompt that cannot be used.
    """
    plan = Plan(asked.command)._replace(**asked.plan)
    _refuse_unusable(tracker, plan)
    summary = meant(tracker)
    if summary is not None and summary.status == "running" and not asked.new:
        raise still_running(summary)
    record = tracker.pre_loop(
        None, new=asked.new, allow_missing=asked.allow_missing, limits=asked.limits, checks=asked.checks
    )
    return Journal(record.loop_id, plan)


def still_running(summary: Summary) -> LoopError:
    """Return the refusal of a run beside a loop that has not ended."""
    return LoopError(
        f"loop {summary.loop_id} is still running; go on with `ralph-tracker run --resume`, end it with "
        "`ralph-tracker hook post-loop`, or say --new (abandon it)"
    )


def take_up(tracker: Tracker, asked: Asked) -> Journal:
    """Return where an earlier run of the loop stands; with a command and no loop yet, begin one.

    Raises LoopError where there is nothing to go on with, InputError for limits, which are frozen with their loop.
    """
    summary = meant(tracker)
    if summary is None:
        if not asked.command:
            raise LoopError(f"no loop in {tracker.root.resolve()}, nothing to resume; {_START}")
        return begin(tracker, asked)
    if asked.limits:
        names = named_options(asked.limits)
        raise InputError(f"{names}: the limits are frozen with loop {summary.loop_id}; leave that out")
    journal = _journal(paths_of(tracker.root, summary.loop_id, {}), summary, asked.command)
    journal = journal._replace(plan=journal.plan._replace(**asked.plan))
    _refuse_unusable(tracker, journal.plan)
    return _matched(journal, summary)


def named_options(limits: Mapping[str, Any]) -> str:
    """Return limits as they are written on a command line."""
    return ", ".join(f"--{name.replace('_', '-')}" for name in limits)


def _journal(paths: LoopPaths, summary: Summary, command: tuple[str, ...]) -> Journal:
    journal = _readable(paths, command)
    selecting = summary.status == "finished" and journal is not None and journal.phase == "select"
    if summary.status != "running" and not selecting:
        raise LoopError(f"loop {summary.loop_id} is {summary.status}, nothing to resume; {NEXT_LOOP}")
    if journal is not None:
        return journal._replace(plan=journal.plan._replace(command=command)) if command else journal
    if not command:
        raise LoopError(f"loop {summary.loop_id} was not driven by `run`; say the agent's command after `--`")
    return Journal(summary.loop_id, Plan(command), summary.iteration + 1)


def _readable(paths: LoopPaths, command: tuple[str, ...]) -> Journal | None:
    """Return the journal, None where there is none, or where a new command stands in for one that is damaged."""
    try:
        return read_journal(paths)
    except RecordError:
        if not command:
            raise
        return None


def _matched(journal: Journal, summary: Summary) -> Journal:
    """Go on after what is on record: somebody may have recorded by hand meanwhile."""
    following = summary.iteration + 1
    behind = journal.phase == "agent" and journal.iteration < following
    if behind or journal.iteration > following:
        return Journal(journal.loop_id, journal.plan, following)
    return journal


def meant(tracker: Tracker) -> Summary | None:
    """Return where the loop stands that is meant, None where there is none."""
    try:
        return summary_at(paths_of(tracker.root, tracker.loop_id, tracker.environment))
    except LoopError:
        return None


def _refuse_unusable(tracker: Tracker, plan: Plan) -> None:
    root = tracker.root.resolve()
    user_prompt(plan.prompt_file, root)
    if not is_startable(plan.command[0], root, tracker.environment):
        raise InputError(f"{plan.command[0]}: no such command; say the agent's after `--`, or look at PATH")
