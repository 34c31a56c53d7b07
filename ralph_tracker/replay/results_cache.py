"""Keep what the checks gave at a commit, so that no commit is measured twice with the same tools."""

import io
import os
import shutil
import tarfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from ralph_tracker.core.metrics import Group, Measure, Metrics, TestResults
from ralph_tracker.errors import StoreError
from ralph_tracker.formats.coverage.coverage_report import CoverageReport
from ralph_tracker.formats.diagnostics import Diagnostic
from ralph_tracker.measure.checks import Check, CheckResult
from ralph_tracker.measure.process import Finished
from ralph_tracker.measure.results import CheckTotals
from ralph_tracker.store.files import as_store_error, temporary_name


def cache_folder() -> Path:
    """Return the folder, which may not exist yet. Raises StoreError if there is no home to put it in."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    if named.startswith("/"):
        return Path(named) / "ralph-tracker"
    try:
        return Path.home() / ".cache" / "ralph-tracker"
    except RuntimeError:
        raise StoreError("no home folder for the results of a replay; set XDG_CACHE_HOME") from None


OUTPUT: Final = "output"
REPORTS: Final = "reports"
_RESULT: Final = "result.msgpack"


class _Coverage(NamedTuple):
    """A coverage report as far as it is used again: the lines by file are those of formats that have lines."""

    lines_covered: int
    lines_total: int
    percent: float | None
    files: dict[str, dict[int, bool]] | None


class _Kept(NamedTuple):
    """The totals; `compared` is the report of a tool that compares files, `not_compared` why there is none."""

    metrics: Metrics
    tests: TestResults | None
    missing: Mapping[str, str]
    notes: tuple[str, ...]
    measures: tuple[Measure, ...]
    compared: bytes | None
    not_compared: str | None
    not_loaded: Mapping[str, str]
    coverage: _Coverage | None
    diagnostics: tuple[tuple[Group, Diagnostic], ...]
    finished: Mapping[str, Finished]


class Results(NamedTuple):
    """What the checks gave at a commit; `folder` has their `output` and `reports`."""

    totals: CheckTotals
    ran: tuple[CheckResult, ...]
    folder: Path


class ResultsCache(NamedTuple):
    """The results of commits, each in a folder named by its key."""

    folder: Path

    def staged(self) -> Path:
        """Return a new folder, to be filled and then given to `keep`."""
        made = self.folder / temporary_name()
        with as_store_error(made):
            made.mkdir(mode=0o700, parents=True)
        return made

    def keep(self, key: str, staged: Path, totals: CheckTotals, ran: tuple[CheckResult, ...]) -> Results:
        """Keep results under a key; those that another process kept meanwhile stay."""
        target = self.folder / key
        with as_store_error(target):
            (staged / _RESULT).write_bytes(msgspec.msgpack.encode(_kept(totals, ran)))
            try:
                staged.rename(target)
            except OSError:
                if not (target / _RESULT).exists():
                    raise
                shutil.rmtree(staged, ignore_errors=True)
        return Results(totals, ran, target)

    def keep_packed(self, key: str, packed: bytes, staged: Path, checks: tuple[Check, ...]) -> Results | None:
        """Keep what `packed` gave on another machine, None if it is damaged or of other checks."""
        target = self.folder / key
        with as_store_error(target):
            try:
                with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
                    archive.extractall(staged, filter="data")
            except (tarfile.TarError, EOFError, zlib.error):
                return None
            with suppress(OSError):  # another process kept it meanwhile
                staged.rename(target)
        return self.find(key, checks)

    def packed(self, key: str) -> bytes:
        """Return the folder of a key as a compressed archive."""
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as archive:
            archive.add(self.folder / key, arcname=".")
        return buffer.getvalue()

    def find(self, key: str, checks: tuple[Check, ...]) -> Results | None:
        """Return what is kept under a key, None if nothing is, or if it is damaged."""
        folder = self.folder / key
        try:
            kept = msgspec.msgpack.decode((folder / _RESULT).read_bytes(), type=_Kept)
        except (FileNotFoundError, msgspec.DecodeError):
            return None
        if {check.name for check in checks} != kept.finished.keys() or not (folder / OUTPUT).is_dir():
            return None
        os.utime(folder)
        totals = CheckTotals(
            metrics=kept.metrics,
            tests=kept.tests,
            missing=kept.missing,
            notes=kept.notes,
            measures=kept.measures,
            integrity=kept.not_compared if kept.compared is None else kept.compared,
            not_loaded=kept.not_loaded,
            coverage=None if kept.coverage is None else CoverageReport(*kept.coverage),
            diagnostics=kept.diagnostics,
        )
        return Results(totals, tuple(result_of(check, kept.finished[check.name], folder) for check in checks), folder)


def result_of(check: Check, finished: Finished, folder: Path) -> CheckResult:
    """Return the result of a check whose reports were read already."""
    output = folder / OUTPUT
    return CheckResult(check, finished, (), output / f"{check.name}.stdout", output / f"{check.name}.stderr")


def _kept(totals: CheckTotals, ran: tuple[CheckResult, ...]) -> _Kept:
    return _Kept(
        metrics=totals.metrics,
        tests=totals.tests,
        missing=totals.missing,
        notes=totals.notes,
        measures=totals.measures,
        compared=totals.integrity if isinstance(totals.integrity, bytes) else None,
        not_compared=totals.integrity if isinstance(totals.integrity, str) else None,
        not_loaded=totals.not_loaded,
        coverage=None if totals.coverage is None else _coverage(totals.coverage),
        diagnostics=totals.diagnostics,
        finished={each.check.name: each.finished for each in ran},
    )


def _coverage(report: CoverageReport) -> _Coverage:
    by_line = None
    if report.files is not None:
        files = report.files.items()
        by_line = {path: {at: hit for at, hit in rows.items() if isinstance(at, int)} for path, rows in files}
    return _Coverage(report.lines_covered, report.lines_total, report.percent, by_line)
