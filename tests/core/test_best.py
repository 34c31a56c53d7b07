"""The best iteration, and which candidates may still become it (semantics § 2 Cost, § 8)."""

import pytest

from ralph_tracker.core.adjusted import Ground, TestWeights
from ralph_tracker.core.best import Candidate, best_now, best_of, findings_of, kept
from ralph_tracker.core.identities import SeenTests
from ralph_tracker.core.line import Yardstick
from ralph_tracker.core.metrics import Metrics


def yardstick(union, **seen):
    return Yardstick(TestWeights(0.4, 0.2), SeenTests(counted=union, **seen))


def candidate(iteration, fixed, *, passes=0, present=0, unseen=0, alone=None, verified=True, findings=0.0):
    ground = Ground(fixed=fixed, alone=fixed if alone is None else alone, passes=passes, present=present, unseen=unseen)
    return Candidate(iteration=iteration, quality_score=fixed, ground=ground, verified=verified, findings=findings)


class TestBest:
    def test_the_highest_score(self):
        pool = [candidate(0, 0.5), candidate(1, 0.7), candidate(2, 0.6)]
        assert best_of(pool, yardstick(1), verified_only=True).iteration == 1

    @pytest.mark.parametrize(
        ("pool", "expected"),
        [
            pytest.param([candidate(1, 0.5, findings=3.0), candidate(2, 0.5, findings=2.5)], 2, id="fewer findings"),
            pytest.param([candidate(1, 0.5), candidate(2, 0.5)], 1, id="then the earlier"),
            pytest.param([candidate(2, 0.5), candidate(1, 0.5)], 1, id="in whatever order they come"),
            pytest.param(
                [candidate(1, 0.5, findings=None), candidate(2, 0.5, findings=99.0)], 2, id="unknown findings lose"
            ),
            pytest.param(
                [candidate(1, 0.50004, findings=9.0), candidate(2, 0.5, findings=1.0)],
                2,
                id="equal are those that are recorded as equal",
            ),
            pytest.param([candidate(1, 0.5001, findings=9.0), candidate(2, 0.5, findings=1.0)], 1, id="no tie"),
        ],
    )
    def test_a_tie_goes_to_fewer_findings_then_to_the_earlier(self, pool, expected):
        assert best_of(pool, yardstick(1), verified_only=True).iteration == expected

    def test_only_verified_ones_while_there_is_one(self):
        pool = [candidate(0, 0.2), candidate(1, 0.9, verified=False)]
        assert best_now(pool, yardstick(1)).iteration == 0
        assert best_of(pool, yardstick(1), verified_only=False).iteration == 1

    def test_the_highest_of_all_where_nothing_is_verified(self):
        pool = [candidate(0, 0.2, verified=False), candidate(1, 0.9, verified=False)]
        assert best_of(pool, yardstick(1), verified_only=True) is None
        assert best_now(pool, yardstick(1)).iteration == 1

    def test_none_of_none(self):
        assert best_now([], yardstick(1)) is None

    def test_it_changes_as_more_tests_are_seen(self):
        pool = [candidate(1, 0.3, passes=4, present=4), candidate(2, 0.5, passes=1, present=1)]
        assert best_now(pool, yardstick(4)).iteration == 1
        assert best_now(pool, yardstick(40)).iteration == 2

    @pytest.mark.parametrize(
        ("errors", "loc", "expected"),
        [(10, 200, 5.0), (11, 200, 5.5), (10, 50, 10.0), (10, None, 10.0), (None, 200, None)],
    )
    def test_findings_at_the_baselines_size(self, errors, loc, expected):
        assert findings_of(Metrics(loc_total=100), Metrics(error_count=errors, loc_total=loc)) == expected


class TestKept:
    """Each names what makes a candidate safe to forget, or not."""

    def keep(self, candidates, measure):
        frontier = ()
        for one in candidates:
            frontier = kept(frontier, one, measure)
        return [one.iteration for one in frontier]

    @pytest.mark.parametrize(
        ("candidates", "expected"),
        [
            pytest.param([candidate(1, 0.5), candidate(2, 0.4)], [1], id="lower"),
            pytest.param([candidate(1, 0.4), candidate(2, 0.5)], [2], id="higher"),
            pytest.param([candidate(1, 0.5), candidate(2, 0.5)], [1], id="equal and later"),
            pytest.param([candidate(1, 0.5, findings=2.0), candidate(2, 0.5)], [2], id="equal with fewer findings"),
            pytest.param(
                [candidate(1, 0.50005, findings=2.0), candidate(2, 0.5)], [1, 2], id="so close that rounding may tie"
            ),
            pytest.param([candidate(1, 0.5002, findings=2.0), candidate(2, 0.5)], [1], id="too far apart for a tie"),
            pytest.param([candidate(1, 0.5, verified=False), candidate(2, 0.4)], [1, 2], id="unverified and higher"),
            pytest.param([candidate(1, 0.4), candidate(2, 0.5, verified=False)], [1, 2], id="the same, reversed"),
            pytest.param([candidate(1, 0.5), candidate(2, 0.4, verified=False)], [1], id="unverified and lower"),
            pytest.param(
                [candidate(1, 0.5), candidate(2, 0.4, passes=1, present=1)], [1, 2], id="lower with more tests"
            ),
            pytest.param(
                [candidate(1, 0.5, passes=2, present=2), candidate(2, 0.4, passes=2, present=2)], [1], id="as many"
            ),
            pytest.param(
                [candidate(1, 0.5), candidate(2, 0.4, unseen=1)], [1, 2], id="lower with one that may run later"
            ),
            pytest.param([candidate(1, 0.5), candidate(2, 0.5), candidate(3, 0.9)], [3], id="all of them beaten"),
        ],
    )
    def test_which_stay(self, candidates, expected):
        assert self.keep(candidates, yardstick(10)) == expected

    def test_while_no_test_has_run_the_formula_s_own_score_counts_too(self):
        pool = [candidate(1, 0.5, alone=0.6), candidate(2, 0.4, alone=0.7)]
        assert self.keep(pool, yardstick(0)) == [1, 2]
        assert self.keep(pool, yardstick(1)) == [1]

    def test_while_no_test_has_run_an_equal_score_may_still_win_the_tie(self):
        pool = [candidate(1, 0.4, alone=0.6, findings=1.0), candidate(2, 0.5, alone=0.6, findings=2.0)]
        assert self.keep(pool, yardstick(0)) == [1, 2]

    def test_tests_beyond_those_that_are_left_after_a_removal_count_for_nothing(self):
        """Twelve tests, six pass; then the four that were removed are accepted: eight of eight is better."""
        more = candidate(0, 0.2, passes=6, present=12)
        fewer = candidate(1, 0.2, passes=8, present=8)
        measure = yardstick(12, excluded_count=4)
        assert measure.score(1, fewer.ground) > measure.score(0, more.ground)
        assert 1 in self.keep([more, fewer], measure)
