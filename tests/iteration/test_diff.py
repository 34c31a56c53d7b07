"""Two iterations side by side: every metric with its direction, every test in one kind at most."""

from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.core.metrics import METRICS, Direction
from ralph_tracker.iteration.diff import OUTCOME_KINDS, metric_changes, outcome_changes, score_change
from tests.tables import table

OUTCOMES = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from(["passed", "failed", "skipped"]))


@table(
    ("name", "before", "after", "change", "verdict"),
    [
        ("test_count", 8, 10, 2, "better"),
        ("test_count", 10, 8, -2, "worse"),
        ("tests_failed", 3, 1, -2, "better"),
        ("tests_failed", 1, 3, 2, "worse"),
        ("coverage_percentage", 80.0, 77.8, -2.2, "worse"),
        ("complexity_score", 2.25, 2.25, 0, "same"),
        ("loc_total", 100, 90, -10, "changed"),
        ("build_status", "failure", "success", None, "better"),
        ("build_status", "success", "failure", None, "worse"),
        ("build_status", "success", "success", None, "same"),
        ("build_status", "success", "skipped", None, "changed"),
        ("build_status", "maybe", "success", None, "changed"),
        ("lint_errors", "many", 3, None, "changed"),
        ("lint_errors", None, 3, None, "unknown"),
        ("lint_errors", 3, None, None, "unknown"),
    ],
)
def test_a_change_is_good_or_bad_by_the_direction_of_the_metric(name, before, after, change, verdict):
    one, other = ({} if value is None else {name: value} for value in (before, after))
    (found,) = metric_changes(one, other)
    assert (found.name, found.before, found.after, found.change, found.verdict) == (
        name,
        before,
        after,
        change,
        verdict,
    )


def test_metrics_stand_in_the_order_of_the_table_and_what_neither_side_has_is_left_out():
    names = [spec.name for spec in METRICS if spec.numeric and spec.name != "tests_skipped"]
    changes = metric_changes(dict.fromkeys(reversed(names), 1), dict.fromkeys(names, 2))
    assert [change.name for change in changes] == names
    assert metric_changes({}, {}) == ()


@table(
    ("before", "after", "change", "verdict"),
    [(0.8425, 0.8075, -0.035, "worse"), (0.5, 0.5, 0, "same"), (0.1, 0.3, 0.2, "better"), (None, 0.5, None, "unknown")],
)
def test_scores_are_compared_at_their_decimals(before, after, change, verdict):
    found = score_change("quality_score", before, after)
    assert (found.before, found.after, found.change, found.verdict) == (before, after, change, verdict)


@table(
    ("before", "after", "kind"),
    [
        ("passed", "failed", "broken"),
        ("skipped", "failed", "broken"),
        ("failed", "passed", "fixed"),
        ("skipped", "passed", "fixed"),
        ("passed", "skipped", "newly_skipped"),
        ("failed", "skipped", "newly_skipped"),
        (None, "failed", "new"),
        ("passed", None, "gone"),
    ],
)
def test_a_test_is_of_the_kind_that_its_outcomes_say(before, after, kind):
    one, other = ({} if outcome is None else {"t": outcome} for outcome in (before, after))
    found = outcome_changes(one, other)
    ((only,),) = [changes for changes in found.values() if changes]
    assert found[kind] == (only,)
    assert (only.id, only.before, only.after) == ("t", before, after)


@given(OUTCOMES, OUTCOMES)
def test_each_differing_test_is_in_one_kind_by_name_and_no_other_is(before, after):
    found = outcome_changes(before, after)
    assert tuple(found) == OUTCOME_KINDS
    names = [change.id for changes in found.values() for change in changes]
    assert sorted(names) == sorted(n for n in before.keys() | after.keys() if before.get(n) != after.get(n))
    assert all(
        [change.id for change in changes] == sorted(change.id for change in changes) for changes in found.values()
    )


@given(OUTCOMES, OUTCOMES)
def test_looked_at_the_other_way_round_what_is_new_is_gone(before, after):
    there, back = outcome_changes(before, after), outcome_changes(after, before)
    assert [change.id for change in there["new"]] == [change.id for change in back["gone"]]


@given(
    st.dictionaries(st.sampled_from([spec.name for spec in METRICS if spec.numeric]), st.integers(0, 50)),
    st.dictionaries(st.sampled_from([spec.name for spec in METRICS if spec.numeric]), st.integers(0, 50)),
)
def test_looked_at_the_other_way_round_better_is_worse(before, after):
    opposite = {"better": "worse", "worse": "better"}
    there, back = metric_changes(before, after), metric_changes(after, before)
    assert [opposite.get(change.verdict, change.verdict) for change in there] == [change.verdict for change in back]
    directions = {spec.name: spec.direction for spec in METRICS}
    assert all(change.verdict not in opposite for change in there if directions[change.name] is Direction.NEUTRAL)
