"""Replay the facts of a loop: through the hooks, by names alone, or with the evidence of its labels."""

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from labelled import Loop
from outcomes import evidence_of, judged, taken

from ralph_tracker import IterationRecord, RalphTrackerError, loop_decision, post_iteration, post_loop
from ralph_tracker.core.decision import Decision
from ralph_tracker.core.thresholds import SELECTION_MODES, Thresholds
from ralph_tracker.records.iteration_record import record_of
from ralph_tracker.tracker import Tracker

DEFAULT_MODE: Final = Thresholds().selection.mode
WITH_EVIDENCE: Final = f"{DEFAULT_MODE}, removals known"
# No limits, since they would end a loop before its history does.
_UNLIMITED: Final = {"max_iterations": None}


class Turn(NamedTuple):
    """The verdicts on one iteration; `alerts` are the new ones as (type, severity), `open_alerts` older types."""

    iteration: int
    classification: str
    alerts: tuple[tuple[str, str], ...]
    open_alerts: tuple[str, ...]
    action: str
    rule: int
    target: int | None
    quality: float
    adjusted: float
    verified: bool


class Played(NamedTuple):
    """The verdicts on a loop; `selected` maps ways of selecting to their choices."""

    turns: tuple[Turn, ...]
    selected: dict[str, int]


def play(loop: Loop) -> Played:
    """Hand in the loop's iterations one by one in a new folder."""
    with tempfile.TemporaryDirectory(prefix="ralph-judgement-") as scratch, _no_loop_named():
        return _played(loop, Path(scratch))


def _played(loop: Loop, root: Path) -> Played:
    turns = []
    for fact in loop.facts:
        try:
            if fact.iteration == 0:
                record = Tracker(root).pre_loop(fact.given, limits=_UNLIMITED)
            else:
                record = post_iteration(root=root, metrics=fact.given)
            turns.append(_turn(record, loop_decision(root=root)))
        except RalphTrackerError as error:
            sys.exit(f"{loop.name}, iteration {fact.iteration}: {error}")
    selected: dict[str, int] = {
        mode: post_loop(root=root, mode=mode, apply="none").selected.iteration for mode in SELECTION_MODES
    }
    return Played(tuple(turns), selected)


def play_with_evidence(loop: Loop) -> Played:
    """Judge the loop's iterations where it is known which tests were removed with their code."""
    judgements = judged(loop.facts, evidence_of(loop))
    turns = tuple(_turn(record_of(each), each.decision) for each in judgements)
    return Played(turns, {WITH_EVIDENCE: taken(judgements)})


def _turn(record: IterationRecord, decision: Decision) -> Turn:
    return Turn(
        iteration=record.iteration,
        classification=record.classification,
        alerts=tuple((alert.type, alert.severity.name) for alert in record.alerts),
        open_alerts=tuple(alert.type for alert in record.open_alerts if alert.id not in record.accepted),
        action=decision.action,
        rule=decision.rule,
        target=decision.target_iteration,
        quality=record.quality_score,
        adjusted=record.adjusted_score,
        verified=record.verified,
    )


@contextlib.contextmanager
def _no_loop_named() -> Iterator[None]:
    """Remove the caller's loop from the environment."""
    named = os.environ.pop("RALPH_LOOP_ID", None)
    try:
        yield
    finally:
        if named is not None:
            os.environ["RALPH_LOOP_ID"] = named
