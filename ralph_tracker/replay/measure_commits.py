"""Run the checks at one commit, in a checkout that nothing else uses meanwhile.

What they gave is kept, so that no commit is measured twice with the same tools.
"""

import hashlib
import io
import json
import os
import shutil
import tarfile
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from threading import Event
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from ralph_tracker.codec import decode, encode
from ralph_tracker.config.load import Config
from ralph_tracker.core.metrics import Group, Metrics, TestResults
from ralph_tracker.errors import ConfigError, InputError, StoreError
from ralph_tracker.formats.parsed_report import CoverageReport, Diagnostic
from ralph_tracker.iteration.measure_iteration import shorten_output
from ralph_tracker.iteration.repeat_failing import run_again, with_flaky
from ralph_tracker.measure.find_reports import FoundReport, Missing
from ralph_tracker.measure.installed_tools import measured_with
from ralph_tracker.measure.linked_environments import link_environments
from ralph_tracker.measure.process import FinishedCommand
from ralph_tracker.measure.report_totals import CheckTotals, MetricSource, lacking, measured_kind, read_results
from ralph_tracker.measure.run_checks import (
    Check,
    CheckResult,
    configured_checks,
    environment_for_checks,
    run_checks,
)
from ralph_tracker.replay.commit_environments import Environments, LentEnvironment, SetUpError
from ralph_tracker.replay.commits import Checkouts, Commit, History
from ralph_tracker.safe_files import as_store_error, temporary_name, write_whole

OUTPUT: Final = "output"
REPORTS: Final = "reports"
_RESULT: Final = "result.msgpack"


def cache_folder() -> Path:
    """Return the folder, which may not exist yet. Raises StoreError if there is no home to put it in."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    if named.startswith("/"):
        return Path(named) / "ralph-tracker"
    try:
        return Path.home() / ".cache" / "ralph-tracker"
    except RuntimeError:
        raise StoreError("no home folder for the results of a replay; set XDG_CACHE_HOME") from None


class _Coverage(NamedTuple):
    """A coverage report as far as it is used again: the lines by file are those of formats that have lines."""

    lines_covered: int
    lines_total: int
    percent: float | None
    files: dict[str, dict[int, bool]] | None


class _Kept(NamedTuple):
    """The totals, and how each check ended."""

    metrics: Metrics
    tests: TestResults | None
    missing: Mapping[str, str]
    notes: tuple[str, ...]
    measures: tuple[MetricSource, ...]
    not_loaded: Mapping[str, str]
    coverage: _Coverage | None
    diagnostics: tuple[tuple[Group, Diagnostic], ...]
    finished: Mapping[str, FinishedCommand]


class Results(NamedTuple):
    """What the checks gave at a commit; `folder` has their `output` and `reports`."""

    totals: CheckTotals
    ran: tuple[CheckResult, ...]
    folder: Path

    @property
    def lacking(self) -> frozenset[Group]:
        """Return what was not measured, and may be when it is measured again."""
        return lacking(self.totals.missing, self.totals.metrics)

    @property
    def is_whole(self) -> bool:
        """Return whether every check ran to its own end, and all was measured."""
        ended = [each.finished for each in self.ran]
        return not self.lacking and all(each.exit_code is not None and not each.timed_out for each in ended)


class ResultsCache(NamedTuple):
    """The results of commits, each in a folder named by its key; with `anew`, none that is there counts."""

    folder: Path
    anew: bool = False

    def new_folder(self) -> Path:
        """Return a new folder, to be filled and then given to `keep`."""
        made = self.folder / temporary_name()
        with as_store_error(made):
            made.mkdir(mode=0o700, parents=True)
        return made

    def keep(self, key: str, results: Results) -> Results:
        """Keep results, whose folder is one of ours, under a key; those that another process kept meanwhile stay."""
        staged, target = results.folder, self.folder / key
        with as_store_error(target):
            if self.anew and target.exists():
                outdated = self.folder / temporary_name()
                target.rename(outdated)
                shutil.rmtree(outdated, ignore_errors=True)
            try:
                staged.rename(target)
            except OSError:
                if not (target / _RESULT).exists():
                    raise
                shutil.rmtree(staged, ignore_errors=True)
        return results._replace(folder=target)

    def find(self, key: str, checks: tuple[Check, ...]) -> Results | None:
        """Return what is kept under a key, None if nothing is, or if it is damaged."""
        found = None if self.anew else read_written(self.folder / key, checks)
        if found is not None:
            os.utime(found.folder)
        return found


def write_results(folder: Path, totals: CheckTotals, ran: tuple[CheckResult, ...]) -> Results:
    """Write what the checks gave into the folder that has their output."""
    report = totals.coverage
    coverage = None
    if report is not None:
        by_line = None
        if report.files is not None:
            files = report.files.items()
            by_line = {path: {at: hit for at, hit in rows.items() if isinstance(at, int)} for path, rows in files}
        coverage = _Coverage(report.lines_covered, report.lines_total, report.percent, by_line)
    kept = _Kept(
        metrics=totals.metrics,
        tests=totals.tests,
        missing=totals.missing,
        notes=totals.notes,
        measures=totals.measures,
        not_loaded=totals.not_loaded,
        coverage=coverage,
        diagnostics=totals.diagnostics,
        finished={each.check.name: each.finished for each in ran},
    )
    with as_store_error(folder):
        (folder / _RESULT).write_bytes(msgspec.msgpack.encode(kept, enc_hook=encode))
    return Results(totals, ran, folder)


def read_written(folder: Path, checks: tuple[Check, ...]) -> Results | None:
    """Return what was written there for those checks, None if nothing was, or if it is damaged."""
    try:
        kept = msgspec.msgpack.decode((folder / _RESULT).read_bytes(), type=_Kept, dec_hook=decode)
    except (FileNotFoundError, msgspec.DecodeError):
        return None
    if {check.name for check in checks} != kept.finished.keys() or not (folder / OUTPUT).is_dir():
        return None
    totals = CheckTotals(
        metrics=kept.metrics,
        tests=kept.tests,
        missing=kept.missing,
        notes=kept.notes,
        measures=kept.measures,
        not_loaded=kept.not_loaded,
        coverage=None if kept.coverage is None else CoverageReport(*kept.coverage),
        diagnostics=kept.diagnostics,
    )
    return Results(totals, tuple(result_of(check, kept.finished[check.name], folder) for check in checks), folder)


def pack(folder: Path) -> bytes:
    """Return a folder of results as a compressed archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as archive:
        archive.add(folder, arcname=".")
    return buffer.getvalue()


def unpack(packed: bytes, staged: Path, checks: tuple[Check, ...]) -> Results | None:
    """Put what `pack` gave on another machine into a folder; return None if it is damaged or of other checks."""
    with as_store_error(staged):
        try:
            with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
                archive.extractall(staged, filter="data")
        except (tarfile.TarError, EOFError, zlib.error):
            return None
    return read_written(staged, checks)


def result_of(check: Check, finished: FinishedCommand, folder: Path) -> CheckResult:
    """Return the result of a check whose reports were read already."""
    output = folder / OUTPUT
    return CheckResult(check, finished, (), output / f"{check.name}.stdout", output / f"{check.name}.stderr")


class ReplayInterrupted(Exception):  # noqa: N818  # no error: the replay was told to stop
    """The replay was asked to stop, so the results of the running checks are dropped."""


class MeasuredCommit(NamedTuple):
    """What was measured at a commit, with the environment; `cached` if it was measured before."""

    commit: Commit
    home: LentEnvironment
    results: Results
    cached: bool


def measurable_checks(config: Config) -> tuple[Check, ...]:
    """Return the checks of a configuration. Raises ConfigError for one that replay cannot run."""
    found = configured_checks(config.document)
    hidden = next((check.name for check in found if check.held_back is not None), None)
    if hidden is not None:
        raise ConfigError(f"checks.{hidden}.held_back: replay cannot run held-back tests; take the check out to replay")
    return found


def _without_place(totals: CheckTotals, root: Path) -> CheckTotals:
    """Return the totals with the files of the coverage named as in the project, not as in the checkout."""
    coverage = totals.coverage
    if coverage is None or coverage.files is None:
        return totals
    places = (f"{root}/", f"{root.resolve()}/")
    names = {path: path.removeprefix(places[0]).removeprefix(places[1]) for path in coverage.files}
    files: Any = {names[path]: lines for path, lines in coverage.files.items()}
    return totals._replace(coverage=coverage._replace(files=files))


class RemoteMeasurer(Protocol):
    """Other machines that measure commits."""

    def here(self) -> AbstractContextManager[object]:
        """Return what limits how many commits are measured on this machine."""
        ...

    def measure(self, commit: Commit, home: LentEnvironment, key: str) -> bytes | None:
        """Return the packed results of a commit, None if no other machine can measure it. Raises Interrupted."""
        ...


class CommitMeasurer(NamedTuple):
    """Measures commits of a history with the configuration of the working tree; several threads may call it.

    `elsewhere` are other machines that are asked first.
    """

    history: History
    config: Config
    environments: Environments
    cache: ResultsCache
    environment: Mapping[str, str]
    checkouts: Checkouts
    stop: Event
    elsewhere: "RemoteMeasurer | None" = None

    @property
    def checks(self) -> tuple[Check, ...]:
        """Return the checks that run at each commit."""
        return measurable_checks(self.config)

    def measure(self, commit: Commit) -> MeasuredCommit:
        """Return what the checks give at a commit, from the cache if tree, configuration and tools are the same.

        What could not be measured is not kept: what was wrong may be mended. An environment that cannot be built leaves
        every check without a result. Raises Interrupted.
        """
        try:
            home = self.environments.home(commit)
        except SetUpError as error:
            return self._unmeasured_commit(commit, str(error))
        key = self._key(commit, home)
        known = self.cache.find(key, self.checks)
        if known is not None:
            return MeasuredCommit(commit, home, known, cached=True)
        staged = self.cache.new_folder()
        try:
            results = self._measure_anew(commit, home, staged, key)
            if not results.is_whole:
                own = self.checkouts.folder / "unmeasured" / temporary_name()
                with as_store_error(own):
                    own.parent.mkdir(parents=True, exist_ok=True)
                    shutil.move(staged, own)
                return MeasuredCommit(commit, home, results._replace(folder=own), cached=False)
            return MeasuredCommit(commit, home, self.cache.keep(key, results), cached=False)
        except InputError as error:
            return self._unmeasured_commit(commit, str(error))
        finally:
            shutil.rmtree(staged, ignore_errors=True)

    def _measure_anew(self, commit: Commit, home: LentEnvironment, staged: Path, key: str) -> Results:
        if self.elsewhere is None:
            return self.run(commit, home, staged)
        packed = self.elsewhere.measure(commit, home, key)
        found = None if packed is None else unpack(packed, staged, self.checks)
        if found is not None:
            return found
        with self.elsewhere.here():
            shutil.rmtree(staged, ignore_errors=True)  # half an archive
            staged.mkdir(mode=0o700)
            return self.run(commit, home, staged)

    def run(self, commit: Commit, home: LentEnvironment, staged: Path) -> Results:
        """Run the checks at a commit here, and write their results into a folder. Raises Interrupted, InputError."""
        with self._checked_out(commit, home) as (root, variables):
            ran = run_checks(
                self.checks,
                root=root,
                folder=staged / OUTPUT,
                reports=staged / REPORTS,
                environment=variables,
                stop=self.stop,
            )
            if self.stop.is_set():
                raise ReplayInterrupted
            totals = _without_place(read_results(ran, self.config.document["severity"], root), root)
        shorten_output(staged)
        return write_results(staged, totals, ran)

    @contextmanager
    def _checked_out(self, commit: Commit, home: LentEnvironment) -> Iterator[tuple[Path, dict[str, str]]]:
        """Yield the project's folder in a checkout, and the variables for checks that run there."""
        with self.checkouts.of(commit) as copy:
            root = copy / self.history.prefix
            variables = dict(self.environment)
            for lent, to in dict.fromkeys(((home.top, copy), (home.root, root))):
                variables = link_environments(lent, to, self.checks, variables, builds=self.checkouts.builds)
            yield root, environment_for_checks(variables, root)

    def again(self, measured: MeasuredCommit, tests: Collection[str], times: int) -> Iterator[Mapping[str, str]]:
        """Run the files of those tests again, all if one is not found, and yield the outcomes of each run."""
        with self._checked_out(measured.commit, measured.home) as (root, variables):
            checks = self.checks
            wanted = {check.name: tests for check in checks if measured_kind(check) == Group.TESTS}
            for _ in range(times):
                folder = self.checkouts.folder / temporary_name()
                yield run_again(wanted, checks, root=root, folder=folder, environment=variables, stop=self.stop)

    def once_more(self, measured: MeasuredCommit, tests: Collection[str]) -> Mapping[str, str]:
        """Return the outcomes of one more run of those tests, {} if they cannot run; what it gave is kept too.

        Raises Interrupted.
        """
        digest = hashlib.sha256("\n".join(sorted(tests)).encode()).hexdigest()
        kept = measured.results.folder / f"again-{digest[:16]}"
        with suppress(FileNotFoundError, msgspec.DecodeError):
            return msgspec.msgpack.decode(kept.read_bytes(), type=dict[str, str])
        try:
            [outcomes] = self.again(measured, tests, 1)
        except InputError:
            return {}
        if self.stop.is_set():
            raise ReplayInterrupted
        with as_store_error(kept):
            write_whole(kept, msgspec.msgpack.encode({test: outcomes[test] for test in tests if test in outcomes}))
        return outcomes

    def _key(self, commit: Commit, home: LentEnvironment) -> str:
        how = measured_with(home.root, self.checks, self.config.document["severity"], self.environment)
        parts = [commit.tree, self.history.prefix, home.key, how]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def _unmeasured_commit(self, commit: Commit, why: str) -> MeasuredCommit:
        """Return the results of checks that could not be started; they are not kept."""
        folder = self.checkouts.folder / "not-started"
        for name in (OUTPUT, REPORTS):
            (folder / name).mkdir(parents=True, exist_ok=True)
        ended = FinishedCommand(problem=why)
        ran = tuple(
            result_of(check, ended, folder)._replace(
                reports=tuple(FoundReport(path, None, Missing.ABSENT) for path in check.reports)
            )
            for check in self.checks
        )
        return MeasuredCommit(commit, self.environments.here, Results(read_results(ran), ran, folder), cached=False)


def with_reruns(measurer: CommitMeasurer, measured: Sequence[MeasuredCommit], times: int) -> Iterator[MeasuredCommit]:
    """Yield what was measured; a test that differs from the first commit and does not always end the same is flaky."""
    outcomes = [{} if tests is None else tests.outcomes for tests in (each.results.totals.tests for each in measured)]
    differing = [{test for test, how in now.items() if outcomes[0].get(test) != how} for now in outcomes]
    differing[0] = set().union(*differing) & outcomes[0].keys()
    for each, tests in zip(measured, differing, strict=True):
        yield _rerun(measurer, each, tests, times) if tests else each


def _rerun(measurer: CommitMeasurer, measured: MeasuredCommit, tests: Collection[str], times: int) -> MeasuredCommit:
    first = measured.results.totals.tests
    if first is None:
        return measured
    runs = [first.outcomes, *measurer.again(measured, tests, times)]
    flaky = {test for test in tests if len({run[test] for run in runs if test in run}) > 1}
    totals = with_flaky(measured.results.totals, flaky)
    return measured._replace(results=measured.results._replace(totals=totals))
