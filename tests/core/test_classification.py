"""One word for an iteration: the first rule of semantics § 4 that holds."""

import pytest

from ralph_tracker.core.metrics import Measurement, Metrics, TestResults

P, F, S = "passed", "failed", "skipped"


def hundred(passed, failed, count=None):
    count = passed + failed if count is None else count
    return {"test_count": count, "tests_passed": passed, "tests_failed": failed, "tests_skipped": None}


def test_iteration_0_is_the_baseline(start):
    assert start().last.classification == "baseline"


class TestRegression:
    @pytest.mark.parametrize(
        ("before", "now", "expected"),
        [
            pytest.param(hundred(100, 0), hundred(99, 0), "regression", id="a test fewer"),
            pytest.param(hundred(100, 0), hundred(100, 0), "plateau", id="as many tests"),
            pytest.param(hundred(100, 0), hundred(950, 50), "forward", id="pass rate -5.0 is within limits"),
            pytest.param(hundred(100, 0), hundred(949, 51), "regression", id="pass rate -5.1"),
            pytest.param(hundred(100, 0), hundred(99, 1), "regression", id="a working test fails, by the counts"),
            pytest.param({"coverage_percentage": 80.0}, {"coverage_percentage": 78.0}, "plateau", id="coverage -2.0"),
            pytest.param(
                {"coverage_percentage": 80.0}, {"coverage_percentage": 77.9}, "regression", id="coverage -2.1"
            ),
            pytest.param({"lint_errors": 10}, {"lint_errors": 15}, "plateau", id="five errors more"),
            pytest.param({"lint_errors": 10}, {"lint_errors": 16}, "regression", id="six errors more"),
            pytest.param({"type_errors": 0}, {"type_errors": 6}, "regression", id="six type errors more"),
            pytest.param(
                hundred(100, 0) | {"lint_errors": 10},
                hundred(101, 0) | {"lint_errors": 90},
                "forward",
                id="a gain",
            ),
            pytest.param({"build_status": "success"}, {"build_status": "failure"}, "regression", id="the build broke"),
            pytest.param({"build_status": "failure"}, {"build_status": "failure"}, "plateau", id="broken before"),
        ],
    )
    def test_one_of_the_four(self, start, before, now, expected):
        assert start(**before).turn(**now).classification == expected

    @pytest.mark.parametrize(
        ("errors", "loc", "expected"),
        [
            pytest.param(16, 100, "regression", id="same size"),
            pytest.param(16, 103, "regression", id="16 x 100 / 103 is still 16"),
            pytest.param(16, 104, "plateau", id="16 x 100 / 104 is 15"),
            pytest.param(30, 200, "plateau", id="twice the code, less than twice the findings and five"),
            pytest.param(31, 200, "regression", id="15.5 is 16"),
            pytest.param(16, 50, "regression", id="shrinking does not weigh the count up or down"),
            pytest.param(10, 50, "plateau", id="shrinking with as many findings"),
            pytest.param(16, None, "regression", id="size unknown now"),
        ],
    )
    def test_errors_count_at_the_previous_size(self, start, errors, loc, expected):
        # The limits of forward are kept out of it: nothing else moves, and the size has no component of its own.
        loop = start(base={"lint_errors": 10, "loc_total": 100})
        assert loop.turn(lint_errors=errors, loc_total=loc).classification == expected

    def test_errors_where_the_size_was_never_measured(self, start):
        loop = start(base={"lint_errors": 10})
        assert loop.turn(lint_errors=16, loc_total=1000).classification == "regression"

    def test_a_working_test_that_fails_now_though_the_counts_rise(self, start):
        loop = start(tests={f"t{i}": P for i in range(80)} | {"x": F, "y": F})
        record = loop.turn(tests={f"t{i}": P for i in range(1, 80)} | {"t0": F, "x": P, "y": P, "z": P})
        assert record.classification == "regression"

    @pytest.mark.parametrize(
        ("before", "now", "expected"),
        [
            pytest.param({}, {"coverage_percentage": 70.0}, "plateau", id="less coverage, as code came without tests"),
            pytest.param(
                {"coverage_lines_covered": 80, "coverage_lines_total": 100},
                {"coverage_percentage": 70.0, "coverage_lines_covered": 84, "coverage_lines_total": 120},
                "plateau",
                id="less coverage, more lines covered",
            ),
            pytest.param(
                {"coverage_lines_covered": 80, "coverage_lines_total": 100},
                {"coverage_percentage": 70.0, "coverage_lines_covered": 70, "coverage_lines_total": 100},
                "regression",
                id="lines are not covered any more",
            ),
            pytest.param({}, {"lint_errors": 50}, "plateau", id="findings"),
        ],
    )
    def test_where_tests_have_names_only_what_is_lost_is_one(self, start, before, now, expected):
        names = {f"t{i}": P for i in range(10)}
        assert start(tests=names, **before).turn(tests=names, **now).classification == expected

    def test_a_working_test_that_fails_now_though_only_the_score_can_be_compared(self, start):
        def measured(outcome):
            results = TestResults({"a": outcome})
            return Measurement(metrics=Metrics(), timestamp="now", quality_score=0.5, tests=results)

        loop = start(first=measured(P))
        assert loop.judge(measured(F)).classification == "regression"
        assert loop.kinds == ["working_tests_failing"]

    def test_a_flaky_one_that_fails_is_none(self, start):
        loop = start(tests={f"t{i}": P for i in range(100)})
        record = loop.turn(tests={f"t{i}": P for i in range(1, 100)} | {"t0": F}, flaky={"t0"})
        assert record.classification == "plateau"

    def test_the_previous_value_is_that_of_the_last_iteration_that_measured_it(self, start):
        loop = start(coverage_percentage=80.0)
        assert loop.turn(coverage_percentage=None).classification == "plateau"
        assert loop.turn(coverage_percentage=77.0).classification == "regression"


class TestPlateau:
    @pytest.mark.parametrize(
        ("before", "now", "expected"),
        [
            pytest.param(hundred(100, 0), hundred(102, 0), "plateau", id="test_count +2 %"),
            pytest.param(hundred(100, 0), hundred(103, 0), "forward", id="test_count +3 %"),
            pytest.param(hundred(10, 0), hundred(11, 0), "forward", id="one test of ten is 10 %"),
            pytest.param(hundred(0, 0), hundred(1, 0), "forward", id="from 0 tests to one is beyond"),
            pytest.param(hundred(0, 0), hundred(0, 0), "plateau", id="0 tests still"),
            pytest.param(hundred(98, 2), hundred(100, 0), "plateau", id="pass rate +2.0"),
            pytest.param(hundred(979, 21), hundred(1000, 0), "forward", id="pass rate +2.1"),
            pytest.param({"coverage_percentage": 80.0}, {"coverage_percentage": 82.0}, "plateau", id="coverage +2.0"),
            pytest.param({"coverage_percentage": 80.0}, {"coverage_percentage": 82.1}, "forward", id="coverage +2.1"),
            pytest.param({"coverage_percentage": 80.0}, {"coverage_percentage": 79.0}, "plateau", id="coverage -1"),
            pytest.param({"lint_errors": 100}, {"lint_errors": 98}, "plateau", id="errors -2 %"),
            pytest.param({"lint_errors": 100}, {"lint_errors": 97}, "forward", id="errors -3 %"),
            pytest.param({"lint_errors": 1}, {"lint_errors": 0}, "forward", id="the last error"),
            pytest.param({}, {"lint_warnings": 30, "complexity_score": 9.0}, "plateau", id="not among the four"),
        ],
    )
    def test_every_one_of_the_four_within_two(self, start, before, now, expected):
        assert start(**before).turn(**now).classification == expected


class TestForward:
    @pytest.mark.parametrize(
        ("before", "now", "expected"),
        [
            pytest.param(hundred(50, 50), hundred(60, 40), "forward", id="pass rate up, far below 90"),
            pytest.param(
                hundred(935, 65),
                hundred(945, 105) | {"lint_warnings": 30},
                "forward",
                id="pass rate down to exactly 90.0 though the score fell",
            ),
            pytest.param(
                hundred(935, 65),
                hundred(935, 106) | {"lint_warnings": 30},
                "plateau",
                id="pass rate down to 89.8, no test gained, and the score fell",
            ),
            pytest.param(hundred(50, 50), hundred(55, 55), "forward", id="more tests at the same rate: the score rose"),
            pytest.param(
                hundred(50, 50) | {"coverage_percentage": 70.0, "lint_warnings": 0},
                hundred(50, 50) | {"coverage_percentage": 75.0, "lint_warnings": 20},
                "plateau",
                id="rate neither higher nor 90, and the score fell",
            ),
            pytest.param(
                hundred(90, 10) | {"coverage_percentage": 70.0, "lint_warnings": 0},
                hundred(90, 10) | {"coverage_percentage": 75.0, "lint_warnings": 20},
                "forward",
                id="rate 90 though the score fell",
            ),
            pytest.param(
                {"coverage_percentage": 80.0, "lint_errors": 10},
                {"coverage_percentage": 79.0, "lint_errors": 5},
                "forward",
                id="coverage fell a little, the score rose",
            ),
            pytest.param(
                {"coverage_percentage": 80.0, "lint_errors": 10, "lint_warnings": 0},
                {"coverage_percentage": 79.0, "lint_errors": 9, "lint_warnings": 30},
                "plateau",
                id="coverage fell a little, the score too",
            ),
        ],
    )
    def test_rules_4_and_5(self, start, before, now, expected):
        assert start(**before).turn(**now).classification == expected

    def test_more_findings_in_more_code_do_not_prevent_it(self, start):
        loop = start(lint_errors=10, loc_total=100)
        record = loop.turn(lint_errors=12, loc_total=120, coverage_percentage=90.0)
        assert record.classification == "forward"

    def test_the_score_is_compared_as_of_now(self, start):
        """Nine of twelve is less than eight of ten was, and more than eight of twelve."""
        before = hundred(8, 2) | {"coverage_percentage": 80.0}
        now = {"test_count": 12, "tests_passed": 9, "tests_failed": 3, "coverage_percentage": 79.5}
        loop = start(base={}, **before)
        record = loop.turn(**now)
        assert record.adjusted_score < loop.records[0].adjusted_score
        assert record.classification == "forward"


class TestMissing:
    def test_what_the_loop_never_had_is_left_out(self, start):
        base = {"coverage_percentage": 80.0}
        assert start(base=base).turn(coverage_percentage=83.0).classification == "forward"

    def test_what_is_measured_for_the_first_time_is_left_out(self, start):
        loop = start(base={"lint_errors": 0})
        assert loop.turn(coverage_percentage=5.0).classification == "plateau"

    @pytest.mark.parametrize("name", ["coverage_percentage", "lint_errors", "type_errors"])
    def test_it_cannot_cause_a_regression(self, start, name):
        record = start().turn(**{name: None})
        assert record.classification == "plateau"
        assert record.adjusted_score < 1.0

    def test_it_does_not_hide_another_regression(self, start):
        record = start().turn(coverage_percentage=None, lint_errors=6)
        assert record.classification == "regression"

    @pytest.mark.parametrize(
        "better",
        [
            pytest.param(hundred(110, 0), id="by rule 4"),
            pytest.param({"test_count": 10, "tests_passed": 10, "tests_failed": 0, "lint_errors": 0}, id="by rule 5"),
        ],
    )
    def test_it_prevents_forward(self, start, better):
        loop = start(coverage_percentage=1.0, lint_errors=10)
        record = loop.turn(**better, coverage_percentage=None)
        assert record.adjusted_score > loop.records[0].adjusted_score
        assert record.classification == "plateau"

    def test_it_fails_the_plateau_test_so_that_no_stall_follows(self, start):
        loop = start(coverage_percentage=1.0)
        loop.turns(3, coverage_percentage=None)
        assert loop.last.classification == "plateau"

    def test_nothing_measured_is_a_plateau_not_a_regression(self, start):
        record = start(base={"coverage_percentage": 80.0}).turn(coverage_percentage=None)
        assert (record.classification, record.adjusted_score) == ("plateau", 0.0)


class TestByScoreAlone:
    @pytest.mark.parametrize(
        ("score", "expected"),
        [(0.52, "plateau"), (0.5201, "forward"), (0.48, "plateau"), (0.4799, "regression"), (0.5, "plateau")],
    )
    def test_given(self, start, score, expected):
        assert start(base={}, score=0.5).turn(score=score).classification == expected

    @pytest.mark.parametrize(
        ("complexity", "expected"),
        [(5.4, "plateau"), (5.41, "regression"), (4.6, "plateau"), (4.59, "forward")],
    )
    def test_computed_where_the_loop_has_none_of_the_four(self, start, complexity, expected):
        loop = start(base={"complexity_score": 5.0})
        assert loop.turn(complexity_score=complexity).classification == expected

    @pytest.mark.parametrize(
        ("score", "expected"),
        [
            pytest.param(0.9, "plateau", id="missing prevents forward"),
            pytest.param(0.5, "plateau", id="no change"),
            pytest.param(0.1, "regression", id="the outside judge says so"),
        ],
    )
    def test_given_where_the_four_went_missing(self, start, score, expected):
        loop = start(base={"coverage_percentage": 80.0}, score=0.5)
        assert loop.turn(score=score, coverage_percentage=None).classification == expected

    def test_it_can_stall(self, start):
        loop = start(base={}, score=0.5)
        assert [loop.turn(score=0.5).classification for _ in range(3)] == ["plateau", "plateau", "stalled"]

    def test_what_is_missing_prevents_a_stall(self, start):
        loop = start(base={"coverage_percentage": 80.0}, score=0.5)
        assert loop.turns(3, score=0.5, coverage_percentage=None).classification == "plateau"


class TestStalled:
    def classes(self, start, scores, **changes):
        """Classify a loop whose scores are given and whose only metric stands still."""
        first, *later = scores
        loop = start(base={"coverage_percentage": 80.0}, score=first)
        return [loop.turn(score=score, **changes).classification for score in later]

    def test_three_plateaus_in_a_row(self, start):
        loop = start()
        assert [loop.turn().classification for _ in range(5)] == ["plateau", "plateau", *["stalled"] * 3]

    @pytest.mark.parametrize(
        ("scores", "expected"),
        [
            pytest.param([0.5, 0.5, 0.5, 0.505], "stalled", id="gain of exactly 0.005"),
            pytest.param([0.5, 0.5, 0.5, 0.5051], "plateau", id="gain of more"),
            pytest.param([0.5, 0.6, 0.6, 0.6], "plateau", id="gain at the first of the three"),
            pytest.param([0.6, 0.5, 0.5, 0.5], "stalled", id="falling is no gain"),
            pytest.param([0.5, 0.7999, 0.5, 0.5], "stalled", id="variance below 0.02"),
            pytest.param([0.5, 0.8001, 0.5, 0.5], "plateau", id="variance above 0.02"),
            pytest.param([0.5, 0.8, 0.5, 0.5], "plateau", id="variance of exactly 0.02"),
            pytest.param([0.3, 0.6, 0.3, 0.3], "plateau", id="variance of exactly 0.02, whatever binary makes of it"),
        ],
    )
    def test_scores_of_the_window(self, start, scores, expected):
        assert self.classes(start, scores)[-1] == expected

    def test_the_fourth_looks_back_to_the_first_only(self, start):
        assert self.classes(start, [0.5, 0.6, 0.6, 0.6, 0.6]) == ["plateau", "plateau", "plateau", "stalled"]

    @pytest.mark.parametrize(
        ("before", "then", "expected"),
        [
            pytest.param({"coverage_percentage": 80.0}, {"coverage_percentage": 80.1}, "plateau", id="more coverage"),
            pytest.param({"coverage_percentage": 80.0}, {"coverage_percentage": 79.0}, "stalled", id="less coverage"),
            pytest.param(hundred(100, 0), hundred(101, 0), "plateau", id="a test more"),
            pytest.param(hundred(990, 10), hundred(991, 9), "plateau", id="a higher pass rate"),
            pytest.param({"lint_errors": 100}, {"lint_errors": 99}, "plateau", id="fewer errors"),
            pytest.param(
                {"lint_errors": 200, "loc_total": 1000},
                {"lint_errors": 200, "loc_total": 1020},
                "plateau",
                id="fewer errors at the size just before the three",
            ),
            pytest.param(
                {"lint_errors": 200, "loc_total": 1020},
                {"lint_errors": 200, "loc_total": 1000},
                "stalled",
                id="as many errors in less code",
            ),
        ],
    )
    def test_nothing_may_be_better_than_just_before_the_three(self, start, before, then, expected):
        loop = start(**before, lint_warnings=0)
        # Warnings keep the score from rising, so that the four alone decide.
        assert loop.turns(3, **then, lint_warnings=5).classification == expected

    def test_what_was_not_measured_just_before_the_three_is_not_compared(self, start):
        loop = start(base={"lint_errors": 0, "lint_warnings": 0})
        loop.turns(3, coverage_percentage=80.0)
        assert loop.last.classification == "stalled"

    def test_a_step_forward_between_starts_again(self, start):
        loop = start()
        loop.turns(3)
        assert loop.turn(coverage_percentage=85.0).classification == "forward"
        assert loop.turns(2, coverage_percentage=85.0).classification == "plateau"
        assert loop.turn(coverage_percentage=85.0).classification == "stalled"

    def test_the_window_follows_the_line(self, start):
        loop = start()
        loop.turns(2)
        loop.roll_back(0)
        assert loop.turn().classification == "plateau"
        loop.roll_back(2)
        assert loop.turn().classification == "stalled"
