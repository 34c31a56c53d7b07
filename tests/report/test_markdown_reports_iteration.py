"""The report of an iteration is what Jinja makes of the shipped template, without Jinja."""

from typing import get_type_hints

from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.report.iteration_view import AlertRow, DimensionRow, FindingRow, IterationView, MetricRow
from ralph_tracker.report.markdown_reports import render, shipped_iteration_report

TEMPLATE = "iteration-report.md.j2"
WORDS = st.text("ab_ *|<`{}%'\n\u202e", max_size=6) | st.sampled_from(["", "accepted", "new"])
VALUES = {str: WORDS, bool: st.booleans(), int: st.integers(), tuple[str, ...]: st.lists(WORDS, max_size=2).map(tuple)}


def views(kind):
    """Draw values of a view's class, rows of it included."""
    return st.builds(kind, **{name: VALUES[hint] for name, hint in get_type_hints(kind).items()})


ROWS = (MetricRow, DimensionRow, AlertRow, FindingRow)
VALUES |= {tuple[row, ...]: st.lists(views(row), max_size=2).map(tuple) for row in ROWS}


@given(views(IterationView))
def test_it_writes_what_jinja_makes_of_the_template(view):
    assert shipped_iteration_report(view) == render(TEMPLATE, {"it": view})
