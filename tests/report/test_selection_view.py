"""What the selection's reports show, and that their cost is in proportion to the iterations."""

import pytest

from ralph_tracker.loop.reports import gathered
from ralph_tracker.report.selection_view import selection_view
from ralph_tracker.store.loop_store import LoopStore


class _Counted(tuple):  # noqa: SLOT001  # it has an attribute
    """Iterations that count how often they are gone through."""

    passes: list[None]

    def __iter__(self):
        self.passes.append(None)
        return super().__iter__()


@pytest.fixture
def passes(driven):
    """Return how often the view of a loop's selection goes through its iterations."""

    def count(turns):
        for number in range(turns):
            driven.turn(coverage_percentage=80.0 + number)
        loop = gathered(LoopStore(driven.paths))
        contenders = _Counted(loop.selection.contenders)
        contenders.passes = []
        object.__setattr__(loop.selection, "contenders", contenders)
        assert len(selection_view(loop.selection, loop.story).rows) == len(contenders)
        return len(contenders.passes)

    driven.start()
    return count


def test_a_longer_loop_is_gone_through_no_more_often(passes):
    assert passes(2) == passes(6)
