"""What an agent is told: what fails by name, what stands against it, what was rolled back, what is decided."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.agents.feedback import LIMIT, TESTS_SHOWN, failing_tests, iteration_feedback
from ralph_tracker.core.alert_types import TYPES, Alert
from ralph_tracker.core.decision import Decision
from ralph_tracker.tracker import Decided

GREEN = {"test_add": "passed", "test_sub": "passed"}
RED = {"test_add": "failed", "test_sub": "passed"}


def told(record, *, carried_out=False, failing=None):
    return iteration_feedback(record, Decided(record.decision, carried_out=carried_out), failing).split("\n")


def test_a_first_iteration_with_a_failing_test_is_told_its_name(driven):
    driven.start(tests=RED)
    record = driven.turn(tests=RED)
    assert told(record, failing=("test_add",)) == [
        f"Iteration 1: plateau, score {record.adjusted_score:g} (the best so far).",
        "Failing tests:",
        "- test_add",
        "Decision: continue: Continue - no forward progress yet (plateau)",
    ]


def test_a_baseline_has_nothing_to_be_compared_with(driven):
    assert told(driven.start(tests=RED), failing=())[0].endswith(" (nothing to compare with yet).")


def test_names_that_take_too_much_room_are_counted(driven):
    driven.start(tests=RED)
    names = tuple(f"{number}{'x' * 200}" for number in range(5))
    assert told(driven.turn(tests=RED), failing=names)[5] == "- and 2 more"


def test_an_iteration_that_is_the_best_is_told_so(driven):
    driven.start(tests=RED)
    lines = told(driven.turn(tests=GREEN), failing=())
    assert lines[0].startswith("Iteration 1: forward, score ")
    assert lines[0].endswith(" (the best so far).")
    assert "Failing tests:" not in lines


def test_a_break_of_a_working_test_names_the_alert_and_what_was_rolled_back(driven):
    driven.start(tests=GREEN)
    record = driven.turn(tests=RED)
    lines = told(record, carried_out=True, failing=("test_add",))
    assert lines[1:] == [
        "Failing tests:",
        "- test_add",
        "Open alerts:",
        "- CRITICAL it1-working_tests_failing: Previously passing tests now failing: test_add",
        (
            "Rolled back: the files are those of iteration 0 again, without what iteration 1 changed. "
            "Read them again before you edit them."
        ),
        f"Decision: rollback: {record.decision.reason}",
    ]


def test_a_rollback_that_nobody_carried_out_is_not_told_as_done(driven):
    driven.start(tests=GREEN)
    assert "Rolled back" not in "\n".join(told(driven.turn(tests=RED)))


def test_tests_that_passed_before_come_first(driven):
    driven.start(tests=GREEN | {"a_always_failed": "failed"})
    record = driven.turn(tests=GREEN | {"a_always_failed": "failed", "test_sub": "failed"})
    assert told(record, failing=("a_always_failed", "test_sub"))[1:4] == [
        "Failing tests:",
        "- test_sub",
        "- a_always_failed",
    ]


def test_without_names_those_of_the_alerts_stand_in(driven):
    driven.start(tests=GREEN)
    assert told(driven.turn(tests=RED))[1:3] == ["Failing tests:", "- test_add"]


def test_without_any_name_the_count_is_told(driven):
    driven.start(tests_failed=2, tests_passed=8)
    assert told(driven.turn(tests_failed=2, tests_passed=8))[1] == "Failing tests: 2, their names are not known."


def test_many_failing_tests_are_counted(driven):
    names = {f"test_{number:02}": "failed" for number in range(13)}
    driven.start(tests=names)
    lines = told(driven.turn(tests=names), failing=tuple(names))
    assert lines[2 : 2 + TESTS_SHOWN] == [f"- test_{number:02}" for number in range(TESTS_SHOWN)]
    assert lines[2 + TESTS_SHOWN] == "- and 3 more"


def test_an_accepted_alert_is_not_held_against_it(driven):
    driven.start(tests=GREEN)
    record = driven.turn(tests=RED)
    assert "Open alerts:" not in told(record._replace(accepted=("it1-working_tests_failing",)))


def test_names_cannot_break_the_line(driven):
    driven.start(tests=GREEN)
    record = driven.turn(tests=RED)
    assert "- a b \\u001b[2J" in told(record, failing=("a\nb \x1b[2J",))


@pytest.fixture(scope="module")
def record(tmp_path_factory, drive):
    one = drive(tmp_path_factory.mktemp("project").resolve())
    one.start(tests=GREEN)
    return one.turn(tests=RED)


text = st.text(max_size=300)


@given(names=st.lists(text, max_size=20), messages=st.lists(text, max_size=10), reason=text)
def test_whatever_it_holds_it_stays_short(record, names, messages, reason):
    alerts = tuple(Alert(kind=TYPES[0], iteration=1, message=message) for message in messages)
    decision = Decision(action="rollback", reason=reason, confidence=1.0, target_iteration=123456)
    whole = iteration_feedback(record._replace(alerts=alerts), Decided(decision, carried_out=True), names)
    assert len(whole) <= LIMIT
    assert not whole.endswith("\n")


class TestFailingTests:
    def test_names_are_read_back_in_order(self, driven):
        driven.start(tests=GREEN)
        driven.turn(tests={"z": "failed", "a": "failed", "test_add": "passed", "s": "skipped"})
        assert failing_tests(driven.paths, 1) == ("a", "z")
        assert failing_tests(driven.paths, 0) == ()

    def test_without_names_nothing_is_known(self, driven):
        driven.start()
        assert failing_tests(driven.paths, 0) is None
