"""The reports in a real Chromium: nothing is asked of the network, nothing complains, and people can use them."""

import os
import re
from pathlib import Path

import pytest

MERMAID = Path(os.environ.get("RALPH_TRACKER_BROWSER", "none")) / "node_modules/mermaid/dist/mermaid.min.js"


def test_the_page_asks_for_nothing_says_nothing_and_runs_nothing_of_a_name(opened, loop):
    page = opened()
    assert page.said == []
    assert page.asked == [(loop / "page.html").as_uri()]
    assert page.evaluate("window.owned") is None
    assert page.get_by_text("<script>window.owned=1</script>").count() > 0


def test_an_added_script_is_refused_by_the_policy(opened):
    page = opened()
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'window.owned = 1'}))")
    assert page.evaluate("window.owned") is None


def test_the_table_of_tests_is_searched_from_the_keyboard(opened):
    page = opened()
    rows = page.locator("#matrix tbody tr")
    everything = rows.count()
    assert everything >= 8
    page.get_by_label("Find tests").focus()
    page.keyboard.type("gone at 3")
    assert page.locator("#matrix tbody tr:visible").count() == 2
    assert page.locator("#found").text_content() == f"2 of {everything} tests"


def test_the_keyboard_reaches_every_mark_region_and_fold(opened, unreached):
    assert unreached(opened()) == []


def test_a_mark_leads_to_its_row(opened):
    page = opened()
    page.locator('svg a[href="#i3"]').first.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.querySelector(':target').id") == "i3"


@pytest.mark.parametrize("width", [320, 1000])
def test_no_width_makes_the_page_scroll_sideways(opened, width):
    page = opened(viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_without_script_everything_is_there_but_the_search(opened):
    page = opened(java_script_enabled=False)
    assert page.locator("#matrix tbody tr").first.is_visible()
    assert not page.locator(".search").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(opened, violations, scheme):
    assert violations(opened(color_scheme=scheme, bypass_csp=True)) == []


@pytest.mark.skipif(not MERMAID.is_file(), reason="mermaid is not there: make suite NAME=browser")
def test_mermaid_draws_the_chart_of_the_report(browser, loop):
    report = (loop / ".aiwg/ralph/ralph-001/reports/loop-report.md").read_text(encoding="utf-8")
    (chart,) = re.findall(r"^```mermaid\n(.*?)^```", report, re.DOTALL | re.MULTILINE)
    page = browser.new_page()
    page.set_content("<div></div>")
    page.add_script_tag(content=MERMAID.read_text(encoding="utf-8"))
    drawn = page.evaluate("async text => (await mermaid.render('chart', text)).svg", chart)
    assert "best: iteration" in drawn
    assert drawn.count("<rect") >= 6
    page.close()
