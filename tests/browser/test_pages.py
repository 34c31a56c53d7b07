"""The reports in a real Chromium: nothing is asked of the network, nothing complains, and people can use them."""

import os
import re
import shutil
from pathlib import Path

import pytest

from ralph_tracker.cli.app import run
from ralph_tracker.hooks import post_iteration, post_loop, pre_loop

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: make test-browser")
CHROMIUM = os.environ.get("RALPH_TRACKER_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
MODULES = Path(os.environ.get("RALPH_TRACKER_BROWSER", "none")) / "node_modules"
AXE, MERMAID = MODULES / "axe-core/axe.min.js", MODULES / "mermaid/dist/mermaid.min.js"
HOSTILE = (
    "<script>window.owned=1</script>",
    "<img src=x onerror=window.owned=1>",
    '"><svg onload=window.owned=1>',
    "</style><script>window.owned=1</script>",
    "{{ 7 * 7 }}",
    "```\n```mermaid\nxychart-beta",
    "javascript:window.owned=1",
)
STEADY = [f"tests/test_area.py::test_{number}" for number in range(30)]

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on PATH; RALPH_TRACKER_CHROMIUM names one")


@pytest.fixture(scope="module")
def loop(tmp_path_factory):
    """Return a finished loop with hostile names in which tests broke, went and came back."""
    root = tmp_path_factory.mktemp("loop")

    def facts(number):
        names = [*STEADY, *HOSTILE][: None if number != 3 else -2]
        failing = {1: HOSTILE[:3], 2: STEADY[:5]}.get(number, ())
        tests = [{"id": name, "outcome": "failed" if name in failing else "passed"} for name in names]
        return {"tests": tests, "testing": {"coverage_percentage": 60 + 5 * number}, "quality": {"lint_errors": number}}

    pre_loop(root=root, metrics=facts(0))
    for number in range(1, 6):
        post_iteration(root=root, metrics=facts(number), usage={"cost_usd": 0.25})
    post_loop(root=root)
    assert run(["report", "--html", str(root / "page.html"), "--root", str(root)]) == 0
    return root


@pytest.fixture(scope="module")
def browser():
    """Return a Chromium without a window."""
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser, loop):
    """Return a function that opens the page, with what it logged and asked for."""
    contexts = []

    def open_page(**options):
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.said, page.asked = [], []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto((loop / "page.html").as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()


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


def test_the_keyboard_reaches_every_mark_region_and_fold(opened):
    page = opened()
    wanted = page.evaluate("document.querySelectorAll('a, summary, input, [tabindex]').length")
    reached = set()
    for _ in range(wanted + 5):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate(
                "[...document.querySelectorAll('a, summary, input, [tabindex]')].indexOf(document.activeElement)"
            )
        )
    shown = page.evaluate(
        "[...document.querySelectorAll('a, summary, input, [tabindex]')].map((e, i) => e.checkVisibility() ? i : -1)"
    )
    assert reached >= {place for place in shown if place >= 0}


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


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not there: make test-browser")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(opened, scheme):
    page = opened(color_scheme=scheme, bypass_csp=True)
    page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    page.add_script_tag(content=AXE.read_text(encoding="utf-8"))
    found = page.evaluate("async () => (await axe.run()).violations.map(v => [v.impact, v.id, v.nodes[0].html])")
    assert found == []


@pytest.mark.skipif(not MERMAID.is_file(), reason="mermaid is not there: make test-browser")
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
