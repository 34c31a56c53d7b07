"""One iteration down to its components: what each brings, why each alert, the rule that decided, within 80 columns."""

import pytest

OVERTAKEN = "a CRITICAL alert is new, or still open and the score is not above the rollback target's"


def lines_of(answer):
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert max(map(len, lines)) <= 80
    return lines


def test_show_goes_from_the_score_to_its_components(dropped):
    lines = lines_of(dropped.ralph("show"))
    assert lines[0].startswith("iteration 2 (")
    assert lines[0].endswith("): regression, verified")
    assert lines[1] == "10/10 → 9/9 tests and 50 % coverage since iteration 1."
    assert lines[2] == "score 82 %, quality_score 84.3 %: 9 of 10 tests pass and are believed, 1 of them"
    for line in (
        "metric               now  previous  change  baseline  change",
        "  Test Count           9        10      -1         9       0",
        "quality_score               value  weight    adds",
        "  Validation                 83.3  30.0 %  25.0 %",
        "    no_lint_errors           50.0  10.0 %   5.0 %",
    ):
        assert line in lines
    assert lines_of(dropped.ralph("show", "1"))[0].endswith("): forward, verified")


def test_show_says_why_each_alert_was_raised_and_which_rule_decided(dropped):
    lines = lines_of(dropped.ralph("show"))
    start = lines.index("CRITICAL it2-test_deletion (new): Test count decreased from 10 to 9")
    assert lines[start + 1 : start + 9] == [
        "  why: the count of tests must not fall: before 10, now 9",
        "HIGH it2-functionality_loss (new): Passing tests decreased from 10 to 9",
        "  why: passing tests must not be deleted, skipped or renamed away: before 10,",
        "    now 9",
        "decision: rollback to iteration 1 (confidence 95 %): Test count decreased from",
        "  10 to 9",
        "  by rule 4: a CRITICAL alert is new, or still open and the score is not above",
        "    the rollback target's",
    ]
    assert lines[-4:-2] == ["since iteration 1", "tests: iteration 1 has no names of tests"]


def test_an_alert_that_was_carried_is_explained_where_it_was_raised(dropped, metrics_of):
    dropped.must("post-iteration", metrics_of(test_count=9, tests_passed=9))
    lines = lines_of(dropped.ralph("show", "3"))
    at = lines.index("CRITICAL it2-test_deletion (open): Test count decreased from 10 to 9")
    assert not lines[at + 1].startswith("  why")


def test_an_alert_that_closed_is_named(dropped, metrics_of):
    dropped.must("post-iteration", metrics_of())
    assert "closed: it2-test_deletion" in lines_of(dropped.ralph("show"))


def test_show_says_what_counts_0_because_it_was_not_measured(running, metrics_of):
    running.must("post-iteration", metrics_of(coverage_percentage=None))
    lines = lines_of(running.ralph("show"))
    assert "    coverage_percentage     not measured  12.5 %   0.0 %" in lines
    assert "  Coverage           n/a       n/a     n/a       n/a     n/a" in lines


def test_alternatives_of_a_decision_are_named(project, metrics_of):
    project.started()
    for _ in range(3):
        project.must("post-iteration", metrics_of())
    lines = lines_of(project.ralph("show"))
    at = lines.index("  by rule 10: the loop has stalled, and no task of the plan was done meanwhile")
    assert lines[at + 1] == "  or: Consider different approach"


def test_a_baseline_has_nothing_before_it(running):
    lines = lines_of(running.ralph("show", "0"))
    assert not [line for line in lines if line.startswith(("since", "tests:", "files:"))]


def test_a_given_score_has_no_components(project):
    project.must("pre-loop", {"quality_score": 0.5, "testing": {"test_count": 3, "tests_passed": 3, "tests_failed": 0}})
    lines = lines_of(project.ralph("show"))
    assert lines[1:3] == ["3/3 tests.", "score 50 %, quality_score 50 % (given)"]
    assert not [line for line in lines if line.startswith("quality_score  ")]
    assert project.ralph("show", "--json").json["explanation"]["components"] == []


def test_the_explanation_stands_beside_the_record(dropped):
    shown = dropped.ralph("show", "2", "--json").json
    explanation = shown.pop("explanation")
    assert shown == dropped.ralph("history", "--json").json[2] | shown
    assert explanation["rule"] == {"number": 4, "condition": OVERTAKEN}
    assert explanation["alerts"].keys() == {"it2-test_deletion", "it2-functionality_loss"}
    assert sum(part["contribution"] for part in explanation["components"]) == pytest.approx(0.8425, abs=0.001)


def test_thresholds_that_cannot_be_read_are_named_and_the_rest_is_shown(dropped):
    (dropped.root / ".aiwg/ralph/ralph-001/loop.yaml").write_text("{")
    answer = dropped.ralph("show")
    assert answer.code == 0
    assert answer.err.count("\n") == 1
    assert "loop.yaml" in answer.err
    assert "  why: " not in answer.out
    assert "CRITICAL it2-test_deletion" in answer.out


def test_the_best_iteration_says_why_it_is_the_best_and_no_other_does(dropped):
    said = [line for line in lines_of(dropped.ralph("show", "1")) if line.startswith("best iteration: ")]
    assert said == ["best iteration: It is the latest that broke nothing and is not worse for"]
    refused = dropped.ralph("show", "2").out
    assert "best iteration: " not in refused
    assert "\nnot taken: it gains no test, and its score of 82 % is below 84.3 %\n" in refused
    assert dropped.ralph("show", "1", "--json").json["explanation"]["best"] == [
        "It is the latest that broke nothing and is not worse for nothing.",
        "2 gains no test, and its score of 82 % is below 84.3 %.",
    ]
