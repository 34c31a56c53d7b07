"""The report of an iteration, in Python: its template, translated."""

import runpy
from pathlib import Path
from typing import get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import DictLoader, Environment

from ralph_tracker.report import generated_iteration_report
from ralph_tracker.report.iteration_view import AlertRow, DimensionRow, FindingRow, IterationView, MetricRow
from ralph_tracker.report.markdown_reports import SHIPPED, jinja_environment, render

CHECKOUT = Path(__file__).parents[2]
TEMPLATE = "iteration-report.md.j2"
WORDS = st.text("ab_ *|<`{}%'\n\u202e", max_size=6) | st.sampled_from(["", "accepted", "new"])
VALUES = {str: WORDS, bool: st.booleans(), int: st.integers(), tuple[str, ...]: st.lists(WORDS, max_size=2).map(tuple)}


@pytest.fixture(scope="module")
def translated():
    """Return what translates a template."""
    return runpy.run_path(str(CHECKOUT / "tools" / "translate_template.py"))["translated"]


def views(kind):
    """Draw values of a view's class, rows of it included."""
    return st.builds(kind, **{name: VALUES[hint] for name, hint in get_type_hints(kind).items()})


ROWS = (MetricRow, DimensionRow, AlertRow, FindingRow)
VALUES |= {tuple[row, ...]: st.lists(views(row), max_size=2).map(tuple) for row in ROWS}


def test_it_is_the_translation_of_the_shipped_template(translated, bless):
    path = Path(generated_iteration_report.__file__)
    now = translated(jinja_environment(SHIPPED), TEMPLATE, "it", IterationView)
    if bless:
        path.write_text(now, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == now


@given(views(IterationView))
def test_it_writes_what_jinja_makes_of_the_template(view):
    assert generated_iteration_report.render(view) == render(TEMPLATE, {"it": view})


@pytest.mark.parametrize(
    "source",
    ["{% set x = 1 %}", "{{ it.cost + 1 }}", "{% if it.cost %}a{% else %}b{% endif %}", "{{ it.cost | upper }}", "{"],
    ids=["statement", "expression", "branch", "filter", "brace"],
)
def test_what_is_not_translated_is_refused(translated, source):
    environment = Environment(loader=DictLoader({"one": source}), autoescape=False)  # noqa: S701  # Markdown
    with pytest.raises((NotImplementedError, ValueError), match=r"is not translated$"):
        translated(environment, "one", "it", IterationView)
