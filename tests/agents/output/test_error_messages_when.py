"""When an agent may be tried again, in its own words."""

from datetime import UTC, datetime

import pytest

from ralph_tracker.agents.output.error_messages import When, retry_time
from tests.tables import table


@table(
    ("words", "seconds"),
    [
        ("Retry-After: 30", 30.0),
        ('"retry_after": 1.5', 1.5),
        ("Please retry in 34.074824224s.", 34.074824224),
        ('"retryDelay": "34s"', 34.0),
        ("Please try again in 20ms.", 0.02),
        ("Please try again in 6m0s.", 360.0),
        ("try again in 2 days 3 hours 5 minutes", 183_900.0),
        ("Your quota will reset after 1h20m3s.", 4_803.0),
        ("resets in 2 hours, 5 minutes and 1 second", 7_501.0),
        ("Retrying in 0.2 seconds...", 0.2),
        ("wait 3 min", 180.0),
        ("Wait, 3 tests fail", None),
        ("try again in a moment", None),
        ("retry wait time: 55.93 seconds", None),
        ("resets 3pm", None),
        ("try again in 5 months", None),
        ("", None),
    ],
)
def test_a_span_is_read_in_seconds(words, seconds) -> None:
    found = retry_time(words).after_s
    assert found == (None if seconds is None else pytest.approx(seconds))


@table(
    ("words", "at"),
    [
        ("Claude AI usage limit reached|1750000000", 1_750_000_000.0),
        ("limit reached|1750000000123", 1_750_000_000.123),
        ('"resets_at": 1800000000', 1_800_000_000.0),
        ('{"resetsAt":1800000000}', 1_800_000_000.0),
        ("try again at 2027-01-15T08:00:00Z", datetime(2027, 1, 15, 8, tzinfo=UTC).timestamp()),
        ("until 2027-01-15 10:00+02:00", datetime(2027, 1, 15, 8, tzinfo=UTC).timestamp()),
        ("try again at Jan 15th, 2027 8:00 PM.", datetime(2027, 1, 15, 20).astimezone().timestamp()),
        ("at 2027-99-15T08:00:00Z", None),
        ("at Abc 15th, 2027 8:00 PM", None),
        ("at 0001-01-01T00:00:00+23:59", None),
        ("resets 3pm", None),
        ("resets|12345", None),
    ],
)
def test_a_time_is_read_in_epoch_seconds(words, at) -> None:
    assert retry_time(words).at == at


def test_nothing_said_is_nothing_told() -> None:
    assert retry_time("Overloaded") == When(None, None)
