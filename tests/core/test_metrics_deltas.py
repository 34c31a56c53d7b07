"""Differences of recorded values (semantics § 3) and findings at another size (§ 4)."""

import pytest

from ralph_tracker.core.metrics import MeasuredValue, Metrics, delta, deltas, errors_at_size, read
from tests.tables import table


@table(
    ("now", "before", "decimals", "expected"),
    [
        pytest.param(77.8, 80.0, 1, -2.2, id="percent of the seed"),
        pytest.param(77.8, 62.5, 1, 15.3, id="percent up"),
        pytest.param(9, 10, 0, -1, id="count"),
        pytest.param(2.1, 1.4, 2, 0.7, id="complexity"),
        pytest.param(80.0, 80.0, 1, 0.0, id="nothing"),
    ],
)
def test_delta(now, before, decimals, expected):
    assert delta(now, before, decimals) == expected


def test_a_delta_of_counts_is_whole():
    assert isinstance(delta(9.0, 10.0, 0), int)


def test_every_numeric_metric_that_both_sides_have_gets_a_delta():
    before = read(Metrics(test_count=8, coverage_percentage=65.0, build_status="success", loc_total=450), 0)
    now = Metrics(test_count=10, coverage_percentage=75.0, build_status="failure", lint_errors=3)
    assert deltas(now, before) == {"test_count_delta": 2, "coverage_delta": 10.0}


def test_what_is_missing_keeps_its_earlier_reading():
    first = read(Metrics(test_count=8, lint_errors=2, build_status="success"), 0)
    second = read(Metrics(test_count=9), 1, first)
    kept = {"lint_errors": MeasuredValue(2, 0), "build_failed": MeasuredValue(0.0, 0)}
    assert second == {"test_count": MeasuredValue(9, 1), **kept}
    assert first == {"test_count": MeasuredValue(8, 0), **kept}


@table(
    ("count", "loc", "earlier", "expected"),
    [
        pytest.param(10, 100, 100, 10, id="same size"),
        pytest.param(10, 200, 100, 5, id="twice the code halves the findings"),
        pytest.param(10, 50, 100, 10, id="shrinking changes nothing"),
        pytest.param(10, None, 100, 10, id="size now unknown"),
        pytest.param(10, 200, None, 10, id="size before unknown"),
        pytest.param(11, 200, 100, 6, id="rounded half-up to a whole number"),
        pytest.param(5, 10, 0, 0, id="from no code at all"),
    ],
)
def test_errors_at_the_previous_size(count, loc, earlier, expected):
    assert errors_at_size(count, loc, earlier) == expected
