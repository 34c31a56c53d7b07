"""The loop as a comment: what matters of the longest loop in 60 lines."""

from dataclasses import replace

import pytest

from ralph_tracker.loop.reports import gather_loop
from ralph_tracker.report.loop_view import selection_view
from ralph_tracker.report.markdown_reports import MARK, pull_request
from ralph_tracker.store.write import LoopStore


@pytest.fixture
def loop(driven):
    """Return what is known of a loop of 30 iterations."""
    driven.start(lint_errors=40)
    for number in range(30):
        driven.turn(lint_errors=39 - number, usage={"cost_usd": 0.5})
    return gather_loop(LoopStore(driven.paths))


def comment(loop, **more):
    told = {"wrong": (), "alerts": (), "decision": "continue (0.90): on", "next_step": "work", **more}
    return pull_request(selection_view(loop.selection, loop.story), **told)


def test_everything_that_is_much_is_cut_and_counted(loop):
    text = comment(loop, wrong=[f"failing: t{number}" for number in range(50)], alerts=["HIGH x: " + "y" * 9000] * 50)
    lines = text.splitlines()
    assert len(lines) <= 60
    assert len(text) < 65_536 / 4
    assert "- failing: t9" in lines
    assert "- and 40 more" in lines
    assert "- and 42 more" in lines
    rows = [line for line in lines if line.startswith("| ") and line[2].isdigit()]
    assert [row.split()[1] for row in rows] == ["0", *map(str, range(21, 31))]
    assert "20 iterations are left out here." in lines


def test_it_begins_with_the_mark_and_the_sentence(loop):
    mark, heading, _, sentence, *_ = comment(replace_story(loop)).splitlines()
    assert (mark, heading) == (MARK, "### ralph-tracker: ralph-001")
    assert sentence.endswith("by iteration 30. Take iteration 30.")


def replace_story(loop):
    return loop._replace(story=replace(loop.story, advice=None))
