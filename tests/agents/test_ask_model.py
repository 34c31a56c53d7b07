"""What evaluators ask: a model, against a loopback and a stand-in for the SDK, and the tracker's records."""

import asyncio
import json
import socket
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType, SimpleNamespace

import pytest

from ralph_tracker.agents.ask_model import claude_ask, latest_iteration_quality, openai_ask
from ralph_tracker.errors import InputError
from ralph_tracker.steering.progress_evaluators import (
    LLMProgressEvaluator,
    ProgressInfo,
    QualityProgressEvaluator,
    QualityState,
)
from ralph_tracker.tracker import Tracker
from tests.tables import table


@contextmanager
def endpoint(status=200, body=b"", headers=()):
    """Answer every request so; yield the address and the requests as (path, headers, document)."""
    requests = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_POST(self):
            data = self.rfile.read(int(self.headers["content-length"]))
            requests.append((self.path, dict(self.headers), json.loads(data)))
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", requests
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def completion(text):
    return json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]}).encode()


def test_an_endpoint_like_that_of_openai_is_asked():
    with endpoint(body=completion("NO, it repeats itself")) as (url, requests):
        answer = asyncio.run(openai_ask(f"{url}/", "small", "sk-1")("Is it?"))
    assert answer == "NO, it repeats itself"
    ((path, headers, document),) = requests
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer sk-1"
    assert headers["Content-Type"] == "application/json"
    assert document == {"model": "small", "messages": [{"role": "user", "content": "Is it?"}]}


def test_without_a_key_none_is_sent():
    with endpoint(body=completion("YES")) as (url, requests):
        asyncio.run(openai_ask(url, "small")("Is it?"))
    assert "Authorization" not in requests[0][1]


def test_an_evaluator_asks_it():
    info = ProgressInfo(5, 50, 100, 1000, "again", None)
    with endpoint(body=completion("NO, it repeats itself")) as (url, requests):
        found = asyncio.run(LLMProgressEvaluator(openai_ask(url, "small")).should_continue(info))
    assert found == (False, "NO, it repeats itself")
    assert "- Turns: 5/50" in requests[0][2]["messages"][0]["content"]


@table(
    ("answer", "words"),
    [
        pytest.param({"status": 401}, "HTTP status 401", id="refused"),
        pytest.param({"body": b"<html>"}, "no answer of a chat completion", id="no JSON"),
        pytest.param({"body": b"[" * 200_000}, "no answer of a chat completion", id="nested too deep"),
        pytest.param({"body": b"[]"}, "no answer of a chat completion", id="another document"),
        pytest.param({"body": b'{"choices": []}'}, "no answer of a chat completion", id="no choice"),
        pytest.param({"body": completion(None)}, "the model answered without words", id="no words"),
    ],
)
def test_what_is_no_answer_is_told_in_one_line_without_the_key(answer, words):
    with endpoint(**answer) as (url, _), pytest.raises(InputError) as raised:
        asyncio.run(openai_ask(url, "small", "sk-1")("Is it?"))
    assert words in str(raised.value)
    assert str(raised.value).startswith(url)
    assert "sk-1" not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_redirection_is_not_followed_or_the_key_would_go_along():
    with endpoint(body=completion("YES")) as (elsewhere, never):
        target = f"{elsewhere}/chat/completions"
        with endpoint(307, headers=[("location", target)]) as (url, _), pytest.raises(InputError, match="status 307"):
            asyncio.run(openai_ask(url, "small", "sk-1")("Is it?"))
    assert never == []


def test_nobody_who_listens_is_told():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(InputError, match="is it running"):
            asyncio.run(openai_ask(url, "small")("Is it?"))


@table("url", ["file:///etc/passwd", "localhost:11434", ""])
def test_another_address_is_refused_at_once(url):
    with pytest.raises(InputError, match="no address of an endpoint"):
        openai_ask(url, "small")


class ResultMessage(SimpleNamespace):
    """As the SDK has it."""


@pytest.fixture
def sdk(monkeypatch):
    """Put a stand-in in the SDK's place: it answers with `says`, and notes what it was asked."""
    package = ModuleType("claude_agent_sdk")
    package.asked = []
    package.says = [object(), ResultMessage(is_error=False, result="YES, it does", subtype="success")]

    async def query(*, prompt, options):
        package.asked.append((prompt, options))
        for message in package.says:
            yield message

    package.query = query
    package.ClaudeAgentOptions = dict
    monkeypatch.setitem(sys.modules, "claude_agent_sdk", package)
    return package


def test_claude_is_asked_in_one_turn_without_tools_and_settings(sdk):
    assert asyncio.run(claude_ask()("Is it?")) == "YES, it does"
    assert sdk.asked == [("Is it?", {"max_turns": 1, "tools": [], "setting_sources": []})]


def test_options_of_the_sdk_go_over_those(sdk):
    asyncio.run(claude_ask(model="small", max_turns=2)("Is it?"))
    assert sdk.asked[0][1] == {"max_turns": 2, "tools": [], "setting_sources": [], "model": "small"}


@pytest.mark.parametrize(
    ("is_error", "result", "words"),
    [(True, "Invalid API key", "Invalid API key"), (False, None, "error_max_turns")],
)
def test_claude_that_does_not_answer_is_told(sdk, is_error, result, words):
    sdk.says = [ResultMessage(is_error=is_error, result=result, subtype="error_max_turns")]
    with pytest.raises(InputError, match=f"Claude did not answer: {words}"):
        asyncio.run(claude_ask()("Is it?"))


def test_a_session_that_ends_without_a_result_gives_no_words(sdk):
    sdk.says = []
    assert asyncio.run(claude_ask()("Is it?")) == ""


def test_where_the_sdk_is_not_installed_that_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "claude_agent_sdk", None)
    with pytest.raises(InputError, match=r"claude-agent-sdk: .*; pip install 'ralph-tracker\[claude\]'"):
        asyncio.run(claude_ask()("Is it?"))


def metrics(tests, score=0.5):
    return {"quality_score": score, "testing": {"test_count": tests, "tests_passed": tests, "tests_failed": 0}}


@pytest.fixture
def tracker(tmp_path):
    return Tracker(tmp_path, "mine", environment={})


@pytest.fixture
def state(tmp_path):
    return latest_iteration_quality(tmp_path, environment={})


def verdict(state):
    return asyncio.run(QualityProgressEvaluator(state).should_continue(ProgressInfo(5, None, 100, 1000, "a", None)))


def test_without_a_loop_there_is_none(state):
    assert state() is None
    assert verdict(state)[0]


def test_a_loop_that_goes_well_goes_on(tracker, state):
    tracker.pre_loop(metrics(5))
    assert state() == QualityState("baseline")
    tracker.post_iteration(metrics(6, 0.7))
    assert verdict(state) == (True, "On record: forward")


def test_an_open_critical_alert_stops_and_an_accepted_one_does_not(tracker, state):
    tracker.pre_loop(metrics(5))
    tracker.post_iteration(metrics(3))
    goes_on, reason = verdict(state)
    assert not goes_on
    assert reason == "Open CRITICAL alert: it1-test_deletion: Test count decreased from 5 to 3"
    tracker.accept("it1-test_deletion", "they were of a feature that is gone")
    assert verdict(state)[0]


def test_a_stalled_loop_stops(tracker, state):
    tracker.pre_loop(metrics(5))
    for _ in range(4):
        tracker.post_iteration(metrics(5))
    assert verdict(state) == (False, "The loop is stalled")
