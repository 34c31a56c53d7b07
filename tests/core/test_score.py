"""What belongs to a loop, what is recorded of it, and the seed's formula (semantics § 1, § 2)."""

import pytest

from ralph_tracker.core.metrics import Group, Metrics
from ralph_tracker.core.score import basis_of, quality_score, recorded_metrics
from ralph_tracker.core.thresholds import ScoreThresholds, Thresholds
from tests.tables import table

EXAMPLE_1 = Metrics(
    test_count=8,
    tests_passed=5,
    tests_failed=3,
    tests_skipped=0,
    coverage_percentage=65.0,
    lint_errors=8,
    lint_warnings=4,
    type_errors=0,
    build_status="success",
    error_count=12,
    file_count=3,
    loc_total=450,
    complexity_score=12.5,
)


def basis(baseline, configured=(), thresholds=None):
    return basis_of(baseline, thresholds or Thresholds(), given_score=False, configured=frozenset(configured))


def scored(loop, **changes):
    """Score the baseline of a loop with changes, as recorded."""
    now = recorded_metrics(loop.baseline._replace(**changes), loop.error_parts)
    return quality_score(loop, now)


class TestRecordedMetrics:
    @table(
        ("measured", "name", "expected"),
        [
            pytest.param({"tests_passed": 7, "tests_failed": 2}, "pass_rate", 77.8, id="pass rate is derived"),
            pytest.param({"tests_passed": 0, "tests_failed": 0}, "pass_rate", None, id="nothing ran: no pass rate"),
            pytest.param({"tests_passed": 7}, "pass_rate", None, id="failures unknown: no pass rate"),
            pytest.param({"tests_failed": 2}, "pass_rate", None, id="passes unknown: no pass rate"),
            pytest.param(
                {"tests_passed": 2, "tests_failed": 1, "pass_rate": 66.6}, "pass_rate", 66.6, id="a given one is kept"
            ),
            pytest.param(
                {"test_count": 9, "tests_passed": 6, "tests_failed": 2}, "tests_skipped", 1, id="skipped are derived"
            ),
            pytest.param({"test_count": 9, "tests_passed": 6}, "tests_skipped", None, id="skipped cannot be derived"),
            pytest.param(
                {"coverage_lines_covered": 292, "coverage_lines_total": 450},
                "coverage_percentage",
                64.9,
                id="coverage is derived from lines",
            ),
            pytest.param(
                {"coverage_lines_covered": 292, "coverage_lines_total": 450, "coverage_percentage": 65.0},
                "coverage_percentage",
                65.0,
                id="coverage as the tool reports it",
            ),
            pytest.param(
                {"coverage_lines_covered": 0, "coverage_lines_total": 0}, "coverage_percentage", None, id="no lines"
            ),
            pytest.param({"coverage_lines_total": 450}, "coverage_percentage", None, id="lines covered unknown"),
            pytest.param({"coverage_percentage": 62.25}, "coverage_percentage", 62.3, id="half-up to one decimal"),
            pytest.param({"complexity_score": 2.125}, "complexity_score", 2.13, id="complexity to two decimals"),
            pytest.param({"build_status": "failure"}, "build_status", "failure", id="a status stays"),
        ],
    )
    def test_derived_and_rounded_once(self, measured, name, expected):
        assert recorded_metrics(Metrics(**measured), None).get(name) == expected

    @table(
        ("parts", "measured", "expected"),
        [
            pytest.param(None, {"error_count": 12, "lint_errors": 8}, 12, id="explicit, never contradicted"),
            pytest.param(None, {"lint_errors": 8, "type_errors": 1}, None, id="explicit source, nothing handed in"),
            pytest.param(("lint_errors", "type_errors"), {"lint_errors": 8, "type_errors": 3}, 11, id="sum of both"),
            pytest.param(("lint_errors",), {"lint_errors": 8, "type_errors": 3}, 8, id="sum of those of the loop"),
            pytest.param(("lint_errors", "type_errors"), {"lint_errors": 8}, None, id="a part missing makes it absent"),
            pytest.param(("lint_errors",), {"lint_errors": 8, "error_count": 99}, 8, id="summed, whatever is given"),
            pytest.param((), {"error_count": 99}, None, id="the loop has none"),
        ],
    )
    def test_error_count_comes_from_where_the_baseline_had_it(self, parts, measured, expected):
        assert recorded_metrics(Metrics(**measured), parts).error_count == expected

    def test_recording_twice_changes_nothing(self):
        once = recorded_metrics(EXAMPLE_1, None)
        assert recorded_metrics(once, None) == once


class TestWhatBelongsToTheLoop:
    def test_what_the_baseline_has(self):
        assert basis(Metrics(coverage_percentage=50.0, lint_errors=1)).components == (
            "no_lint_errors",
            "coverage_percentage",
            "error_count_inverted",
        )

    @table(
        ("group", "expected"),
        [
            (Group.TESTS, {"all_tests_pass", "test_count_vs_baseline", "pass_rate"}),
            (Group.COVERAGE, {"coverage_percentage"}),
            (Group.LINT, {"no_lint_errors", "error_count_inverted", "lint_warnings_inverted"}),
            (Group.TYPES, {"error_count_inverted"}),
            (Group.BUILD, {"build_success"}),
            (Group.CODE, {"complexity_reasonable"}),
        ],
    )
    def test_what_is_configured_though_the_baseline_could_not_measure_it(self, group, expected):
        assert set(basis(Metrics(), [group]).components) == expected

    @table("loc", [0, None])
    def test_size_is_left_out_where_there_is_nothing_to_compare_with(self, loc):
        components = basis(Metrics(loc_total=loc, complexity_score=1.0), [Group.CODE]).components
        assert components == ("complexity_reasonable",)

    @table(
        ("baseline", "configured", "expected"),
        [
            pytest.param(Metrics(error_count=3, lint_errors=1), (), None, id="explicit"),
            pytest.param(Metrics(lint_errors=1), (), ("lint_errors",), id="lint alone"),
            pytest.param(Metrics(type_errors=1), (), ("type_errors",), id="types alone"),
            pytest.param(Metrics(lint_errors=1), [Group.TYPES], ("lint_errors", "type_errors"), id="types configured"),
            pytest.param(Metrics(type_errors=1), [Group.LINT], ("lint_errors", "type_errors"), id="lint configured"),
            pytest.param(Metrics(coverage_percentage=1.0), (), (), id="none"),
        ],
    )
    def test_the_source_of_error_count_is_fixed_at_the_baseline(self, baseline, configured, expected):
        assert basis(baseline, configured).error_parts == expected

    def test_tests_belong_to_the_loop_by_any_of_their_components(self):
        assert basis(Metrics(pass_rate=90.0)).has_tests
        assert not basis(Metrics(coverage_percentage=90.0)).has_tests


class TestWeights:
    def test_all_five(self):
        assert basis(EXAMPLE_1).weights == pytest.approx(
            {"validation": 0.3, "completeness": 0.25, "correctness": 0.25, "readability": 0.1, "efficiency": 0.1}
        )

    @table(
        ("baseline", "expected"),
        [
            pytest.param(
                EXAMPLE_1._replace(loc_total=None),
                {"validation": 1 / 3, "completeness": 2.5 / 9, "correctness": 2.5 / 9, "readability": 1 / 9},
                id="efficiency dropped",
            ),
            pytest.param(
                Metrics(lint_errors=0, coverage_percentage=50.0),
                {"validation": 0.375, "completeness": 0.3125, "correctness": 0.3125},
                id="readability and efficiency dropped",
            ),
            pytest.param(Metrics(coverage_percentage=50.0), {"completeness": 1.0}, id="one left"),
            pytest.param(Metrics(), {}, id="none left"),
        ],
    )
    def test_those_of_dropped_dimensions_are_shared_among_the_rest(self, baseline, expected):
        assert basis(baseline).weights == pytest.approx(expected)

    def test_weights_of_the_thresholds_are_used(self):
        thresholds = Thresholds(
            score=ScoreThresholds(weights={"validation": 0.6, "completeness": 0.2, "correctness": 0.2})
        )
        loop = basis(Metrics(lint_errors=0, coverage_percentage=50.0), thresholds=thresholds)
        assert loop.weights == pytest.approx({"validation": 0.6, "completeness": 0.2, "correctness": 0.2})

    def test_a_loop_whose_dimensions_all_weigh_nothing_scores_0(self):
        thresholds = Thresholds(score=ScoreThresholds(weights={"validation": 1.0, "completeness": 0.0}))
        loop = basis(Metrics(coverage_percentage=50.0), thresholds=thresholds)
        assert loop.weights == {}
        assert quality_score(loop, loop.baseline).value == 0.0


class TestQualityScore:
    def test_example_1_by_the_seed_s_own_formula(self):
        score = scored(basis(EXAMPLE_1))
        assert score.value == 0.7646
        assert score.dimensions == pytest.approx(
            {
                "validation": 74.16666667,
                "completeness": 82.5,
                "correctness": 69.25,
                "readability": 62.75,
                "efficiency": 100.0,
            }
        )
        assert score.evidence == 1.0

    @table(
        ("changes", "expected"),
        [
            pytest.param({}, 0.7646, id="as the baseline"),
            # completeness (80 + 100) / 2 = 90, so 0.25 × 7.5 / 100 more
            pytest.param({"coverage_percentage": 80.0}, 0.7834, id="more coverage"),
            # validation (62.5 + 0 + 60) / 3, so 0.3 × 33.3333 / 100 less
            pytest.param({"build_status": "failure"}, 0.6646, id="a broken build"),
            # test_count is capped, pass rate as it was; 5 of 16 pass, so 0.3 × 31.25 / 3 / 100 less
            pytest.param({"test_count": 16, "tests_skipped": 8}, 0.7334, id="twice the tests, half of them skipped"),
            # loc +60 %: 60 and 50, so efficiency 55
            pytest.param({"loc_total": 720}, 0.7196, id="bloat"),
        ],
    )
    def test_changes_of_example_1(self, changes, expected):
        assert scored(basis(EXAMPLE_1), **changes).value == expected

    def test_an_absent_component_of_the_loop_counts_0(self):
        loop = basis(EXAMPLE_1)
        score = scored(loop, coverage_percentage=None)
        assert score.components["coverage_percentage"] is None
        assert score.dimensions["completeness"] == 50.0
        assert score.value == 0.6834  # 0.25 × 32.5 / 100 less
        assert score.evidence == pytest.approx(10 / 11)

    def test_what_the_loop_never_had_neither_counts_nor_is_missing(self):
        loop = basis(Metrics(coverage_percentage=50.0))
        score = quality_score(loop, Metrics(coverage_percentage=80.0, lint_errors=30, test_count=0))
        assert score.components == {"coverage_percentage": 80.0}
        assert (score.value, score.evidence) == (0.8, 1.0)

    def test_nothing_measured_is_worth_nothing(self):
        score = quality_score(basis(EXAMPLE_1), Metrics())
        assert (score.value, score.evidence) == (0.0, 0.0)

    def test_a_given_score_is_kept_as_given(self):
        loop = basis_of(EXAMPLE_1, Thresholds(), given_score=True)
        assert quality_score(loop, EXAMPLE_1, 0.123).value == 0.123

    def test_a_given_score_needs_no_component(self):
        loop = basis_of(Metrics(), Thresholds(), given_score=True)
        score = quality_score(loop, Metrics(), 0.5)
        assert (score.value, score.evidence, score.components) == (0.5, 1.0, {})
