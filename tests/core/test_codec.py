"""Values as JSON: written by their fields, read by their annotations."""

import pytest

from ralph_tracker.core.alert_types import TYPE_BY_NAME, Alert
from ralph_tracker.core.codec import decode, encode
from ralph_tracker.core.integrity_result import Severity
from ralph_tracker.core.metrics import Measurement, Metrics, Usage
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


@table("change", [{"colour": 1}, {"kind": "nothing"}, {"until": ["a"]}, {"severity_override": 7}])
def test_what_is_no_such_value_is_refused(change):
    with pytest.raises((KeyError, TypeError, ValueError)):
        decode(Alert, encode(ALERT) | change)
