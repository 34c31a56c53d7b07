"""What a person reads: status with the next step, history, show and report, damaged records named."""

import re

import pytest

LOOP = ".aiwg/ralph/ralph-001"
AT = r"\(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\)"


def timeless(text):
    return re.sub(AT, "(then)", text)


@pytest.fixture
def dropped(running, metrics_of):
    """Return a loop whose second iteration deleted a test."""
    usage = running.file("usage.json", {"cost_usd": 1.5})
    running.must("post-iteration", metrics_of(test_count=9, tests_passed=9), "--usage", usage)
    return running


def test_a_baseline_is_told_with_what_comes_next(project, metrics_of):
    told = project.hook("pre-loop", metrics_of()).out
    assert told == (
        "Baseline captured, await iteration 1\n"
        "  ralph-001 iteration 0: baseline, quality 0.8425, adjusted 0.8425\n"
        "  next: ralph-tracker hook post-iteration\n"
    )


def test_an_iteration_is_told_with_its_alerts_and_those_still_open(dropped, metrics_of):
    told = dropped.hook("post-iteration", metrics_of(test_count=9, tests_passed=8, tests_failed=1)).out.splitlines()
    assert told[0] == "ALERT: Test deletion, recommend rollback"
    assert told[1].startswith("  ralph-001 iteration 3: regression, quality ")
    assert told[1].endswith(", best: iteration 1")
    assert told[2] == (
        "  CRITICAL it3-working_tests_failing: Previously passing tests now failing "
        "(passed 9→8, failed 0→1; names are not known)"
    )
    assert told[3:] == [
        "  still open: it2-test_deletion, it2-functionality_loss",
        "  next: ralph-tracker hook loop-decision",
    ]


def test_status_shows_where_the_loop_stands(dropped):
    assert timeless(dropped.ralph("status").out) == (
        "loop ralph-001: running, iteration 2 (then)\n"
        "  last: regression, quality 0.8425, adjusted 0.8075\n"
        "  best: iteration 1, quality 0.8425, adjusted 0.8425\n"
        "  cost: $1.50\n"
        "  CRITICAL it2-test_deletion: Test count decreased from 10 to 9\n"
        "  HIGH it2-functionality_loss: Passing tests decreased from 10 to 9\n"
        "  decision: rollback: Rollback to iteration 1 due to regression: Test count decreased from 10 to 9\n"
        "  next: go back to iteration 1, or accept the alert\n"
    )


def test_status_names_what_a_person_accepted(dropped):
    dropped.ralph("accept", "it2-test_deletion", "--reason", "x")
    dropped.ralph("accept", "it2-functionality_loss", "--reason", "x")
    told = dropped.ralph("status").out
    assert "  accepted: it2-functionality_loss\n  accepted: it2-test_deletion\n" in told
    assert "CRITICAL" not in told


def test_status_puts_the_worst_alert_first_though_it_is_the_oldest(dropped, metrics_of):
    dropped.must("post-iteration", metrics_of(test_count=9, tests_passed=9, coverage_percentage=10, file_count=1))
    told = [line.split()[0] for line in dropped.ralph("status").out.splitlines() if re.match("  [A-Z]+ it", line)]
    assert told == ["CRITICAL", "HIGH", "HIGH", "MEDIUM"]


def test_status_cuts_a_long_list_of_alerts_and_says_so(running, metrics_of):
    for number in range(5):
        running.must(
            "post-iteration", metrics_of(test_count=9 - number, tests_passed=8 - 2 * number, tests_failed=1 + number)
        )
    told = running.ralph("status").out.splitlines()
    shown = [line for line in told if re.match("  [A-Z]+ it", line)]
    assert len(shown) <= 10
    everything = len(running.ralph("status", "--json").json["alerts"])
    assert (f"  and {everything - 10} more alerts" in told) is (everything > 10)


def test_status_of_a_baseline_has_no_best_yet(project):
    told = project.started().ralph("status").out
    assert "  best: none yet\n  cost: unknown\n" in told


def test_status_says_the_next_step_in_every_standing(project, metrics_of):
    project.started()
    step = lambda: project.ralph("status", "--json").json["next_step"]  # noqa: E731  # asked several times
    assert step() == "let the agent work, then `ralph-tracker hook post-iteration`"
    project.must("post-iteration", metrics_of(), "--blocked", "no key")
    assert step() == "a person looks; then go on, accept an alert, or `ralph-tracker hook post-loop`"
    project.must("post-iteration", metrics_of(coverage_percentage=100, lint_errors=0, lint_warnings=0))
    assert step() == "`ralph-tracker hook post-loop`"
    project.must("post-loop")
    assert step() == "read the reports, or select again with `ralph-tracker select-best`"
    project.started()
    project.must("pre-loop", metrics_of(), "--new")
    told = project.ralph("status", "--loop-id", "ralph-002").out
    assert told.endswith("  next: the loop was given up; `ralph-tracker hook pre-loop` starts another\n")


def test_history_is_a_line_an_iteration_with_the_best_marked(dropped):
    assert dropped.ralph("history").out == (
        "iteration  class       tests  coverage  errors  quality  adjusted  decision\n"
        "0          baseline    9/9    50.0%     10      0.8425   0.8075    continue\n"
        "1          forward     10/10  50.0%     10      0.8425   0.8425    continue  ← best\n"
        "2          regression  9/9    50.0%     10      0.8425   0.8075    rollback\n"
    )


def test_history_says_na_for_what_was_not_measured(project, metrics_of):
    project.must("pre-loop", {"quality_score": 0.5})
    project.must("post-iteration", {"quality_score": 0.25, "testing": {"tests_passed": 3}})
    lines = [line.split() for line in project.ralph("history").out.splitlines()[1:]]
    assert lines == [
        ["0", "baseline", "n/a", "n/a", "n/a", "0.50", "0.50", "continue", "←", "best"],
        ["1", "regression", "n/a", "n/a", "n/a", "0.25", "0.25", "rollback"],
    ]


def test_show_goes_from_the_score_to_its_components(dropped):
    told = timeless(dropped.ralph("show").out)
    for line in (
        "iteration 2 (then): regression, verified: no\n",
        "quality 0.8425, adjusted 0.8075: 9 of the 10 tests ever seen pass here\n",
        "  Test Count             9  previous        10 (-1)  baseline         9\n",
        "  Validation         83.33  weight 0.30\n",
        "    no_lint_errors           50\n",
        "  CRITICAL it2-test_deletion (new): Test count decreased from 10 to 9\n",
        "decision: rollback (0.95): Rollback to iteration 1 due to regression: Test count decreased from 10 to 9\n",
    ):
        assert line in told
    assert timeless(dropped.ralph("show", "1").out).startswith("iteration 1 (then): forward, verified: yes\n")


def test_show_says_what_counts_0_because_it_was_not_measured(running, metrics_of):
    running.must("post-iteration", metrics_of(coverage_percentage=None))
    told = running.ralph("show").out
    assert "    coverage_percentage      not measured, counts 0\n" in told
    assert "  Coverage             n/a  previous       n/a (n/a)  baseline       n/a\n" in told


@pytest.mark.parametrize("verb", ["show", "report"])
def test_the_latest_iteration_is_meant_where_none_is_named(dropped, verb):
    assert dropped.ralph(verb) == dropped.ralph(verb, "2")


def test_a_report_is_that_of_the_record(dropped):
    told = dropped.ralph("report", "2")
    assert told.out == (dropped.root / LOOP / "reports/iteration-002-report.md").read_text(encoding="utf-8")
    assert dropped.ralph("report", "2", "--json").json == {"iteration": 2, "format": "md", "text": told.out}
    assert dropped.ralph("report", "0").out.startswith("## Iteration 0 Progress Report\n")


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
    said = "iteration 1: both copies of its record are damaged; the others go on"
    for verb in ("show", "report"):
        answer = dropped.ralph(verb, "1")
        assert (answer.code, answer.complaint) == (1, said)
        assert dropped.ralph(verb, "2").code == 0
    answer = dropped.ralph("history")
    assert (answer.code, answer.err) == (0, f"ralph-tracker: {said}\n")
    assert [line.split()[1] for line in answer.out.splitlines()[1:]] == ["baseline", "damaged", "regression"]
    numbers = [record["iteration_metrics"]["iteration"] for record in dropped.ralph("history", "--json").json]
    assert numbers == [0, 2]


def test_history_goes_on_where_what_is_derived_is_damaged(dropped):
    (dropped.root / LOOP / "tests-seen.json").write_text("{")
    answer = dropped.ralph("history", "--json")
    assert (answer.code, len(answer.json)) == (0, 3)


def test_an_old_iteration_is_judged_in_history_against_the_tests_of_now(dropped, metrics_of):
    dropped.must("post-iteration", metrics_of(test_count=20, tests_passed=20))
    record = dropped.ralph("history", "--json").json[1]["iteration_metrics"]
    assert (record["adjusted_score_recorded"], record["is_best_iteration"]) == (0.8425, False)
    assert record["adjusted_score"] < 0.8425
    assert dropped.ralph("show", "1", "--json").json["iteration_metrics"]["adjusted_score"] == 0.8425


def test_a_decision_to_stop_names_what_could_be_tried_instead(project, metrics_of):
    project.started()
    for _ in range(3):
        project.must("post-iteration", metrics_of())
    told = project.hook("loop-decision")
    assert (told.code, told.out.splitlines()) == (
        10,
        [
            "stop (0.85): No meaningful progress for 3 iterations",
            "  or: Consider different approach",
            "  or: Request human intervention",
            "  or: Try alternative strategy",
        ],
    )


@pytest.mark.parametrize("flags", [(), ("--json",), ("--apply",), ("--apply", "--json")], ids=" ".join)
def test_the_short_way_to_a_decision_and_the_whole_command_line_answer_the_same(dropped, flags):
    short = dropped.plainly("hook", "loop-decision", "--root", dropped.root, *flags)
    assert dropped.plainly("hook", "loop-decision", f"--root={dropped.root}", *flags) == short
    assert dropped.plainly("hook", "loop_decision", *flags, "--loop-id", "ralph-001", f"--root={dropped.root}") == short
    assert short.code == (1 if "--apply" in flags else 11)
