"""Where the loop stands and what to do next, in every state that a loop can be in, within 80 columns."""

import re

import pytest

RECORD = "`ralph-tracker hook post-iteration`"
WORK = f"let the agent work, then {RECORD}"
ACCEPT = "`ralph-tracker accept ID --reason WHY`"
FINISH = "`ralph-tracker hook post-loop`"


@pytest.fixture
def status(project):
    """Return a function that asks for the status and returns its lines, without the time, and the next step."""

    def ask(*words):
        answer = project.ralph("status", *words)
        assert (answer.code, answer.err) == (0, "")
        assert max(len(line) for line in answer.out.splitlines()) <= 80
        document = project.ralph("status", *words, "--json").json
        text = " ".join(answer.out.split())
        assert text.endswith(f"next: {document['next_step']}")
        return re.sub(r"\(\d{4}-\S+Z\)", "(then)", answer.out).splitlines(), document["next_step"]

    return ask


def test_status_shows_where_the_loop_stands(dropped, status):
    lines, _ = status()
    assert lines == [
        "loop ralph-001: running, iteration 2 (then)",
        "  9/9 → 10/10 tests and 50 % coverage by iteration 1; iteration 2 lacks 1 test",
        "    of iteration 1 (9/9 pass). Go back to iteration 1.",
        "  CRITICAL it2-test_deletion: Test count decreased from 10 to 9",
        "  HIGH it2-functionality_loss: Passing tests decreased from 10 to 9",
        "  decision: rollback to iteration 1 (confidence 95 %)",
        "  score 82 %; best 84.3 %, iteration 1",
        "  cost: at least $1.50",
        "  next: restore iteration 1 yourself, since no files were stored; if an alert is",
        f"    wrong, {ACCEPT}",
    ]


def test_status_names_what_a_person_accepted(dropped, status):
    dropped.ralph("accept", "it2-test_deletion", "--reason", "x")
    dropped.ralph("accept", "it2-functionality_loss", "--reason", "x")
    lines, step = status()
    assert lines[2:4] == ["  accepted: it2-functionality_loss", "  accepted: it2-test_deletion"]
    assert step == WORK


def test_status_puts_the_worst_alert_first_though_it_is_the_oldest(dropped, metrics_of, status):
    dropped.must("post-iteration", metrics_of(test_count=9, tests_passed=9, coverage_percentage=10, file_count=1))
    lines, _ = status()
    told = [line.split()[0] for line in lines if re.match("  [A-Z]+ it", line)]
    assert told == ["CRITICAL", "HIGH", "HIGH", "MEDIUM"]


def test_status_cuts_a_long_list_of_alerts_and_says_so(running, metrics_of, status):
    for number in range(5):
        running.must(
            "post-iteration", metrics_of(test_count=9 - number, tests_passed=8 - 2 * number, tests_failed=1 + number)
        )
    lines, _ = status()
    assert len([line for line in lines if re.match("  [A-Z]+ it", line)]) == 5
    everything = len(running.ralph("status", "--json").json["alerts"])
    assert [line for line in lines if line.startswith(f"  and {everything - 5} more alerts")]
    assert len(lines) < 20


class TestNextStep:
    def test_without_a_loop_it_is_to_start_one(self, project):
        answer = project.ralph("status")
        assert answer.code == 1
        assert answer.complaint == f"no loop in {project.root}; run `ralph-tracker hook pre-loop` first"

    def test_after_a_baseline_the_agent_works(self, project, status):
        project.started()
        lines, step = status()
        assert lines[1:4:2] == ["  Baseline: 10/10 tests and 50 % coverage.", "  score 84.3 %"]
        assert step == WORK

    def test_an_iteration_that_was_begun_and_is_not_on_record_is_to_be_repeated(self, running, status):
        (running.root / ".aiwg/ralph/ralph-001/attempt.json").write_text('{"schema_version": 1, "iteration": 2}')
        lines, step = status()
        assert lines[2] == "  iteration 2 was begun and is not on record"
        assert step == f"{RECORD} again, unless it is still at work"
        assert running.ralph("status", "--json").json["unrecorded"] == 2

    def test_an_iteration_that_is_on_record_is_not_to_be_repeated(self, running, status):
        (running.root / ".aiwg/ralph/ralph-001/attempt.json").write_text('{"schema_version": 1, "iteration": 1}')
        assert status()[1] == WORK
        assert running.ralph("status", "--json").json["unrecorded"] is None

    def test_a_regression_without_an_alert_has_nothing_to_accept(self, project, status):
        project.must("pre-loop", {"quality_score": 0.9})
        project.must("post-iteration", {"quality_score": 0.2})
        assert status()[1] == "restore iteration 0 yourself, since no files were stored"

    def test_a_stop_ends_the_loop(self, project, metrics_of, status):
        (project.root / "ralph-tracker.yaml").write_text("loop: {max_iterations: 1}")
        project.started().must("post-iteration", metrics_of())
        assert status()[1] == FINISH

    @pytest.mark.parametrize(
        ("coverage", "accept"), [(50.0, ""), (40.0, f", {ACCEPT} if an alert is wrong")], ids=["no alert", "alert"]
    )
    def test_an_escalation_is_for_a_person(self, project, metrics_of, status, coverage, accept):
        project.started().must("post-iteration", metrics_of(coverage_percentage=coverage), "--blocked", "no key")
        assert status()[1] == f"a person decides: {RECORD} to go on, {FINISH} to end the loop{accept}"

    def test_a_finished_loop_is_to_be_read(self, running, status):
        running.must("post-loop")
        report = ".aiwg/ralph/ralph-001/reports/loop-report.md"
        assert status()[1] == f"read {report}, or select again with `ralph-tracker select-best`"
        assert (running.root / report).is_file()

    def test_a_loop_that_was_given_up_is_over(self, running, metrics_of, status):
        running.must("pre-loop", metrics_of(), "--new")
        step = "the loop was abandoned; `ralph-tracker hook pre-loop` starts another"
        assert status("--loop-id", "ralph-001")[1] == step

    def test_a_loop_that_was_rebaselined_goes_on_in_another(self, running, metrics_of, status):
        running.must("pre-loop", metrics_of(), "--rebaseline")
        step = "another loop continues from here: `ralph-tracker status` without --loop-id"
        assert status("--loop-id", "ralph-001")[1] == step
        assert status()[1] == WORK


REPORT = "<testsuite tests='{count}'>{cases}</testsuite>"


@pytest.fixture
def fallen(project):
    """Return a loop with files whose first iteration broke a test."""

    def report(passing):
        outcomes = ["" if number < passing else "<failure/>" for number in range(2)]
        cases = "".join(f"<testcase classname='a' name='t{n}'>{how}</testcase>" for n, how in enumerate(outcomes))
        (project.root / "report.xml").write_text(REPORT.format(count=2, cases=cases))

    check = '{run: "cp report.xml {reports}/junit.xml", reports: ["{reports}/junit.xml"]}'
    (project.root / "ralph-tracker.yaml").write_text(f"checks: {{tests: {check}}}\n")
    report(2)
    project.must("pre-loop")
    report(1)
    project.must("post-iteration")
    return project


def test_a_rollback_is_carried_out_by_a_command_where_files_are_kept(fallen, status):
    assert (
        status()[1]
        == f"`ralph-tracker hook loop-decision --apply` restores iteration 0; if an alert is wrong, {ACCEPT}"
    )


def test_after_a_rollback_the_agent_works_on_from_there(fallen, status):
    assert fallen.ralph("hook", "loop-decision", "--apply").code == 0
    lines, step = status()
    assert lines[1:4] == [
        "  Nothing is better than the baseline with 2/2 tests; iteration 1 was rolled",
        "    back (working tests failing).",
        "  the working tree was set back to iteration 0; the next iteration continues",
    ]
    assert step == WORK


def test_a_rollback_that_was_undone_is_recommended_again(fallen, status):
    undo = fallen.ralph("restore", "0", "--json").json["undo"]
    assert status()[1] == WORK
    assert fallen.ralph("restore", "--undo", undo).code == 0
    assert status()[1].startswith("`ralph-tracker hook loop-decision --apply` restores iteration 0")


def test_what_was_not_measured_has_no_score_and_did_not_degrade(project, status):
    project.must("pre-loop", {"testing": {"test_count": 9, "tests_passed": 8, "tests_failed": 1}})
    answer = project.hook("post-iteration", {"testing": {}})
    assert "score unknown" in answer.out
    lines, _ = status()
    assert "iteration 1 measured nothing" in " ".join(" ".join(lines).split())
    assert any(line.startswith("  score unknown; best ") for line in lines)
    assert "degraded" not in project.ralph("select-best").out
    assert project.ralph("report").out.startswith("Nothing measured.\n")
