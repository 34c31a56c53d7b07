"""JSON in the shape that a format needs, or why not and where."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.formats.json_reader import damage_at, decode
from ralph_tracker.formats.parsed_report import Unreadable
from ralph_tracker.formats.report_content import Content, DamageError
from tests.tables import table


class Item(msgspec.Struct):
    number: int
    other: Any = None


def damage(data: bytes) -> Unreadable:
    with pytest.raises(DamageError) as caught:
        decode(Content(data), list[Item], "Tool")
    return caught.value.unreadable


def test_what_is_not_asked_for_is_passed_over():
    assert decode(Content(b'[{"number": 1, "x": {"y": [1]}}]'), list[Item], "Tool") == [Item(1)]


@table("encoding", ["utf-8-sig", "utf-16"])
def test_byte_order_marks_are_read(encoding):
    assert decode(Content('[{"number": 1, "other": "é"}]'.encode(encoding)), list[Item], "Tool") == [Item(1, "é")]


def test_bytes_that_are_no_text_are_replaced():
    assert decode(Content(b'[{"number": 1, "other": "\xff"}]'), list[Item], "Tool") == [Item(1, "�")]


@table(
    ("data", "why", "line", "column"),
    [
        pytest.param(b'[{"number": 1},\n {"number": "2"}]', "Expected `int`, got `str` ([1].number)", 2, 13, id="type"),
        pytest.param(b'[\n\n{"other": 1}]', "Object missing required field `number` ([0])", 3, 1, id="missing"),
        pytest.param(b" {}", "Expected `array`, got `object`", 1, 2, id="whole"),
        pytest.param(
            '[{"other": "é\\n", "x": [[1], {}], "number": null}]'.encode(),
            "Expected `int`, got `null` ([0].number)",
            1,
            45,
            id="after values of all kinds",
        ),
    ],
)
def test_another_shape_says_where(data, why, line, column):
    assert damage(data) == Unreadable(f"no report of Tool: {why}", line, column)


@table(
    ("data", "why", "line", "column"),
    [
        pytest.param(b'[{"number": 1},\n {"number"', "cut short", 2, 11, id="cut"),
        pytest.param('[\n{"other": "é", number: 1}]'.encode(), "object keys must be strings", 2, 16, id="no quotes"),
        pytest.param(b'[{"number": 1}]\n]', "trailing characters", 2, 2, id="more"),
        pytest.param(b'[{"number": 1, "other": NaN}]', "invalid character", 1, 25, id="no number"),
        pytest.param(b'[{"other": "\xff", "number": 1', "cut short", 1, 28, id="no text, and cut"),
        pytest.param(b'[{"x": ' + b"[" * 100_000, "nested too deep", None, None, id="deep"),
    ],
)
def test_malformed_json_says_where(data, why, line, column):
    assert damage(data) == Unreadable(f"malformed JSON: {why}", line, column)


@table(
    ("path", "at"),
    [
        (["b"], "[1,"),
        (["b", 1], '{"c"'),
        (["b", 1, "c"], "2}"),
        (["absent"], '{"a"'),
        (["b", 7], "[1,"),
        (["b", 0, "c"], "1,"),
        (["a", "x"], "{},"),
    ],
)
def test_a_place_is_that_of_the_value_or_of_the_nearest_around_it(path, at):
    text = '{"a": {}, "b": [1, {"c":  2}, "d"]}'
    assert damage_at(Content(text.encode()), path, "why").unreadable == Unreadable("why", 1, text.index(at) + 1)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES, st.lists(st.integers(0, 3) | st.text(max_size=2), max_size=4))
def test_there_is_a_place_for_any_path(value, path):
    data = msgspec.json.encode(value)
    found = damage_at(Content(data), path, "why").unreadable
    assert found.line == 1
    assert found.column is not None
    assert 1 <= found.column <= len(data.decode())
