"""Observe one iteration: keep the tree as the agent left it, run the checks, count the code."""

import os
import shutil
import stat
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from ralph_tracker.core.findings import BUILTIN
from ralph_tracker.core.metrics import Group, Measure, Metrics, TestResults
from ralph_tracker.formats.damage import DEFAULT_LIMITS
from ralph_tracker.formats.lint.severity import Severity
from ralph_tracker.measure.checks import Check, CheckResult, environment_for_checks, run_checks
from ralph_tracker.measure.code import count_code
from ralph_tracker.measure.measuring import read_results
from ralph_tracker.measure.own_environment import without_ours
from ralph_tracker.store.files import to_json, told_plainly, write_new
from ralph_tracker.store.keeping import CHECKS, Keeper, Kept
from ralph_tracker.store.snapshots import shown
from ralph_tracker.store.summary import SCHEMA_VERSION

Progress = Callable[[str], None]
_FOLDERS: Final = ("reports", "output")
OUTPUT_KEPT: Final = 1_000_000
_CHANGED_SHOWN: Final = 5
_NO_FUNCTION: Final = "no function was found in the code in scope"


class Place(NamedTuple):
    """Say where to observe: the project, what to run, which code to count, and a folder of ours for the results.

    `severity` overrides that of lint findings, by prefix of their code. `tool` compares files: ours or another.
    `may_be_absent` names the checks whose command need not be there yet.
    """

    root: Path
    checks: tuple[Check, ...]
    codebase: Mapping[str, Any]
    scratch: Path
    cache: Path
    environment: Mapping[str, str]
    severity: Mapping[str, Severity] = {}
    tool: str = BUILTIN
    may_be_absent: Collection[str] = ()


class Observation(NamedTuple):
    """Hold what was measured, what each check gave, and what was kept.

    `scratch` has the raw reports and the captured output of the checks that `ran`. `judged` is the report of a tool
    that compares files, or why there is none; None where no check is of that kind.
    """

    metrics: Metrics
    tests: TestResults | None
    missing: Mapping[str, str]
    notes: tuple[str, ...]
    measures: tuple[Measure, ...]
    kept: Kept
    scratch: Path
    ran: tuple[CheckResult, ...] = ()
    judged: bytes | str | None = None

    def fill(self, folder: Path, keeper: Keeper, number: int) -> None:
        """Put everything of it into the iteration's folder, before that is sealed."""
        _trim(self.scratch / "output")
        _drop_odd_files(self.scratch / "reports")
        for name in _FOLDERS:
            if any((self.scratch / name).iterdir()):
                (self.scratch / name).rename(folder / name)
        write_new(folder / CHECKS, to_json(_checks_document(self.ran)))
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
    if not allow_missing:
        from ralph_tracker.measure.commands import refuse_absent  # noqa: PLC0415  at the start of a loop only

        there = [check for check in place.checks if check.name not in place.may_be_absent]
        refuse_absent(there, place.root, place.environment)
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
        environment=without_ours(environment_for_checks(place.environment), place.root),
        on_progress=progress,
    )
    if not allow_missing:
        _refuse_missing([each for each in results if each.check.name not in place.may_be_absent])
    measured = read_results(results, place.severity, place.root)
    metrics = measured.metrics._replace(
        file_count=code.file_count,
        loc_total=code.loc_total,
        complexity_score=code.complexity_score,
    )
    kept = keeper.after_checks(kept)
    missing = dict(measured.missing)
    if code.complexity_score is None:
        missing[Group.CODE] = _NO_FUNCTION
    notes = (*measured.notes, *code.notes, *tree_notes(kept))
    return Observation(
        metrics=metrics,
        tests=measured.tests,
        missing=missing,
        notes=notes,
        measures=measured.measures,
        kept=kept,
        scratch=place.scratch,
        ran=results,
        judged=measured.integrity,
    )


def _checks_document(results: Sequence[CheckResult]) -> dict[str, Any]:
    """Say how each check ended; `exit_code` or `signal` is there, neither where it could not be started."""
    ends = ("exit_code", "signal", "timed_out", "problem", "duration_s", "summary")
    checks = [{"name": each.check.name, **{key: getattr(each.finished, key) for key in ends}} for each in results]
    return {"schema_version": SCHEMA_VERSION, "checks": checks}


def _refuse_missing(results: Sequence[CheckResult]) -> None:
    for result in results:
        if result.finished.not_found:
            from ralph_tracker.measure.commands import absent  # noqa: PLC0415  as above

            raise absent(result.check.name, result.finished.problem)


def tree_notes(kept: Kept) -> list[str]:
    """Say what a reader of the record has to know about the tree that was kept."""
    notes = [] if kept.note is None else [kept.note]
    if not kept.snapshot.quiescent:
        notes.append("quiescent: false; the tree was being written to while it was read")
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
            _cut(path, size)


def _cut(path: Path, size: int) -> None:
    os.truncate(path, OUTPUT_KEPT)
    with path.open("ab") as file:
        file.write(f"\n[ralph-tracker: {size} bytes, the first {OUTPUT_KEPT} are kept]\n".encode())


def _drop_odd_files(folder: Path) -> None:
    """Take away what is neither file nor folder nor link, as a pipe would block who reads it; cut what nobody read."""
    for place, _, names in os.walk(folder):
        for path in (Path(place) / name for name in names):
            status = path.lstat()
            if not (stat.S_ISREG(status.st_mode) or path.is_symlink()):
                path.unlink()
            elif stat.S_ISREG(status.st_mode) and status.st_size > DEFAULT_LIMITS.max_bytes:
                _cut(path, status.st_size)
