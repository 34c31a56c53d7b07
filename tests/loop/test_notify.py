"""A person is told in the ways that the configuration names, and a way that fails is a line, never an error."""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from ralph_tracker.core.decision import DONE_RULE, Decision
from ralph_tracker.loop.notify import Notice, event_of, notify

NOTICE = Notice("stop", "loop-1", 4, "Stopped: Target\nreached.", "`ralph-tracker select-best` selects")
TEXT = "ralph-tracker: Stopped: Target reached. Next: `ralph-tracker select-best` selects"
NOTHING = {"command": None, "webhook": None, "terminal": False, "events": ["stop"]}


@pytest.fixture
def heard():
    """Return the address of a server, what was posted to it, and the status that it answers."""
    posted, status = [], [204]

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self):
            posted.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(status[0])
            self.send_header("Location", "/elsewhere")
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Hook) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/hook", posted, status
        server.shutdown()


@pytest.mark.parametrize(
    ("action", "rule", "event"),
    [
        ("stop", 9, "done"),
        ("stop", DONE_RULE, "done"),
        ("stop", 2, "limit"),
        ("stop", 10, "stop"),
        ("stop", 1, "stop"),
        ("escalate", 6, "blocked"),
        ("escalate", 3, "escalate"),
        ("continue", 11, None),
        ("rollback", 4, None),
    ],
)
def test_what_ends_a_loop_or_needs_a_person_is_an_event(action, rule, event):
    assert event_of(Decision(action=action, reason="", confidence=1.0, rule=rule)) == event


def test_a_command_gets_the_notice_as_json_and_in_its_environment(tmp_path):
    write = "import os, sys; open('said', 'w').write(sys.stdin.read() + '\\n' + os.environ['RALPH_TEXT'])"
    command = [sys.executable, "-c", write]
    assert notify(NOTICE, {**NOTHING, "command": command}, tmp_path, {}) == []
    document, text = (tmp_path / "said").read_text().split("\n")
    assert (json.loads(document)["event"], json.loads(document)["iteration"], text) == ("stop", 4, TEXT)


def test_a_command_that_is_a_string_goes_through_the_shell(tmp_path):
    assert notify(NOTICE, {**NOTHING, "command": 'echo "$RALPH_EVENT" > said'}, tmp_path, {}) == []
    assert (tmp_path / "said").read_text() == "stop\n"


def test_an_event_that_nobody_asked_for_is_not_told(tmp_path):
    assert notify(NOTICE, {**NOTHING, "command": "touch said", "events": ["done"]}, tmp_path, {}) == []
    assert not (tmp_path / "said").exists()


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("echo no one there >&2; exit 3", "notify.command: exit 3: no one there"),
        ("exit 3", "notify.command: exit 3"),
        (["./absent"], "notify.command: [Errno 2] No such file or directory: './absent'"),
    ],
)
def test_a_command_that_fails_is_one_line(tmp_path, command, problem):
    assert notify(NOTICE, {**NOTHING, "command": command}, tmp_path, {}) == [problem]


def test_a_webhook_gets_what_chats_show(tmp_path, heard):
    address, posted, _ = heard
    assert notify(NOTICE, {**NOTHING, "webhook": "CHAT"}, tmp_path, {"CHAT": address}) == []
    assert (posted[0]["text"], posted[0]["content"], posted[0]["loop_id"]) == (TEXT, TEXT, "loop-1")


@pytest.mark.parametrize("status", [404, 302])
def test_a_webhook_that_refuses_or_sends_elsewhere_is_one_line_without_its_address(tmp_path, heard, status):
    address, posted, answers = heard
    answers[0] = status
    (problem,) = notify(NOTICE, {**NOTHING, "webhook": "CHAT"}, tmp_path, {"CHAT": address})
    assert problem.startswith(f"notify.webhook: the address in CHAT does not take it: HTTP Error {status}")
    assert (len(posted), "/hook" in problem) == (1, False)


@pytest.mark.parametrize(
    ("environment", "problem"),
    [
        ({}, "CHAT is not set; it has to hold the webhook's address"),
        ({"CHAT": "file:///etc/passwd"}, "the address in CHAT does not take it: the address has to begin with http"),
        ({"CHAT": "http://127.0.0.1:9/"}, "the address in CHAT does not take it: <urlopen error"),
    ],
)
def test_a_webhook_without_a_server_is_one_line(tmp_path, environment, problem):
    (told,) = notify(NOTICE, {**NOTHING, "webhook": "CHAT"}, tmp_path, environment)
    assert told.startswith(f"notify.webhook: {problem}")
