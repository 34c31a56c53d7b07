"""What only a person can say, and what answers it (semantics § 8)."""

import pytest

from ralph_tracker.core.alert_types import open_questions
from ralph_tracker.core.integrity_result import Finding, Integrity, Severity
from ralph_tracker.records.questions import Question, questions_of

P = "passed"


def found(severity, test="t0", rule="demand_changed"):
    return Finding(rule, severity, f"{test} is asked", "test_a.py", test=test, tests=(test, "both"))


def test_findings_that_ask_a_person_and_notes_that_do_not(make_alert):
    alerts = [
        make_alert("demand_changed", findings=(found(Severity.HIGH), found(Severity.HIGH, "t1"))),
        make_alert("special_cased", findings=(found(Severity.MEDIUM, "t2"),)),
        make_alert("coverage_regression"),
    ]
    asked = open_questions(alerts)
    assert asked == dict.fromkeys((found(Severity.HIGH).key, found(Severity.HIGH, "t1").key), "what happened")
    (question,) = questions_of(alerts)
    assert question == Question("it3-demand_changed", 3, "what happened", ("t0", "both", "t1"), None)


@pytest.mark.parametrize(
    ("otherwise", "no"),
    [
        (2, " Not intended? Take 2: `ralph-tracker select-best --iteration 2 --loop ralph-002 --reason WHY`."),
        (None, ""),
    ],
    ids=["with another to take", "with none"],
)
def test_a_question_says_what_answers_it(otherwise, no):
    yes = "Intended? `ralph-tracker accept it3-demand_changed --loop ralph-002 --reason WHY`."
    question = Question("it3-demand_changed", 3, "a demand changed", (), otherwise)
    assert question.sentence(" --loop ralph-002") == f"Iteration 3: a demand changed. {yes}{no}"


def test_a_loop_goes_on_and_says_that_one_waits(start):
    loop = start(tests={"t0": P}, integrity=Integrity())
    record = loop.turn(tests={"t0": P, "new": P}, integrity=Integrity(findings=(found(Severity.HIGH),)))
    assert record.decision.reason.endswith("; 1 question waits for you: `ralph-tracker questions`")
    (question,) = questions_of(record.unaccepted_alerts)
    assert (question.alert, question.otherwise) == ("it1-demand_changed", 0)
    more = (found(Severity.HIGH), found(Severity.HIGH, "t1", "unproven"))
    again = loop.turn(tests={"t0": P, "new": P}, integrity=Integrity(findings=more))
    assert again.decision.reason.endswith("; 2 questions wait for you: `ralph-tracker questions`")
