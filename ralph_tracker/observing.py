"""Observe one iteration: keep the tree as the agent left it, run the checks, count the code."""

import os
import shutil
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from ralph_tracker.core.metrics import Group, Metrics, TestResults
from ralph_tracker.errors import ConfigError
from ralph_tracker.measure.checks import Check, CheckResult, environment_for_checks, run_checks
from ralph_tracker.measure.code import count_code
from ralph_tracker.measure.measuring import read_results
from ralph_tracker.store.files import told_plainly
from ralph_tracker.store.keeping import Keeper, Kept
from ralph_tracker.store.snapshots import shown

Progress = Callable[[str], None]
_FOLDERS: Final = ("reports", "output")
OUTPUT_KEPT: Final = 1_000_000
_CHANGED_SHOWN: Final = 5
_NO_FUNCTION: Final = "no function was found in the code in scope"


@dataclass(frozen=True, slots=True)
class Place:
    """Say where to observe: the project, what to run, which code to count, and a folder of ours for the results."""

    root: Path
    checks: tuple[Check, ...]
    codebase: Mapping[str, Any]
    scratch: Path
    cache: Path
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Observation:
    """Hold what was measured and what was kept; `scratch` has the raw reports and the captured output."""

    metrics: Metrics
    tests: TestResults | None
    missing: Mapping[str, str]
    notes: tuple[str, ...]
    kept: Kept
    scratch: Path

    def fill(self, folder: Path, keeper: Keeper, number: int) -> None:
        """Put everything of it into the iteration's folder, before that is sealed."""
        _trim(self.scratch / "output")
        _drop_odd_files(self.scratch / "reports")
        for name in _FOLDERS:
            if any((self.scratch / name).iterdir()):
                (self.scratch / name).rename(folder / name)
        keeper.fill(folder, self.kept, number)


def observe(
    place: Place,
    keeper: Keeper,
    previous: int | None,
    segments: Sequence[tuple[int, int]],
    *,
    allow_missing: bool = True,
    progress: Progress | None = None,
) -> Observation:
    """Observe the tree as it is now. `previous` and `segments` are the line that it descends from.

    The tree is kept before the checks run, because checks write; what they changed is named in the notes. Raises
    ConfigError for a command that is not there, unless `allow_missing`.
    """
    kept = keeper.capture(previous, segments)
    code = count_code(
        place.root,
        keeper.files_of(kept.snapshot.tree),
        cache=place.cache,
        include=place.codebase["include"],
        exclude=place.codebase["exclude"],
    )
    with told_plainly(place.scratch):
        shutil.rmtree(place.scratch, ignore_errors=True)
    results = run_checks(
        place.checks,
        root=place.root,
        folder=place.scratch / "output",
        reports=place.scratch / "reports",
        environment=environment_for_checks(place.environment),
        on_progress=progress,
    )
    if not allow_missing:
        _refuse_missing(results)
    measured = read_results(results)
    metrics = replace(
        measured.metrics,
        file_count=code.file_count,
        loc_total=code.loc_total,
        complexity_score=code.complexity_score,
    )
    kept = keeper.after_checks(kept)
    missing = dict(measured.missing)
    if code.complexity_score is None:
        missing[Group.CODE] = _NO_FUNCTION
    notes = (*measured.notes, *code.notes, *_tree_notes(kept))
    return Observation(metrics, measured.tests, missing, notes, kept, place.scratch)


def _refuse_missing(results: Sequence[CheckResult]) -> None:
    for result in results:
        if result.finished.not_found:
            raise ConfigError(
                f"checks.{result.check.name}: {result.finished.problem}; install it, mend the configuration, "
                "or say --allow-missing"
            )


def _tree_notes(kept: Kept) -> list[str]:
    notes = [] if kept.snapshot.quiescent else ["quiescent: false; the tree was being written to while it was read"]
    changed = kept.changed_by_checks
    if changed:
        more = f" and {len(changed) - _CHANGED_SHOWN} more" if len(changed) > _CHANGED_SHOWN else ""
        notes.append(f"tree_changed_by_checks: {', '.join(map(shown, changed[:_CHANGED_SHOWN]))}{more}")
    return notes


def _trim(folder: Path) -> None:
    """Leave of what the checks printed as much as a person reads, and no files without a word."""
    for path in folder.iterdir():
        size = path.lstat().st_size
        if not size:
            path.unlink()
        elif size > OUTPUT_KEPT:
            os.truncate(path, OUTPUT_KEPT)
            with path.open("ab") as file:
                file.write(f"\n[ralph-tracker: {size} bytes, the first {OUTPUT_KEPT} are kept]\n".encode())


def _drop_odd_files(folder: Path) -> None:
    """Take away what is neither file nor folder nor link: a pipe would block who reads it."""
    for place, _, names in os.walk(folder):
        for path in (Path(place) / name for name in names):
            if not (stat.S_ISREG(path.lstat().st_mode) or path.is_symlink()):
                path.unlink()
