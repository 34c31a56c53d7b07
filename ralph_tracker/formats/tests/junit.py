"""JUnit XML, written by nearly every test runner, each in its own dialect.

Read as a stream, by local names, with `testsuites` (or `testrun`), `testsuite` or a lone `testcase` as the root. One
`testcase` is one case, at any depth, and its worst child decides: error > failure > skipped > none, which is passed
unless its attribute `status` or `result` says otherwise. What node marks as to do is skipped, whatever its outcome. A
suite may itself have an error: that of a hook, for example.

Reruns: Surefire and similar tools put `flakyFailure`, `rerunFailure` … into the case, whose other children give the
last outcome. pytest writes the case again for each rerun, without the failure of earlier runs, and again for an error
in tear-down that follows a failure: in its files the same id is the same case. Gradle and gotestsum write a case that
failed again for each retry: the last outcome counts. In other files the same id is another test, and one that failed
has the id without a number (case_collector.py), so that no failure is hidden by a test of the same name.
"""

import math
import re
from collections.abc import Mapping
from itertools import islice
from typing import Final

from ralph_tracker.core.known_tests import STOPPED_RUN, WHOLE_RUN
from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED
from ralph_tracker.formats.parsed_report import MAX_FAILURES, DeclaredCounts, TestReport, both
from ralph_tracker.formats.report_content import Content, DamageError, Text, attribute_count, local_name, xml_root
from ralph_tracker.formats.tests.case_collector import (
    ADDRESS,
    FAILED_AS_A_WHOLE,
    UNNAMED,
    Ordinals,
    file_name,
    first_count,
    give_id,
    id_prefix,
    impossible,
    listed_twice,
    lists_none,
    message,
    not_run,
    outside_of_tests,
    steady,
    unlike,
    why_not_loaded,
)

_MOCHA: Final = "Mocha Tests"


class Totals:
    """The declared counts of one file.

    `declared` is the sum over the outermost suites, missing counts being 0; the root's if no suite declares anything;
    None without any.
    """

    def __init__(self) -> None:
        self.declared = DeclaredCounts()
        self._root = DeclaredCounts()
        self._all_tests: int | None = None
        self.reruns = 0  # the extra runs of all cases
        self.excused = 0  # failures of cases that are skipped all the same
        self.uncounted = 0  # cases that their producer lists and does not count: hooks, tests to do
        self._below_zero: str | None = None
        self._each_fits: bool | None = None

    def root(self, attributes: Mapping[str, str]) -> None:
        self._root = self._read(attributes)

    def suite(self, attributes: Mapping[str, str], *, outermost: bool) -> None:
        said = self._read(attributes)
        self._all_tests = _sum(self._all_tests, said.tests)
        if outermost:
            self.declared = DeclaredCounts(
                tests=_sum(self.declared.tests, said.tests),
                failures=_sum(self.declared.failures, said.failures),
                errors=_sum(self.declared.errors, said.errors),
                skipped=_sum(self.declared.skipped, said.skipped),
            )

    def _read(self, attributes: Mapping[str, str]) -> DeclaredCounts:
        """Return the counts of one element; one below zero is remembered, as a sum could hide it."""
        skipped = first_count(attributes, "skipped", "skips", "skip")
        if attributes.get("name") == _MOCHA:  # it takes failed hooks, which are no tests, from its number of tests
            skipped = max(skipped or 0, 0)
        said = DeclaredCounts(
            tests=attribute_count(attributes, "tests"),
            failures=attribute_count(attributes, "failures"),
            errors=attribute_count(attributes, "errors"),
            skipped=skipped,
        )
        self._below_zero = self._below_zero or impossible(said, 10**18)
        return said

    def children(self, declared: int | None, number: int) -> None:
        """Compare a suite's own count with that of its direct children: Node counts these, and sums nothing up."""
        if declared is not None:
            self._each_fits = self._each_fits is not False and declared == number

    def close(self) -> None:
        """Use the root's counts if no suite declared any."""
        if self.declared == DeclaredCounts():
            self.declared = self._root

    def contradiction(self, counted: int, *, failed: int, more_is_fine: bool) -> str | None:
        """Return how the file contradicts itself; None if one of its ways of counting fits.

        A nesting suite may count its cases at any depth, only its own, or its direct children, and reruns or not.
        `more_is_fine` is for producers that count more than they list.
        """
        if self._below_zero is not None:
            return self._below_zero
        said = {number for number in (self.declared.tests, self._all_tests, self._root.tests) if number is not None}
        fits = said & {counted, counted + self.reruns, counted - self.uncounted} or (
            more_is_fine and said and min(said) > counted
        )
        if said and not (fits or self._each_fits):
            shown = self.declared.tests if self.declared.tests is not None else max(said)
            return unlike("tests", shown, counted)
        if unlisted := self.unlisted(failed):
            return unlike("failures and errors", unlisted, 0)
        most = max(counted + self.reruns, min(said) if more_is_fine and said else 0)
        return impossible(self.declared, most)

    def unlisted(self, failed: int) -> int:
        """Return how many failures and errors are declared where none is listed."""
        bad = (self.declared.failures or 0) + (self.declared.errors or 0)
        return bad if bad > self.reruns + self.excused and not failed else 0


def _sum(one: int | None, other: int | None) -> int | None:
    """Add two numbers; None only if both are unknown."""
    return other if one is None else one if other is None else one + other


_NOT_LOADED_BY_JEST: Final = "Test suite failed to run"
_OUTERMOST: Final = frozenset({"testsuites", "testrun"})  # `testrun` is exported by Eclipse
_ROOTS: Final = _OUTERMOST | {"testsuite", "testcase"}
sniff: Final = xml_root(*_ROOTS)

_PASSED, _SKIPPED, _FAILED, _ERROR = range(4)
_RERUNS: Final = frozenset({"flakyFailure", "flakyError", "rerunFailure", "rerunError"})
_CHILDREN: Final = {
    "error": _ERROR,
    "failure": _FAILED,
    "skipped": _SKIPPED,
    "disabled": _SKIPPED,
    **dict.fromkeys(_RERUNS, _PASSED),
}
_STATUSES: Final = {
    "error": _ERROR,
    "failure": _FAILED,
    "failed": _FAILED,
    "fail": _FAILED,
    **dict.fromkeys(("broken", "timeout", "timedout", "aborted", "crashed", "interrupted", "unknownfailure"), _FAILED),
    **dict.fromkeys(("notrun", "not_run", "notrunnable", "notexecuted", "inconclusive", "blocked"), _SKIPPED),
    **dict.fromkeys(("skipped", "skip", "disabled", "suppressed", "ignored", "ignore", "excluded"), _SKIPPED),
    **dict.fromkeys(("pending", "todo", "undefined", "canceled", "cancelled"), _SKIPPED),
}
_OUTCOMES: Final = (PASSED, SKIPPED, FAILED, FAILED)
# What gotestsum calls a test of a package, which it runs again with --rerun-fails.
_GO_TEST: Final = re.compile(r"(?:Test|Example|Fuzz)")
_RISKY: Final = frozenset({"PHPUnit\\Framework\\RiskyTestError", "PHPUnit\\Framework\\RiskyTest"})
_PYTEST_ROOT, _PYTEST_SUITE = "pytest tests", "pytest"
# vitest lists a test that it did not run as one that passed in no time; of files with types to check all take none.
_VITEST_ROOT: Final = "vitest tests"
_OF_TYPES: Final = re.compile(r"[-.]d\.[cm]?[jt]s$")
# What mocha and jest-junit call the hook that failed, or what failed outside of all tests.
_HOOK: Final = re.compile(
    r"\"(?:before|after) (?:all|each)\" hook\b|Test execution failure: could be caused by test hooks"
    r"|(?:^|::)Uncaught error outside test suite$"
)
_GO_BUILD: Final = re.compile(r"\[(?:build|setup) failed\]")
_FILE: Final = "(test file)"
_OF_UNITTEST: Final = "unittest.loader."  # _FailedTest, in place of the tests of a module
_SCRIPT: Final = re.compile(r"\.[cm]?[jt]sx?$")


def read(content: Content) -> TestReport:
    """Read the report; one without a case has 0 tests. Raises DamageError."""
    reader = _Reader(content)
    content.stream(reader.start, reader.end, reader.text)
    return reader.report()


class _Verdict:
    """The result of the children of one open testcase so far; most cases have no children and need none."""

    __slots__ = ("flaky", "is_todo", "rank", "reruns", "said", "teardown", "text")

    def __init__(self) -> None:
        self.rank = _PASSED
        self.reruns = 0
        self.flaky = False
        self.is_todo = False
        self.teardown = False
        self.said = ""
        self.text = ""


class _Prefixes(dict[str, str]):
    """The prefixes of test ids by class, computed once per suite."""

    def __init__(self, suites: tuple[str, ...]) -> None:
        super().__init__()
        self._suites = suites

    def __missing__(self, owner: str) -> str:
        found = self[owner] = id_prefix(self._suites, owner)
        return found


class _Seconds(dict[str, float]):
    """Parse durations: seconds, with optional commas between thousands; NaN if invalid.

    Many tests share few durations, so caching saves time and memory.
    """

    def __missing__(self, text: str) -> float:
        try:
            found = float(text.replace(",", "") if "." in text else text)
        except ValueError:
            found = math.nan
        found = found if 0 <= found < math.inf else math.nan
        if len(self) < 10_000:
            self[text] = found
        return found


class _Suite:
    """One open suite: the names of its parents and itself, and the prefixes of its tests' ids by class."""

    __slots__ = ("begins", "by_pytest", "declared", "inner_cases", "inner_suites", "names", "prefixes")

    def __init__(
        self, names: tuple[str, ...], *, by_pytest: bool, declared: int | None = None, begins: int = 0
    ) -> None:
        self.names = names
        self.by_pytest = by_pytest
        self.prefixes = _Prefixes(names)
        self.declared = declared
        self.begins = begins  # the number of cases before it
        self.inner_cases = 0
        self.inner_suites = 0


class _Reader:
    """Handle the events of one document.

    `start`, `end` and `_close_case` run for each case: for speed they call as little as possible.
    """

    def __init__(self, content: Content) -> None:
        self._max_depth = content.limits.max_depth
        self._folders = content.folders
        self._path: list[str] = []
        self._local: dict[str, str] = {}
        self._suites = [_Suite((), by_pytest=False)]
        self._cases: list[dict[str, str]] = []
        self._verdicts: dict[int, _Verdict] = {}  # by the number of open cases: some producers nest them
        self._outcomes: dict[str, str] = {}
        self._durations: dict[str, float] = {}
        self._in_error: set[str] = set()
        self._rerun: set[str] = set()
        self._flaky: set[str] = set()
        self._steadied: dict[str, str] = {}
        self._seconds = _Seconds()
        self._ordinals = Ordinals()
        self._totals = Totals()
        self._by_pytest = False
        self._messages: dict[str, str] = {}
        self._not_loaded: dict[str, str] = {}
        self.text = Text()
        self._gathering = -1  # how deep the element stands whose text is being gathered
        self._broken: set[str] = set()
        self._of_suite: tuple[str, str] | None = None  # the error of a suite that is open: its name and message
        self._by_gradle = False
        self._by_vitest = False
        self._by_jest = False
        self._not_run: list[str] = []
        self._differing: list[str] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        local = self._local.get(name) or self._local.setdefault(name, local_name(name))
        path = self._path
        if not path:
            self._root(local, attributes)
        if local == "testcase":
            self._cases.append(attributes)
        elif local == "testsuite":
            around, suite = self._suites[-1], attributes.get("name", "")
            self._totals.suite(attributes, outermost=len(self._suites) == 1)
            by_pytest = around.by_pytest or suite == _PYTEST_SUITE
            self._by_pytest = self._by_pytest or by_pytest
            names, begins = (*around.names, suite), len(self._outcomes)
            self._suites.append(
                _Suite(names, by_pytest=by_pytest, declared=attribute_count(attributes, "tests"), begins=begins)
            )
        elif path and path[-1] == "testcase":
            self._child(local, attributes)
        elif path and path[-1] == "testsuite" and local in {"error", "failure"}:
            self._of_suite = (id_prefix(self._suites[-1].names, "") + "(suite)", attributes.get("message", ""))
            self._gathering = len(path)
            self.text.begin()
        path.append(local)
        if len(path) > self._max_depth:
            raise DamageError(f"elements are nested deeper than {self._max_depth}")

    def end(self, _name: str) -> None:
        local = self._path.pop()
        is_gathered = len(self._path) == self._gathering
        if is_gathered and self._of_suite is not None:
            (name, said), self._of_suite, self._gathering = self._of_suite, None, -1
            self._broken.add(name)
            self._messages[name] = message(said, self.text.end())
        elif is_gathered:
            self._gathering = -1
            self._verdicts[len(self._cases)].text = self.text.end()
        elif local == "testcase":
            verdict = self._verdicts.pop(len(self._cases), None) if self._verdicts else None
            self._close_case(self._cases.pop(), verdict)
        elif local == "testsuite":
            suite = self._suites.pop()
            cases = len(self._outcomes) - suite.begins
            if self._by_jest and suite.declared is not None:
                self._skip_what_is_to_do([*islice(reversed(self._outcomes), cases)], suite.declared)
            self._totals.children(suite.declared, cases - suite.inner_cases + suite.inner_suites)
            self._suites[-1].inner_cases += cases
            self._suites[-1].inner_suites += 1

    def _root(self, local: str, attributes: dict[str, str]) -> None:
        if local not in _ROOTS:
            raise DamageError(f"the root element is <{local}>, not one of JUnit's")
        if local in _OUTERMOST:
            self._totals.root(attributes)
            self._suites[0].by_pytest = attributes.get("name") == _PYTEST_ROOT
            self._by_vitest = attributes.get("name") == _VITEST_ROOT
            self._by_jest = attributes.get("name") == "jest tests"
        self._by_gradle = local == "testsuite" and {"timestamp", "hostname"} <= attributes.keys()

    def _child(self, local: str, attributes: dict[str, str]) -> None:
        rank = _CHILDREN.get(local)
        if rank is None:
            return
        if rank == _ERROR and attributes.get("type") in _RISKY:  # PHPUnit 9 warns of it, and the test has passed
            self._totals.reruns += 1
            return
        verdict = self._verdicts.setdefault(len(self._cases), _Verdict())
        verdict.rank = max(verdict.rank, rank)
        verdict.is_todo = verdict.is_todo or (local == "skipped" and attributes.get("type") == "todo")
        if local in _RERUNS:
            verdict.reruns += 1
            verdict.flaky = verdict.flaky or local.startswith("flaky")
        elif rank == _ERROR:
            verdict.teardown = attributes.get("message", "").startswith("failed on teardown")
        if rank >= _FAILED and not verdict.text:
            said = verdict.said = attributes.get("message", "")
            if len(self._messages) < MAX_FAILURES or _file_not_loaded(self._cases[-1], said):
                self._gathering = len(self._path)
                self.text.begin()

    def _name_of(self, attributes: dict[str, str]) -> str:
        owner = attributes.get("classname") or attributes.get("class", "")
        if owner.startswith(_OF_UNITTEST):
            return f"{_file_not_loaded(attributes, '')}::{_FILE}"
        name = self._suites[-1].prefixes[owner] + (attributes.get("name") or UNNAMED)
        return self._steady(name) if ADDRESS in name else name

    def _close_case(self, attributes: dict[str, str], verdict: _Verdict | None) -> None:
        case = self._name_of(attributes)
        if verdict is not None and (file := _file_of_node(attributes)):
            case = f"{file_name(file, self._folders)}::{_FILE}"
            # The names of its tests have no file in them.
            self._not_loaded.setdefault(WHOLE_RUN, f"{file_name(file, self._folders)} {FAILED_AS_A_WHOLE}")
        rank = verdict.rank if verdict else _PASSED
        if verdict is not None and verdict.is_todo:
            self._totals.excused += rank > _SKIPPED
            rank = _SKIPPED
        if rank == _PASSED and ("status" in attributes or "result" in attributes):
            rank = _status(attributes)
        spent = self._seconds[attributes.get("time", "")]
        if case in self._outcomes and attributes.get("classname") == _NOT_LOADED_BY_JEST:
            return  # jest-junit lists the error of a file a second time, without its text
        if case in self._outcomes:
            case, spent = self._again(case, rank, spent, attributes, verdict)
        self._outcomes[case] = _OUTCOMES[rank]
        if self._by_vitest and rank == _PASSED and spent == 0 and not _OF_TYPES.search(attributes.get("classname", "")):
            self._not_run.append(case)
        if spent >= 0:
            self._durations[case] = spent
        if rank == _ERROR:
            self._in_error.add(case)
        if rank >= _FAILED and verdict:
            self._totals.uncounted += _HOOK.search(case) is not None
            if len(self._messages) < MAX_FAILURES and (short := message(verdict.said, verdict.text)):
                self._messages[case] = short
            place = _file_not_loaded(attributes, verdict.said, verdict.text)
            if place and place not in self._not_loaded and len(self._not_loaded) < MAX_FAILURES:
                self._not_loaded[place] = why_not_loaded(verdict.text or verdict.said)
        if verdict and verdict.reruns:
            self._totals.reruns += verdict.reruns
            self._rerun.add(case)
            if verdict.flaky or rank == _PASSED:
                self._flaky.add(case)

    def _again(
        self, case: str, rank: int, spent: float, attributes: dict[str, str], verdict: _Verdict | None
    ) -> tuple[str, float]:
        """Return the id and the duration of a case whose id was there before: the same test once more, or another."""
        suite, failed_before = self._suites[-1], self._outcomes[case] == FAILED
        if suite.by_pytest:  # its earlier result of a case that it repeats does not count
            if not (failed_before and verdict is not None and verdict.teardown):
                self._rerun.add(case)
        elif failed_before and rank != _SKIPPED and self._retries(suite, attributes):
            self._totals.reruns += 1
            self._rerun.add(case)
        else:
            return self._another(case, _OUTCOMES[rank]), spent
        self._in_error.discard(case)
        self._flaky.discard(case)
        self._messages.pop(case, None)
        if rank == _PASSED:
            self._flaky.add(case)
        return case, spent + self._durations.get(case, 0.0)

    def _retries(self, suite: _Suite, attributes: dict[str, str]) -> bool:
        """Return whether the producer of a case writes it again where it ran it again."""
        owner, package = attributes.get("classname", ""), suite.names[-1] if suite.names else ""
        by_go = bool(owner) and f"/{package}".endswith(f"/{owner}") and _GO_TEST.match(attributes.get("name", ""))
        return self._by_gradle or bool(by_go)

    def _another(self, case: str, outcome: str) -> str:
        """Return the id for another test of the same id; one that failed takes the id itself."""
        other = self._ordinals.next(case, self._outcomes)
        if (self._outcomes[case] == FAILED) != (outcome == FAILED):
            self._differing.append(case)
        if outcome != FAILED or self._outcomes[case] == FAILED:
            return other
        give_id(other, case, (self._durations, self._messages), (self._in_error, self._rerun, self._flaky))
        self._outcomes[other] = self._outcomes[case]
        return case

    def _steady(self, case: str) -> str:
        """Remove addresses: cases that differ only in these stay separate, repeated ones stay one."""
        found = self._steadied.get(case)
        if found is None:
            found = steady(case)
            if found in self._outcomes:
                found = self._ordinals.next(found, self._outcomes)
            self._steadied[case] = found
        return found

    def report(self) -> TestReport:
        """Return the report; pytest declares but does not list a test for each subtest and rerun."""
        self._totals.close()
        failed = sum(outcome == FAILED for outcome in self._outcomes.values()) + len(self._broken)
        if unlisted := self._totals.unlisted(failed):
            self._broken.add(WHOLE_RUN)
            self._messages[WHOLE_RUN] = lists_none(unlisted)
        contradiction = self._totals.contradiction(len(self._outcomes), failed=failed, more_is_fine=self._by_pytest)
        if self._not_run and failed:
            self._not_loaded.setdefault(STOPPED_RUN, not_run(len(self._not_run)))
            for case in self._not_run:
                del self._outcomes[case], self._durations[case]
        return TestReport(
            outcomes=self._outcomes,
            durations=self._durations,
            in_error=frozenset(self._in_error),
            rerun=frozenset(self._rerun),
            flaky=frozenset(self._flaky),
            declared=self._totals.declared,
            contradiction=contradiction,
            note=both(outside_of_tests(self._broken), listed_twice(self._differing)),
            broken=frozenset(self._broken),
            messages=self._messages,
            not_loaded=self._not_loaded,
        )

    def _skip_what_is_to_do(self, cases: list[str], declared: int) -> None:
        """Call tests of a suite skipped that jest-junit does not count: those to do, listed as passed in no time.

        Of more such tests than are not counted, the last ones are taken: the numbers are right, whichever they are.
        """
        failed_hooks = sum(self._outcomes[case] == FAILED and _HOOK.search(case) is not None for case in cases)
        uncounted = len(cases) - failed_hooks - declared
        idle = [case for case in cases if self._outcomes[case] == PASSED and not self._durations.get(case)]
        if 0 < uncounted <= len(idle):
            self._totals.uncounted += uncounted
            self._outcomes.update(dict.fromkeys(idle[:uncounted], SKIPPED))


def _file_not_loaded(attributes: dict[str, str], said: str, text: str = "") -> str | None:
    """Return the file or package whose tests could not be collected, None for an ordinary test.

    pytest, unittest, jest-junit, vitest and the writers for Go each mark it with a special case.
    """
    owner, name = attributes.get("classname", ""), attributes.get("name", "")
    if said == "collection failure":
        return attributes.get("file") or f"{(owner or name).replace('.', '/')}.py"
    if owner.startswith(_OF_UNITTEST):
        return f"{name.replace('.', '/')}.py"
    if owner == _NOT_LOADED_BY_JEST or (owner == name and _SCRIPT.search(name)):
        return file_name(name)
    if _GO_BUILD.search(name) or (name == "TestMain" and _GO_BUILD.search(text)):
        return owner
    return None


def _file_of_node(attributes: dict[str, str]) -> str | None:
    """Return the path of a test file that node lists as a test, since its process failed; None for a test."""
    name = attributes.get("name", "")
    # the class of all its tests
    is_path = attributes.get("classname") == "test" and name.startswith("/") and _SCRIPT.search(name)
    return name if is_path else None


def _status(attributes: dict[str, str]) -> int:
    """Return the worse outcome of the two attributes of a case without a result element."""
    rank = _PASSED
    for key in ("status", "result"):
        said = attributes.get(key)
        if said:
            rank = max(rank, _STATUSES.get(said.lower(), _PASSED))
    return rank
