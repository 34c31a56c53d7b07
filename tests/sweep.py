"""How far a test goes that strikes a call at one of many points: a sample by a seed, or all of them."""

import os
import random
from collections.abc import Sequence
from typing import Any

import pytest

FULL = os.environ.get("RALPH_TRACKER_SWEEP") == "full"
# The targets of make draw one and print it; without one, every run is the same.
SEED = int(os.environ.get("RALPH_TRACKER_SEED") or 0)


def chosen(every: Sequence[Any], at_most: int, node: pytest.Item) -> list[Any]:
    """Return all points, or at most so many by the seed, which is shown where one of them fails."""
    node.add_report_section("call", "sweep", f"{len(every)} points, RALPH_TRACKER_SEED={SEED}")
    size = len(every) if FULL else min(len(every), at_most)
    return sorted(random.Random(f"{SEED}{node.name}").sample(every, size))
