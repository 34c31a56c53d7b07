"""The value type of test reports."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import NamedTuple

from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED, TestResults
from ralph_tracker.formats.sums import known_sum
from ralph_tracker.formats.tests.messages import KEPT


class Declared(NamedTuple):
    """The counts that a test report declares; None if it declares none."""

    tests: int | None = None
    failures: int | None = None
    errors: int | None = None
    skipped: int | None = None

    def __add__(self, other: "Declared") -> "Declared":  # type: ignore[override]  # a sum, and no longer tuple
        return Declared(
            tests=known_sum(self.tests, other.tests),
            failures=known_sum(self.failures, other.failures),
            errors=known_sum(self.errors, other.errors),
            skipped=known_sum(self.skipped, other.skipped),
        )


class Counts(NamedTuple):
    """The numbers of tests by outcome, if the report does not name them."""

    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0

    @property
    def tests(self) -> int:
        return self.passed + self.failed + self.errors + self.skipped

    def __add__(self, other: "Counts") -> "Counts":  # type: ignore[override]  # a sum, and no longer tuple
        return Counts(
            passed=self.passed + other.passed,
            failed=self.failed + other.failed,
            errors=self.errors + other.errors,
            skipped=self.skipped + other.skipped,
        )


class TestReport(NamedTuple):
    """The outcome of each test, in the order of the report.

    `in_error` are the failed tests that ended in error (set-up, tear-down, collection). `durations` are seconds, only
    if stated. `rerun` are the tests that ran more than once, `flaky` those of them whose runs disagree. `unnamed`
    counts further tests of which only the number is known. `broken` names failures that are not completed tests: a
    package that does not build, a test that a crash cut off; the tool counts no test for them, and neither do `tests`
    and `errors`, but `results` has them as failed. `contradiction` says how the declared counts differ from the cases,
    `note` what else to know about the source of the numbers. `skipped_lines` were no part of the report. `messages` and
    `not_loaded` are as in TestResults; only the first messages are kept, shortened (messages.py).
    """

    outcomes: Mapping[str, str] = {}
    durations: Mapping[str, float] = {}
    in_error: frozenset[str] = frozenset()
    rerun: frozenset[str] = frozenset()
    flaky: frozenset[str] = frozenset()
    declared: Declared = Declared()
    contradiction: str | None = None
    note: str | None = None
    unnamed: Counts = Counts()
    broken: frozenset[str] = frozenset()
    skipped_lines: int = 0
    messages: Mapping[str, str] = {}
    not_loaded: Mapping[str, str] = {}

    @property
    def tests(self) -> int:
        return len(self.outcomes) + self.unnamed.tests

    @property
    def passed(self) -> int:
        return self._count(PASSED) + self.unnamed.passed

    @property
    def failed(self) -> int:
        """Return how many failed without being in error; semantics § 1 counts both as failed."""
        return self._count(FAILED) - len(self.in_error) + self.unnamed.failed

    @property
    def errors(self) -> int:
        return len(self.in_error) + self.unnamed.errors

    @property
    def skipped(self) -> int:
        return self._count(SKIPPED) + self.unnamed.skipped

    def _count(self, outcome: str) -> int:
        return list(self.outcomes.values()).count(outcome)

    @property
    def results(self) -> TestResults | None:
        """Return the identities for the core; None if some tests are unnamed, since partial identities are useless."""
        if self.unnamed.tests:
            return None
        return TestResults(
            {**self.outcomes, **dict.fromkeys(sorted(self.broken), FAILED)},
            self.durations,
            self.flaky,
            self.messages,
            self.not_loaded,
        )

    def __add__(self, other: "TestReport") -> "TestReport":  # type: ignore[override]  # a sum, and no longer tuple
        return add_tests((self, other))


TestReport.__test__ = False  # type: ignore[attr-defined]  # pytest would collect it by its name


def add_tests(reports: Iterable[TestReport]) -> TestReport:
    """Add up test reports, the earliest first, in linear time.

    An id in several reports counts once: the last run wins, and the test is flaky if the runs disagree. A skip is not a
    run: it neither replaces a run nor disagrees with one. Tests without an id are assumed to be different.
    """
    total = _TestTotal()
    for report in reports:
        total.add(report)
    return TestReport(
        outcomes=total.outcomes,
        durations=total.durations,
        in_error=frozenset(total.in_error),
        rerun=frozenset(total.rerun),
        flaky=frozenset(total.flaky),
        declared=total.declared or Declared(),
        contradiction="; ".join(total.contradictions) or None,
        note="; ".join(total.notes) or None,
        unnamed=total.unnamed,
        broken=frozenset(total.broken),
        skipped_lines=total.skipped_lines,
        messages=dict(islice(total.messages.items(), KEPT)),
        not_loaded=total.not_loaded,
    )


class _TestTotal:
    """The sum of several reports, added in order of time."""

    def __init__(self) -> None:
        self.outcomes: dict[str, str] = {}
        self.durations: dict[str, float] = {}
        self.in_error: set[str] = set()
        self.rerun: set[str] = set()
        self.flaky: set[str] = set()
        self.declared: Declared | None = None
        self.contradictions: list[str] = []
        self.notes: dict[str, None] = {}
        self.unnamed = Counts()
        self.broken: set[str] = set()
        self.skipped_lines = 0
        self.messages: dict[str, str] = {}
        self.not_loaded: dict[str, str] = {}

    def add(self, report: TestReport) -> None:
        before, now = self.outcomes, report.outcomes
        again = before.keys() & now.keys()
        kept = {case for case in again if now[case] == SKIPPED}
        ran_twice = {case for case in again - kept if before[case] != SKIPPED}
        self.rerun |= report.rerun | ran_twice
        self.flaky |= report.flaky | {case for case in ran_twice if before[case] != now[case]}
        self.in_error -= again - kept
        self.in_error |= report.in_error
        self.outcomes.update((case, outcome) for case, outcome in now.items() if case not in kept)
        self.durations.update((case, time) for case, time in report.durations.items() if case not in kept)
        self.declared = report.declared if self.declared is None else self.declared + report.declared
        if report.contradiction:
            self.contradictions.append(report.contradiction)
        if report.note:
            self.notes[report.note] = None
        self.unnamed += report.unnamed
        self.broken |= report.broken
        self.skipped_lines += report.skipped_lines
        for case in again - kept if self.messages else ():
            self.messages.pop(case, None)
        self.messages.update((case, said) for case, said in report.messages.items() if case not in kept)
        self.not_loaded = {**report.not_loaded, **self.not_loaded}
