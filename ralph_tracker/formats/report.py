"""What report files come down to: one value object a kind of report, and Unreadable for all that is none."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal

from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED, TestResults

Kind = Literal["tests", "coverage", "lint", "types"]

EMPTY: Final = "empty"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Say why bytes are no report, and where: lines and columns count from 1, None is unknown.

    It stands for "not measured", never for zero.
    """

    why: str
    line: int | None = None
    column: int | None = None

    @property
    def empty(self) -> bool:
        """Whether there was nothing at all, which some tools write when they find nothing (see registry.py)."""
        return self.why == EMPTY

    def __str__(self) -> str:
        if self.line is None:
            return self.why
        column = "" if self.column is None else f", column {self.column}"
        return f"{self.why} (line {self.line}{column})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """Hold the counts that a test report states about itself; None where it states none."""

    tests: int | None = None
    failures: int | None = None
    errors: int | None = None
    skipped: int | None = None

    def __add__(self, other: "Declared") -> "Declared":
        return Declared(
            tests=_known_sum(self.tests, other.tests),
            failures=_known_sum(self.failures, other.failures),
            errors=_known_sum(self.errors, other.errors),
            skipped=_known_sum(self.skipped, other.skipped),
        )


@dataclass(frozen=True, kw_only=True)
class TestReport:
    """Hold the outcome of each test, in the order of the report.

    `in_error` are those of the failed that ended in error (set-up, tear-down, collection). `durations` are seconds,
    only where stated. `rerun` are the tests that ran more than once, `flaky` those of them whose runs disagree.
    `contradiction` says where the counts that the report declares are not those of its cases.
    """

    __test__ = False  # not a test class, whatever its name looks like to a test runner

    outcomes: Mapping[str, str] = field(default_factory=dict)
    durations: Mapping[str, float] = field(default_factory=dict)
    in_error: frozenset[str] = frozenset()
    rerun: frozenset[str] = frozenset()
    flaky: frozenset[str] = frozenset()
    declared: Declared = Declared()
    contradiction: str | None = None

    @property
    def tests(self) -> int:
        return len(self.outcomes)

    @cached_property
    def passed(self) -> int:
        return self._count(PASSED)

    @cached_property
    def failed(self) -> int:
        """Return how many failed without being in error; semantics § 1 counts both as failed."""
        return self._count(FAILED) - self.errors

    @property
    def errors(self) -> int:
        return len(self.in_error)

    @cached_property
    def skipped(self) -> int:
        return self._count(SKIPPED)

    def _count(self, outcome: str) -> int:
        return sum(value == outcome for value in self.outcomes.values())

    @property
    def results(self) -> TestResults:
        """Return the identities as the core wants them."""
        return TestResults(self.outcomes, self.durations, self.flaky)

    def __add__(self, other: "TestReport") -> "TestReport":
        return add_tests((self, other))


def add_tests(reports: Iterable[TestReport]) -> TestReport:
    """Add up test reports, the earliest first, in time linear in their cases.

    An id that is in several counts once: the last run wins, and the test is flaky where the runs disagree. A skip
    is no run: it neither replaces a run nor disagrees with one.
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
    )


class _TestTotal:
    """Gather the cases of reports, each later than the one before."""

    def __init__(self) -> None:
        self.outcomes: dict[str, str] = {}
        self.durations: dict[str, float] = {}
        self.in_error: set[str] = set()
        self.rerun: set[str] = set()
        self.flaky: set[str] = set()
        self.declared: Declared | None = None
        self.contradictions: list[str] = []

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


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageReport:
    """Hold line coverage; `percent` (0 to 100) is the tool's own, None where there is no line to cover.

    Reports add up line by line; whether two of them speak of the same file is not known.
    """

    lines_covered: int
    lines_total: int
    percent: float | None

    def __add__(self, other: "CoverageReport") -> "CoverageReport":
        covered, total = self.lines_covered + other.lines_covered, self.lines_total + other.lines_total
        if not other.lines_total or not self.lines_total:
            percent = self.percent if self.lines_total else other.percent
        else:
            percent = covered / total * 100
        return CoverageReport(lines_covered=covered, lines_total=total, percent=percent)


@dataclass(frozen=True, slots=True, kw_only=True)
class LintReport:
    """Hold the findings of a linter by severity; those that the code suppresses stand apart.

    `codes` is how often each rule was found, the tool's word for a finding without a rule included.
    """

    errors: int = 0
    warnings: int = 0
    notes: int = 0
    suppressed: int = 0
    codes: Mapping[str, int] = field(default_factory=dict)

    @property
    def results(self) -> int:
        """Return how many findings count: the suppressed ones do not."""
        return self.errors + self.warnings + self.notes

    def __add__(self, other: "LintReport") -> "LintReport":
        codes = dict(self.codes)
        for code, number in other.codes.items():
            codes[code] = codes.get(code, 0) + number
        return LintReport(
            errors=self.errors + other.errors,
            warnings=self.warnings + other.warnings,
            notes=self.notes + other.notes,
            suppressed=self.suppressed + other.suppressed,
            codes=codes,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeReport:
    """Hold the findings of a type checker.

    `errors` is the greater of the errors listed and `declared_errors`, the checker's own total (None: it gave
    none). `stopped` means that an error kept the checker from going on: there may be more errors than were counted,
    so the number is no progress. `skipped_lines` were no finding.
    """

    errors: int = 0
    warnings: int = 0
    notes: int = 0
    skipped_lines: int = 0
    declared_errors: int | None = None
    stopped: bool = False
    contradiction: str | None = None

    def __add__(self, other: "TypeReport") -> "TypeReport":
        said = "; ".join(text for text in (self.contradiction, other.contradiction) if text)
        return TypeReport(
            errors=self.errors + other.errors,
            warnings=self.warnings + other.warnings,
            notes=self.notes + other.notes,
            skipped_lines=self.skipped_lines + other.skipped_lines,
            declared_errors=_known_sum(self.declared_errors, other.declared_errors),
            stopped=self.stopped or other.stopped,
            contradiction=said or None,
        )


Report = TestReport | CoverageReport | LintReport | TypeReport


def _known_sum(one: int | None, other: int | None) -> int | None:
    """Add what is known: None and a number is None, since half a total is none."""
    return None if one is None or other is None else one + other
