"""What the selection's reports show, and that their cost is in proportion to the iterations."""

import pytest

from ralph_tracker.loop import finish
from ralph_tracker.report.selection_view import selection_view


class _Counted(tuple):  # noqa: SLOT001  # it has an attribute
    """Iterations that count how often they are gone through."""

    passes: list[None]

    def __iter__(self):
        self.passes.append(None)
        return super().__iter__()


@pytest.fixture
def passes(driven, monkeypatch):
    """Return how often the view of a loop's selection goes through its iterations."""
    seen = []
    made = finish.selection_reports
    monkeypatch.setattr(finish, "selection_reports", lambda *asked: seen.append(asked[:2]) or made(*asked))

    def count(turns):
        for number in range(turns):
            driven.turn(coverage_percentage=80.0 + number)
        driven.tracker.select_output(finish=False)
        selection, story = seen.pop()
        contenders = _Counted(selection.contenders)
        contenders.passes = []
        object.__setattr__(selection, "contenders", contenders)
        assert len(selection_view(selection, story).rows) == len(contenders)
        return len(contenders.passes)

    driven.start()
    return count


def test_a_longer_loop_is_gone_through_no_more_often(passes):
    assert passes(2) == passes(6)
