"""The state of a plan goes to a plain document and back; what an older version wrote still loads."""

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


def test_a_state_of_an_older_version_loads():
    old = {"tasks": [{"id": 1, "title": "One", "status": "complete"}, {"id": 2, "title": "Two"}], "gone": True}
    assert state_from_plain(old) == PlanState(
        (PlanTask(Task("1", "One"), "complete"), PlanTask(Task("2", "Two"), "pending"))
    )
    old["tasks"][0]["outcome"] = {"status": "complete"}
    assert state_from_plain(old).tasks[0].outcome == TaskOutcome("complete")


GOOD = {"id": "a", "title": "A"}
DAMAGE = {
    "nothing": (None, "no list of tasks"),
    "no tasks": ({}, "no list of tasks"),
    "tasks that are none": ({"tasks": {}}, "no list of tasks"),
    "a task that is none": ({"tasks": ["a"]}, "a task is no mapping"),
    "no id": ({"tasks": [{"title": "A"}]}, "a task without an id"),
    "an id that is none": ({"tasks": [{"id": True, "title": "A"}]}, "a task without an id"),
    "no title": ({"tasks": [{"id": "a"}]}, "task a: no title"),
    "a status that is none": ({"tasks": [GOOD | {"status": "asleep"}]}, "task a: no status 'asleep'"),
    "a status that is a list": ({"tasks": [GOOD | {"status": []}]}, r"task a: no status \[\]"),
    "one twice": ({"tasks": [GOOD, GOOD]}, "a task is listed twice"),
    "checks that are none": ({"tasks": [GOOD | {"checks": [1]}]}, "checks: no list of texts"),
    "an outcome without a status": ({"tasks": [GOOD | {"outcome": {}}]}, "an outcome without a status"),
    "a cost in words": ({"tasks": [GOOD | {"outcome": {"status": "failed", "cost_usd": "5"}}]}, "a cost that is no"),
    "a cost that is true": ({"tasks": [GOOD | {"outcome": {"status": "failed", "cost_usd": True}}]}, "a cost that"),
    "cycles below zero": ({"tasks": [GOOD | {"outcome": {"status": "failed", "fix_cycles": -1}}]}, "fix_cycles: no"),
    "a trigger that is none": ({"tasks": [], "checkpoint": {"trigger": "moon"}}, "a checkpoint without a trigger"),
    "a context that is none": ({"tasks": [], "context": 5}, "context: no text"),
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
