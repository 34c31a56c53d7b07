"""What a person reads: hooks, history, reports, damaged records named."""

import pytest

LOOP = ".aiwg/ralph/ralph-001"


def test_a_baseline_is_told_with_what_comes_next(project, metrics_of):
    told = project.hook("pre-loop", metrics_of()).out
    assert told == (
        "Baseline: all 10 tests pass, 50 % coverage, 10 lint errors.\n"
        "  loop ralph-001, score 84.3 %\n"
        "  next: let the agent work, then `ralph-tracker hook post-iteration`\n"
    )


def test_an_iteration_is_told_with_its_alerts_and_those_still_open(dropped, metrics_of):
    told = dropped.hook("post-iteration", metrics_of(test_count=9, tests_passed=8, tests_failed=1)).out.splitlines()
    assert told[0] == "ALERT: Test deletion, recommend rollback"
    assert told[1:] == [
        "  ralph-001 iteration 3, regression: 8 of 9 tests pass (9 of 9 before), 50 %",
        "    coverage, 10 lint errors",
        "  CRITICAL it3-working_tests_failing: Previously passing tests now failing",
        "    (passed 9→8, failed 0→1; names are not known)",
        "  still open: it2-test_deletion, it2-functionality_loss",
        "  score 79.8 % (82 % before); best 84.3 %, iteration 1",
        "  next: `ralph-tracker hook loop-decision`",
    ]


def test_history_is_a_line_an_iteration_with_the_best_marked(dropped):
    assert dropped.ralph("history").out == (
        "it.  class       tests  coverage  errors  score   cost   decision\n"
        "0    baseline    9/9    50.0%     10      84.3 %  n/a    continue\n"
        "1    forward     10/10  50.0%     10      84.3 %  n/a    continue  ← best\n"
        "2    regression  9/9    50.0%     10      82 %    $1.50  rollback\n"
    )


def test_history_says_na_for_tests_and_leaves_empty_columns_out(project, metrics_of):
    project.must("pre-loop", {"quality_score": 0.5})
    project.must("post-iteration", {"quality_score": 0.25, "testing": {"tests_passed": 3}})
    lines = [line.split() for line in project.ralph("history").out.splitlines()[1:]]
    assert lines == [
        ["0", "baseline", "n/a", "50", "%", "continue", "←", "best"],
        ["1", "regression", "n/a", "25", "%", "rollback"],
    ]


@pytest.mark.parametrize("verb", ["show", "report"])
def test_the_latest_iteration_is_meant_where_none_is_named(dropped, verb):
    assert dropped.ralph(verb) == dropped.ralph(verb, "2")


def test_a_report_is_that_of_the_record(dropped):
    told = dropped.ralph("report", "2")
    assert told.out == (dropped.root / LOOP / "reports/iteration-002-report.md").read_text(encoding="utf-8")
    assert dropped.ralph("report", "2", "--json").json == {"iteration": 2, "format": "md", "text": told.out}
    baseline = dropped.ralph("report", "0").out
    assert baseline.startswith(
        "All 9 tests pass, 50 % coverage, 10 lint errors; score 84.3 %.\n\n## Iteration 0 Progress"
    )
    assert baseline.count("\n| Metric | Current |\n") == 2  # there is nothing to compare a baseline with
    assert "| n/a |" not in baseline.replace("| Coverage | n/a |", "")


def damage(path):
    path.write_bytes(path.read_bytes()[:-20])


def test_a_record_damaged_in_one_copy_is_named_and_shown_from_the_other(dropped):
    whole = {verb: dropped.ralph(verb, "1").out for verb in ("show", "report")}
    listed = dropped.ralph("history").out
    damage(dropped.root / LOOP / "progress/iteration-001-metrics.yaml")
    said = "ralph-tracker: iteration 1: progress/iteration-001-metrics.yaml is damaged"
    for verb, out in whole.items():
        answer = dropped.ralph(verb, "1")
        assert (answer.code, answer.out) == (0, out)
    answer = dropped.ralph("history")
    assert (answer.code, answer.out, answer.err.startswith(said)) == (0, listed, True)
    assert dropped.ralph("show", "1").err.startswith(said)
    assert len(dropped.ralph("history", "--json").json) == 3


def test_a_record_damaged_in_both_copies_is_named_and_the_others_go_on(dropped):
    damage(dropped.root / LOOP / "progress/iteration-001-metrics.yaml")
    damage(dropped.root / LOOP / "iterations/iteration-001/metrics.json")
    said = "iteration 1: both copies of its record are damaged; other iterations are not affected"
    for verb in ("show", "report"):
        answer = dropped.ralph(verb, "1")
        assert (answer.code, answer.complaint) == (1, said)
        assert dropped.ralph(verb, "2").code == 0
    answer = dropped.ralph("history")
    assert (answer.code, answer.err) == (0, f"ralph-tracker: {said}\n")
    assert [line.split()[1] for line in answer.out.splitlines() if line[0].isdigit()] == [
        "baseline",
        "damaged",
        "regression",
    ]
    numbers = [record["iteration_metrics"]["iteration"] for record in dropped.ralph("history", "--json").json]
    assert numbers == [0, 2]


def test_history_goes_on_where_what_is_derived_is_damaged(dropped):
    (dropped.root / LOOP / "progress/trajectory.jsonl").write_text("{")
    answer = dropped.ralph("history", "--json")
    assert (answer.code, len(answer.json)) == (0, 3)


def test_an_acceptance_is_in_history_and_the_record_says_what_was_judged_then(dropped):
    now = dropped.ralph("history", "--json").json[2]["iteration_metrics"]
    assert (now["adjusted_score"], now["kept_before"], now["is_best_iteration"]) == (0.82, 1, False)
    assert now["not_kept"] == "gains no test, and its score of 82 % is below 84.3 %"
    assert dropped.ralph("accept", "it2-test_deletion", "--reason", "merged").code == 0
    now = dropped.ralph("history", "--json").json[2]["iteration_metrics"]
    assert (now["adjusted_score"], now["not_kept"], now["is_best_iteration"]) == (0.8425, None, True)
    assert dropped.ralph("show", "2", "--json").json["iteration_metrics"]["adjusted_score"] == 0.82


def test_a_decision_to_stop_names_what_could_be_tried_instead(project, metrics_of):
    project.started()
    for _ in range(3):
        project.must("post-iteration", metrics_of())
    told = project.hook("loop-decision")
    assert (told.code, told.out.splitlines()) == (
        10,
        [
            "stop (confidence 85 %): No meaningful progress for 3 iterations",
            "  or: Consider different approach",
            "  or: Request human intervention",
            "  or: Try alternative strategy",
            "  next: `ralph-tracker hook post-loop`",
        ],
    )


@pytest.mark.parametrize("flags", [(), ("--json",), ("--apply",), ("--apply", "--json")], ids=" ".join)
def test_the_short_way_to_a_decision_and_the_whole_command_line_answer_the_same(dropped, flags):
    short = dropped.plainly("hook", "loop-decision", "--root", dropped.root, *flags)
    assert dropped.plainly("hook", "loop-decision", f"--root={dropped.root}", *flags) == short
    assert dropped.plainly("hook", "loop_decision", *flags, "--loop-id", "ralph-001", f"--root={dropped.root}") == short
    assert short.code == (1 if "--apply" in flags else 11)
