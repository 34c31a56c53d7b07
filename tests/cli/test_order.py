"""Hooks out of order, calls that are repeated, a person's word that is incomplete: refused, and nothing is changed."""

import re

import pytest

START = "run `ralph-tracker hook pre-loop` first"
RUNNING = (
    "loop ralph-001 is still running; end it with `ralph-tracker hook post-loop`, "
    "or use --new to abandon it, or --rebaseline to measure a new baseline"
)
ANOTHER = "start another one with `ralph-tracker hook pre-loop`"


def refused(project, said, *command, **left):
    before = project.content()
    answer = project.ralph(*command)
    assert (answer.code, answer.complaint) == (1, said), command
    assert project.content() == before | left


@pytest.fixture
def iteration(project, metrics_of):
    """Return a file of metrics to hand in."""
    return project.file("iteration.json", metrics_of())


@pytest.fixture
def dropped(running, metrics_of):
    """Return a loop whose second iteration deleted a test."""
    running.must("post-iteration", metrics_of(test_count=9, tests_passed=9))
    return running


@pytest.mark.parametrize("named", [(), ("--loop-id", "other")], ids=["none named", "unknown one named"])
@pytest.mark.parametrize(
    "command",
    [
        ("hook", "post-iteration", "--metrics"),
        ("hook", "loop-decision"),
        ("hook", "loop-decision", "--apply"),
        ("hook", "post-loop"),
        ("select-best",),
        ("status",),
        ("history",),
        ("show",),
        ("show", "1"),
        ("report",),
        ("accept", "it1-test_deletion", "--reason", "x"),
    ],
    ids=" ".join,
)
def test_nothing_works_before_pre_loop_and_says_what_to_run(project, iteration, command, named):
    words = [*command, iteration] if command[-1] == "--metrics" else command
    where = f"loop other: not in {project.root}" if named else f"no loop in {project.root}"
    refused(project, f"{where}; {START}", *words, *named)


def test_a_second_pre_loop_on_a_running_loop_is_refused(running, iteration):
    refused(running, RUNNING, "hook", "pre-loop", "--metrics", iteration)
    refused(running, RUNNING, "hook", "pre-loop", "--metrics", iteration, "--loop-id", "ralph-001")


def test_an_id_that_is_taken_starts_no_loop_even_after_its_end(running, iteration):
    taken = "loop ralph-001 exists already; choose another id, or leave it out"
    refused(running, taken, "hook", "pre-loop", "--metrics", iteration, "--loop-id", "ralph-001", "--new")
    running.must("post-loop")
    refused(running, taken, "hook", "pre-loop", "--metrics", iteration, "--loop-id", "ralph-001")


@pytest.mark.parametrize(("flag", "status"), [("--new", "abandoned"), ("--rebaseline", "rebaselined")])
def test_a_loop_that_was_given_up_takes_nothing_more(running, iteration, flag, status):
    running.hook("pre-loop", None, flag, "--metrics", iteration)
    old = ("--loop-id", "ralph-001")
    said = f"loop ralph-001 is {status}; {ANOTHER}"
    refused(running, said, "hook", "post-iteration", "--metrics", iteration, *old)
    refused(running, said, "hook", "loop-decision", *old)
    refused(running, said, "hook", "post-loop", *old)
    assert running.ralph("status", *old, "--json").json["status"] == status
    assert running.ralph("status", "--json").json["loop_id"] == "ralph-002"
    assert running.ralph("history", *old, "--json").code == 0


def test_a_finished_loop_takes_no_iteration_and_can_be_selected_from_again(running, iteration):
    running.must("post-loop")
    said = f"loop ralph-001 is finished; {ANOTHER}"
    refused(running, said, "hook", "post-iteration", "--metrics", iteration)
    refused(running, said, "hook", "loop-decision")
    again = running.must("post-loop", None, "--iteration", "0", "--reason", "the customer wants it")
    assert again["best_output_selection"]["selected_iteration"] == 0
    assert running.must("pre-loop", None, "--metrics", iteration)["iteration_metrics"]["loop_id"] == "ralph-002"


@pytest.mark.parametrize("verb", ["show", "report"])
def test_an_iteration_that_is_not_there_is_named_with_those_that_are(running, verb):
    refused(running, "iteration 9 is not on record; loop ralph-001 has iterations 0 to 1", verb, "9")


def test_accepting_changes_the_decision_and_twice_is_one_answer(dropped):
    assert dropped.hook("loop-decision").code == 11
    answer = dropped.ralph("accept", "it2-test_deletion", "--reason", "it tested what was removed")
    assert answer.code == 0
    assert answer.out.splitlines()[:2] == [
        "Accepted it2-test_deletion: it tested what was removed",
        "  also accepted, because the same removal raised it: it2-functionality_loss",
    ]
    assert dropped.hook("loop-decision").code == 0
    for alert in ("it2-test_deletion", "it2-functionality_loss"):  # one removal is one event
        before = dropped.content()
        again = dropped.ralph("accept", alert, "--reason", "again")
        assert again.code == 0
        said = rf"{alert} was accepted already, at \S+Z: it tested what was removed "
        assert re.match(said, " ".join(again.out.split()))
        assert dropped.content() == before
    record = dropped.ralph("show", "2", "--json").json
    assert record["recommendation"]["action"] == "rollback"


def test_a_rollback_that_nothing_can_carry_out_moves_nothing(dropped, metrics_of):
    before = dropped.content()
    for _ in range(2):
        answer = dropped.hook("loop-decision", None, "--apply")
        assert (answer.code, answer.complaint.split(":")[0]) == (1, "iteration 1 has no files")
    assert dropped.content() == before
    record = dropped.must("post-iteration", metrics_of())
    assert record["iteration_metrics"]["previous_iteration"] == 2
