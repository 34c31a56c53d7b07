"""A test in quarantine never decides, whatever its outcome; flaky is what ended in two ways on one tree."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph_tracker.core.judge import judge, judge_baseline
from ralph_tracker.core.judge_state import JudgeState
from ralph_tracker.core.metrics import Measurement, Metrics, TestResults
from ralph_tracker.core.thresholds import Thresholds
from ralph_tracker.records.quarantine import FlakyTest, Run, flaky_tests, in_quarantine, set_aside

P, F, S = "passed", "failed", "skipped"
OUTCOMES = st.sampled_from([P, F, S, None])


def measured(outcomes, **changes):
    """Return a measurement of tests; None is a test that is not there."""
    there = {name: how for name, how in outcomes.items() if how is not None}
    ends = list(there.values())
    counts = Metrics(len(ends), ends.count(P), ends.count(F), ends.count(S))
    return Measurement(counts, "2030-01-01T00:00:00Z", tests=TestResults(there, **changes))


def judged(loop, odd):
    """Return what is decided of a loop whose test `odd` is in quarantine and ends as given."""
    state, found = JudgeState("ralph-001", Thresholds()), []
    for number, (outcomes, how) in enumerate(zip(loop, odd, strict=True)):
        measurement = set_aside(measured({"always": P, **outcomes, "odd": how}), {"odd"})
        judgement = judge(state, measurement) if number else judge_baseline(state, measurement)
        state = judgement.state
        found.append((judgement.decision, judgement.assessment, judgement.walked, state))
    return found


@settings(deadline=None)
@given(data=st.data())
def test_one_in_quarantine_never_decides(data):
    loop = data.draw(
        st.lists(st.dictionaries(st.sampled_from("ab"), st.sampled_from([P, F, S])), min_size=2, max_size=4)
    )
    odd = st.lists(OUTCOMES, min_size=len(loop), max_size=len(loop))
    assert judged(loop, data.draw(odd)) == judged(loop, data.draw(odd))


@pytest.mark.parametrize("how", [P, F, S])
def test_it_is_listed_and_not_counted(how):
    found = set_aside(measured({"a": P, "odd": how}, flaky=frozenset({"odd"})), {"odd", "other"})
    assert (found.metrics.test_count, found.metrics.tests_passed, found.metrics.tests_failed) == (1, 1, 0)
    assert found.tests == TestResults({"a": P})
    assert found.quarantined == {"odd": how}
    assert found.notes == (f"in quarantine, deciding nothing: odd ({how})",)


def test_counts_that_nobody_knows_stay_unknown():
    given = Measurement(Metrics(pass_rate=50.0), "2030-01-01T00:00:00Z", tests=TestResults({"a": P, "odd": F}))
    assert set_aside(given, {"odd"}).metrics == Metrics(pass_rate=50.0)


@pytest.mark.parametrize("tests", [None, TestResults({"a": P})])
def test_without_such_a_test_nothing_changes(tests):
    measurement = Measurement(Metrics(), "2030-01-01T00:00:00Z", tests=tests)
    assert set_aside(measurement, {"odd"}) is measurement


def test_it_ends_on_its_day():
    assert in_quarantine({"a": "2030-01-02", "b": "2030-01-01"}, "2030-01-01") == {"a"}


@pytest.mark.parametrize(
    ("runs", "found"),
    [
        ([Run("t", {"a": P}), Run("t", {"a": F})], [FlakyTest("a", 1, 1)]),
        ([Run("t", {"a": P}), Run("u", {"a": F})], []),
        ([Run(None, {"a": P}), Run(None, {"a": F})], []),
        ([Run("t", {"a": P}), Run("t", {"a": S})], []),
        ([Run("t", {"a": P}, {"a"}), Run("u", {"a": P})], [FlakyTest("a", 2, 1)]),
    ],
    ids=["one tree", "two trees", "no tree", "skipped", "repeated"],
)
def test_flaky_is_what_ended_in_two_ways_on_one_tree(runs, found):
    assert flaky_tests(runs, {}) == tuple(found)


def test_those_in_quarantine_are_listed_with_their_day():
    (found,) = flaky_tests([], {"a": "2030-01-02"})
    assert found.text == "a: passed 0 times, failed 0 times; quarantined in loops that begin before 2030-01-02"
    assert FlakyTest("b", 1, 2).text == "b: passed 1 time, failed 2 times"
