"""The table of metrics with their units and directions, the values of one iteration, and the differences of two.

Metrics are rounded half-up once, when recorded, and compared exactly afterwards (semantics § 3, § 4).
"""

from collections.abc import Iterable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum
from typing import Any, Final, Literal, NamedTuple

from ralph_tracker.codec import ValueObject
from ralph_tracker.core.integrity_result import Integrity

PERCENT_DECIMALS: Final = 1
SCORE_DECIMALS: Final = 4
COMPLEXITY_DECIMALS: Final = 2
LARGEST_VALUE: Final = 10**12  # more than any loop counts, and small enough for exact arithmetic
LONGEST_TEST_ID: Final = 10_000


def half_up(value: float, decimals: int = 0) -> float:
    """Round half away from zero, ignoring the binary noise of sums."""
    exact = Decimal(repr(without_noise(float(value))))
    return float(exact.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP))


def without_noise(value: float) -> float:
    """Remove the binary noise of a product or a quotient, so that it compares as in decimal arithmetic."""
    return round(value, 10)


def whole(value: float) -> int:
    """Round half-up to a whole number."""
    return int(half_up(value))


def plain_number(value: float) -> str:
    """Format a number without a trailing .0 and without an exponent."""
    text = f"{value:.10f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def known_score(score: float | None, values: Iterable[object]) -> float | None:
    """Return a score, None where nothing was measured: it counts as 0, but it is unknown."""
    return score if any(value is not None for value in values) else score or None


def quantity(count: int, noun: str) -> str:
    """Format a count with its noun: 1 test, 2 tests."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


class Direction(StrEnum):
    UP_IS_BETTER = "up"
    DOWN_IS_BETTER = "down"
    NEUTRAL = "neutral"


class Group(StrEnum):
    """What is measured together, and so goes missing together: a report, or the code."""

    TESTS = "tests"
    COVERAGE = "coverage"
    LINT = "lint"
    TYPES = "types"
    BUILD = "build"
    CODE = "code"


Section = Literal["testing", "quality", "codebase"]
BuildStatus = Literal["success", "failure"]
Value = int | float | str


class MetricSpec(NamedTuple):
    """One metric.

    `decimals` are kept when it is recorded; 0 for counts. `label` is for display, `unit` follows the number. A status
    (`build_status`) has no delta.
    """

    name: str
    section: Section
    group: Group
    direction: Direction
    label: str
    decimals: int = 0
    unit: str = ""
    numeric: bool = True

    @property
    def delta_name(self) -> str:
        """Return the published name; the specification says `coverage_delta`, all others are named after the field."""
        return "coverage_delta" if self.name == "coverage_percentage" else f"{self.name}_delta"


_UP, _DOWN, _EVEN = Direction.UP_IS_BETTER, Direction.DOWN_IS_BETTER, Direction.NEUTRAL

METRICS: Final[tuple[MetricSpec, ...]] = (
    MetricSpec("test_count", "testing", Group.TESTS, _UP, "Test Count"),
    MetricSpec("tests_passed", "testing", Group.TESTS, _UP, "Tests Passed"),
    MetricSpec("tests_failed", "testing", Group.TESTS, _DOWN, "Tests Failed"),
    MetricSpec("tests_skipped", "testing", Group.TESTS, _DOWN, "Tests Skipped"),
    MetricSpec("pass_rate", "testing", Group.TESTS, _UP, "Pass Rate", PERCENT_DECIMALS, "%"),
    MetricSpec("coverage_percentage", "testing", Group.COVERAGE, _UP, "Coverage", PERCENT_DECIMALS, "%"),
    MetricSpec("coverage_lines_covered", "testing", Group.COVERAGE, _UP, "Lines Covered"),
    MetricSpec("coverage_lines_total", "testing", Group.COVERAGE, _EVEN, "Lines Total"),
    MetricSpec("lint_errors", "quality", Group.LINT, _DOWN, "Lint Errors"),
    MetricSpec("lint_warnings", "quality", Group.LINT, _DOWN, "Lint Warnings"),
    MetricSpec("type_errors", "quality", Group.TYPES, _DOWN, "Type Errors"),
    MetricSpec("build_status", "quality", Group.BUILD, _UP, "Build", numeric=False),
    MetricSpec("error_count", "quality", Group.LINT, _DOWN, "Errors"),
    MetricSpec("file_count", "codebase", Group.CODE, _EVEN, "Files"),
    MetricSpec("loc_total", "codebase", Group.CODE, _EVEN, "Lines of Code"),
    MetricSpec("complexity_score", "codebase", Group.CODE, _DOWN, "Complexity", COMPLEXITY_DECIMALS),
)
BY_NAME: Final[Mapping[str, MetricSpec]] = {spec.name: spec for spec in METRICS}
SECTIONS: Final[tuple[Section, ...]] = ("testing", "quality", "codebase")
# The metrics that classification, stall and cycling look at (semantics § 4, § 6).
KEY_METRICS: Final[tuple[str, ...]] = ("test_count", "pass_rate", "coverage_percentage", "error_count")


class Metrics(ValueObject):
    """The recorded values of one iteration; None is "not measured", never 0.

    Percentages are 0 to 100 with one decimal, complexity has two, the rest are counts.
    """

    test_count: int | None = None
    tests_passed: int | None = None
    tests_failed: int | None = None
    tests_skipped: int | None = None
    pass_rate: float | None = None
    coverage_percentage: float | None = None
    coverage_lines_covered: int | None = None
    coverage_lines_total: int | None = None
    lint_errors: int | None = None
    lint_warnings: int | None = None
    type_errors: int | None = None
    build_status: BuildStatus | None = None
    error_count: int | None = None
    file_count: int | None = None
    loc_total: int | None = None
    complexity_score: float | None = None

    def get(self, name: str) -> Value | None:
        """Return the value of a metric by name, None if it was not measured."""
        value: Value | None = getattr(self, name)
        return value

    def number(self, name: str) -> float | None:
        """Return a numeric metric, None if it was not measured or is no number."""
        value = self.get(name)
        return None if isinstance(value, str) else value

    def known_values(self) -> dict[str, Value]:
        """Return what was measured, in the order of the table."""
        return {name: value for name, value in self._asdict().items() if value is not None}

    def to_dict(self) -> dict[str, dict[str, Value]]:
        """Return what was measured in the three sections of the seed; absent values are left out."""
        measured, document = self.known_values(), dict[str, dict[str, Value]]()
        for spec in METRICS:
            if spec.name in measured:
                document.setdefault(spec.section, {})[spec.name] = measured[spec.name]
        return document


# How a test ended; an error in set-up or tear-down counts as failed (semantics § 1).
PASSED: Final[str] = "passed"
FAILED: Final[str] = "failed"
SKIPPED: Final[str] = "skipped"
# What "at least as good as before" means (semantics § 5): a failing test is better than a skipped one.
OUTCOME_RANK: Final[Mapping[str, int]] = {SKIPPED: 0, FAILED: 1, PASSED: 2}


class TestResults(NamedTuple):
    """The identities of one report: test id → last outcome, seconds if known, tests whose reruns disagreed.

    `messages` maps failing tests to their failure message, if there is one. `not_loaded` maps files, packages or suites
    whose tests could not be collected to the first error line of the tool. `failed_first` are the flaky tests that
    passed before, failed, and passed when they were repeated; they keep their message.
    """

    outcomes: Mapping[str, str]
    durations: Mapping[str, float] = {}
    flaky: frozenset[str] = frozenset()
    messages: Mapping[str, str] = {}
    not_loaded: Mapping[str, str] = {}
    failed_first: frozenset[str] = frozenset()


TestResults.__test__ = False  # type: ignore[attr-defined]  # pytest would collect it by its name


class FurtherMetric(ValueObject, document="value unit direction"):
    """A number of an iteration beside the table of metrics; it is no part of the score.

    `value` is None where it was not measured. `direction` says which is better: up, down or neutral. Of a check's
    number `value` is the median of `samples`; an `objective` is optimised, and one with a `max_loss` (a share of the
    start, 0.02 for 2 %) is a guard. `counted` samples are those of an earlier iteration, whose check did not run again.
    `segment` names the benchmark and the machine.
    """

    name: str
    value: float | None
    unit: str = ""
    direction: Literal["up", "down", "neutral"] = "neutral"
    samples: tuple[float, ...] = ()
    objective: bool = False
    max_loss: float | None = None
    counted: bool = False
    segment: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return its document, with the samples where there are any."""
        return {**super().to_dict(), **({"samples": list(self.samples)} if self.samples else {})}


class Usage(ValueObject):
    """What an iteration cost; None is unknown, never 0. Money in USD, time in seconds."""

    cost_usd: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    turns: int | None = None
    duration_s: float | None = None

    def known_values(self) -> dict[str, float]:
        """Return what is known, in the order of the fields."""
        return {name: value for name, value in self._asdict().items() if value is not None}

    def to_dict(self) -> dict[str, float]:
        """Return what is known."""
        return self.known_values()


class Measurement(NamedTuple):
    """Everything that the judge gets from one iteration.

    `metrics` are as measured: derived and rounded when recorded. `quality_score` is one handed in, 0 to 1. `tests` is
    None if no identities are known. `missing` says per group why nothing was measured. `tree` names the content of the
    tree (None: not kept); `tree_visits` counts how often the lineage returned to that content from another one,
    `tree_last` is the latest iteration that did. `elapsed_s` counts from pre_loop. `blocked` is the runner's reason why
    a person is needed. `config_changed` names the keys that differ from the frozen configuration. `notes` tell a person
    how it was measured. `integrity` is the result of comparing files and running earlier tests, None if nobody did.
    `not_loaded` maps what did not build, so that its tests could not be collected, to the tool's first error line.
    `plan` counts the tasks of the plan, done and open; None without a plan. `failing_named` are the failing tests whose
    names were handed in beside counts of more tests; `tests` is None then. `further` are metrics beside the table.
    `quarantined` are the outcomes of tests that a person set aside; `tests` and the counts are without them.
    """

    metrics: Metrics
    timestamp: str
    quality_score: float | None = None
    tests: TestResults | None = None
    missing: Mapping[str, str] = {}
    usage: Usage | None = None
    blocked: str | None = None
    elapsed_s: float | None = None
    tree: str | None = None
    tree_visits: int = 0
    tree_last: int | None = None
    config_changed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    integrity: Integrity | None = None
    not_loaded: Mapping[str, str] = {}
    plan: tuple[int, int] | None = None
    failing_named: tuple[str, ...] = ()
    further: tuple[FurtherMetric, ...] = ()
    quarantined: Mapping[str, str] = {}

    def state_of_work(self) -> "Measurement":
        """Return what makes two calls for one iteration the same: all that was handed in, whenever they were made."""
        return Measurement(
            metrics=self.metrics,
            timestamp="",
            quality_score=self.quality_score,
            tests=None if self.tests is None else TestResults(self.tests.outcomes, flaky=self.tests.flaky),
            missing=self.missing,
            usage=self.usage,
            blocked=self.blocked,
            not_loaded=self.not_loaded,
            failing_named=self.failing_named,
        )


class MeasuredValue(NamedTuple):
    """A measured number and the iteration that measured it."""

    value: float
    iteration: int


Readings = Mapping[str, MeasuredValue]
NO_READINGS: Final[Readings] = {}
# The build status as a reading: 1 if it failed.
BUILD_FAILED: Final = "build_failed"


def read(metrics: Metrics, iteration: int, before: Readings = NO_READINGS) -> dict[str, MeasuredValue]:
    """Return the latest reading of every numeric metric; a metric that is missing now keeps its earlier one."""
    readings = dict(before)
    for spec in METRICS:
        value = metrics.number(spec.name) if spec.numeric else None
        if value is not None:
            readings[spec.name] = MeasuredValue(value, iteration)
    if metrics.build_status is not None:
        readings[BUILD_FAILED] = MeasuredValue(float(metrics.build_status == "failure"), iteration)
    return readings


def delta(now: float, before: float, decimals: int) -> float:
    """Return the difference of two recorded values, rounded to their decimals; an int for counts."""
    difference = half_up(now - before, decimals)
    return difference if decimals else int(difference)


def deltas(metrics: Metrics, before: Readings) -> dict[str, float]:
    """Return the delta of every numeric metric measured on both sides, under its published name."""
    found = {}
    for spec in METRICS:
        value, earlier = metrics.number(spec.name) if spec.numeric else None, before.get(spec.name)
        if value is not None and earlier is not None:
            found[spec.delta_name] = delta(value, earlier.value, spec.decimals)
    return found


def errors_at_size(error_count: int, loc: int | None, earlier_loc: float | None) -> int:
    """Return error_count scaled to the earlier size of the code.

    Only growth is scaled: twice the code with less than twice the findings is no regression. If a size is unknown, or
    the code shrank, the count is unchanged.
    """
    if loc is None or earlier_loc is None or loc <= earlier_loc:
        return error_count
    return whole(error_count * earlier_loc / loc)
