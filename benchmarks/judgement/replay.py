"""Replay the facts of a loop through the hooks."""

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from labelled import Loop

from ralph_tracker import IterationRecord, RalphTrackerError, loop_decision, post_iteration, post_loop
from ralph_tracker.core.thresholds import SELECTION_MODES, Thresholds
from ralph_tracker.tracker import Tracker

DEFAULT_MODE: Final = Thresholds().selection_mode
# No limits, since they would end a loop before its history does.
_UNLIMITED: Final = {"max_iterations": None}


class Turn(NamedTuple):
    """The verdicts on one iteration; `alerts` are the new ones as (type, severity), `open_alerts` older types.

    `verdict` is that of integrity, "" if files were not compared.
    """

    iteration: int
    classification: str
    verdict: str
    alerts: tuple[tuple[str, str], ...]
    open_alerts: tuple[str, ...]
    action: str
    rule: int
    target: int | None
    quality: float
    adjusted: float
    verified: bool


class Played(NamedTuple):
    """The verdicts on a loop; `selected` maps each mode of selection to its choice."""

    turns: tuple[Turn, ...]
    selected: dict[str, int]


def play(loop: Loop, clone: Path | None = None) -> Played:
    """Hand in the loop's iterations one by one in a new folder; with a clone, including their files."""
    with tempfile.TemporaryDirectory(prefix="ralph-judgement-") as scratch, _no_loop_named():
        root = Path(scratch) / "project"
        root.mkdir()
        if clone is not None:
            _git("init", "--quiet", str(root))
        return _played(loop, root, Path(scratch) / "index", clone)


def _played(loop: Loop, root: Path, index: Path, clone: Path | None) -> Played:
    turns = []
    for fact in loop.facts:
        try:
            if clone is not None:
                lay_out(clone, fact.commit, root, index)
            if fact.iteration == 0:
                record = Tracker(root).pre_loop(fact.given, limits=_UNLIMITED)
            else:
                record = post_iteration(root=root, metrics=fact.given)
            turns.append(_turn(record, root))
        except (RalphTrackerError, subprocess.CalledProcessError) as error:
            told = error.stderr.strip() if isinstance(error, subprocess.CalledProcessError) else str(error)
            sys.exit(f"{loop.name}, iteration {fact.iteration}: {told}")
    selected: dict[str, int] = {
        mode: post_loop(root=root, mode=mode, apply="none").selected.iteration for mode in SELECTION_MODES
    }
    return Played(tuple(turns), selected)


def _turn(record: IterationRecord, root: Path) -> Turn:
    decision = loop_decision(root=root)
    return Turn(
        iteration=record.iteration,
        classification=record.classification,
        verdict=record.integrity.verdict if record.integrity else "",
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


def repository_of(clone: Path, name: str) -> Path | None:
    """Return the git folder for a loop: `clone` itself, or the clone in it with the loop's name."""
    for folder in (clone, clone / name, clone / f"{name}.git"):
        for place in (folder / ".git", folder):
            if (place / "HEAD").is_file() and (place / "objects").is_dir():
                return place
    return None


def lay_out(repository: Path, commit: str, root: Path, index: Path) -> None:
    """Check out a commit's tracked files in the folder; the clone is only read, and its index is not used."""
    where = ("-c", "core.bare=false", f"--git-dir={repository}", f"--work-tree={root}")
    _git(*where, "read-tree", "-u", "--reset", commit, GIT_INDEX_FILE=str(index))


def _git(*words: str, **more: str) -> None:
    """Run git without user settings. Raises CalledProcessError."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment = {**own, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", **more}
    command = ["git", "-c", "core.hooksPath=" + os.devnull, *words]
    subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
