"""Values as JSON: written by their fields, read by their annotations."""

import pickle
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

import pytest

from ralph_tracker.codec import ValueObject, decode, document_of, encode
from ralph_tracker.core.alert_types import TYPE_BY_NAME, Alert
from ralph_tracker.core.integrity_result import Finding, Severity
from ralph_tracker.core.metrics import Measurement, Metrics, Usage
from tests.tables import table

if TYPE_CHECKING:
    from decimal import Decimal


class Inner(NamedTuple):
    """One thing of an outer one."""

    names: frozenset[str] = frozenset()
    counts: Mapping[str, int] = {}


class Outer(NamedTuple):
    """Several things."""

    inner: Inner
    many: tuple[Inner, ...] = ()
    price: float | None = None
    seen: "Decimal | int" = 0


class Box(ValueObject, document="label=name id", shown="id"):
    name: str
    size: int = 1

    @property
    def id(self) -> str:
        return f"{self.name}-{self.size}"


class Crate(ValueObject):
    name: str
    size: int = 1
    boxes: tuple[Box, ...] = ()


ALERT = Alert(TYPE_BY_NAME["stalled"], 3, "no progress", until=("test_count", 2.0), severity_override=Severity.HIGH)


def test_a_type_and_a_severity_are_written_as_their_names():
    plain = encode(ALERT)
    assert (plain["kind"], plain["severity_override"], plain["until"]) == ("stalled", "HIGH", ["test_count", 2.0])
    assert decode(Alert, plain) == ALERT


def test_what_was_not_measured_is_not_written():
    measurement = Measurement(Metrics(test_count=0), "2026-02-02T10:00:00Z", usage=Usage(turns=3))
    plain = encode(measurement)
    assert (plain["metrics"], plain["usage"]) == ({"test_count": 0}, {"turns": 3})
    assert decode(Measurement, plain) == measurement


@table("change", [{"colour": 1}, {"kind": "nothing"}, {"until": ["a"]}, {"severity_override": 7}])
def test_what_is_no_such_value_is_refused(change):
    with pytest.raises((KeyError, TypeError, ValueError)):
        decode(Alert, encode(ALERT) | change)


def test_a_set_is_written_in_order():
    assert encode(Inner(frozenset({"b", "a"}))) == {"names": ["a", "b"], "counts": {}}


class TestAValue:
    def test_equals_values_of_its_own_class_only(self):
        assert Box("a") == Box("a", 1) != Box("a", 2)
        assert Box("a") != ("a", 1)
        assert Box("a") != Crate("a")
        assert len({Box("a"), Box("a", size=1), Crate("a")}) == 2

    def test_cannot_be_changed_but_copied_with_a_change(self):
        box = Box("a")
        with pytest.raises(AttributeError, match=r"^Box cannot be changed: size$"):
            box.size = 2
        with pytest.raises(AttributeError, match=r"^Box cannot be changed: size$"):
            del box.size
        assert (box._replace(size=2), box.size) == (Box("a", 2), 1)
        assert pickle.loads(pickle.dumps(box)) == box

    @table("values", [{}, {"name": "a", "colour": 1}])
    def test_has_its_fields_and_no_others(self, values):
        with pytest.raises(TypeError, match=r"^Box has the fields name, size; wrong: (name|colour)$"):
            Box(**values)

    def test_takes_no_more_values_than_it_has_fields_and_each_once(self):
        with pytest.raises(TypeError, match=r"^Box has the fields name, size; wrong: 3 values$"):
            Box("a", 1, 2)
        with pytest.raises(TypeError, match=r"^Box has the fields name, size; wrong: name$"):
            Box("a", name="b")

    def test_is_shown_in_one_line(self):
        assert repr(Box("a", 3)) == "Box(id='a-3')"
        assert repr(Crate("a\n", boxes=(Box("b"),))) == "Crate(name='a\\n', boxes=(Box(id='b-1'),))"
        assert len(repr(Crate("x" * 1000))) < 100

    def test_has_the_documents_of_its_values_in_its_own_and_is_stored_by_its_fields(self):
        crate = Crate("a", boxes=(Box("b", 2),))
        assert crate.to_dict() == {"name": "a", "size": 1, "boxes": [{"label": "b", "id": "b-2"}]}
        assert encode(crate)["boxes"] == [{"name": "b", "size": 2}]
        assert decode(Crate, encode(crate)) == crate


class TestTheDocumentOfAClass:
    def test_has_the_types_that_its_values_are_written_in(self):
        made = document_of(Outer, {"more": str}, names={"Decimal": int})
        inner = made.__annotations__["inner"]
        assert inner.__annotations__ == {"names": list[str], "counts": dict[str, int]}
        assert {name: made.__annotations__[name] for name in ("price", "seen", "more")} == {
            "price": float | None,
            "seen": int,
            "more": str,
        }
        assert (made.__name__, made.__doc__) == ("OuterDocument", "Several things.")

    def test_leaves_out_what_is_none_where_that_is_not_written(self):
        made = document_of(Outer, names={"Decimal": int}, without_none=True)
        assert (made.__optional_keys__, made.__required_keys__) == ({"price"}, {"inner", "many", "seen"})

    def test_has_other_keys_where_they_are_named(self):
        made = document_of(Box, about="What is said of it.")
        assert (made.__annotations__, made.__doc__) == ({"label": str, "id": str}, "What is said of it.")
        assert Box("a", 3).to_dict() == {"label": "a", "id": "a-3"}

    def test_has_the_names_of_a_severity(self):
        severity = document_of(Finding).__annotations__["severity"]
        assert severity == Literal["CRITICAL", "HIGH", "MEDIUM"]
