"""A real Chromium, and a loop with hostile names for it to show."""

import os
import shutil
from pathlib import Path

import pytest

from ralph_tracker.cli.app import run
from ralph_tracker.tracker import post_iteration, post_loop, pre_loop

MODULES = Path(os.environ.get("RALPH_TRACKER_BROWSER", "none")) / "node_modules"
CHROMIUM = os.environ.get("RALPH_TRACKER_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
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


@pytest.fixture(scope="session")
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


@pytest.fixture(scope="session")
def long_page(tmp_path_factory):
    """Return the page of a loop of 120 iterations with 80 tests that broke and came back."""
    root = tmp_path_factory.mktemp("long")
    for number in range(121):
        failing = () if number % 2 else (number % 80, number % 80 + 1)
        tests = [{"id": f"t::test_{n}", "outcome": "failed" if n in failing else "passed"} for n in range(90)]
        facts = {"tests": tests, "testing": {"coverage_percentage": 50 + number % 7}}
        pre_loop(root=root, metrics=facts) if number == 0 else post_iteration(root=root, metrics=facts)
    assert run(["report", "--html", str(root / "page.html"), "--root", str(root)]) == 0
    return root / "page.html"


@pytest.fixture(scope="session")
def browser():
    """Return a Chromium without a window."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is missing: make suite NAME=browser")
    if CHROMIUM is None:
        pytest.skip("no Chromium on PATH; RALPH_TRACKER_CHROMIUM names one")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser, loop):
    """Return a function that opens the page, or an address, with what it logged and asked for."""
    contexts = []

    def open_page(address=None, **options):
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.said, page.asked = [], []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(address or (loop / "page.html").as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def violations():
    """Return a function that names what axe-core finds on a page with all of it unfolded."""
    axe = MODULES / "axe-core/axe.min.js"
    if not axe.is_file():
        pytest.skip("axe-core is not there: make suite NAME=browser")

    def found(page):
        page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
        page.add_script_tag(content=axe.read_text(encoding="utf-8"))
        return page.evaluate("async () => (await axe.run()).violations.map(v => [v.impact, v.id, v.nodes[0].html])")

    return found


@pytest.fixture(scope="session")
def unreached():
    """Return a function that names what of a page the Tab key should come to and does not."""
    stops = "[...document.querySelectorAll('a, summary, input:enabled, button, [tabindex]')]"

    def found(page):
        reached = set()
        for _ in range(page.evaluate(f"{stops}.length") + 5):
            page.keyboard.press("Tab")
            reached.add(page.evaluate(f"{stops}.indexOf(document.activeElement)"))
        shown = page.evaluate(
            f"{stops}.map((e, i) => e.checkVisibility() && e.tabIndex >= 0 ? [i, e.outerHTML] : null).filter(Boolean)"
        )
        return [html for place, html in shown if place not in reached]

    return found
