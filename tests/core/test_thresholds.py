"""Thresholds: the defaults that the specification names."""

import pytest

from ralph_tracker.core.thresholds import SELECTION_MODES, Thresholds
from ralph_tracker.core.walk import MODES
from tests.tables import table


@table(
    ("section", "name", "expected"),
    [
        ("loop", "max_iterations", 20),
        ("loop", "target_score", None),
        ("loop", "max_cost_usd", None),
        ("loop", "warn_at_usd", None),
        ("loop", "max_minutes", None),
        ("alerts", "coverage_drop", 2.0),
        ("alerts", "error_increase", 5),
        ("alerts", "complexity_growth", 0.5),
        ("classification", "pass_rate_drop", 5.0),
        ("classification", "coverage_drop", 2.0),
        ("classification", "good_pass_rate", 90.0),
        ("classification", "score_band", 0.02),
        ("stall", "window", 3),
        ("stall", "tolerance", 2.0),
        ("stall", "variance", 0.02),
        ("stall", "score_gain", 0.005),
        ("cycling", "window", 5),
        ("cycling", "terminate_after", 10),
        ("cycling", "score_change", 0.005),
        ("cycling", "tree_visits", 3),
        ("decision", "rollback_margin", 0.1),
        ("decision", "evidence", 0.6),
        ("decision", "rollbacks_in_a_row", 3),
        ("score", "acceptance", 0.70),
    ],
)
def test_default_threshold(section, name, expected):
    assert getattr(getattr(Thresholds(), section), name) == expected


def test_weights_of_the_five_dimensions():
    assert dict(Thresholds().score.weights) == {
        "validation": 0.30,
        "completeness": 0.25,
        "correctness": 0.25,
        "readability": 0.10,
        "efficiency": 0.10,
    }


def test_the_walk_selects_unless_said_otherwise():
    assert Thresholds().selection == ("walk", "ask", "kept")
    assert (
        SELECTION_MODES
        == tuple(MODES)
        == ("walk", "highest_quality_verified", "highest_quality", "most_recent_above_threshold")
    )


def test_rules_are_frozen():
    with pytest.raises(AttributeError):
        Thresholds().score.acceptance = 0.5
