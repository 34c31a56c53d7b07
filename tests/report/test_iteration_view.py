"""What a report shows of a record: previous values from differences, alerts in order, n/a for what is not there."""

from ralph_tracker.report.iteration_view import commit_of, iteration_view
from tests.tables import table

BARE = {"iteration_metrics": {"iteration": 4}}


def view_of(**record):
    return iteration_view({"iteration_metrics": {"iteration": 4, **record}})


def row_of(view, label):
    return next(row for row in (*view.rows, *view.more_rows) if row.label == label)


def test_a_record_with_a_number_alone_is_na_throughout():
    view = iteration_view(BARE)
    assert (view.iteration, view.timestamp, view.classification, view.total) == (4, "n/a", "n/a", "n/a")
    assert (view.best, view.best_score, view.action, view.confidence) == ("n/a", "n/a", "n/a", "n/a")
    assert (view.adjusted_score, view.evidence, view.verified) == ("n/a",) * 3
    assert (view.best_preserved, view.not_kept, view.cost) == ("no", "", "")
    assert [row.label for row in view.rows] == ["Test Count", "Pass Rate", "Coverage", "Errors"]
    assert all({row.current, row.previous, row.change, row.baseline} == {"n/a"} for row in view.rows)
    assert (view.more_rows, view.all_alerts) == ((), ())


def test_previous_and_baseline_are_what_the_differences_say():
    deltas = {
        "from_previous": {"coverage_delta": -3.0, "test_count_delta": 0},
        "from_baseline": {"coverage_delta": 7.0},
    }
    view = view_of(testing={"coverage_percentage": 72.0, "test_count": 9}, deltas=deltas)
    row = row_of(view, "Coverage")
    assert (row.current, row.previous, row.change) == ("72.0%", "75.0%", "-3.0%")
    assert (row.baseline, row.change_from_baseline) == ("65.0%", "+7.0%")
    row = row_of(view, "Test Count")
    assert (row.previous, row.change, row.baseline) == ("9", "0", "n/a")


@table(("now", "change", "before"), [(0.3, 0.1, "0.2%"), (80.0, -2.2, "82.2%"), (77.8, -2.2, "80.0%")])
def test_a_previous_value_has_no_binary_noise(now, change, before):
    view = view_of(testing={"pass_rate": now}, deltas={"from_previous": {"pass_rate_delta": change}})
    assert row_of(view, "Pass Rate").previous == before


def test_a_status_is_shown_and_has_no_difference():
    row = row_of(view_of(quality={"build_status": "failure"}), "Build")
    assert (row.current, row.previous, row.change) == ("failure", "n/a", "n/a")


def test_the_metrics_that_the_seed_does_not_show_are_listed_where_they_are_measured():
    view = view_of(testing={"tests_passed": 0}, codebase={"loc_total": 450})
    assert [row.label for row in view.more_rows] == ["Tests Passed", "Lines of Code"]


def test_new_and_open_alerts_stand_in_one_order_by_severity_then_type():
    view = view_of(
        alerts=[
            {"severity": "HIGH", "type": "b"},
            {"severity": "MEDIUM", "type": "a"},
            {"severity": "URGENT", "type": "a"},
        ],
        open_alerts=[
            {"severity": "CRITICAL", "type": "z"},
            {"severity": "HIGH", "type": "a", "triggered_at": "iteration_2"},
        ],
    )
    assert [(alert.severity, alert.type, alert.carried) for alert in view.all_alerts] == [
        ("CRITICAL", "z", True),
        ("HIGH", "a", True),
        ("HIGH", "b", False),
        ("MEDIUM", "a", False),
        ("URGENT", "a", False),
    ]
    assert view.all_alerts[1].since == "iteration 2"
    assert [alert.type for alert in view.alerts] == ["b", "a", "a"]


def test_a_dimension_that_the_loop_has_not_weighs_nothing():
    breakdown, weights = {"validation": 79.2593, "correctness": 100.0}, {"validation": 0.5455, "correctness": 0.4545}
    rows = {row.label: row for row in view_of(breakdown=breakdown, weights=weights).dimensions}
    assert (rows["Validation"].score, rows["Validation"].weight, rows["Validation"].contribution) == (
        "79.26",
        "0.55",
        "0.4324",
    )
    assert (rows["Correctness"].weight, rows["Correctness"].contribution) == ("0.45", "0.4545")
    assert (rows["Efficiency"].score, rows["Efficiency"].weight, rows["Efficiency"].contribution) == (
        "n/a",
        "0.00",
        "0.00",
    )


@table(("score", "weight", "shown"), [(82.5, 0.25, "0.2063"), (81.5, 0.25, "0.2038"), (62.75, 0.1, "0.0628")])
def test_a_half_is_rounded_up(score, weight, shown):
    (row,) = [
        r
        for r in view_of(breakdown={"validation": score}, weights={"validation": weight}).dimensions
        if r.score != "n/a"
    ]
    assert row.contribution == shown


def test_a_given_score_says_so():
    assert view_of(quality_score=0.8, score="given").total == "0.80 (given)"
    assert view_of(quality_score=0.8, score="computed").total == "0.80"


@table(("best", "shown"), [("iteration_2", "2"), (3, "3"), (None, "n/a")])
def test_the_best_iteration_is_a_number_however_it_is_written(best, shown):
    assert iteration_view({**BARE, "best_iteration_tracker": {"current_best": best}}).best == shown


@table(
    ("notes", "commit"),
    [(["flaky: t", "commit 1234567: Fix: it"], "1234567 Fix: it"), (["see commit 1: x"], ""), (None, "")],
)
def test_the_commit_of_a_replay_is_named_by_its_note(notes, commit):
    assert commit_of({"notes": notes}) == commit
