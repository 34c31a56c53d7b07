"""Evaluators that compute, ask a model, or go by the tracker's record."""

import asyncio

import pytest

from ralph_tracker.steering.progress_evaluators import (
    LLMProgressEvaluator,
    ProgressInfo,
    QualityProgressEvaluator,
    QualityState,
    SimpleProgressEvaluator,
)
from tests.tables import table

INFO = ProgressInfo(10, 50, 1000, 60_000, "I have fixed the parser.", 0.5)
GOES_ON = True, "Making progress"
SENTENCE = "I will run the tests again and see whether they pass. "
TWENTY = "one two three four five six seven eight nine ten a b c d e f g h i j "


def verdict(evaluator, info=INFO):
    return asyncio.run(evaluator.should_continue(info))


@table(
    ("changed", "expected"),
    [
        pytest.param({}, GOES_ON, id="as it should be"),
        pytest.param({"tokens_generated": 59}, (False, "Generation too slow"), id="below 1 token a second"),
        pytest.param({"tokens_generated": 60}, GOES_ON, id="1 token a second"),
        pytest.param({"tokens_generated": None}, GOES_ON, id="tokens not known: not judged"),
        pytest.param({"cost_so_far": 10.0}, GOES_ON, id="the whole budget"),
        pytest.param({"cost_so_far": 12.345}, (False, "Cost exceeded $10 ($12.35)"), id="above the budget"),
        pytest.param({"cost_so_far": None}, GOES_ON, id="cost not known: not judged"),
        pytest.param({"recent_output": SENTENCE * 6}, (False, "Detected repetition"), id="the same sentence"),
        pytest.param({"recent_output": TWENTY * 4}, (False, "Detected repetition"), id="20 words 4 times"),
        pytest.param({"recent_output": TWENTY * 3}, GOES_ON, id="20 words 3 times"),
        pytest.param({"recent_output": "0 " * 200}, GOES_ON, id="a table of zeros"),
        pytest.param(
            {"recent_output": " ".join(f"test_{number} passed" for number in range(30))}, GOES_ON, id="a list of tests"
        ),
    ],
)
def test_simple(changed, expected):
    assert verdict(SimpleProgressEvaluator(), INFO._replace(**changed)) == expected


def test_at_0_ms_speed_is_not_judged():
    """Not to repeat: division by zero at 0 ms."""
    assert verdict(SimpleProgressEvaluator(), INFO._replace(time_elapsed_ms=0, tokens_generated=0)) == GOES_ON


def test_repetition_that_is_no_verbatim_copy_of_the_first_100_characters_is_seen():
    """Not to repeat: repetition seen only as verbatim 100-character copies."""
    text = "Let me think. " + "  ".join([SENTENCE, SENTENCE.upper(), SENTENCE.replace(" ", "\n")] * 2)
    assert text.count(text[:100]) == 1
    assert verdict(SimpleProgressEvaluator(), INFO._replace(recent_output=text)) == (False, "Detected repetition")


def test_limits_are_parameters_and_none_switches_them_off():
    info = INFO._replace(tokens_generated=1, cost_so_far=99.0)
    assert verdict(SimpleProgressEvaluator(None, None), info) == GOES_ON
    assert verdict(SimpleProgressEvaluator(None, 2.5), info) == (False, "Cost exceeded $2.5 ($99.00)")


@table(
    ("answer", "goes_on"),
    [
        ("NO", False),
        ("no, it repeats itself", False),
        ("**No.** It repeats itself", False),
        ("\n  No - stuck", False),
        ("YES", True),
        ("Yes: tests pass now, no doubt", True),
        ("NOW it does", True),
        ("It is KNOWN to progress", True),
        ("No-op edits aside, yes", True),
        ("Well, no", True),
        ("", True),
        ("…", True),
    ],
)
def test_a_model_is_taken_at_its_first_word(answer, goes_on):
    async def ask(prompt):
        return answer

    assert verdict(LLMProgressEvaluator(ask))[0] is goes_on


@table("answer", ["It is KNOWN that NOTHING is lost", "NOW we are talking", "Hard to say: NO or YES"])
def test_no_inside_of_a_word_or_an_answer_stops_nothing(answer):
    """Not to repeat: "NO" found inside "KNOWN"."""

    async def ask(prompt):
        return answer

    goes_on, reason = verdict(LLMProgressEvaluator(ask))
    assert goes_on
    assert reason == f"Unclear answer, neither YES nor NO: {answer!r}"


def test_a_no_of_a_model_is_the_reason_and_a_yes_is_confirmed():
    answers = iter(["NO, it repeats itself\n", "Yes."])

    async def ask(prompt):
        return next(answers)

    assert verdict(LLMProgressEvaluator(ask)) == (False, "NO, it repeats itself")
    assert verdict(LLMProgressEvaluator(ask)) == (True, "Progress confirmed")


@table(("total", "turns"), [(50, "10/50"), (None, "10")])
def test_a_model_is_told_turns_time_and_the_last_200_characters(total, turns):
    asked = []

    async def ask(prompt):
        asked.append(prompt)
        return "YES"

    verdict(LLMProgressEvaluator(ask), INFO._replace(total_turns=total, recent_output="x" + "y" * 200))
    (prompt,) = asked
    assert f"- Turns: {turns}\n- Time: 60.0s\n- Recent output: {'y' * 200}\n" in prompt
    assert "Respond with YES or NO" in prompt


@table(
    ("state", "expected"),
    [
        pytest.param(None, (True, "Nothing on record yet"), id="no record"),
        pytest.param(QualityState("forward"), (True, "On record: forward"), id="forward"),
        pytest.param(QualityState("stalled"), (False, "The loop is stalled"), id="stalled"),
        pytest.param(
            QualityState("forward", ("it2-test_deletion: Test count decreased", "another")),
            (False, "Open CRITICAL alert: it2-test_deletion: Test count decreased"),
            id="an open critical alert",
        ),
    ],
)
def test_the_record_stops_on_a_critical_alert_and_a_stall(state, expected):
    assert verdict(QualityProgressEvaluator(lambda: state)) == expected
