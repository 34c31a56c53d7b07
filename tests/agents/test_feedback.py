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
    ScorePart,
    feedback,
)
from ralph_tracker.codec import decode
from ralph_tracker.core.decision import Decision
from ralph_tracker.core.metrics import Metrics
from ralph_tracker.iteration.open_problems import FailingTest, RemainingProblems

CASES = Path(__file__).parents[2] / "fixtures" / "feedback"
FOLDERS = sorted(path for path in CASES.iterdir() if path.is_dir())
TABLE = """\
# What an agent is told

A situation a folder: `situation.json` with the facts that an agent needs in it, `prompt.txt` with the feedback. `make
bless` rewrites the feedback and this table; `tests/agents/test_feedback.py` checks that every fact is told.

| situation | facts | told | tokens |
|---|---|---|---|
"""
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


def test_twenty_situations_take_eight_hundred_tokens_at_the_median(bless):
    found = list(rows())
    assert len(found) == 20
    middle = median(row[3] for row in found)
    assert middle <= 800
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
    assert told(problems=RemainingProblems(2, Metrics(), ()))[1:] == [
        "All measurements are fine; continue with the task."
    ]


def test_a_failed_build_that_says_nothing_is_told():
    lines = told(problems=RemainingProblems(2, Metrics(build_status="failure"), ()))
    assert lines[1:] == ["The build fails."]


def test_names_of_held_back_tests_are_never_told():
    assert "held-back::" not in "\n".join(told(alerts=("HIGH it2-x: held-back::secret::test_a fails",)))


def test_a_small_budget_has_the_first_of_each_section_before_the_second_of_any():
    tests = tuple(FailingTest(f"test_{number}") for number in range(50))
    lines = told(
        problems=RemainingProblems(2, Metrics(), tests, lost={"test_gone": "passed"}), alerts=("HIGH it2-x: y",)
    )
    small = feedback(
        FeedbackFacts(2, "plateau", 0.5, problems=RemainingProblems(2, Metrics(), tests, lost={"test_gone": "passed"})),
        budget=70,
    ).split("\n")
    assert "- test_gone (passed before)" in small
    assert "- test_0" in small
    assert small[-3].startswith("- and ")
    assert "- and 50 more" not in lines


def test_parts_with_the_same_remedy_are_told_together_and_small_ones_not_at_all():
    parts = (ScorePart("pass_rate", 2.0), ScorePart("all_tests_pass", 3.0), ScorePart("odd_thing", 0.2))
    assert told(parts=parts)[1:] == [
        "What costs the score most:",
        "- 5 of 100 points for failing tests: make them pass",
    ]


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
