"""The token budget: shares of the context window, from what is really used."""

import pytest

from ralph_tracker.steering import TokenBudget
from tests.tables import table


@table(
    ("tokens", "nudges", "forces", "room"),
    [
        (None, False, False, 1.0),
        (0, False, False, 1.0),
        (29_999, False, False, 1.0),
        (30_000, True, False, 1.0),
        (50_000, True, False, pytest.approx(0.5)),
        (69_999, True, False, pytest.approx(0.0, abs=1e-3)),
        (70_000, True, True, 0.0),
        (200_000, True, True, 0.0),
    ],
)
def test_it_nudges_from_30_percent_and_forces_from_70(tokens, nudges, forces, room):
    budget = TokenBudget(context_window=100_000)
    assert (budget.should_nudge_synthesis(tokens), budget.should_force_synthesis(tokens)) == (nudges, forces)
    assert budget.room(tokens) == room


def test_what_the_answer_needs_stays_free():
    budget = TokenBudget(context_window=100, soft=0.3, hard=0.9, synthesis=0.25)
    assert budget.limit == 0.75
    assert budget.should_force_synthesis(75)
    assert not budget.should_force_synthesis(74)


@table("synthesis", [0.0, 0.7, 1.0])
def test_one_limit_is_enough(synthesis):
    budget = TokenBudget(context_window=100, soft=0.5, hard=0.5, synthesis=synthesis)
    assert (budget.room(0), budget.room(60)) == (1.0 if synthesis < 1 else 0.0, 0.0)
