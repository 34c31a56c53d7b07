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
    assert page.locator("#found").text_content() == f"2 of {everything} shown"


def test_the_keyboard_reaches_every_region_and_fold(opened, unreached):
    assert unreached(opened()) == []


def test_a_mark_leads_to_its_row(opened):
    page = opened()
    page.locator('svg a[href="#i3"]').first.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.querySelector(':target').id") == "i3"


def test_arrow_keys_and_pointer_move_one_cursor_over_all_charts(opened):
    page = opened()
    page.get_by_role("region", name="Chart of the score").focus()
    told = page.get_by_role("status").last
    for key, number in (
        ("ArrowLeft", 5),
        ("ArrowLeft", 4),
        ("Home", 0),
        ("ArrowLeft", 0),
        ("ArrowRight", 1),
        ("End", 5),
    ):
        page.keyboard.press(key)
        assert told.text_content().startswith(f"Iteration {number} "), key
    assert "Coverage 85.0%" in told.text_content()
    charts = page.locator("svg[data-at]")
    assert charts.count() > 3
    assert page.locator("svg[data-at] > .cursor").count() == charts.count()
    box = charts.last.bounding_box()
    charts.last.scroll_into_view_if_needed()
    charts.last.hover(position={"x": 1, "y": box["height"] / 2})
    assert told.text_content().startswith("Iteration 0 ")
    assert page.said == []


def test_the_rows_of_a_long_loop_are_drawn_when_its_table_is_opened(opened, long_page):
    page = opened(long_page.as_uri())
    rows = page.locator("tr[id^=i]")
    assert rows.count() < 121
    page.get_by_text("Table of all iterations").click()
    page.locator("tr#i77").wait_for()
    assert rows.evaluate_all("rows => rows.map(row => row.id)") == [f"i{number}" for number in range(121)]
    assert page.locator("tr#i77").text_content().startswith("77")
    assert page.said == []


def test_the_cursor_names_each_iteration_of_a_long_loop(opened, long_page):
    page = opened(long_page.as_uri())
    page.get_by_role("region", name="Chart of the score").focus()
    page.keyboard.press("Home")
    for number in range(1, 5):
        page.keyboard.press("ArrowRight")
        told = page.get_by_role("status").last.text_content()
        assert told.startswith(f"Iteration {number} "), told
        assert f"Coverage {50 + number}.0%" in told


def test_a_part_of_a_long_loop_is_enlarged_in_all_charts_by_mouse_and_keyboard(opened, long_page):
    page = opened(long_page.as_uri())
    chart = page.get_by_role("region", name="Chart of the score")
    ticks = (
        "[...document.querySelector('.chart svg').querySelectorAll('text[text-anchor=middle]')].map(e => e.textContent)"
    )
    whole = page.evaluate(ticks)
    box = chart.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + 80)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 80)
    page.mouse.up()
    first, last = page.evaluate("range")
    assert 20 <= last - first <= 30
    assert page.evaluate("document.querySelectorAll('svg.plot [transform^=matrix]').length") >= 3
    assert all(first <= int(each) <= last for each in page.evaluate(ticks))
    chart.focus()
    page.keyboard.press("Home")  # the part that is shown follows the cursor
    assert page.evaluate("range[0]") == 0
    assert page.get_by_role("status").last.text_content().startswith("Iteration 0 ")
    page.keyboard.press("+")
    assert page.evaluate("range[1] - range[0]") < last - first
    page.keyboard.press("0")
    assert page.evaluate("range") is None
    assert page.evaluate(ticks) == whole
    assert page.evaluate("document.querySelectorAll('svg.plot [transform]').length") == 0
    assert page.said == []


def test_a_search_reaches_the_tests_that_are_folded_away(opened, long_page):
    page = opened(long_page.as_uri())
    page.get_by_label("Find tests").fill("test_7")
    shown = page.locator(".searched tbody tr:visible th")
    assert {*shown.all_text_contents()} == {"t::test_7", *(f"t::test_7{n}" for n in range(10))}
    assert page.locator("#found").text_content() == "11 of 80 shown"


def test_a_page_has_at_most_30_stops_of_the_tab_key(opened):
    page = opened()
    stops = "[...document.querySelectorAll('a, summary, input, button, [tabindex]')]"
    assert page.evaluate(f"{stops}.filter(each => each.tabIndex >= 0 && each.checkVisibility()).length") <= 30


def test_no_column_is_cut_on_paper_and_patches_stay_folded(opened):
    page = opened(viewport={"width": 718, "height": 1000})
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("[...document.querySelectorAll('details details')].every(each => !each.open)")
    assert page.evaluate(
        "[...document.querySelectorAll('.scroll')].every(each => each.scrollWidth <= each.clientWidth)"
    )


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
