"""`serve` in a real Chromium: pages that stay current, for people with and without a mouse, and for nobody else."""

import re
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from ralph_tracker.tracker import post_iteration, pre_loop

pytest.importorskip("uvicorn", reason="the extra `web` is not installed")
PROGRAM = Path(sys.executable).with_name("ralph-tracker")
FIRST = "/loops/ralph-001"


def facts(number, lint=0):
    tests = [{"id": f"t::test_{n}", "outcome": "failed" if n == number % 4 else "passed"} for n in range(12)]
    return {"tests": tests, "testing": {"coverage_percentage": 60 + number}, "quality": {"lint_errors": lint}}


@pytest.fixture(scope="module")
def project(loop, tmp_path_factory):
    """Return a project of two loops, the first finished and with hostile names, the second running."""
    root = tmp_path_factory.mktemp("served") / "project"
    shutil.copytree(loop, root)
    pre_loop(root=root, metrics=facts(0))
    post_iteration(root=root, metrics=facts(1))
    return root


@pytest.fixture(scope="module")
def address(project):
    """Return a function that gives the address of a path of a server, with its token."""
    server = subprocess.Popen([PROGRAM, "serve", "--root", project], stdout=subprocess.PIPE, text=True)
    server.stdout.readline()
    start, _, token = server.stdout.readline().strip().partition("/?")
    server.stdout.close()
    yield lambda path="/": f"{start}{path}{'&' if '?' in path else '?'}{token}"
    server.terminate()
    server.wait(10)


PAGES = {
    "all loops": "/",
    "compared": "/compare?loop=ralph-001&loop=ralph-002",
    "finished": FIRST,
    "running": "/loops/ralph-002",
    "iteration": f"{FIRST}/iterations/3",
    "side by side": f"{FIRST}/diff?before=1&after=3",
}
page_of = pytest.mark.parametrize("path", PAGES.values(), ids=[*PAGES])


@page_of
def test_a_page_asks_its_own_server_alone_says_nothing_and_runs_nothing_of_a_name(opened, address, path):
    page = opened(address(path))
    page.wait_for_timeout(1500)
    assert page.said == []
    origin = address().partition("/?")[0]
    assert {url for url in page.asked if not url.startswith(f"{origin}/")} == set()
    assert "token" not in page.url
    assert page.evaluate("window.owned") is None


@page_of
def test_the_keyboard_reaches_all_of_a_page(opened, address, unreached, path):
    assert unreached(opened(address(path))) == []


@page_of
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(opened, address, violations, path, scheme):
    assert violations(opened(address(path), color_scheme=scheme, bypass_csp=True)) == []


@page_of
def test_no_page_scrolls_sideways_on_a_phone(opened, address, path):
    page = opened(address(path), viewport={"width": 320, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_an_iteration_appears_without_reload_and_what_was_being_done_stays(opened, address, project):
    page = opened(address("/loops/ralph-002"))
    number = len([*project.glob(".aiwg/ralph/ralph-002/iterations/iteration-*")])  # other tests add some
    now = page.locator("#now").filter(has_text=re.compile("^Now: .* since "))  # what waits, or who works
    now.wait_for()
    page.evaluate("window.here = true")
    page.get_by_text("Table of these metrics").click()
    page.get_by_label("Find tests").fill("broke")
    page.get_by_label("with").fill("0")
    page.get_by_label("Find tests").focus()
    post_iteration(root=project, metrics=facts(number, lint=3))
    page.locator(f"tr#i{number}").wait_for()
    now.wait_for()
    assert page.evaluate("window.here") is True
    assert page.locator("details", has_text="Table of these metrics").get_attribute("open") is not None
    assert page.get_by_label("Find tests").input_value() == "broke"
    assert page.get_by_label("with").input_value() == "0"
    assert page.evaluate("document.activeElement.id") == "find"
    assert "of" in page.locator("#found").text_content()
    assert page.said == []


def test_the_list_of_loops_is_renewed_too(opened, address, project):
    page = opened(address())
    before = page.locator(".loops tbody tr").first.text_content()
    assert "ralph-002 (current)running" in before
    post_iteration(root=project, metrics=facts(3))
    page.wait_for_function("text => document.querySelector('.loops tbody tr').textContent !== text", arg=before)


def test_the_table_of_loops_is_sorted_searched_and_walked_by_arrow_keys(opened, address):
    page = opened(address())
    page.get_by_role("link", name="Loop", exact=True).click()
    assert page.locator('th[aria-sort="ascending"]').text_content() == "Loop ▲"
    rows = page.locator(".loops tbody tr")
    assert rows.first.locator("a").text_content() == "ralph-001"
    page.get_by_label("compare ralph-001").focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.value") == "ralph-002"
    page.keyboard.press("Home")
    assert page.evaluate("document.activeElement.value") == "ralph-001"
    page.get_by_label("Find loops").fill("running")
    assert page.locator(".loops tbody tr:visible").count() == 1
    assert page.said == []


def test_no_more_boxes_are_ticked_than_loops_are_compared(opened, address):
    page = opened(address())
    page.evaluate("document.querySelector('.loops').dataset.most = 1")
    page.get_by_label("compare ralph-001").check()
    assert page.get_by_label("compare ralph-002").is_disabled()
    page.get_by_label("compare ralph-001").uncheck()
    assert page.get_by_label("compare ralph-002").is_enabled()


def test_the_cursor_says_the_scores_of_compared_loops(opened, address):
    page = opened(address(PAGES["compared"]))
    page.get_by_role("region", name="Chart of the scores").focus()
    page.keyboard.press("Home")
    told = page.locator("#cursor")
    assert re.fullmatch(r"Iteration 0 · ralph-001 [\d.]+ % · ralph-002 [\d.]+ %", told.text_content())
    page.keyboard.press("ArrowRight")
    assert told.text_content().startswith("Iteration 1 · ralph-001 ")
    assert page.said == []


def test_what_is_not_there_is_a_page_with_a_way_back(opened, address):
    page = opened(address("/loops/ralph-009"))
    assert "No such loop." in page.content()
    page.get_by_role("link", name="All loops").press("Enter")
    page.get_by_role("heading", name="Loops of project").wait_for()


def test_loops_and_iterations_are_compared_by_keyboard(opened, address):
    page = opened(address())
    for loop in ("ralph-001", "ralph-002"):
        page.get_by_label(f"compare {loop}").press("Space")
    page.get_by_role("button", name="Compare the scores").press("Enter")
    page.get_by_role("region", name="Chart of the scores").wait_for()
    page.get_by_role("link", name="ralph-001").first.press("Enter")
    page.get_by_label("Compare iteration").fill("2")
    page.get_by_label("with").fill("3")
    page.get_by_role("button", name="Show the difference").press("Enter")
    page.get_by_role("heading", name="Side by side").wait_for()
    assert "before=2&after=3" in page.url
    assert page.said == []


def test_another_site_reads_nothing(browser, opened, address):
    page = opened(address())  # who has the cookie
    origin = address().partition("/?")[0]
    other = page.context.new_page()
    other.goto("data:text/html,<p>another site</p>")
    fetched = "fetch(url, {credentials: 'include'}).then(answer => answer.status, error => error.name)"
    seen = other.evaluate(f"url => {fetched}", f"{origin}/api/loops")
    assert seen == "TypeError"
    fresh = opened(f"{origin}/")
    assert "Open the address with the token" in fresh.content()


def test_another_server_of_this_machine_gets_no_cookie(opened, address):
    seen = []

    class Other(BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append((self.headers["Host"].partition(":")[0], self.headers.get("Cookie")))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    page = opened(address())  # who has the cookie
    assert [cookie["httpOnly"] for cookie in page.context.cookies()] == [True]
    with ThreadingHTTPServer(("127.0.0.1", 0), Other) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        for name in ("127.0.0.1", "localhost", "other.localhost"):
            page.goto(f"http://{name}:{other.server_port}/page")
        other.shutdown()
    assert {name for name, _ in seen} == {"127.0.0.1", "localhost", "other.localhost"}
    assert {cookie for _, cookie in seen} == {None}
    page.goto(address().partition("?")[0])
    page.get_by_role("link", name="ralph-001").first.wait_for()


def test_the_end_of_the_server_is_said(opened, project):
    server = subprocess.Popen([PROGRAM, "serve", "--root", project], stdout=subprocess.PIPE, text=True)
    server.stdout.readline()
    page = opened(server.stdout.readline().strip())
    page.get_by_text("Now: ralph-002").wait_for()
    server.stdout.close()
    server.terminate()
    server.wait(10)
    page.get_by_text("no connection").wait_for()
