"""Values as JSON: written by their fields, read by their annotations, also as the first loops have them."""

import pytest

from ralph_tracker.core.alert_types import TYPE_BY_NAME, Alert
from ralph_tracker.core.codec import decode, encode
from ralph_tracker.core.integrity_result import Severity
from ralph_tracker.core.lineage import Lineage
from ralph_tracker.core.metrics import MeasuredValue, Measurement, Metrics, Usage
from tests.tables import table

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


def test_a_field_is_read_by_its_earlier_name():
    plain = encode(ALERT)
    earlier = {"rated": plain.pop("severity_override"), "fall": 4} | plain
    del earlier["count_drop"]
    assert decode(Alert, earlier) == ALERT._replace(count_drop=4)


def test_a_value_that_was_written_as_a_list_is_read():
    line = Lineage(readings={"test_count": MeasuredValue(5, 1)}, not_loaded=frozenset({"b", "a"}))
    plain = encode(line)
    assert (plain["readings"], plain["not_loaded"]) == ({"test_count": {"value": 5, "iteration": 1}}, ["a", "b"])
    assert decode(Lineage, plain | {"readings": {"test_count": [5, 1]}}) == line


@table("change", [{"colour": 1}, {"kind": "nothing"}, {"until": ["a"]}, {"severity_override": 7}])
def test_what_is_no_such_value_is_refused(change):
    with pytest.raises((KeyError, TypeError, ValueError)):
        decode(Alert, encode(ALERT) | change)
