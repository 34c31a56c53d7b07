"""The table of metrics, and values of which some were not measured (semantics § 1)."""

from ralph_tracker.core.metrics import (
    BY_NAME,
    KEY_METRICS,
    METRICS,
    OUTCOME_RANK,
    SECTIONS,
    Direction,
    FurtherMetric,
    Group,
    Measurement,
    Metrics,
    TestResults,
    Usage,
    known_score,
)
from tests.tables import table

_SECTIONS = {
    "testing": [
        "test_count",
        "tests_passed",
        "tests_failed",
        "tests_skipped",
        "pass_rate",
        "coverage_percentage",
        "coverage_lines_covered",
        "coverage_lines_total",
    ],
    "quality": ["lint_errors", "lint_warnings", "type_errors", "build_status", "error_count"],
    "codebase": ["file_count", "loc_total", "complexity_score"],
}


def test_each_section_has_the_fields_of_the_specification_in_their_order():
    fixed = {name for names in _SECTIONS.values() for name in names}
    found = {section: [m.name for m in METRICS if m.section == section and m.name in fixed] for section in SECTIONS}
    assert found == _SECTIONS


def test_the_values_of_an_iteration_are_those_of_the_table():
    assert list(Metrics._fields) == [spec.name for spec in METRICS] == list(BY_NAME)


@table(
    ("score", "values", "known"),
    [(0.0, [None, None], None), (0.0, [], None), (0.0, [None, 0], 0.0), (0.4, [None], 0.4), (None, [1], None)],
)
def test_a_score_of_0_is_unknown_where_nothing_was_measured(score, values, known):
    assert known_score(score, values) == known


@table(("name", "decimals"), [("pass_rate", 1), ("coverage_percentage", 1), ("complexity_score", 2), ("test_count", 0)])
def test_decimals_that_are_recorded(name, decimals):
    assert BY_NAME[name].decimals == decimals


@table(
    ("name", "expected"),
    [
        ("coverage_percentage", "coverage_delta"),
        ("pass_rate", "pass_rate_delta"),
        ("coverage_lines_covered", "coverage_lines_covered_delta"),
        ("error_count", "error_count_delta"),
    ],
)
def test_deltas_are_named_as_the_seed_names_them(name, expected):
    assert BY_NAME[name].delta_name == expected


@table(
    ("direction", "names"),
    [
        (
            Direction.UP_IS_BETTER,
            {
                "test_count",
                "tests_passed",
                "pass_rate",
                "coverage_percentage",
                "coverage_lines_covered",
                "build_status",
            },
        ),
        (
            Direction.DOWN_IS_BETTER,
            {
                "tests_failed",
                "tests_skipped",
                "lint_errors",
                "lint_warnings",
                "type_errors",
                "error_count",
                "complexity_score",
            },
        ),
        (Direction.NEUTRAL, {"coverage_lines_total", "file_count", "loc_total"}),
    ],
)
def test_direction(direction, names):
    assert {BY_NAME[name].direction for name in names} == {direction}


@table(
    ("group", "names"),
    [
        (Group.TESTS, {"test_count", "tests_passed", "tests_failed", "tests_skipped", "pass_rate"}),
        (Group.COVERAGE, {"coverage_percentage", "coverage_lines_covered", "coverage_lines_total"}),
        (Group.LINT, {"lint_errors", "lint_warnings", "error_count"}),
        (Group.TYPES, {"type_errors"}),
        (Group.BUILD, {"build_status"}),
        (Group.CODE, {"file_count", "loc_total", "complexity_score"}),
    ],
)
def test_what_goes_missing_together(group, names):
    assert {BY_NAME[name].group for name in names} == {group}


def test_the_four_that_classification_stall_and_cycling_look_at():
    assert KEY_METRICS == ("test_count", "pass_rate", "coverage_percentage", "error_count")


def test_what_was_not_measured_is_absent_and_zero_is_a_measurement():
    metrics = Metrics(lint_errors=0, build_status="success", coverage_percentage=50.0)
    assert metrics.known_values() == {"coverage_percentage": 50.0, "lint_errors": 0, "build_status": "success"}
    assert list(metrics.known_values()) == ["coverage_percentage", "lint_errors", "build_status"]
    assert metrics.get("lint_errors") == 0
    assert metrics.get("lint_warnings") is None


def test_a_status_is_no_number():
    metrics = Metrics(build_status="failure", loc_total=3)
    assert metrics.get("build_status") == "failure"
    assert metrics.number("build_status") is None
    assert metrics.number("loc_total") == 3
    assert not BY_NAME["build_status"].numeric


def test_a_test_that_runs_is_worth_more_than_one_that_is_skipped():
    assert sorted(OUTCOME_RANK, key=OUTCOME_RANK.__getitem__) == ["skipped", "failed", "passed"]


def test_unknown_usage_is_left_out_and_free_is_known():
    assert Usage(turns=3, cost_usd=0.0).known_values() == {"cost_usd": 0.0, "turns": 3}
    assert Usage().known_values() == {}


class TestStateOfWork:
    ONE = Measurement(
        metrics=Metrics(test_count=1), timestamp="", tests=TestResults({"a": "passed"}, durations={"a": 0.1})
    )

    @table("change", [{"timestamp": "2027-01-01T00:00:00Z"}, {"elapsed_s": 1.5}, {"config_changed": ("loop",)}])
    def test_is_the_same_whenever_the_call_was_made(self, change):
        assert self.ONE._replace(**change).state_of_work() == self.ONE.state_of_work()

    @table(
        "change",
        [
            {"metrics": Metrics(test_count=2)},
            {"tests": TestResults({"a": "failed"})},
            {"tests": None},
            {"blocked": "why"},
            {"usage": Usage(turns=1)},
        ],
    )
    def test_differs_with_what_was_measured(self, change):
        assert self.ONE._replace(**change).state_of_work() != self.ONE.state_of_work()


def test_a_further_metric_names_its_samples_where_there_are_any():
    assert "samples" not in FurtherMetric("todos", 3.0).to_dict()
    assert FurtherMetric("time", 80.0, samples=(78, 82)).to_dict()["samples"] == [78, 82]
