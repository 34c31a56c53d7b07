"""What a record says of itself (semantics § 8)."""

import pytest


def test_only_iteration_0_is_the_baseline(start):
    loop = start()
    assert loop.last.is_baseline
    assert not loop.turn().is_baseline


def test_after_the_baseline_there_is_no_best_yet(start):
    best = start().last.best
    assert (best.iteration, best.score, best.adjusted) == (None, 0.0, 0.0)
    assert not start().last.is_best


@pytest.mark.parametrize(
    ("coverage", "best", "is_best"),
    [
        pytest.param(90.0, 1, True, id="better than the baseline"),
        pytest.param(70.0, 0, False, id="worse: the baseline is the best"),
        pytest.param(79.0, 1, True, id="nearly equal: the later is the best"),
    ],
)
def test_from_iteration_1_on_the_baseline_included(start, coverage, best, is_best):
    loop = start()
    record = loop.turn(coverage_percentage=coverage)
    assert (record.best.iteration, record.is_best) == (best, is_best)
    assert record.best.score == loop.records[best].quality_score
    assert record.best.adjusted == loop.records[best].adjusted_score


def test_where_nothing_is_verified_the_best_says_so(start):
    loop = start(build_status="failure")
    record = loop.turn(build_status="failure", coverage_percentage=90.0)
    assert (record.best.iteration, record.best.verified) == (0, False)
    assert loop.turn(coverage_percentage=90.0).best.verified
