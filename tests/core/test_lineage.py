"""The line of descent (semantics § 0)."""

import pytest

from ralph_tracker.core.known_tests import extend_ranges
from ralph_tracker.core.lineage import Lineage, PastIteration
from ralph_tracker.core.metrics import KEY_METRICS, Metrics
from tests.tables import table


def test_before_the_baseline_there_is_no_line():
    assert (Lineage().head, Lineage().parts(), extend_ranges(Lineage().segments, 0)) == (None, (), ((0, 0),))


@table(
    ("segments", "iteration", "expected"),
    [
        pytest.param(((0, 2),), 3, ((0, 3),), id="the next one"),
        pytest.param(((0, 1),), 3, ((0, 1), (3, 3)), id="after a rollback"),
        pytest.param(((0, 1), (3, 3)), 4, ((0, 1), (3, 4)), id="and on from there"),
    ],
)
def test_segments(segments, iteration, expected):
    line = Lineage(segments=segments)
    assert extend_ranges(line.segments, iteration) == expected
    assert line.head == segments[-1][1]


def test_the_line_of_a_loop_with_a_rollback(start):
    loop = start()
    loop.turns(2)
    loop.roll_back(1)
    assert loop.turn().previous == 1
    assert loop.state.lineage.segments == ((0, 1), (3, 3))
    assert loop.turn().previous == 3
    assert loop.state.lineage.segments == ((0, 1), (3, 4))


def test_parts_are_those_that_the_line_has_ever_measured(start):
    loop = start(base={"coverage_percentage": 80.0})
    loop.turn(coverage_percentage=None, lint_errors=0, test_count=3)
    assert loop.state.lineage.parts() == ("test_count", "coverage_percentage")


def test_a_signature_is_the_four():
    metrics = Metrics(test_count=8, pass_rate=62.5, coverage_percentage=65.0, loc_total=450)
    point = PastIteration(
        iteration=1,
        classification="forward",
        key_metrics=tuple(metrics.number(name) for name in KEY_METRICS),
        loc=450,
        tree=None,
        score=0.0,
    )
    assert point.key_metrics == (8, 62.5, 65.0, None)
    assert point.value("coverage_percentage") == 65.0
    assert point.signature(("coverage_percentage", "test_count")) == (65.0, 8)
    assert point.has(("test_count", "pass_rate"))
    assert not point.has(("test_count", "error_count"))
