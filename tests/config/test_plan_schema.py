"""A plan file is refused in one line that names the place, and means what it says."""

import pytest

from ralph_tracker.config.schema import plan_of
from ralph_tracker.errors import InputError
from ralph_tracker.steering import Plan, Task
from tests.tables import table

TASK = {"id": "a", "title": "A"}


def test_a_plan_is_tasks_of_id_title_description_and_checks():
    raw = {
        "context": "A small language.",
        "tasks": [
            {"id": 1, "title": " Write\n the lexer ", "description": "Two\nlines", "checks": ["pytest -q", "lint"]},
            {"id": "parser", "title": "Write the parser"},
        ],
    }
    assert plan_of(raw, "plan.yaml") == Plan(
        (Task("1", "Write the lexer", "Two\nlines", ("pytest -q", "lint")), Task("parser", "Write the parser")),
        "A small language.",
    )


REFUSED = {
    "nothing": (None, "should be keys and values, found nothing"),
    "a list": ([TASK], "should be keys and values, found"),
    "no tasks": ({}, "tasks: is missing"),
    "none": ({"tasks": []}, "tasks: none; name at least one, with id and title"),
    "a word for tasks": ({"tasks": "a"}, "tasks: should be a valid list, found 'a'"),
    "no title": ({"tasks": [{"id": "a"}]}, "tasks.0.title: is missing"),
    "an empty title": ({"tasks": [TASK | {"title": " "}]}, "tasks.0.title: "),
    "a key misspelt": ({"tasks": [TASK | {"titel": "A"}]}, "tasks.0.titel: unknown key; did you mean title?"),
    "a check of no words": ({"tasks": [TASK | {"checks": [""]}]}, "tasks.0.checks.0: "),
    "a version of later": ({"version": 2, "tasks": [TASK]}, "version: should be 1"),
    "an id of two words": ({"tasks": [TASK | {"id": "a b"}]}, "tasks.0: id 'a b': use letters, digits"),
    "an id that skips": ({"tasks": [TASK | {"id": "skip"}]}, "tasks.0: id 'skip': use letters"),
    "an id that is no word": ({"tasks": [TASK | {"id": True}]}, "tasks.0.id: "),
    "one id twice": ({"tasks": [TASK, TASK]}, "tasks: id a is given twice; each needs its own"),
    "a number and its text": ({"tasks": [TASK | {"id": 1}, TASK | {"id": "1"}]}, "tasks: id 1 is given twice"),
}


@table("name", REFUSED)
def test_what_is_no_plan_is_refused_in_one_line(name):
    raw, says = REFUSED[name]
    with pytest.raises(InputError) as caught:
        plan_of(raw, "plan.yaml")
    assert str(caught.value).startswith(f"plan.yaml: {says}")
    assert "\n" not in str(caught.value)
