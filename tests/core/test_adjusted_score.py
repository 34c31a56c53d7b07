"""The same formula on equal ground (semantics § 2, adjusted_score)."""

import pytest

from ralph_tracker.core.adjusted_score import (
    TestTally,
    adjusted_components,
    adjusted_score,
    code_growth,
    passing_growth,
    size_factor,
    starts_high,
)
from ralph_tracker.core.integrity_result import EarlierTests, Finding, Integrity, Severity
from ralph_tracker.core.metrics import Metrics
from ralph_tracker.core.score import COMPONENT_BY_NAME, basis_of, recorded_metrics
from ralph_tracker.core.thresholds import Thresholds
from tests.tables import table

P, F, S = "passed", "failed", "skipped"
# Tests alone: all_tests_pass 0.375, test_count_vs_baseline 0.3125, pass_rate 0.3125 of the score.
BARE = {}


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
        assert not starts_high(Metrics(), COMPONENT_BY_NAME["no_lint_errors"])

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
            pytest.param(50, 20, 100.0, 100.0, id="shrinking is no loss"),
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


class TestTestsThatCount:
    """Believed passes, out of the tests that ran here and those that are missing here."""

    def test_deleting_half_of_the_tests_halves_what_they_are_worth(self, start):
        loop = start(base=BARE, tests=dict.fromkeys("abcd", P))
        record = loop.turn(tests=dict.fromkeys("ab", P))
        assert (record.quality_score, record.adjusted_score) == (0.8438, 0.5)
        assert record.adjusted_because == "2 of 4 tests pass and are believed, 2 of them missing"

    def test_without_names_the_fall_of_the_count_is_missing(self, start):
        loop = start(base=BARE, test_count=8, tests_passed=8, tests_failed=0)
        assert loop.turn(test_count=4, tests_passed=4, tests_failed=0).adjusted_score == 0.5

    @table(
        ("now", "earlier", "expected"),
        [
            pytest.param("ac", None, 1.0, id="replaced"),
            pytest.param("a", EarlierTests(0, retired=frozenset("b")), 1.0, id="retired"),
            pytest.param("a", EarlierTests(0, held=frozenset("b")), 0.5, id="dropped"),
            pytest.param("ac", EarlierTests(0, held=frozenset("b")), 1.0, id="renamed"),
            pytest.param("a", EarlierTests(0), 1.0, id="questioned"),
        ],
    )
    def test_one_that_is_gone(self, start, now, earlier, expected):
        loop = start(base=BARE, tests=dict.fromkeys("ab", P), integrity=Integrity())
        record = loop.turn(tests=dict.fromkeys(now, P), integrity=Integrity(earlier=earlier))
        assert record.adjusted_score == expected

    def test_few_that_go_for_nothing_cost_nothing_until_they_add_up(self, start):
        """A duplicate, or two tests in one; their earlier forms pass."""
        names = [f"t{number}" for number in range(10)]
        loop = start(base=BARE, tests=dict.fromkeys(names, P), integrity=Integrity())
        scores = []
        for there in (9, 8):
            gone = EarlierTests(loop.state.kept.iteration, held=frozenset(names[there : there + 1]))
            record = loop.turn(tests=dict.fromkeys(names[:there], P), integrity=Integrity(earlier=gone))
            scores.append((record.adjusted_score, loop.state.kept.iteration))
        assert scores == [(1.0, 1), (0.8, 1)]
        assert record.adjusted_because == "8 of 10 tests pass and are believed, 2 of them missing"

    @table(
        ("rule", "severity", "now", "expected"),
        [
            pytest.param("failure_hidden", Severity.CRITICAL, {"a": P}, 0.5, id="hidden and gone"),
            pytest.param("failure_hidden", Severity.CRITICAL, {"a": P, "red": S}, 0.5521, id="hidden by a skip"),
            pytest.param("failure_hidden", Severity.CRITICAL, {"a": P, "red": F}, 0.6563, id="back and red"),
            pytest.param("green_by_edit", Severity.HIGH, {"a": P, "red": P}, 0.6563, id="green, and not believed"),
            pytest.param("R4", Severity.MEDIUM, {"a": P, "red": P}, 1.0, id="a note"),
        ],
    )
    def test_one_that_a_finding_names(self, start, rule, severity, now, expected):
        loop = start(base=BARE, tests={"a": P, "red": F}, integrity=Integrity())
        found = Finding(rule, severity, "a fact", "test_a.py", tests=("red",))
        record = loop.turn(tests=now, integrity=Integrity(findings=(found,), earlier=EarlierTests(0)))
        assert record.adjusted_score == expected
        again = loop.again(*record.alerts)
        assert again.last.adjusted_score >= expected

    def test_what_is_not_collected_is_missing(self, start):
        loop = start(base=BARE, tests={"tests.test_a::x": P, "tests.test_b::y": P})
        record = loop.turn(tests={"tests.test_b::y": P}, not_loaded={"tests/test_a.py": "SyntaxError"})
        assert record.adjusted_score == 0.5

    def test_failing_ones_are_there_and_do_not_pass(self, start):
        loop = start(base=BARE, tests={"a": P, "b": F, "c": F, "d": F})
        assert loop.last.adjusted_score == 0.4844  # 0.6875 × 1 / 4 + 0.3125

    def test_one_that_never_ran_does_not_count(self, start):
        assert start(base=BARE, tests={"a": P, "b": S}).last.adjusted_score == 1.0

    def test_while_none_has_run_the_formula_s_own_components_stand(self, start):
        last = start(base=BARE, tests={"a": S}).last
        assert last.adjusted_score == last.quality_score == 0.3125

    def test_a_missing_report_shows_no_test(self, start):
        loop = start(base=BARE, tests={"a": P, "b": P})
        assert loop.turn().adjusted_score == 0.0

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

    def test_the_score_of_an_iteration_does_not_change_with_later_ones(self, start):
        loop = start(base=BARE, tests={"a": P, "b": P})
        loop.turn(tests=dict.fromkeys("abcd", P))
        assert [contender.adjusted for contender in loop.select().contenders] == [1.0, 1.0]


@table(
    ("tally", "passing", "present"),
    [
        pytest.param(TestTally(3, 4), 75.0, None, id="no names"),
        pytest.param(TestTally(3, 4, 1, 5), 60.0, 5 / 6 * 100, id="one is missing"),
        pytest.param(TestTally(0, 0), None, None, id="no test"),
        pytest.param(TestTally(0, 0, 2, 0), 0.0, None, id="all are missing"),
    ],
)
def test_shares(tally, passing, present):
    assert (tally.passing_share, tally.present_share) == (passing, present)


def test_a_given_score_needs_no_tally():
    basis = basis_of(Metrics(test_count=1, tests_passed=1, tests_failed=0), Thresholds(), given_score=True)
    assert adjusted_score(basis, basis.baseline, 0.4, None) == 0.4
