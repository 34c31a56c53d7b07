"""The best iteration, and which candidates may still become it (semantics § 2 Cost, § 8)."""

import pytest

from ralph_tracker.core.best_iteration import Candidate, best_now, best_of, extend_frontier, why_best
from ralph_tracker.core.comparable_score import AdjustedParts, Scorer, WeightsOfTests
from ralph_tracker.core.known_tests import SeenTests
from tests.tables import table


def scorer(union, **seen):
    return Scorer(WeightsOfTests(0.4, 0.2), SeenTests(counted=union, **seen))


def candidate(iteration, fixed, *, passes=0, present=0, unseen=0, alone=None, **more):
    parts = AdjustedParts(
        fixed=fixed, alone=fixed if alone is None else alone, passes=passes, present=present, unseen=unseen
    )
    values = {"quality_score": fixed, "adjusted_parts": parts, "verified": True, "findings": 0.0}
    return Candidate(iteration=iteration, **{**values, **more})


class TestBelieved:
    @table(
        ("pool", "expected"),
        [
            pytest.param([candidate(0, 0.9), candidate(1, 0.2, passes=1)], 1, id="most believed tests"),
            pytest.param([candidate(0, 0.5), candidate(1, 0.7), candidate(2, 0.6)], 1, id="then the better score"),
            pytest.param([candidate(1, 0.5), candidate(2, 0.495)], 2, id="nearly equal: the later"),
            pytest.param([candidate(1, 0.5), candidate(2, 0.4949)], 1, id="not nearly equal"),
            pytest.param([candidate(2, 0.495), candidate(1, 0.5)], 2, id="in whatever order they come"),
            pytest.param([candidate(1, 0.5), candidate(2, 0.5, findings=9.0)], 2, id="whatever the findings"),
        ],
    )
    def test_where_tests_are_known(self, pool, expected):
        assert best_of(pool, scorer(1)).iteration == expected

    @table(
        ("pool", "expected"),
        [
            pytest.param([candidate(1, 0.501), candidate(2, 0.5)], 1, id="the highest score"),
            pytest.param([candidate(1, 0.5, findings=3.0), candidate(2, 0.5, findings=2.5)], 2, id="fewer findings"),
            pytest.param([candidate(1, 0.5), candidate(2, 0.5)], 2, id="then the later"),
            pytest.param([candidate(1, 0.5, findings=99.0), candidate(2, 0.5, findings=None)], 1, id="unknown loses"),
        ],
    )
    def test_where_no_test_is_known_or_the_score_is_given(self, pool, expected):
        assert best_of(pool, scorer(0)).iteration == expected
        given = [each._replace(given=True) for each in pool]
        assert best_of(given, scorer(9)).iteration == expected

    @table("verdict", ["TAMPERED", "UNPROVEN"])
    def test_verified_and_clean_ones_first_then_clean_ones_then_any(self, verdict):
        bad = candidate(3, 0.9, passes=9, verdict=verdict)
        unverified, good = candidate(2, 0.8, passes=5, verified=False), candidate(1, 0.2)
        assert best_now([bad, unverified, good], scorer(9)).iteration == 1
        assert best_now([bad, unverified], scorer(9)).iteration == 2
        assert best_now([bad], scorer(9)).iteration == 3
        assert best_of([bad, unverified], scorer(9)) is None

    def test_tests_beyond_those_that_are_left_after_a_removal_count_for_nothing(self):
        more, fewer = candidate(0, 0.2, passes=10, present=12), candidate(1, 0.2, passes=8, present=8)
        measure = scorer(12, excluded_count=4)
        assert best_now([more, fewer], measure).iteration == 1
        assert [each.iteration for each in extend_frontier((more,), fewer, measure)] == [0, 1]

    def test_none_of_none(self):
        assert best_now([], scorer(1)) is None


class TestWhyBest:
    @table(
        ("pool", "expected"),
        [
            pytest.param([], (), id="no iteration"),
            pytest.param(
                [candidate(0, 0.9, passes=3), candidate(1, 0.2, passes=5)],
                ("It has the most passing tests that can be believed (5).",),
                id="most tests",
            ),
            pytest.param(
                [candidate(0, 0.5, passes=5), candidate(1, 0.502, passes=5), candidate(2, 0.5, passes=5)],
                (
                    "It has the most passing tests that can be believed (5); 2 others have as many.",
                    "It is the latest of those whose score is within 0.005 of their best, 0.7020.",
                ),
                id="as many in others",
            ),
            pytest.param(
                [candidate(0, 0.5, passes=5, verified=False), candidate(1, 0.5, passes=5, verified=False)],
                (
                    "No iteration is verified and clean.",
                    "It has the most passing tests that can be believed (5); 1 other has as many.",
                    "It is the latest of those whose score is within 0.005 of their best, 0.7000.",
                ),
                id="none is verified",
            ),
            pytest.param([candidate(0, 0.5, given=True)], ("It has the highest score.",), id="scores are given"),
            pytest.param(
                [candidate(0, 0.5, given=True), candidate(1, 0.5, given=True), candidate(2, 0.4, given=True)],
                ("It has the highest score; of those with this score it has the fewest findings, or is the latest.",),
                id="equal scores are given",
            ),
        ],
    )
    def test_in_up_to_three_sentences(self, pool, expected):
        assert why_best(pool, scorer(10)) == expected


class TestKept:
    """Each names what makes a candidate safe to forget, or not."""

    def keep(self, candidates, measure):
        frontier = ()
        for one in candidates:
            frontier = extend_frontier(frontier, one, measure)
        return [one.iteration for one in frontier]

    @table(
        ("candidates", "expected"),
        [
            pytest.param([candidate(1, 0.5), candidate(2, 0.4)], [1], id="lower"),
            pytest.param([candidate(1, 0.4), candidate(2, 0.5)], [2], id="higher"),
            pytest.param([candidate(1, 0.5), candidate(2, 0.5)], [2], id="equal and later"),
            pytest.param([candidate(1, 0.504), candidate(2, 0.5)], [1, 2], id="lower, later and nearly equal"),
            pytest.param([candidate(1, 0.5), candidate(2, 0.504)], [2], id="higher, later and nearly equal"),
            pytest.param([candidate(1, 0.9), candidate(2, 0.1, passes=1)], [2], id="more tests"),
            pytest.param([candidate(1, 0.1, passes=1), candidate(2, 0.9)], [1], id="fewer tests"),
            pytest.param([candidate(1, 0.5, verified=False), candidate(2, 0.4)], [1, 2], id="unverified and higher"),
            pytest.param([candidate(1, 0.4), candidate(2, 0.5, verified=False)], [1, 2], id="the same, reversed"),
            pytest.param([candidate(1, 0.5), candidate(2, 0.4, verified=False)], [1], id="unverified and lower"),
            pytest.param([candidate(1, 0.5), candidate(2, 0.49, unseen=1)], [1, 2], id="one that may run later"),
            pytest.param([candidate(1, 0.5), candidate(2, 0.5), candidate(3, 0.9)], [3], id="all of them beaten"),
        ],
    )
    def test_which_stay_where_tests_are_known(self, candidates, expected):
        assert self.keep(candidates, scorer(10)) == expected

    @table(
        ("candidates", "expected"),
        [
            pytest.param([candidate(1, 0.5), candidate(2, 0.5)], [2], id="equal and later"),
            pytest.param([candidate(1, 0.501), candidate(2, 0.5)], [1], id="lower"),
            pytest.param([candidate(1, 0.5, findings=1.0), candidate(2, 0.5, findings=2.0)], [1], id="more findings"),
        ],
    )
    def test_which_stay_where_the_score_is_given(self, candidates, expected):
        assert self.keep([each._replace(given=True) for each in candidates], scorer(9)) == expected

    def test_while_no_test_has_run_the_formula_s_own_score_counts_too(self):
        pool = [candidate(1, 0.5, alone=0.6), candidate(2, 0.4, alone=0.7)]
        assert self.keep(pool, scorer(0)) == [1, 2]
        assert self.keep(pool, scorer(1)) == [1]

    def test_while_no_test_has_run_an_equal_score_may_still_win_the_tie(self):
        pool = [candidate(1, 0.5, alone=0.6, findings=1.0), candidate(2, 0.5, alone=0.6, findings=2.0)]
        assert self.keep(pool, scorer(0)) == [1, 2]

    def test_while_no_test_has_run_one_whose_tests_were_only_skipped_may_still_win(self):
        assert self.keep([candidate(1, 0.5, unseen=1), candidate(2, 0.5)], scorer(0)) == [1, 2]
        assert self.keep([candidate(1, 0.5), candidate(2, 0.5)], scorer(0)) == [2]
