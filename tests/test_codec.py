"""Values as JSON: written by their fields, read by their annotations."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

import pytest

from ralph_tracker.codec import decode, document_of, encode, renamed
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
        keys = {"inner": "one", "seen": None}
        made = document_of(Outer, names={"Decimal": int}, keys=keys, about="What is said of both.")
        assert (list(made.__annotations__), made.__doc__) == (["one", "many", "price"], "What is said of both.")
        assert renamed(Outer(Inner(), seen=3)._asdict(), keys) == {"one": Inner(), "many": (), "price": None}

    def test_has_the_names_of_a_severity(self):
        severity = document_of(Finding).__annotations__["severity"]
        assert severity == Literal["CRITICAL", "HIGH", "MEDIUM"]
