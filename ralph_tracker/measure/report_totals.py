"""Compute the values of one iteration from the checks that ran: find, read and add up reports, or say why one is
missing.
"""

import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from ralph_tracker.codec import ValueObject
from ralph_tracker.core.known_tests import HELD_BACK, STOPPED_RUN, WHOLE_RUN, belongs_to_any, dotted
from ralph_tracker.core.metrics import FAILED, SKIPPED, Group, Metrics, TestResults, quantity
from ralph_tracker.errors import InputError, StoreError
from ralph_tracker.formats.first_error import FirstError, first_error
from ralph_tracker.formats.parsed_report import (
    CoverageReport,
    Diagnostic,
    LintReport,
    Report,
    Severity,
    TestReport,
    TypeReport,
    add_tests,
    share,
)
from ralph_tracker.formats.registry import FORMATS, by_name, diagnostics, examine, foreign_syntax, read
from ralph_tracker.formats.report_content import DEFAULT_LIMITS, Unreadable
from ralph_tracker.formats.tests.case_collector import FAILED_AS_A_WHOLE, NOT_SAID, why_not_loaded
from ralph_tracker.measure.exit_status import (
    Reported,
    Runner,
    counted,
    other_meaning,
    run_error,
    runner_of,
    stopped_by_settings,
    stopped_early,
    unloaded_files,
    was_cut_short,
)
from ralph_tracker.measure.find_reports import FoundReport, Missing
from ralph_tracker.measure.installed_tools import last_words
from ralph_tracker.measure.run_checks import STANDARD_OUTPUT, Check, CheckResult, command_text
from ralph_tracker.measure.secrets import mask_secrets
from ralph_tracker.safe_files import read_regular

_TIMEOUT_S: Final = 120
_LONGEST: Final = 300
_OTHERWISE: Final = "write a report with `coverage json` in the check and name that"


def lacking(missing: Mapping[str, str], metrics: Metrics) -> frozenset[Group]:
    """Return the groups of checks that were not measured, and may be when they are measured again.

    A report without a line to cover says the same again, and tools write no coverage where tests fail.
    """
    found = {Group(name) for name, why in missing.items() if why != NO_LINES and name in VALUES}
    return frozenset(found - {Group.COVERAGE} if metrics.tests_failed else found)


def is_data(data: bytes) -> bool:
    """Whether it is a database; of all reports only coverage.py's data is."""
    return data.startswith(b"SQLite format 3\0")


def as_json(path: Path, root: Path, python: str = sys.executable, *, settings: bool = True) -> bytes | Unreadable:
    """Return the JSON report for a data file and the sources under `root`.

    The project's coverage.py settings can name plugins, which are its code; without `settings` they are left out.
    coverage.py is the one that `python` can import; it is optional. Unreadable says why there is no report, and what to
    do instead.
    """
    # -P: a `coverage` folder in the project, with JavaScript's reports, must not hide the package.
    command = [python, "-P", "-m", "coverage", "json", "-q", f"--data-file={path}", "-o", "-"]
    command += [] if settings else [f"--rcfile={os.devnull}"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, timeout=_TIMEOUT_S, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        return Unreadable(f"coverage.py's data: no report of it in {_TIMEOUT_S} s; {_OTHERWISE}")
    if done.returncode == 0:
        return done.stdout
    said = (done.stdout + done.stderr).decode(errors="replace").strip().splitlines() or ["no report of it"]
    return Unreadable(f"coverage.py's data: {said[-1].removesuffix('.')[:_LONGEST]}; {_OTHERWISE}")


BUILD: Final = "build"
METRICS: Final = "metrics"  # numbers of objectives, which are no reports
NO_LINES: Final = "the report has no line to cover"
# The value by which a group of checks is known to be measured.
VALUES: Final[Mapping[str, str]] = {
    Group.TESTS: "test_count",
    Group.COVERAGE: "coverage_percentage",
    Group.LINT: "lint_errors",
    Group.TYPES: "type_errors",
    Group.BUILD: "build_status",
}
_NO_REPORT: Final = "the check names no report file; add `reports: [FILE]` to it"
_OURS: Final = ".aiwg/"
_HIDDEN: Final = "held-back tests do not load"
_LOOKED_AT: Final = 1_000_000
# What build tools print if some tests ran although others did not compile.
_BUILD_BROKE: Final = re.compile(
    r"COMPILATION ERROR|Compilation failed; see|error: could not compile|\[(?:build|setup) failed\]"
)
# Formats of linters that type checkers write too.
_OF_TYPES: Final = frozenset(each.name for each in FORMATS if each.of_types)
# The ids our readers give to a package or suite that failed as a whole.
_IN_PLACE_OF_TESTS: Final = ("(package)", "(build)", "(suite)", "(test file)", WHOLE_RUN)
_NO_OVERRIDES: Final[Mapping[str, Severity]] = {}
_KIND: Final[Mapping[type, str]] = {
    TestReport: "tests",
    CoverageReport: "coverage",
    LintReport: "lint",
    TypeReport: "types",
}


class MetricSource(ValueObject, document="name measured why accepted"):
    """One check, or one group of metrics without a check.

    `group` is what it measures (None: known from its reports). `why` says why nothing was measured, or not all of it,
    else None; `accepted` that a person accepted the gap.
    """

    name: str
    group: str | None = None
    why: str | None = None
    accepted: bool = False

    @property
    def measured(self) -> bool:
        """Return whether all of it was measured."""
        return self.why is None


class CheckTotals(NamedTuple):
    """The measurements of one iteration.

    `missing` says per group why nothing was measured, `measures` per check in running order; `notes` are for a person
    to read. `not_loaded` maps what did not build or load, so that its tests could not be collected (a file, package or
    suite as the report names it; else the file of the first error, or the check), to the tool's first error line,
    whether or not other tests were reported. `coverage` is the sum of its reports, None where it is missing.
    `diagnostics` are the findings of linters, type checkers and failed builds, with the group of each and paths
    relative to the project.
    """

    metrics: Metrics
    tests: TestResults | None
    missing: Mapping[str, str] = {}
    notes: tuple[str, ...] = ()
    measures: tuple[MetricSource, ...] = ()
    not_loaded: Mapping[str, str] = {}
    coverage: CoverageReport | None = None
    diagnostics: tuple[tuple[Group, Diagnostic], ...] = ()


def needed_checks(checks: Sequence[Check], names: Iterable[str] | None = None) -> list[Check]:
    """Return the checks of those names (None: the test checks) and the checks they need, in order."""
    by_name = {check.name: check for check in checks}
    of_tests = (check.name for check in checks if measured_kind(check) == Group.TESTS and check.held_back is None)
    wanted = list(of_tests if names is None else names)
    found: set[str] = set()
    while wanted:
        name = wanted.pop()
        if name not in found:
            found.add(name)
            wanted += by_name[name].needs
    return [check for check in checks if check.name in found]


def measured_kind(check: Check) -> str | None:
    """Return what a check measures: as configured, else by its format or name; None if its reports decide."""
    shared = check.kind is None and check.name == Group.TYPES and check.format in _OF_TYPES
    declared = check.name if shared else _declared_kind(check)
    return declared or (check.name if check.name in {*Group} else None)


def _declared_kind(check: Check) -> str | None:
    named = by_name(check.format)
    return check.kind or (None if named is None else named.kind)


def read_results(
    results: Sequence[CheckResult], severity: Mapping[str, Severity] = _NO_OVERRIDES, root: Path | None = None
) -> CheckTotals:
    """Read every report of the checks and add up those of a kind; unreadable ones are noted, never counted.

    `severity` overrides that of lint findings, by prefix of their code. `root` is the folder of the sources, which
    coverage.py's own data needs; None: such data is unreadable.
    """
    gathered = _Totals(results, severity, root)
    for result in results:
        kind = measured_kind(result.check)
        if kind == BUILD:
            gathered.build(result)
        elif kind not in {None, METRICS} and not result.check.reports:
            gathered.fail(result.check.name, kind, f"{result.check.name}: {_NO_REPORT}")
        elif not result.check.reports and not result.finished.succeeded:
            gathered.note(f"{result.check.name}: {result.finished.summary}")
        for found in result.reports if kind not in {BUILD, METRICS} else ():
            gathered.add(result, found, kind)
        if kind == Group.TESTS and _has_failed(result) and _BUILD_BROKE.search(_output(result)):
            gathered.did_not_build(result)  # although other tests ran
        gathered.leave_out(result)
        gathered.end(result)
        for path, other in result.shared.items():
            gathered.note(f"{result.check.name}: {path} counts once, with check {other}")
    return gathered.totals()


class _Totals:
    """The sum of the reports of one iteration."""

    def __init__(self, results: Sequence[CheckResult], severity: Mapping[str, Severity], root: Path | None) -> None:
        self._folders_of_tests = _folders_of_tests(results)
        self._severity = severity
        self._root = root
        self._nested = None if root is None else cache(partial(_nested_repository, root))
        self._folders = () if root is None else (f"{root.resolve()}/", f"{root.absolute()}/")
        self._tests: dict[str, list[TestReport]] = {}
        self._with_tests: list[str] = []
        self._of_check: dict[str, list[TestReport]] = {}
        self._not_loaded: dict[str, str] = {}
        self._sums: dict[str, Any] = {}
        self._missing: dict[str, str] = {}
        self._of_no_kind: list[str] = []
        self._notes: list[str] = []
        self._builds: list[bool] = []
        self._measures = {
            result.check.name: MetricSource(result.check.name, measured_kind(result.check)) for result in results
        }
        self._foreign: list[tuple[FoundReport, Unreadable, str]] = []
        self._readable: set[str] = set()  # the suffixes of the reports of the check that is read
        self._diagnostics: list[tuple[Group, Diagnostic]] = []

    def fail(self, name: str, kind: str | None, why: str) -> None:
        """Record why a check gave nothing; the first reason is kept."""
        why = self._relative(why)
        if self._measures[name].why is None:
            self._measures[name] = self._measures[name]._replace(why=why)
        self.miss(kind, why)

    def build(self, result: CheckResult) -> None:
        """Add a build by its exit status; one that could not be started is not measured."""
        if result.finished.problem is not None:
            self.fail(result.check.name, Group.BUILD, f"{result.check.name}: {result.finished.summary}")
        else:
            self._builds.append(result.finished.succeeded)
            if not result.finished.succeeded and result.check.held_back is None:
                found = first_error(self._relative(_output(result)))
                if found is not None:
                    diagnostic = Diagnostic(found.file or result.check.name, found.number, "", found.line)
                else:
                    said = last_words(result.stdout, result.stderr)
                    # Times would make the same failure another one.
                    how = f"ended with {result.finished.summary.partition(' after ')[0]}{f'; {said}' if said else ''}"
                    diagnostic = Diagnostic(result.check.name, None, "", how)
                self._diagnostics.append((Group.BUILD, diagnostic))

    def add(self, result: CheckResult, found: FoundReport, kind: str | None) -> None:
        """Add one report of a check, or the reason why it is missing."""
        # Absolute paths are relative to the check's own folder, then to the project's.
        own = [os.path.normpath(os.path.join(folder, result.check.cwd)) + "/" for folder in self._folders]  # noqa: PTH118
        report = _read(result, found, kind, self._root, tuple(dict.fromkeys((*own, *self._folders))))
        foreign = _foreign_syntax(result, found) if isinstance(report, Unreadable) else None
        if isinstance(report, Unreadable) and foreign is not None:
            self._foreign.append((found, report, foreign))
            return
        self._add(result, found, report, kind)

    def leave_out(self, result: CheckResult) -> None:
        """Leave out the files of a pattern that are no reports and lie beside reports; alone they are unreadable.

        So is text in the place of a report, as its name says.
        """
        foreign, readable = self._foreign, self._readable
        self._foreign, self._readable = [], set()
        for found, why, syntax in foreign:
            if readable and (syntax == "document" or _suffix(found.path) not in readable):
                self.note(f"{result.check.name}: {found.path} is no report and is left out: {why}")
            else:
                self._add(result, found, why, measured_kind(result.check))

    def _add(self, result: CheckResult, found: FoundReport, report: Report | Unreadable, kind: str | None) -> None:
        if not isinstance(report, Unreadable):
            self._readable.add(_suffix(found.path))
        if isinstance(report, Unreadable):
            missed = _declared_kind(result.check) or _kind_of_path(found.path) or kind
            self.fail(result.check.name, missed, _why(result, found, report))
            # Without a report no test can have run; a damaged one is of tests that did.
            none = found.missing in {Missing.ABSENT, Missing.STALE} or report.empty or found.path == STANDARD_OUTPUT
            if missed == Group.TESTS and _has_failed(result) and none:
                self.did_not_build(result)
            if missed in {Group.LINT, Group.TYPES}:  # a checker that stopped says where
                self._complain(result, found, Group(missed))
        elif isinstance(report, TestReport):
            self._with_tests.append(result.check.name)
            self._of_check.setdefault(result.check.name, []).append(report)
            self._add_tests(result.check, report)
        else:
            report = report.with_severity(self._severity) if isinstance(report, LintReport) else report
            if isinstance(report, CoverageReport) and report.files is not None:
                files = {self._in_project(result.check, path): lines for path, lines in report.files.items()}
                report = report._replace(files=files)
            name = _KIND[type(report)]
            if isinstance(report, LintReport | TypeReport) and report.errors + report.warnings:
                others = self._complain(result, found, Group(name))
                for folder, findings in others.items():
                    report = _without_findings(report, findings)
                    many = f"{quantity(len(findings), 'finding')} in {folder}"
                    self.note(f"{result.check.name}: {many} left out; add {folder} to what its tool ignores")
            self._sums[name] = self._sums[name] + report if name in self._sums else report

    def _complain(self, result: CheckResult, found: FoundReport, group: Group) -> Mapping[str, list[Diagnostic]]:
        """Keep the findings of a report by place, and return those in folders that are not the project's, by folder.

        Those of held-back checks are not for the agent.
        """
        data, others = _bytes(found, result.secrets), defaultdict[str, list[Diagnostic]](list)
        if result.check.held_back is None and isinstance(data, bytes):
            for each in diagnostics(
                data, format=result.check.format, kind=measured_kind(result.check), severity=self._severity
            ):
                file = self._in_project(result.check, self._relative(each.file).removeprefix("./"))
                if (folder := self._other_folder(file)) is not None:
                    others[folder].append(each)
                else:
                    self._diagnostics.append((group, each._replace(file=file, message=self._relative(each.message))))
        return others

    def _other_folder(self, file: str) -> str | None:
        """Return the folder of a file that is ours or a repository of its own, as an agent's worktree; None if none."""
        if f"/{_OURS}" in f"/{file}":
            return _OURS
        if self._nested is None or file.startswith(("/", "..")):
            return None
        return self._nested(Path(file).parent)

    def _add_tests(self, check: Check, report: TestReport) -> None:
        report = _in_folder(report, self._folders_of_tests.get(check.name, ""))
        if check.held_back is not None:  # marked names, and no messages
            report = _rename_tests(report, partial(_behind, check.name))
            report = report._replace(messages={}, not_loaded=dict.fromkeys(report.not_loaded, _HIDDEN))
        self._tests.setdefault(check.name, []).append(report)

    def end(self, result: CheckResult) -> None:
        """Add what the end of a check says beside its reports of tests: files that did not load, a run that failed.

        A run that failed for another reason than its tests is only noted.
        """
        reports = self._of_check.get(result.check.name, ())
        says_so = any(WHOLE_RUN in report.outcomes or WHOLE_RUN in report.broken for report in reports)
        if not reports or Group.TESTS in self._missing or (result.finished.succeeded and not says_so):
            return
        runner, of_all = runner_of(command_text(result.check), result.check.name), add_tests(reports)
        failing = {name for name, how in of_all.outcomes.items() if how == FAILED} | of_all.broken
        failed = len(failing - {WHOLE_RUN}) + of_all.unnamed.failed + of_all.unnamed.errors
        tests = of_all.tests - (WHOLE_RUN in of_all.outcomes)
        if result.finished.succeeded:
            if failing == {WHOLE_RUN}:
                reported = Reported(tests, of_all.passed)
                said = f"{runner.name} exited with 0, but its report says that the run failed, {counted(reported)}"
                said = ": ".join(filter(None, (said, of_all.messages.get(WHOLE_RUN))))
                self._add_run_error(result, said, failing)
            return
        output = self._relative(_output(result))
        self._explain_not_loaded(result.check, of_all.not_loaded, output)
        files = {
            file: self._first_error_of(said)
            for file, said in unloaded_files(runner, output).items()
            if not belongs_to_any(file, of_all.not_loaded)
        }
        error = run_error(runner, result.finished, Reported(tests, of_all.passed, failed), output)
        if files:
            broken = frozenset(f"{file}::(test file)" for file in files)
            self._add_tests(result.check, TestReport(broken=broken, not_loaded=files))
            self.note(error)
        if error is not None and (not files or was_cut_short(result.finished, failed)):
            self._add_run_error(result, error, failing)
        elif failed and (stop := self._why_stopped(runner, result.check, output)):
            name = result.check.name
            folder = self._folders_of_tests.get(name, "")
            self._not_loaded.setdefault(f"{folder}/{STOPPED_RUN}" if folder else STOPPED_RUN, stop)
            if runner.skips_the_rest:
                self._tests[name] = [_without_skipped(each) for each in self._tests[name]]
        elif not failed and not files:
            self.note(other_meaning(runner, result.finished, output))

    def _why_stopped(self, runner: Runner, check: Check, output: str) -> str | None:
        """Return by what a run ended at its first failing tests, None if it did not."""
        early = stopped_early(runner, command_text(check), output)
        return early or (None if self._root is None else stopped_by_settings(runner, self._root / check.cwd))

    def _explain_not_loaded(self, check: Check, not_loaded: Mapping[str, str], output: str) -> None:
        """Give the first error line of the output as the reason of what did not load where the report has none."""
        found = first_error(output)
        if found is None or check.held_back is not None:
            return
        folder, error = self._folders_of_tests.get(check.name, ""), self._with_line(found)
        for place, why in not_loaded.items():
            if why == NOT_SAID or why.endswith(FAILED_AS_A_WHOLE):
                said = error if why == NOT_SAID else f"{why}: {error}"
                self._not_loaded.setdefault(f"{folder}/{place}" if folder else place, said)

    def _add_run_error(self, result: CheckResult, error: str, failing: Collection[str]) -> None:
        """Add the run itself as one failing test, unless the report has it; what it lacks was not collected."""
        name = result.check.name
        self._measures[name] = self._measures[name]._replace(why=error)  # the run never passes a gate
        report = TestReport(broken=frozenset({WHOLE_RUN} - set(failing)), messages={WHOLE_RUN: error})
        if result.check.held_back is not None:
            self._not_loaded.setdefault(_behind(result.check.name, ""), _HIDDEN)
        else:
            report = report._replace(not_loaded={WHOLE_RUN: error})
        self._add_tests(result.check, report)

    def _first_error_of(self, text: str) -> str:
        """Return the first error line of what a tool printed about a file that does not load, with its place."""
        found = first_error(text)
        return why_not_loaded(text) if found is None else self._with_line(found)

    def _with_place(self, why: str) -> str:
        """Return why something does not load, with the line of the file that the error names without one."""
        named = None if re.search(r"[:(]\d+\b", why) else re.search(r"\bfrom ['\"]?([^'\"\s()]+\.\w+)", why)
        return why if named is None else self._with_line(FirstError(why, named[1]))

    def _with_line(self, found: FirstError) -> str:
        """Return an error; if it names a file of the project without a line, with the one that has what it quotes."""
        quoted = re.search(r"['\"]([^'\"]+)['\"]", found.line)
        if self._root is None or found.file is None or found.number is not None or quoted is None:
            return found.line
        path = (self._root / found.file).resolve()
        if not path.is_relative_to(self._root.resolve()):
            return found.line
        with suppress(OSError, InputError):
            lines = read_regular(path, limit=_LOOKED_AT, name=found.file).decode("utf-8", "replace").splitlines()
            name = quoted[1].rpartition("/")[2]
            found_at = [[at for at, line in enumerate(lines, 1) if text in line] for text in (quoted[1], name) if text]
            number = next((places[0] for places in found_at if places), None)
            return found.line if number is None else f"{found.line} ({found.file}:{number})"
        return found.line

    def did_not_build(self, result: CheckResult) -> None:
        """Record the first error that the command printed, by file, with paths relative to the project."""
        if result.check.held_back is not None:
            self._not_loaded.setdefault(_behind(result.check.name, ""), _HIDDEN)
            return
        found = first_error(self._relative(_output(result)))
        if found is not None and not any(said.startswith(found.line) for said in self._not_loaded.values()):
            self._not_loaded.setdefault(found.file or result.check.name, self._with_line(found))

    def _in_project(self, check: Check, path: str) -> str:
        """Return a path of a report relative to the project, where it names a file below the check's own folder."""
        below = os.path.normpath(os.path.join(check.cwd, path))  # noqa: PTH118  # it may lead out of the folder again
        is_there = check.cwd != os.curdir and self._root is not None and (self._root / below).is_file()
        return below if is_there and not os.path.isabs(path) else path  # noqa: PTH117

    def _relative(self, text: str) -> str:
        """Return the text without the project's folder in paths, which differs if the tests run in a copy."""
        for folder in self._folders:
            text = text.replace(folder, "")
        return text

    def miss(self, kind: str | None, why: str) -> None:
        """Record why a group was not measured; the first reason is kept."""
        if kind is None:
            self._of_no_kind.append(why)
        else:
            self._missing.setdefault(kind, why)

    def totals(self) -> CheckTotals:
        """Return the values; a group with one unreadable report is missing as a whole."""
        values: dict[str, Any] = {}
        reports = [report for of_check in self._tests.values() for report in of_check]
        tests = add_tests(reports) if reports and Group.TESTS not in self._missing else None
        for report in reports:
            for place, why in report.not_loaded.items():
                self._not_loaded.setdefault(place, self._with_place(self._relative(why)))
        results = None if tests is None else tests.results
        if results is not None and self._not_loaded and not without_unloaded(results).outcomes:
            # All that is reported are files, packages or suites that do not load: no test ran, which is no count of 0.
            first = next(iter(self._not_loaded.values()))
            for name in self._with_tests:
                self.fail(name, Group.TESTS, f"no test was collected: {first}")
            tests = results = None
        if tests is not None:
            values |= {
                "test_count": tests.tests + len(tests.broken),
                "tests_passed": tests.passed,
                "tests_failed": tests.failed + tests.errors + len(tests.broken),
                "tests_skipped": tests.skipped,
            }
            self.note(tests.contradiction)
            self.note(tests.note)
        for name, report in self._sums.items():
            if name not in self._missing:
                values |= _values_of(report)
                self.note(getattr(report, "contradiction", None))
        if self._builds and Group.BUILD not in self._missing:
            values["build_status"] = "success" if all(self._builds) else "failure"
        self._explain(values)
        if results is not None:
            messages = {test: self._relative(said) for test, said in results.messages.items()}
            results = results._replace(messages=messages, not_loaded=self._not_loaded)
        return CheckTotals(
            metrics=Metrics(**values),
            tests=results,
            missing=self._missing,
            notes=tuple(self._notes),
            measures=tuple(self._measures.values()),
            not_loaded=self._not_loaded,
            coverage=None if Group.COVERAGE in self._missing else self._sums.get(Group.COVERAGE),
            diagnostics=tuple(self._diagnostics),
        )

    def _explain(self, values: Mapping[str, Any]) -> None:
        """Give a reason for every group without a value that a report of unknown kind may have had."""
        if "coverage" in self._sums and values.get("coverage_percentage") is None:
            self.miss("coverage", NO_LINES)
        for why in self._of_no_kind:
            for kind in (kind for kind, name in VALUES.items() if values.get(name) is None and kind != BUILD):
                self.miss(kind, why)

    def note(self, text: str | None) -> None:
        """Record a note for a person."""
        if text:
            self._notes.append(text)


def _behind(check: str, name: str) -> str:
    """Return the name marked as held back, as one word, so that it can be kept from the agent (core/identities)."""
    return re.sub(r"[\s,]", "_", f"{HELD_BACK}{check}::{name}" if name else f"{HELD_BACK}{check}")


def _folders_of_tests(results: Sequence[CheckResult]) -> Mapping[str, str]:
    """Return the folders of checks of tests that run in several; {} if all run in the same one.

    Their tests need the folder in their names: the packages of a workspace have tests of the same name.
    """
    checks = [result.check for result in results if measured_kind(result.check) == Group.TESTS]
    folders = {check.name: os.path.normpath(check.cwd) for check in checks}
    several = len(set(folders.values())) > 1
    return {name: folder for name, folder in folders.items() if several and folder != os.curdir}


def _in_folder(report: TestReport, folder: str) -> TestReport:
    """Return the report with the folder in front of each name: of its file or class, or as that of a title alone."""
    if not folder:
        return report
    places = {f"{folder}/{place}": why for place, why in report.not_loaded.items()}
    named = _rename_tests(report, lambda name: f"{folder}{'/' if '::' in name else '::'}{name}")
    return named._replace(not_loaded=places)


def _rename_tests(report: TestReport, rename: Callable[[str], str]) -> TestReport:
    def all_of(names: Iterable[str]) -> frozenset[str]:
        return frozenset(map(rename, names))

    return report._replace(
        outcomes={rename(name): how for name, how in report.outcomes.items()},
        durations={rename(name): seconds for name, seconds in report.durations.items()},
        in_error=all_of(report.in_error),
        rerun=all_of(report.rerun),
        flaky=all_of(report.flaky),
        broken=all_of(report.broken),
        messages={rename(name): said for name, said in report.messages.items()},
        not_loaded={rename(place): why for place, why in report.not_loaded.items()},
    )


def _nested_repository(root: Path, folder: Path) -> str | None:
    """Return the folder at or above `folder`, below `root`, that is a repository of its own; None if there is none."""
    if not folder.name:
        return None
    return f"{folder}/" if (root / folder / ".git").exists() else _nested_repository(root, folder.parent)


def _without_findings(report: LintReport | TypeReport, findings: Sequence[Diagnostic]) -> LintReport | TypeReport:
    """Return the report without those of its errors and warnings."""
    if isinstance(report, LintReport):
        left = Counter(report.findings)
        left.subtract((each.code, each.severity) for each in findings)
        return report._replace(findings=dict(+left))
    errors = sum(each.severity == "error" for each in findings)
    declared = None if report.declared_errors is None else report.declared_errors - errors
    warnings = report.warnings - (len(findings) - errors)
    return report._replace(errors=report.errors - errors, warnings=warnings, declared_errors=declared)


def _without_skipped(report: TestReport) -> TestReport:
    """Return the report without tests that were skipped, of which nobody can tell which ones were not run."""
    return report._replace(outcomes={test: how for test, how in report.outcomes.items() if how != SKIPPED})


def _bytes(found: FoundReport, secrets: Iterable[bytes]) -> bytes | Unreadable:
    if found.data_path is None:
        return Unreadable(found.reason or "absent")
    try:
        size = found.data_path.stat().st_size
        if size > DEFAULT_LIMITS.max_bytes:  # do not read it: it may exceed the memory
            return Unreadable(f"{size} bytes are more than the limit of {DEFAULT_LIMITS.max_bytes}")
        return mask_secrets(read_regular(found.data_path, limit=DEFAULT_LIMITS.max_bytes, name=found.path), secrets)
    except InputError as error:
        return Unreadable(str(error))
    except OSError as error:
        raise StoreError(f"{found.data_path}: {error.strerror}; the report cannot be read") from None


def _read(
    result: CheckResult, found: FoundReport, kind: str | None, root: Path | None, folders: tuple[str, ...]
) -> Report | Unreadable:
    data = _bytes(found, result.secrets)
    if isinstance(data, Unreadable) or found.data_path is None:
        return data if isinstance(data, Unreadable) else Unreadable("absent")
    if root is not None and is_data(data):
        made = as_json(found.data_path, root)
        report = made if isinstance(made, Unreadable) else read(made, format="coveragepy-json")
    else:
        report = read(data, format=result.check.format, kind=kind, folders=folders)
    if isinstance(report, Unreadable) and report.empty and result.finished.succeeded:
        silence = _silence(result.check.format, kind)
        return report if silence is None else silence
    if isinstance(report, TypeReport) and report.stopped:
        return Unreadable("the checker stopped at an error, there may be more than it counted; fix that one first")
    if _has_failed(result) and _has_no_line(report):
        read_as = examine(data, format=result.check.format).format
        if read_as is not None and read_as.syntax in ("lines", "text"):
            return Unreadable(f"the command failed ({result.finished.summary}), and no finding can be read in its text")
    if (wrong := _contradiction(report)) is not None:
        return Unreadable(f"it contradicts itself, so its numbers do not count: {wrong}")
    asked = result.check.kind
    if isinstance(report, Unreadable) or asked is None or _KIND[type(report)] == asked:
        return report
    return Unreadable(f"a report of {_KIND[type(report)]}, not of {asked}")


def _foreign_syntax(result: CheckResult, found: FoundReport) -> str | None:
    """Return the syntax of a file that a pattern matched and that is no report, None for any other."""
    if found.data_path is None or found.path in result.check.reports:
        return None
    data = _bytes(found, ())
    return foreign_syntax(data) if isinstance(data, bytes) else None


def _suffix(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[2]


def _has_no_line(report: Report | Unreadable) -> bool:
    """Return whether it is a linter's or type checker's without a finding."""
    if isinstance(report, LintReport):
        return not report.findings and not report.suppressed
    return (
        isinstance(report, TypeReport)
        and report == TypeReport(skipped_lines=report.skipped_lines, declared_errors=report.declared_errors)
        and not report.declared_errors
    )


def _contradiction(report: Report | Unreadable) -> str | None:
    """Return how a report contradicts itself so much that its numbers would mislead, None if it does not.

    Of tests that is a list shorter than declared, or a count below zero, of coverage a percentage more than a point
    off. A type checker's greater number counts anyway.
    """
    if isinstance(report, Unreadable | TypeReport) or report.contradiction is None:
        return None
    if isinstance(report, TestReport):
        declared = report.declared.tests
        if ": -" in report.contradiction:
            return report.contradiction
        return report.contradiction if declared is not None and declared > report.tests + len(report.broken) else None
    if isinstance(report, CoverageReport):
        stated = report.declared_percent
        if report.declared_covered is not None and report.declared_total:
            stated = share(report.declared_covered, report.declared_total)
        off = stated is None or report.percent is None or abs(stated - report.percent) > 1.0
        return report.contradiction if off else None
    return report.contradiction


def _kind_of_path(path: str) -> str | None:
    """Guess the kind of an unreadable report from the usual names of such files."""
    name = path.rpartition("/")[2].lower()
    if "coverage" in name:
        return "coverage"
    return "tests" if name.endswith(".xml") else None


def _silence(name: str | None, kind: str | None) -> Report | None:
    """Return the report for empty output if the tool prints nothing when it finds nothing, else None.

    Without a format all line-based formats of the kind must have such a report.
    """
    if name is not None:
        return None if (named := by_name(name)) is None else named.silence
    silences = [each.silence for each in FORMATS if each.kind == kind and each.syntax in ("lines", "text")]
    return silences[0] if silences and None not in silences else None


def _why(result: CheckResult, found: FoundReport, report: Unreadable) -> str:
    said = None
    absent, name = found.missing is Missing.ABSENT, result.check.name
    if (absent or report.empty) and _has_failed(result) and result.check.held_back is None:
        # By its output alone: with such an option a run may also have crashed.
        said = stopped_early(runner_of(command_text(result.check), name), "", _output(result))
        said = said or last_words(result.stdout, result.stderr)
    how, reason = result.finished.summary, f"; {said}" if said else ""
    if found.path == STANDARD_OUTPUT:
        return f"check `{name}` printed no report ({how}){'' if absent else f': {report}'}{reason}"
    if absent:
        return f"check `{name}` did not write {found.path} ({how}){reason}"
    return f"check `{name}` ({how}): {found.path}: {report}{reason}"


def _output(result: CheckResult) -> str:
    """Return a command's output, standard error first, of a long one the beginning and the end."""
    texts = ["", ""]
    for place, path in enumerate((result.stderr, result.stdout)):
        with suppress(OSError), path.open("rb") as file:
            text = file.read(_LOOKED_AT)
            file.seek(max(len(text), path.stat().st_size - _LOOKED_AT))
            texts[place] = (text + file.read()).decode("utf-8", "replace")
    return "\n".join(texts)


def _has_failed(result: CheckResult) -> bool:
    """Return whether the command itself failed, so that its output may say why."""
    return result.finished.exit_code not in {None, 0} and result.finished.problem is None


def _values_of(report: CoverageReport | LintReport | TypeReport) -> dict[str, Any]:
    """Return the metrics of a report that is no report of tests."""
    if isinstance(report, CoverageReport):
        return {
            "coverage_percentage": report.percent,
            "coverage_lines_covered": report.lines_covered,
            "coverage_lines_total": report.lines_total,
        }
    if isinstance(report, LintReport):
        return {"lint_errors": report.errors, "lint_warnings": report.warnings}
    return {"type_errors": report.errors}


def without_unloaded(tests: TestResults) -> TestResults:
    """Return results without the entries that runners report for tests they could not collect."""
    places = {dotted(place) for place in tests.not_loaded}
    if not places:
        return tests
    kept = {
        name: how
        for name, how in tests.outcomes.items()
        if how != FAILED or not (dotted(name) in places or name.replace("_", " ").endswith(_IN_PLACE_OF_TESTS))
    }
    return tests._replace(outcomes=kept)
