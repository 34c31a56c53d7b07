"""Playwright's JSON report (`--reporter=json`): the suites of each file, and each test once a project."""

from collections.abc import Iterator
from typing import Any, Final, Literal

import msgspec

from ralph_tracker.core.known_tests import WHOLE_RUN
from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED
from ralph_tracker.formats.json_reader import Count, decode, inside
from ralph_tracker.formats.parsed_report import DeclaredCounts, TestReport
from ralph_tracker.formats.report_content import Content, json_object
from ralph_tracker.formats.tests.case_collector import (
    ERROR,
    CaseCollector,
    case_id,
    contradiction,
    file_name,
)

sniff: Final = json_object("config", "suites", "errors", "stats")
_OUTCOMES: Final = {"expected": PASSED, "flaky": PASSED, "unexpected": FAILED, "skipped": SKIPPED}


class _Error(msgspec.Struct):
    message: str = ""
    location: Any = None


class _Result(msgspec.Struct):
    duration: float = 0
    error: _Error | None = None


class _Test(msgspec.Struct, rename="camel"):
    status: Literal["expected", "flaky", "unexpected", "skipped"]
    expected_status: str = ""
    project_name: str = ""
    results: list[_Result] = []

    @property
    def was_not_run(self) -> bool:
        """Return whether the run stopped before it: it has no result, and was not to be skipped."""
        return self.status == "skipped" and not self.results and self.expected_status not in ("", "skipped")


class _Spec(msgspec.Struct):
    title: str
    tests: list[_Test]
    file: str = ""


class _Suite(msgspec.Struct):
    title: str = ""
    specs: list[_Spec] = []
    suites: "list[_Suite]" = []


class _Stats(msgspec.Struct):
    expected: Count
    skipped: Count
    unexpected: Count
    flaky: Count


class _Config(msgspec.Struct, rename="camel"):
    root_dir: str = ""


class _Report(msgspec.Struct):
    config: _Config
    suites: list[_Suite]
    errors: list[_Error]
    stats: _Stats


def read(content: Content) -> TestReport:
    """Read the report; an error outside of the tests, such as a file that cannot be loaded, is a case in error.

    A test that failed as it had to has passed. Raises DamageError.
    """
    report = decode(content, _Report, "Playwright")
    cases, not_run = CaseCollector(), 0
    for suite in report.suites:
        for names, spec in _specs(suite, ()):
            for test in spec.tests:
                if test.was_not_run:
                    not_run += 1
                    cases.leave_out()
                else:
                    _add(cases, case_id(spec.file, _name(test, (*names, spec.title))), test)
    stats = report.stats
    tests = stats.expected + stats.skipped + stats.unexpected + stats.flaky
    declared = DeclaredCounts(tests - not_run, stats.unexpected)
    wrong = contradiction(declared, cases)
    for error in report.errors:
        place = inside(error.location, "file")
        file = file_name(str(place), (f"{report.config.root_dir}/", *content.folders)) if place else ""
        cases.add(case_id(file, "(test file)") if file else WHOLE_RUN, ERROR, said=error.message)
        if file:
            cases.add_not_loaded(file, error.message)
    return cases.report(declared, contradiction=wrong)


def _specs(suite: _Suite, names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], _Spec]]:
    """Yield the specs of a suite with the titles of its inner suites; the outermost is the file."""
    for spec in suite.specs:
        yield names, spec
    for inner in suite.suites:
        yield from _specs(inner, (*names, inner.title))


def _name(test: _Test, titles: tuple[str, ...]) -> str:
    name = " > ".join(filter(None, titles))
    return f"[{test.project_name}] {name}" if test.project_name else name


def _add(cases: CaseCollector, name: str, test: _Test) -> None:
    said = next((each.error.message for each in reversed(test.results) if each.error), "")
    flaky = test.status == "flaky"
    seconds = sum(each.duration for each in test.results) / 1000
    cases.add(name, _OUTCOMES[test.status], seconds, rerun=len(test.results) > 1, flaky=flaky, said=said)
