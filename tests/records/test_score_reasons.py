"""The one line that says what differs between the two scores (semantics § 2)."""

import pytest

P, F, S = "passed", "failed", "skipped"


class TestWhatDiffers:
    @pytest.mark.parametrize(
        ("before", "now", "expected"),
        [
            pytest.param({}, {}, "", id="nothing"),
            pytest.param(
                {},
                {"test_count": 8, "tests_passed": 8},
                "8 of 10 tests pass and are believed, 2 of them missing",
                id="tests",
            ),
            pytest.param({}, {"loc_total": 110}, "", id="growth without findings, within limits"),
            pytest.param(
                {"lint_errors": 2},
                {"lint_errors": 4, "loc_total": 110},
                "findings in 110 lines of code count at the baseline's 100",
                id="findings in grown code",
            ),
            pytest.param(
                {"lint_errors": 40},
                {"lint_errors": 20},
                "lint errors, errors measured against the many of the baseline",
                id="a heavy baseline",
            ),
            pytest.param(
                {},
                {"loc_total": 200, "test_count": 20, "tests_passed": 20},
                "code grew by 100 %, counted as 0 % beside 2 times the passing tests",
                id="growth beside the tests",
            ),
            pytest.param(
                {},
                {"loc_total": 200, "test_count": 15, "tests_passed": 15},
                "code grew by 100 %, counted as 33 % beside 1.5 times the passing tests",
                id="growth beyond the tests",
            ),
            pytest.param(
                {"tests": {"a": "passed", "b": "passed"}},
                {"tests": {"a": "passed"}, "loc_total": 96},
                "1 of 2 tests pass and are believed, 1 of them missing",
                id="less code",
            ),
            pytest.param(
                {"complexity_score": 11.0},
                {"complexity_score": 8.0},
                "complexity measured against the many of the baseline",
                id="complexity",
            ),
            pytest.param(
                {"lint_warnings": 20, "loc_total": 0},
                {"lint_warnings": 20, "loc_total": 2000},
                "findings in 2000 lines of code count at the baseline's 0; "
                "lint warnings measured against the many of the baseline",
                id="from no code",
            ),
        ],
    )
    def test_reasons(self, start, before, now, expected):
        loop = start(**before)
        assert loop.turn(**now).adjusted_because == expected

    def test_a_missing_size_gives_no_reason_of_growth(self, start):
        loop = start(lint_errors=40)
        record = loop.turn(lint_errors=20, loc_total=None)
        assert record.adjusted_because == "lint errors, errors measured against the many of the baseline"

    def test_a_test_that_never_ran_is_no_difference(self, start):
        loop = start(tests={"a": P, "b": S})
        assert loop.last.adjusted_score == loop.last.quality_score
        assert loop.last.adjusted_because == ""

    def test_a_difference_by_rounding_alone_is_told(self, start):
        first = start(base={}, test_count=3, tests_passed=1, tests_failed=2, tests_skipped=0).last
        assert (first.quality_score, first.adjusted_score) == (0.5416, 0.5417)
        assert first.adjusted_because == "the share of passing tests counts unrounded"

    def test_a_given_score_differs_in_nothing(self, start):
        loop = start(score=0.5, lint_errors=40)
        assert loop.turn(score=0.6, test_count=4, tests_passed=4).adjusted_because == ""

    def test_a_missing_report_of_tests_is_no_reason(self, start):
        loop = start(lint_errors=40)
        nothing = {"test_count": None, "tests_passed": None, "tests_failed": None, "tests_skipped": None}
        record = loop.turn(**nothing, lint_errors=20)
        assert record.adjusted_because == "lint errors, errors measured against the many of the baseline"


def test_the_line_is_there_wherever_the_scores_differ(start):
    loop = start(test_count=9, tests_passed=7, tests_failed=2)
    record = loop.turn(test_count=9, tests_passed=8, tests_failed=1)
    for each in (loop.records[0], record):
        assert (each.adjusted_score == each.quality_score) == (each.adjusted_because == "")
