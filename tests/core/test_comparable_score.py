"""The same formula on equal ground (semantics § 2, adjusted_score)."""

import pytest

from ralph_tracker.core.comparable_score import (
    AdjustedParts,
    WeightsOfTests,
    adjusted_components,
    adjusted_parts_of,
    adjusted_score,
    code_growth,
    findings_at_size,
    passing_growth,
    size_factor,
    starts_high,
    weights_of_tests,
)
from ralph_tracker.core.metrics import Metrics
from ralph_tracker.core.score import basis_of, recorded_metrics
from ralph_tracker.core.thresholds import Thresholds
from tests.tables import table

P, F, S = "passed", "failed", "skipped"
BARE = {}
# Tests alone: all_tests_pass 0.375, test_count_vs_baseline 0.3125, pass_rate 0.3125 of the score.


def component(name, baseline, now):
    loop = basis_of(Metrics(**baseline), Thresholds(), given_score=False)
    return adjusted_components(loop, recorded_metrics(Metrics(**now), loop.error_parts))[name]


class TestFindingsAtTheBaselinesSize:
    @table(
        ("baseline", "now", "expected"),
        [
            pytest.param(100, 100, 1.0, id="same size"),
            pytest.param(100, 200, 0.5, id="twice the size"),
            pytest.param(100, 50, 1.0, id="shrinking does not weigh findings up"),
            pytest.param(0, 2000, 0.5, id="from no code: beyond 1000 lines"),
            pytest.param(0, 1000, 1.0, id="from no code: exactly 1000 lines"),
            pytest.param(0, 10, 1.0, id="from no code: below 1000 lines"),
            pytest.param(100, 0, 1.0, id="no code left"),
            pytest.param(0, 0, 1.0, id="no code ever"),
            pytest.param(None, 200, 1.0, id="baseline's size unknown"),
            pytest.param(100, None, 1.0, id="size unknown now"),
        ],
    )
    def test_factor(self, baseline, now, expected):
        assert size_factor(Metrics(loc_total=baseline), Metrics(loc_total=now)) == expected

    @table(
        ("errors", "loc", "expected"),
        [(10, 200, 5.0), (11, 200, 5.5), (10, 50, 10.0), (10, None, 10.0), (None, 200, None)],
    )
    def test_error_count(self, errors, loc, expected):
        assert findings_at_size(Metrics(loc_total=100), Metrics(error_count=errors, loc_total=loc)) == expected

    @table(
        ("name", "metric", "plain"),
        [
            ("no_lint_errors", "lint_errors", 80.0),
            ("error_count_inverted", "error_count", 92.0),
            ("lint_warnings_inverted", "lint_warnings", 88.0),
        ],
    )
    def test_8_findings_in_twice_the_code_count_as_4(self, name, metric, plain):
        assert component(name, {metric: 1, "loc_total": 100}, {metric: 8, "loc_total": 200}) == plain

    def test_complexity_is_a_mean_already_and_is_not_scaled(self):
        now = {"complexity_score": 8.0, "loc_total": 200}
        assert component("complexity_reasonable", {"complexity_score": 8.0, "loc_total": 100}, now) == 60.0


class TestHeavyBaselines:
    @table(
        ("name", "metric", "light", "heavy"),
        [
            ("no_lint_errors", "lint_errors", 10, 11),
            ("error_count_inverted", "error_count", 25, 26),
            ("lint_warnings_inverted", "lint_warnings", 16, 17),
            ("complexity_reasonable", "complexity_score", 10.0, 10.01),
        ],
    )
    def test_one_that_costs_more_than_50_points_is_the_measure_of_later_ones(self, name, metric, light, heavy):
        per_finding = {"lint_errors": 5, "error_count": 2, "lint_warnings": 3, "complexity_score": 5}[metric]
        assert component(name, {metric: light}, {metric: light}) == 100 - per_finding * light
        assert component(name, {metric: heavy}, {metric: heavy}) == pytest.approx(50.0)
        assert component(name, {metric: heavy}, {metric: 0}) == 100.0
        assert component(name, {metric: heavy}, {metric: 2 * heavy}) == pytest.approx(0.0)
        assert component(name, {metric: heavy}, {metric: 3 * heavy}) == 0.0

    def test_mending_300_of_400_findings_is_seen(self):
        assert component("no_lint_errors", {"lint_errors": 400}, {"lint_errors": 100}) == 87.5

    def test_growth_is_taken_out_first(self):
        now = {"lint_errors": 40, "loc_total": 200}
        assert component("no_lint_errors", {"lint_errors": 20, "loc_total": 100}, now) == 50.0

    def test_what_the_baseline_lacks_costs_nothing(self):
        assert not starts_high(Metrics(), "lint_errors", 5.0)

    def test_an_absent_component_stays_absent(self):
        assert component("no_lint_errors", {"lint_errors": 400}, {}) is None


class TestGrowthBesideTheTests:
    @table(
        ("loc", "passed", "appropriate", "bloat"),
        [
            pytest.param(200, 20, 100.0, 100.0, id="tests grew as the code did"),
            pytest.param(200, 30, 100.0, 100.0, id="tests grew more: not below no growth"),
            pytest.param(200, 16, 95.0, 100.0, id="2 / 1.6 is +25 %"),
            pytest.param(200, 10, 20.0, 50.0, id="tests stood still: +100 %"),
            pytest.param(200, 5, 20.0, 50.0, id="fewer passing tests do not weigh growth up"),
            pytest.param(200, None, 20.0, 50.0, id="passing tests unknown"),
            pytest.param(50, 20, 70.0, 100.0, id="shrinking is judged as it is"),
            pytest.param(100, 20, 100.0, 100.0, id="no growth"),
            pytest.param(None, 20, None, None, id="size unknown"),
        ],
    )
    def test_size_components(self, loc, passed, appropriate, bloat):
        baseline, now = {"loc_total": 100, "tests_passed": 10}, {"loc_total": loc, "tests_passed": passed}
        names = ("loc_appropriate", "no_code_bloat")
        assert [component(name, baseline, now) for name in names] == [pytest.approx(appropriate), bloat]

    @table(("before", "loc", "passed", "now_passed"), [(3, 17, 9, 34), (5, 21, 5, 14), (100, 150, 10, 10)])
    def test_growth_by_exactly_half_is_no_bloat(self, before, loc, passed, now_passed):
        baseline = {"loc_total": before, "tests_passed": passed}
        now = {"loc_total": loc, "tests_passed": now_passed}
        assert component("no_code_bloat", baseline, now) == 100.0

    @table(
        ("before", "now", "expected"),
        [
            pytest.param(10, 20, 2.0, id="twice"),
            pytest.param(10, 5, 1.0, id="at least 1"),
            pytest.param(0, 4, 4.0, id="from none each counts once"),
            pytest.param(None, 4, 1.0, id="unknown before"),
            pytest.param(10, None, 1.0, id="unknown now"),
        ],
    )
    def test_growth_of_passing_tests(self, before, now, expected):
        assert passing_growth(Metrics(tests_passed=before), Metrics(tests_passed=now)) == expected

    @table("before", [0, None])
    def test_no_growth_without_a_size_at_the_baseline(self, before):
        assert code_growth(Metrics(loc_total=before), Metrics(loc_total=100)) is None


class TestTestsEverSeen:
    def test_deleting_half_of_the_tests_halves_what_they_are_worth(self, start):
        loop = start(base=BARE, tests={"a": P, "b": P, "c": P, "d": P})
        record = loop.turn(tests={"a": P, "b": P})
        assert (record.quality_score, record.adjusted_score) == (0.8438, 0.5)
        assert record.tests_ever_seen == 4

    def test_an_earlier_iteration_is_judged_against_the_tests_seen_by_now(self, start):
        loop = start(base=BARE, tests={"a": P, "b": P})
        assert loop.last.adjusted_score == 1.0
        assert loop.turn(tests={"a": P, "b": P, "c": P, "d": P}).adjusted_score == 1.0
        assert loop.select().contenders[0].adjusted == 0.5
        assert loop.records[0].adjusted_score == 1.0

    def test_a_test_deleted_and_another_added_are_both_among_them(self, start):
        loop = start(base=BARE, tests={"a": P, "b": P})
        record = loop.turn(tests={"a": P, "c": P})
        assert record.tests_ever_seen == 3
        assert record.adjusted_score == 0.6667

    def test_failing_ones_are_present_and_do_not_pass(self, start):
        loop = start(base=BARE, tests={"a": P, "b": F, "c": F, "d": F})
        assert loop.last.adjusted_score == 0.4844  # 0.6875 × 1 / 4 + 0.3125

    def test_what_was_seen_on_a_line_that_was_rolled_back_stays_seen(self, start):
        loop = start(base=BARE, tests={"a": P, "b": P})
        loop.turn(tests={"a": P, "b": F, "c": P, "d": P})
        loop.roll_back(0)
        assert loop.turn(tests={"a": P, "b": P}).adjusted_score == 0.5

    def test_a_test_that_never_ran_is_not_among_them(self, start):
        loop = start(base=BARE, tests={"a": P, "b": S})
        assert (loop.last.tests_ever_seen, loop.last.adjusted_score) == (1, 1.0)

    def test_one_that_runs_later_was_present_all_along(self, start):
        loop = start(base=BARE, tests={"a": P, "b": S})
        loop.turn(tests={"a": P})
        loop.turn(tests={"a": P, "b": P})
        selection = loop.select()
        assert loop.last.tests_ever_seen == 2
        # 0.6875 × 1 / 2 + 0.3125 where it stood skipped, × 1 / 2 where it was not
        assert [c.adjusted for c in selection.contenders] == [0.6563, 0.5, 1.0]

    def test_without_names_the_highest_test_count_stands_for_them(self, start):
        loop = start(base=BARE, test_count=4, tests_passed=4, tests_failed=0)
        loop.turn(test_count=8, tests_passed=8, tests_failed=0)
        record = loop.turn(test_count=4, tests_passed=4, tests_failed=0)
        assert (record.tests_ever_seen, record.adjusted_score) == (8, 0.5)

    def test_while_no_test_has_run_the_formula_s_own_components_stand(self, start):
        loop = start(base=BARE, tests={"a": S})
        assert loop.last.tests_ever_seen == 0
        assert loop.last.adjusted_score == loop.last.quality_score == 0.3125

    def test_a_missing_report_shows_no_test(self, start):
        loop = start(base=BARE, tests={"a": P, "b": P})
        record = loop.turn()
        assert (record.tests_ever_seen, record.adjusted_score) == (2, 0.0)

    @pytest.mark.parametrize(
        "counts",
        [
            pytest.param({"tests_passed": 20, "tests_failed": 0}, id="how many there are is not known"),
            pytest.param({"test_count": 20, "tests_passed": 20}, id="whether one fails is not known"),
        ],
    )
    def test_of_half_a_report_the_absent_components_count_0(self, start, counts):
        loop = start(base=BARE, test_count=10, tests_passed=10, tests_failed=0)
        record = loop.turn(**counts)
        assert "metric_missing" in loop.kinds
        assert record.adjusted_score <= record.quality_score == 0.3125


class TestEqualScores:
    def test_without_growth_and_with_few_findings_both_are_equal(self, start):
        loop = start(tests_passed=8, tests_failed=2, lint_errors=8, lint_warnings=4, complexity_score=9.0)
        record = loop.turn(tests_passed=9, tests_failed=1, lint_errors=3, coverage_percentage=70.0)
        for each in loop.records:
            assert each.adjusted_score == each.quality_score
            assert each.adjusted_because == ""
        assert record.quality_score > loop.records[0].quality_score

    def test_a_given_score_is_its_own_adjusted_score(self, start):
        loop = start(score=0.6, lint_errors=400)
        record = loop.turn(score=0.7, lint_errors=0, loc_total=900, test_count=2, tests_passed=2)
        assert (record.quality_score, record.adjusted_score, record.adjusted_because) == (0.7, 0.7, "")


class TestCost:
    """An iteration's value is c + k × passes / |U| + l × present / |U|."""

    WEIGHTS = WeightsOfTests(passing=0.4, present=0.2)

    @table(
        ("union", "credit", "expected"),
        [
            pytest.param(10, 0, 0.6, id="0.3 + 0.4 × 5/10 + 0.2 × 5/10"),
            pytest.param(20, 0, 0.45, id="against twice as many"),
            pytest.param(10, 5, 0.7, id="credited ones are present"),
            pytest.param(4, 0, 0.9, id="not above what there is"),
            pytest.param(0, 0, 0.55, id="no test ever ran"),
            pytest.param(-1, 0, 0.55, id="more removed than seen"),
        ],
    )
    def test_value(self, union, credit, expected):
        ground = AdjustedParts(fixed=0.3, alone=0.55, passes=5, present=5, unseen=5)
        assert adjusted_score(ground, self.WEIGHTS, union, credit) == expected

    def test_weights_of_the_tests(self):
        loop = basis_of(Metrics(test_count=1, tests_passed=1, tests_failed=0), Thresholds(), given_score=False)
        assert weights_of_tests(loop) == WeightsOfTests(pytest.approx(0.6875), pytest.approx(0.3125))

    def test_a_given_score_hangs_on_no_test(self):
        loop = basis_of(Metrics(test_count=1, tests_passed=1, tests_failed=0), Thresholds(), given_score=True)
        assert weights_of_tests(loop) == WeightsOfTests(0.0, 0.0)
        ground = adjusted_parts_of(loop, loop.baseline, given=0.4, passes=1, present=1, unseen=0)
        assert adjusted_score(ground, weights_of_tests(loop), union=1) == 0.4

    @table(
        ("counts", "expected"),
        [
            pytest.param(
                {"test_count": 3, "tests_passed": 2, "tests_failed": 1, "pass_rate": 66.7}, (2, 3, 4), id="all counted"
            ),
            pytest.param({"test_count": 3}, (0, 3, 4), id="passes unknown"),
            pytest.param({}, (0, 0, 0), id="nothing counted"),
        ],
    )
    def test_tests_count_where_their_numbers_were_measured(self, counts, expected):
        known = Metrics(test_count=1, tests_passed=1, tests_failed=0)
        loop = basis_of(known, Thresholds(), given_score=False)
        parts = adjusted_parts_of(loop, Metrics(**counts), given=None, passes=2, present=3, unseen=4)
        assert (parts.passes, parts.present, parts.unseen) == expected
