"""What an agent is told of its last iteration: the facts that it needs, the most valuable first, within a budget.

`fixtures/feedback` has a situation a folder with the facts that an agent needs in it; `prompt.txt` is what it is told.
"""

import json
from pathlib import Path
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.agents.feedback import (
    BYTES_A_TOKEN,
    TOKENS,
    FeedbackFacts,
    RolledBackIteration,
    feedback,
)
from ralph_tracker.codec import decode
from ralph_tracker.core.decision import Decision
from ralph_tracker.core.metrics import Metrics
from ralph_tracker.formats.parsed_report import Diagnostic
from ralph_tracker.iteration.open_problems import FailingTest, ListedDiagnostic, ListedDiagnostics, RemainingProblems

CASES = Path(__file__).parents[2] / "fixtures" / "feedback"
FOLDERS = sorted(path for path in CASES.iterdir() if path.is_dir())
TABLE = """\
# What an agent is told

A situation a folder: `situation.json` with the facts that an agent needs in it, `prompt.txt` with the feedback. `make
bless` rewrites the feedback and this table; `tests/agents/test_feedback.py` checks that every fact is told.

| situation | facts | told | tokens |
|---|---|---|---|
"""
GO_ON = "Continue with the task; it is measured again when you stop."
HEAD_AND_TAIL = 600  # tokens: eight names of 200 characters, and a reason


def estimated_tokens(text: str) -> int:
    return -int(-len(text.encode()) // BYTES_A_TOKEN)


def situation_in(folder: Path) -> FeedbackFacts:
    return decode(FeedbackFacts, json.loads((folder / "situation.json").read_text("utf-8"))["situation"])


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_each_situation_is_told_as_on_record_with_every_fact(folder, bless):
    told, golden = feedback(situation_in(folder)) + "\n", folder / "prompt.txt"
    if bless:
        golden.write_text(told, "utf-8")
    assert told == golden.read_text("utf-8")
    facts = json.loads((folder / "situation.json").read_text("utf-8"))["facts"]
    assert [fact for fact in facts if fact not in told] == []
    assert estimated_tokens(told) <= TOKENS


def rows():
    """Yield of each situation its name, how many facts an agent needs, how many it is told, and the tokens."""
    for folder in FOLDERS:
        said = feedback(situation_in(folder))
        facts = json.loads((folder / "situation.json").read_text("utf-8"))["facts"]
        yield folder.name, len(facts), sum(fact in said for fact in facts), estimated_tokens(said)


def test_twenty_four_situations_take_five_hundred_tokens_at_the_median(bless):
    found = list(rows())
    assert len(found) == 24
    middle = median(row[3] for row in found)
    assert middle <= 500
    facts, told = sum(row[1] for row in found), sum(row[2] for row in found)
    lines = [f"| {name} | {facts} | {told} | {cost} |\n" for name, facts, told, cost in found]
    table = f"{TABLE}{''.join(lines)}| **all; the median of tokens** | {facts} | {told} | {middle:g} |\n"
    if bless:
        (CASES / "README.md").write_text(table, "utf-8")
    assert table == (CASES / "README.md").read_text("utf-8")
    assert facts == told


def told(**changes) -> list[str]:
    at = FeedbackFacts(iteration=2, classification="plateau", score=0.5, best_iteration=2, best_score=0.5)
    return feedback(at._replace(**changes)).split("\n")


def test_without_anything_known_the_score_is_told():
    assert told() == ["Iteration 2: plateau, score 50 % (the best so far)."]


def test_only_a_full_score_is_told_as_full():
    assert told(score=0.9996, best_iteration=1, best_score=1.0) == [
        "Iteration 2: plateau, score 99.9 % (the best is iteration 1 with 100 %)."
    ]


def test_a_rollback_to_a_record_that_is_damaged_is_told_without_its_number():
    assert told(undone=RolledBackIteration(2))[1] == (
        "Rolled back: the files are those of an earlier iteration again, without what iteration 2 changed. "
        "Read them again before you edit them."
    )


def test_where_nothing_is_wrong_the_agent_is_told_to_go_on():
    assert told(problems=RemainingProblems(2, Metrics(), ()))[1:] == [GO_ON]


GREEN = RemainingProblems(2, Metrics(tests_passed=2, tests_failed=0), ())
LINT = Diagnostic("a.py", 3, "F401", "unused", "error")


def test_where_everything_passes_the_agent_is_told_how_to_end_the_loop():
    ends = "If the task is complete, stop again without changes: the loop ends."
    assert told(problems=GREEN)[1:] == [f"All tests pass, no findings. {ends}"]
    assert told(problems=GREEN, with_rules=True)[-1].endswith("stop without changes: the loop ends.")
    listed = ListedDiagnostics((ListedDiagnostic("lint", LINT),), {"lint": 1})
    assert told(problems=GREEN._replace(listed=listed))[-1] == f"All tests pass. {ends}"


@pytest.mark.parametrize(
    "changes",
    [
        {"questions": ("HIGH it2-x: y",)},
        {"alerts": ("CRITICAL it2-x: y",)},
        {"open_tasks": 1},
        {"lacks": ("mypy: exit 1",)},
        {"problems": GREEN._replace(held_back=1)},
        {"problems": GREEN._replace(lost={"test_gone": "passed"})},
        {"problems": GREEN._replace(not_loaded={"a.py": "SyntaxError"})},
        {"problems": GREEN._replace(metrics=Metrics(tests_passed=2, tests_failed=0, build_status="failure"))},
    ],
    ids=str,
)
def test_no_end_is_offered_while_anything_is_left(changes):
    assert told(**{"problems": GREEN} | changes)[-1] == GO_ON


def test_findings_on_lines_of_this_loop_come_before_older_type_errors():
    old = ListedDiagnostic("types", Diagnostic("b.py", 9, "arg-type", "wrong", "error"))
    listed = ListedDiagnostics((ListedDiagnostic("lint", LINT, is_ours=True), old), {"lint": 1, "types": 7})
    assert told(problems=GREEN._replace(listed=listed))[1:-1] == [
        "Findings on lines that this loop changed:",
        "- a.py:3 F401 unused",
        "Type errors on lines that this loop did not change:",
        "- b.py:9 arg-type wrong",
        "- and 6 more",
    ]


def test_after_a_rollback_its_gains_and_its_patch_are_told():
    lines = told(problems=GREEN, undone=RolledBackIteration(2, ("a.py",), gained=("test_new",)))
    assert "`ralph-tracker diff 2 2` shows the undone patch." in lines[1]
    assert lines[2:4] == ["1 test that passed in iteration 2 no longer passes:", "- test_new"]


def test_a_reason_with_long_names_is_told_whole():
    names = ", ".join(f"tests/integration/test_orders.py::TestOrders::test_case[{number}]" for number in range(5))
    alert = f"CRITICAL it2-failure_hidden: Iteration 2 removed 5 tests that failed in iteration 1: {names}"
    assert f"- {alert}" in told(alerts=(alert,), undone=RolledBackIteration(2))


def test_a_rollback_by_the_score_alone_is_told_with_its_reason():
    lines = told(undone=RolledBackIteration(2), decision=Decision("rollback", "the score fell", 0.9, 1, rule=5))
    assert lines[2:4] == ["Why iteration 2 was rolled back:", "- the score fell"]


def test_a_stall_is_told_with_what_was_changed_and_how_to_ask_a_person():
    stall = Decision("stop", "No meaningful progress for 3 iterations", 0.85, rule=10)
    lines = told(decision=stall, iterations_left=2, changed=("a.py", "b.py", "c.py", "d.py"))
    assert lines[1] == (
        "No meaningful progress for 3 iterations: no measured value got better; the last one changed a.py, b.py, c.py "
        "and 1 more."
    )
    assert lines[2] == "The loop ends after 2 more iterations without progress."
    assert told(decision=stall, iterations_left=2, alerts=("MEDIUM it2-stalled: No meaningful progress",))[1] == (
        "No meaningful progress for 3 iterations: no measured value got better."
    )
    assert lines[3].startswith("To ask a person: ")


def test_an_end_is_told_with_its_reason():
    done = Decision("stop", "Target reached", 0.9)
    assert told(problems=GREEN, left=("2 iterations",), decision=done)[1:] == ["Decision: stop: Target reached"]


@pytest.mark.parametrize("action", ["continue", "stop", "escalate"])
def test_of_a_loop_that_was_closed_nobody_is_asked_to_go_on(action):
    lines = told(problems=GREEN, closed=True, left=("2 iterations",), decision=Decision(action, "why", 0.9))
    assert lines[1:] == ["The loop has ended: nothing more is measured."]


def test_a_loop_that_waits_for_a_person_goes_on_only_with_the_answer():
    lines = told(problems=GREEN._replace(held_back=1), decision=Decision("escalate", "blocked: no key", 0.9, rule=6))
    assert lines[-2] == "A person is needed: blocked: no key"
    assert lines[-1] == f"If a person has answered, continue{GO_ON.removeprefix('Continue')}"


def test_what_a_broken_build_kept_from_being_measured_is_told_once_with_its_cause():
    built = "CRITICAL it2-build_broken: Does not build: SyntaxError: invalid syntax (a.py:1)"
    tests = "HIGH it2-metric_missing-tests: Tests could not be measured: SyntaxError: invalid syntax (a.py:1)"
    lint = "HIGH it2-metric_missing-lint: Lint could not be measured: ruff: exit 2"
    assert told(undone=RolledBackIteration(2), alerts=(built, tests, lint))[3:] == [f"- {built}", f"- {lint}"]


def test_names_that_an_alert_has_told_are_not_told_again_with_their_message():
    names = [f"test_{letter}" for letter in "abcdef"]
    lacked = RemainingProblems(2, Metrics(), tuple(FailingTest(name, None, "boom", is_broken=True) for name in names))
    alert = f"CRITICAL it2-working_tests_failing: now failing: {', '.join(names)}"
    assert told(undone=RolledBackIteration(2, lacked=lacked), alerts=(alert,))[3:] == [
        f"- {alert}",
        "- broken: test_a: boom (it passed before)",
        "    and 5 tests fail alike",
    ]


def test_a_failed_build_that_says_nothing_is_told():
    lines = told(problems=RemainingProblems(2, Metrics(build_status="failure"), ()))
    assert lines[1:] == ["The build fails.", GO_ON]


def test_names_of_held_back_tests_are_never_told():
    assert "held-back::" not in "\n".join(told(alerts=("HIGH it2-x: held-back::secret::test_a fails",)))


def test_a_small_budget_has_the_first_of_each_section_before_the_second_of_any():
    tests = tuple(FailingTest(f"test_{number}", None, f"error {chr(97 + number)}") for number in range(50))
    lines = told(
        problems=RemainingProblems(2, Metrics(), tests, lost={"test_gone": "passed"}), alerts=("HIGH it2-x: y",)
    )
    small = feedback(
        FeedbackFacts(2, "plateau", 0.5, problems=RemainingProblems(2, Metrics(), tests, lost={"test_gone": "passed"})),
        budget=90,
    ).split("\n")
    assert "- test_gone (passed before)" in small
    assert "- test_0: error a" in small
    assert any(line.startswith("- and ") for line in small)
    assert "- and 50 more" not in lines


words = st.text(max_size=300)


@given(names=st.lists(words, max_size=60), messages=st.lists(words, max_size=10), reason=words)
def test_whatever_it_holds_it_stays_within_the_budget(names, messages, reason):
    tests = tuple(FailingTest(name, None, name) for name in names)
    whole = feedback(
        FeedbackFacts(
            2,
            "regression",
            0.5,
            problems=RemainingProblems(1, Metrics(), tests),
            alerts=tuple(messages),
            undone=RolledBackIteration(2, tuple(names)),
            decision=Decision("rollback", reason, 1.0, 1),
        )
    )
    assert len(whole.encode("utf-8", "replace")) <= (TOKENS + HEAD_AND_TAIL) * BYTES_A_TOKEN
    assert not whole.endswith("\n")
