"""`serve`: the pages and documents of a project for its user's browser, and for nobody else."""

import html
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import closing
from typing import NamedTuple

import jsonschema
import pytest

from ralph_tracker.cli.schema import SCHEMAS, schema_of

pytest.importorskip("uvicorn", reason="the extra `web` is not installed")
pytest.importorskip("sse_starlette", reason="the extra `web` is not installed")

LOOP = "/loops/ralph-001"
LIVES_S = 10
TERMINATED = "ralph-tracker: ended by SIGTERM"


class Reply(NamedTuple):
    """An answer of the server."""

    status: int
    headers: dict[str, str]
    text: str


class Served:
    """A server of one project, and a browser with its cookie."""

    def __init__(self, program, root, *words):
        self.process = subprocess.Popen(
            [program, "serve", "--root", root, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        said = [self.process.stdout.readline() for _ in range(2)]
        self.process.stdout.close()
        assert said[0] == f"Serving the loops of {root}, read-only, until Ctrl-C:\n", self.process.stderr.read()
        self.host, self.page, self.token = re.fullmatch(
            r"  http://(ralph-[0-9a-f]{12}\.localhost:\d+)(/.*)\?token=([\w-]{32})\n", said[1]
        ).groups()
        self.port = self.host.rpartition(":")[2]
        self.shared = f"127.0.0.1:{self.port}"
        cookie = self.ask(f"/?token={self.token}", cookie=None).headers["set-cookie"]
        self.cookie = cookie.partition(";")[0]

    def ask(self, path, method="GET", *, cookie="ours", **headers):
        connection = http.client.HTTPConnection(self.shared, timeout=LIVES_S)
        own = {} if cookie is None else {"Cookie": self.cookie if cookie == "ours" else cookie}
        connection.putrequest(method, path, skip_host=True)
        for name, value in ({"Host": self.host} | own | headers).items():
            connection.putheader(name, value)
        connection.endheaders()
        with closing(connection), connection.getresponse() as answer:
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, found, answer.read().decode())

    def document(self, path):
        reply = self.ask(path)
        assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
        return json.loads(reply.text)

    def events(self, path):
        """Yield the events of a page as they come."""
        connection = http.client.HTTPConnection(self.shared, timeout=LIVES_S)
        connection.request("GET", path, headers={"Host": self.host, "Cookie": self.cookie})
        with closing(connection), connection.getresponse() as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            while line := answer.readline().decode():
                if line.startswith("data: "):
                    yield json.loads(line.removeprefix("data: "))

    def end(self, number=signal.SIGINT):
        """End it as a person does; return its exit code."""
        self.process.send_signal(number)
        code = self.process.wait(LIVES_S)
        with self.process.stderr:
            assert self.process.stderr.read() == ("" if code <= 0 else f"{TERMINATED}\n")
        return code


@pytest.fixture(scope="module")
def loops(project_at, metrics_of, tmp_path_factory):
    """Return a project of two loops, the first finished."""
    project = project_at(tmp_path_factory.mktemp("served") / "project").started()
    name = "<script>owned()</script>"
    for passed in (9, 10):
        tests = [{"id": f"t::{n}{name}", "outcome": "passed" if n < passed else "failed"} for n in range(10)]
        project.must("post-iteration", metrics_of(tests=tests, tests_passed=passed, tests_failed=10 - passed))
    project.must("post-loop")
    project.started()
    return project


@pytest.fixture(scope="module")
def served(loops, program):
    """Return the server of those loops."""
    server = Served(program, loops.root)
    yield server
    assert server.end() == 0


REFUSED = [
    (403, "/", {"cookie": None}),
    (403, "/", {"cookie": "ralph_tracker=x; session=y"}),
    (403, "/", {"Host": "127.0.0.1:{port}"}),
    (403, "/", {"Host": "localhost:{port}"}),
    (403, "/?token=", {"cookie": None}),
    (403, f"/?token={'a' * 32}", {"cookie": None}),
    (403, f"{LOOP}/events", {"cookie": None}),
    (403, "/api/loops", {"cookie": None}),
    (421, "/", {"Host": "evil.example"}),
    (421, "/", {"Host": "127.0.0.1"}),
    (421, "/", {"Host": "127.0.0.1.evil.example:{port}"}),
    (403, "/", {"Origin": "http://evil.example"}),
    (403, "/", {"Origin": "null"}),
    (403, "/", {"Origin": "http://127.0.0.1:1"}),
    (405, "/", {"method": "POST"}),
    (405, LOOP, {"method": "DELETE"}),
    (405, "/", {"method": "OPTIONS", "Origin": "http://{host}"}),
    (404, "/loops/ralph-009", {}),
    (404, "/loops/..", {}),
    (404, "/loops/../../../etc/passwd", {}),
    (404, "/loops/..%2f..%2fetc%2fpasswd", {}),
    (404, "/loops/%2e%2e", {}),
    (404, "/loops/current", {}),
    (404, "/loops/RALPH-001", {}),
    (404, "/loops/ralph-001%00", {}),
    (404, "/api/loops/ralph-001%2f/status", {}),
    (404, f"/api{LOOP}/iterations/3", {}),
    (404, f"/api{LOOP}/iterations/-1", {}),
    (404, f"/api{LOOP}/iterations/01", {}),
    (404, f"/api{LOOP}/iterations/1e0", {}),
    (404, f"/api{LOOP}/iterations/%D9%A1", {}),
    (404, f"/api{LOOP}/iterations/{'1' * 5000}", {}),
    (404, f"{LOOP}/diff", {}),
    (404, f"{LOOP}/diff?before=0&after=9", {}),
    (404, f"{LOOP}/diff?before=../0&after=1", {}),
    (404, "/compare?loop=ralph-001&loop=../x", {}),
    (404, "/static/../x", {}),
]


def test_what_is_no_reading_by_its_user_is_refused(served):
    for status, path, how in REFUSED:
        filled = {key: value and value.format(port=served.port, host=served.host) for key, value in how.items()}
        reply = served.ask(path, **filled)
        assert (reply.status, path, how) == (status, path, how)
        assert not [name for name in reply.headers if name.startswith("access-control")]
        assert len(reply.text) < 200


def test_the_token_is_taken_once_for_a_cookie_and_leaves_the_address(served):
    reply = served.ask(f"//evil.example/?a=b&token={served.token}", cookie=None)
    assert (reply.status, reply.headers["location"]) == (303, "/evil.example/?a=b")
    name, *flags = reply.headers["set-cookie"].split("; ")
    assert name.startswith("ralph_tracker=")
    assert served.token not in name
    assert {flag.lower() for flag in flags} == {"httponly", "path=/", "samesite=strict"}


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_at_a_name_that_other_servers_have_each_request_brings_the_token_and_no_cookie_is_set(served, name):
    reply = served.ask(f"/api/loops?token={served.token}", cookie=None, Host=f"{name}:{served.port}")
    assert reply.status == 200
    assert "set-cookie" not in reply.headers
    page = f"{name}:{served.port}{LOOP}/diff?before=0&after=2"
    linked = served.ask(f"{LOOP}/diff?before=0&after=2", cookie=None, Host=f"{name}:{served.port}")
    assert linked.text == f"put the token that `ralph-tracker serve` printed into it: http://{page}&token=…\n"


def test_every_page_runs_only_our_own_script(served):
    for path in (
        "/",
        "/compare?loop=ralph-001&loop=ralph-002",
        LOOP,
        f"{LOOP}/iterations/2",
        f"{LOOP}/diff?before=0&after=2",
    ):
        reply = served.ask(path)
        assert reply.status == 200
        policy = reply.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'sha256-")
        assert policy.endswith("base-uri 'none'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'")
        assert "unsafe" not in policy
        assert reply.headers["cache-control"] == "no-store"
        assert reply.text.count("<script>") == 1
        assert "src=" not in reply.text
        assert served.token not in reply.text


def test_hostile_names_are_text_in_every_page(served):
    for path in (LOOP, f"{LOOP}/iterations/1", f"{LOOP}/iterations/2", f"{LOOP}/diff?before=1&after=2"):
        assert "t::9&lt;script&gt;owned()&lt;/script&gt;" in served.ask(path).text


def test_an_iteration_has_a_page_that_says_what_show_says(served, loops):
    assert f'<a href="{LOOP}/iterations/2">2' in served.ask(LOOP).text
    page = html.unescape(re.sub(r"<[^>]+>", "", served.ask(f"{LOOP}/iterations/2").text))
    shown = loops.ralph("show", 2, "--loop-id", "ralph-001").out
    lines = [line.strip() for line in shown.splitlines() if line.startswith(("iteration", "decision", "score", "HIGH"))]
    assert len(lines) >= 3
    assert [line for line in lines if line not in page] == []
    assert page.index("decision: ") < page.index("Tests") < page.index("Files") < page.index("Test Count")
    assert served.ask(f"{LOOP}/iterations/3").status == 404


def test_pages_come_packed_to_those_who_take_it(served):
    connection = http.client.HTTPConnection(served.shared, timeout=LIVES_S)
    connection.request("GET", "/", headers={"Host": served.host, "Cookie": served.cookie, "Accept-Encoding": "gzip"})
    with closing(connection), connection.getresponse() as answer:
        assert (answer.headers["content-encoding"], answer.read()[:2]) == ("gzip", b"\x1f\x8b")


@pytest.mark.parametrize(
    ("schema", "path", "verb"),
    [
        ("loops", "/api/loops", None),
        ("status", f"/api{LOOP}/status", ("status",)),
        ("history", f"/api{LOOP}/history", ("history",)),
        ("show", f"/api{LOOP}/iterations/1", ("show", 1)),
        ("diff", f"/api{LOOP}/diff?before=0&after=2", ("diff", 0, 2)),
    ],
)
def test_documents_are_those_of_the_verbs(served, loops, schema, path, verb):
    document = served.document(path)
    jsonschema.validate(document, schema_of(SCHEMAS[schema]))
    if verb is not None:
        assert document == loops.ralph(*verb, "--loop-id", "ralph-001", "--json").json


def listed(text):
    return re.findall(r'<a href="/loops/([^"]+)">', text)


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("loop", [1, 2]),
        ("-loop", [2, 1]),
        ("iteration", [2, 1]),
        ("-iteration", [1, 2]),
        ("-score", [2, 1]),
        ("best", [1, 2]),
        ("-status", [2, 1]),
        ("order", [2, 1]),
        ("-", [2, 1]),
    ],
)
def test_the_table_of_loops_is_sorted_without_script(served, sort, order):
    assert listed(served.ask(f"/?sort={sort}").text) == [f"ralph-00{number}" for number in order]


def test_a_link_that_sorts_keeps_what_is_compared(served):
    text = served.ask("/compare?loop=ralph-001&loop=ralph-002&sort=score").text
    assert 'aria-sort="ascending"><a' not in text.partition("Score")[0]
    assert 'href="?loop=ralph-001&amp;loop=ralph-002&amp;sort=-score">Score</a> ▲' in text


@pytest.mark.parametrize(
    ("path", "how", "said"),
    [
        ("/loops/ralph-009", {}, "No such loop."),
        ("/", {"cookie": None}, "Open the address with the token that `ralph-tracker serve` printed."),
    ],
)
def test_a_browser_is_refused_by_a_page(served, path, how, said):
    reply = served.ask(path, Accept="text/html,*/*;q=0.8", **how)
    assert reply.status in {403, 404}
    assert f'<p class="lead">{said}</p>' in reply.text
    assert ('<a href="/">All loops</a>' in reply.text) == (reply.status == 404)
    assert "unsafe" not in reply.headers["content-security-policy"]


def test_all_loops_are_listed_the_current_one_first(served):
    text = served.ask("/").text
    assert listed(text) == ["ralph-002", "ralph-001"]
    assert "(current)" in text.partition("ralph-001")[0]
    assert '<path class="line part1"' in served.ask("/compare?loop=ralph-001&loop=ralph-002").text


def test_nothing_is_written(served, loops):
    before = loops.content()
    for path in ("/", "/api/loops", LOOP, f"{LOOP}/iterations/2", f"{LOOP}/diff?before=0&after=1"):
        assert served.ask(path).status == 200
    assert loops.content() == before


@pytest.fixture
def own(running, program):
    """Return a running loop with a server of its own."""
    server = Served(program, running.root, "--loop-id", "ralph-001")
    yield running, server
    if server.process.poll() is None:
        server.end()


def test_a_new_iteration_is_told_and_shown(own, metrics_of):
    project, server = own
    assert server.page == LOOP
    events = server.events(f"{LOOP}/events")
    first = next(events)
    assert first["what"] == "working on iteration 2"
    assert abs(first["since"] - time.time()) < 3600
    version = f'data-version="{first["version"]}"'
    assert version in server.ask(LOOP).text
    project.must("post-iteration", metrics_of(coverage_percentage=60))
    while (now := next(events))["version"] == first["version"]:
        pass
    text = server.ask(LOOP).text
    assert '<tr id="i2"' in text
    assert version not in text
    while now["what"] != "working on iteration 3":
        now = next(events)
    events.close()


def test_a_damaged_loop_is_told_until_it_is_whole_again(own):
    project, server = own
    folder = project.root / ".aiwg/ralph/ralph-001"
    kept = {
        path: path.read_bytes() for path in (folder / "loop.yaml", folder / "iterations/iteration-001/metrics.json")
    }
    for path in kept:
        path.write_bytes(b"\0{")
    reply = server.ask(LOOP)
    assert reply.status == 500
    assert "It cannot be read: .aiwg/ralph/ralph-001/loop.yaml" in reply.text
    assert server.ask(f"/api{LOOP}/iterations/1").status == 200  # of its other copy
    for path, data in kept.items():
        path.write_bytes(data)
    assert server.ask(LOOP).status == 200


@pytest.mark.slow
def test_whatever_is_damaged_the_server_lives(own):
    project, server = own
    folder = project.root / ".aiwg/ralph/ralph-001"
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size):
        whole = path.read_bytes()
        for damage in (b"", b'{"schema_version": 1}\n', whole[: len(whole) // 2], whole.replace(b":", b";", 3)):
            path.write_bytes(damage)
            os.utime(path, (1, 1))
            for address in ("/", LOOP, f"{LOOP}/iterations/1", f"{LOOP}/diff?before=0&after=1", f"/api{LOOP}/status"):
                assert "a bug in ralph-tracker" not in server.ask(address).text, (path, damage[:40], address)
        path.write_bytes(whole)
    assert server.ask(LOOP).status == 200


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_it_ends_at_once_with_viewers(own, number, code):
    _, server = own
    events = server.events("/events")
    next(events)
    assert server.end(number) == code
    assert not [*events]


def test_a_port_that_is_taken_is_named(served, loops, own_process):
    answer = own_process("serve", "--root", str(loops.root), "--port", served.port)
    assert answer.returncode == 1
    assert answer.stderr == (
        f"ralph-tracker: port {served.port}: Address already in use; take another one with --port\n"
    )


def test_without_the_extra_it_says_what_to_install(running):
    hidden = "import sys; sys.modules['uvicorn'] = None; from ralph_tracker.cli.app import main; main()"
    command = [sys.executable, "-c", hidden, "serve", "--root", str(running.root)]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert answer.returncode == 1
    assert answer.stderr == "ralph-tracker: the web server is missing; pip install 'ralph-tracker[web]'\n"


PLAN = {
    "current": "two",
    "tasks": [
        {
            "id": "one",
            "title": "<b>First</b>",
            "status": "failed",
            "loops": ["ralph-001"],
            "outcome": {"status": "failed", "cost_usd": 1.5, "reason": "its checks fail"},
        },
        {"id": "two", "title": "Second", "loops": ["ralph-002"]},
        {"id": "three", "title": "Third"},
    ],
}


@pytest.fixture
def planned(loops):
    """Return the state of a plan whose first task has failed and whose second one is at work."""
    state = loops.root / ".aiwg/plans/plan.yaml.json"
    state.parent.mkdir(exist_ok=True)
    state.write_text(json.dumps(PLAN))
    state.with_suffix(".lock").touch()
    (state.parent / "biome.json").write_text("{}")  # is there beside each plan and is none
    yield state
    for file in state.parent.iterdir():
        file.unlink()


def test_a_plan_has_a_page_with_its_tasks_and_their_loops(served, planned):
    assert re.findall(r'<a href="/plans/([^"]*)">', served.ask("/").text) == ["plan.yaml"]
    page = served.ask("/plans/plan.yaml").text
    assert "Plan plan.yaml, 0 of 3 tasks done" in page
    assert "Task two has begun: Second." in page
    assert re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page) == [
        ("Tasks done", "0 of 3"),
        ("Failed", "1"),
        ("Cost", "$1.50"),
    ]
    rows = [re.sub(r"<[^>]*>", " ", row).split() for row in re.findall(r"<tr.*?</tr>", page)[1:]]
    assert [row[0] for row in rows] == ["1", "2", "3"]
    assert [status for row, status in zip(rows, ("failed", "begun", "pending"), strict=True) if status in row] == [
        "failed",
        "begun",
        "pending",
    ]
    assert "&lt;b&gt;First&lt;/b&gt;" in page
    assert "its checks fail. " in page
    assert re.findall(r'<a href="/loops/([^"]*)">', page) == ["ralph-001", "ralph-002"]


def test_a_checkpoint_of_a_plan_is_a_question(served, planned):
    planned.write_text(json.dumps({**PLAN, "checkpoint": {"trigger": "scheduled"}}))
    assert "a checkpoint (scheduled) waits for continue, adjust or abort" in served.ask("/plans/plan.yaml").text


def test_a_damaged_plan_is_named_and_the_loops_are_shown(served, planned):
    planned.write_text('{"tasks": 1}')
    page = served.ask("/")
    assert page.status == 200
    assert "no list of tasks" in page.text
    assert served.ask("/plans/plan.yaml").status == 500


def test_what_is_no_plan_is_no_page(served, planned):
    for name in ("biome", "other.yaml", "..%2fralph"):
        assert served.ask(f"/plans/{name}").status == 404


def test_the_state_of_a_plan_is_news_of_the_project(served, planned):
    events = served.events("/events")
    before = next(events)["version"]
    planned.write_text(json.dumps({**PLAN, "current": None}))
    assert any(event["version"] != before for event in events)
