"""A failed validation in one line: the place as it was written, the first problem, the nearest key."""

from typing import Annotated

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from typing_extensions import TypedDict

from ralph_tracker.errors import first_problem, nearest, short_text
from tests.tables import table


class Item(TypedDict):
    __pydantic_config__ = ConfigDict(extra="forbid")
    name: str


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")
    window: Annotated[int, Field(ge=1)] = 1
    run: str | list[str] = ""


class Outer(BaseModel):
    model_config = ConfigDict(extra="forbid")
    inner: Inner = Inner()
    maybe: Inner | None = None
    named: dict[str, Inner] = {}
    items: list[Item] = []


def said_of(document):
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate(document)
    return first_problem(caught.value, Outer)


# the document, and what is said of it
SAID = [
    ({"iner": 1}, "iner: unknown key; did you mean inner?"),
    ({"zzz": 1}, "zzz: unknown key; known: inner, items, maybe, named"),
    ({"inner": {"windw": 1}}, "inner.windw: unknown key; did you mean window?"),
    ({"maybe": {"windw": 1}}, "maybe.windw: unknown key; did you mean window?"),
    ({"named": {"a": {"windw": 1}}}, "named.a.windw: unknown key; did you mean window?"),
    ({"named": {"run": {"windw": 1}}}, "named.run.windw: unknown key; did you mean window?"),
    ({"items": [{"name": "a"}, {"name": "b", "nam": "c"}]}, "items.1.nam: unknown key; did you mean name?"),
    ({"items": [{}]}, "items.0.name: is missing"),
    ({"inner": 5}, "inner: should be keys and values, found 5"),
    ({"named": None}, "named: should be keys and values, found nothing"),
    ({"inner": {"window": 0}}, "inner.window: should be greater than or equal to 1, found 0"),
    ({"inner": {"run": 5}}, "inner.run: should be a valid string, found 5"),
    (
        {"inner": {"window": 0}, "named": {"a": {"window": 0}}},
        "inner.window: should be greater than or equal to 1, found 0 (and 1 more)",
    ),
    ({"str": 1}, "str: unknown key; known: inner, items, maybe, named"),
    ({"k" * 100: 1}, f"{'k' * 59}…: unknown key; known: inner, items, maybe, named"),
    ([], "should be keys and values, found []"),
]


@table(("document", "said"), SAID, ids=lambda value: str(value)[:40])
def test_a_problem_names_the_place_what_is_wrong_and_what_is_near(document, said):
    assert said_of(document) == said


@table(
    ("value", "shown"),
    [
        (None, "nothing"),
        ("text", "'text'"),
        ("x" * 100, f"'{'x' * 58}…"),
        (10**5000, "a number of thousands of digits"),
        ([1], "[1]"),
    ],
    ids=["nothing", "text", "long text", "long number", "list"],
)
def test_a_value_is_shown_as_it_was_given_and_not_at_any_length(value, shown):
    assert short_text(value) == shown


def test_what_is_near_is_named_and_else_what_is_known():
    assert nearest("wndow", ["window", "variance"]) == "; did you mean window?"
    assert nearest("x", ["window", "variance"]) == "; known: variance, window"
    assert nearest("x", []) == ""
