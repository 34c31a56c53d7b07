"""Print the answers of hooks, an iteration and its decision, in a few lines and without click."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ralph_tracker.cli.next_step import WORK, next_step, say_next
from ralph_tracker.cli.output import complain, harmless, progress, say, say_json, say_wrapped
from ralph_tracker.errors import EXIT_ESCALATE, EXIT_OK, EXIT_ROLLBACK, EXIT_STOP
from ralph_tracker.store.loop_status import paths_of, refuse_unrecorded, running, summary_at

if TYPE_CHECKING:
    from ralph_tracker.core.records import IterationRecord
    from ralph_tracker.store.trust import Consent
    from ralph_tracker.tracker import Tracker

_SHOWN: Final = 5


def tracker_of(root: Path, loop_id: str | None, *, trust: bool = False) -> "Tracker":
    """Return the tracker of a loop (None: the one that is meant); progress and questions are for a terminal."""
    from ralph_tracker.tracker import Tracker  # loop-decision does without it

    return Tracker(root, loop_id, progress=progress(), trust=consent(trust=trust))


def consent(*, trust: bool) -> "Consent":
    """Return how to decide about what the user does not trust: as told, else by asking at a terminal, else no."""
    if trust:
        return True
    here = all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))
    return _asked if here else False


def _asked(what: str, runs: Sequence[str]) -> bool:
    """Show what would run on standard error, and ask; the end of input and Ctrl-C count as no."""
    import click  # only to ask

    for line in (f"{what} would run what you have neither started nor accepted here:", *(f"  {run}" for run in runs)):
        click.echo(harmless(line), err=True)
    try:
        return click.confirm("Trust it?", default=False, err=True)
    except click.Abort:
        return False


def record_next(
    root: Path,
    loop_id: str | None,
    *,
    as_json: bool,
    metrics: Path | None = None,
    usage: Path | None = None,
    blocked: str | None = None,
    iteration: int | None = None,
    trust: bool = False,
) -> int:
    """Record and judge the next iteration, print it, and return the exit code; raise as the tracker does."""
    tracker = tracker_of(root, loop_id, trust=trust)
    recorded = tracker.post_iteration(metrics, usage=usage, blocked=blocked, iteration=iteration)
    if not recorded.new and not as_json:
        say(f"Iteration {iteration} is on record already, nothing was changed")
    say_record(recorded.record, as_json=as_json)
    if recorded.problem is not None:
        complain(recorded.problem)
    return EXIT_OK


def say_record(record: "IterationRecord", *, as_json: bool) -> None:
    """Print an iteration and the next step, or its whole record as JSON."""
    if as_json:
        say_json(record.to_dict())
        return
    say_wrapped(record.message)
    say_wrapped(
        f"{record.loop_id} iteration {record.iteration}: {record.classification}, "
        f"quality {record.quality_score:g}, adjusted {record.adjusted_score:g}",
        indent=2,
    )
    if record.integrity is not None and record.integrity.verdict != "PASS":
        say(f"  integrity: {record.integrity.verdict}; `ralph-tracker integrity {record.iteration}` says why")
    if record.best.iteration is not None:
        say(f"  best: iteration {record.best.iteration}")
    for alert in record.alerts:
        note = f" ({alert.note})" if alert.note else ""
        say_wrapped(f"{alert.severity.name} {alert.id}: {alert.message}{note}", indent=2)
    if record.open_alerts:
        names = ", ".join(alert.id for alert in record.open_alerts[:_SHOWN])
        say_wrapped(f"still open: {names}{_more(record.open_alerts)}", indent=2)
    for note in record.notes[:_SHOWN]:
        say_wrapped(f"note: {note}", indent=2)
    if len(record.notes) > _SHOWN:
        say(f"  {_more(record.notes).strip()}; `ralph-tracker report {record.iteration}` has all")
    say_next(WORK if record.is_baseline else "`ralph-tracker hook loop-decision`")


def _more(items: Sequence[object]) -> str:
    return f" and {len(items) - _SHOWN} more" if len(items) > _SHOWN else ""


EXIT_OF: Final = {"continue": EXIT_OK, "stop": EXIT_STOP, "rollback": EXIT_ROLLBACK, "escalate": EXIT_ESCALATE}


def answer(root: Path, loop_id: str | None, *, as_json: bool, apply: bool) -> int:
    """Print the stored decision and return its exit code; `apply` carries a rollback out and then returns 0.

    Raises as `Tracker.loop_decision` does.
    """
    paths = paths_of(root, loop_id, os.environ)
    summary = running(summary_at(paths))
    refuse_unrecorded(paths, summary)
    decision = summary.recommendation
    restored = None if summary.carried_out is None else summary.carried_out["target"]
    rollback = apply and decision["action"] == "rollback"
    if rollback and restored is None:
        tracker_of(root, loop_id).loop_decision(apply=True)
        restored = decision["target_iteration"]
    if as_json:
        say_json(decision)
        return EXIT_OK if rollback else EXIT_OF[decision["action"]]
    say_wrapped(f"{decision['action']} ({decision['confidence']:.2f}): {decision['reason']}")
    for alternative in decision["alternatives"]:
        say(f"  or: {alternative}")
    if restored is not None:
        say(f"  iteration {restored} is restored; the next iteration goes on from it")
        summary = summary._replace(head=restored)
    say_next(next_step(summary, None, paths))
    return EXIT_OK if rollback else EXIT_OF[decision["action"]]
