"""The state of a plan goes to a plain document and back."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.steering import (
    Plan,
    PlanState,
    PlanTask,
    Task,
    TaskOutcome,
    new_plan_state,
    state_from_plain,
    state_to_plain,
)
from ralph_tracker.steering.plan import STATUSES, TRIGGERS, OpenCheckpoint, is_usable_id, plan_digest
from tests.tables import table

WORDS = st.text(max_size=6)
LISTS = st.lists(WORDS, max_size=3).map(tuple)
OUTCOMES = st.builds(
    TaskOutcome,
    st.sampled_from(["complete", "failed"]),
    st.none() | st.floats(0, 1e6),
    LISTS,
    st.none() | WORDS,
    st.integers(0, 9),
    st.none() | WORDS,
    LISTS,
    LISTS,
    LISTS,
    WORDS,
)
TASKS = st.builds(
    PlanTask,
    st.builds(Task, WORDS, WORDS, WORDS, LISTS),
    st.sampled_from(STATUSES),
    st.none() | OUTCOMES,
    LISTS,
    st.none() | WORDS,
)
STATES = st.builds(
    PlanState,
    st.lists(TASKS, max_size=5, unique_by=lambda each: each.id).map(tuple),
    st.none() | WORDS,
    st.sets(st.sampled_from(TRIGGERS)).map(lambda fired: tuple(each for each in TRIGGERS if each in fired)),
    st.integers(0, 9),
    st.none() | st.builds(OpenCheckpoint, st.sampled_from(TRIGGERS), st.none() | WORDS),
    LISTS,
    WORDS,
    WORDS,
)


@given(STATES)
def test_it_is_read_as_it_was_written(state):
    assert state_from_plain(json.loads(json.dumps(state_to_plain(state)))) == state


GOOD = state_to_plain(new_plan_state(Plan((Task("a", "A"),))))
DAMAGE = {
    "nothing": (None, "Expected `object`"),
    "no tasks": ({}, "Object missing required field `schema_version`"),
    "a status that is none": (GOOD | {"tasks": [GOOD["tasks"][0] | {"status": "asleep"}]}, "Invalid enum value"),
    "one twice": (GOOD | {"tasks": GOOD["tasks"] * 2}, "a task is listed twice"),
}


@table("name", DAMAGE)
def test_what_is_no_state_is_refused_in_a_few_words(name):
    plain, says = DAMAGE[name]
    with pytest.raises(ValueError, match=f"^{says}"):
        state_from_plain(plain)


def test_the_digest_is_of_what_a_plan_says():
    one = Plan((Task("a", "A"),))
    assert plan_digest(one) == plan_digest(Plan((Task("a", "A"),)))
    assert plan_digest(one) != plan_digest(Plan((Task("a", "A", "more"),)))


def test_a_plan_that_begins_has_everything_to_do():
    state = new_plan_state(Plan((Task("a", "A"), Task("b", "B")), "why"), "digest")
    assert state.pending == (Task("a", "A"), Task("b", "B"))
    assert (state.context, state.digest, state.ran) == ("why", "digest", ())


@table("task_id", ["1", "parse", "parse-2", "v1.2", "_x", "ä"])
def test_an_id_is_one_word(task_id):
    assert is_usable_id(task_id)


@table("task_id", ["", "two words", "a:b", "#a", "-a", "a.", "skip", "SKIP", "a\n"])
def test_what_could_not_be_told_in_a_list_is_no_id(task_id):
    assert not is_usable_id(task_id)
