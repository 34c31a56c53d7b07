"""`ralph-tracker mcp`, asked over standard input and output by the official SDK's own client."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ralph_tracker.cli.app import run

pytest.importorskip("mcp", reason="the MCP SDK is not installed: make suite NAME=examples")

import anyio
from mcp import Client, StdioServerParameters, stdio_client

pytestmark = pytest.mark.slow

CONFIG = 'checks:\n  tests: {run: "cp results.xml {reports}/junit.xml", reports: ["{reports}/junit.xml"]}\n'
FAILS = (
    '<testsuite name="s"><testcase classname="t" name="one"/><testcase classname="t" name="two">'
    '<failure message="assert 1 == 2">calc.py:3: AssertionError</failure></testcase></testsuite>'
)
PASSES = '<testsuite name="s"><testcase classname="t" name="one"/><testcase classname="t" name="two"/></testsuite>'
READ_ONLY = {"status", "feedback", "history", "explain"}
Ask = Callable[..., Any]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "ralph-tracker.yaml").write_text(CONFIG)
    (tmp_path / "results.xml").write_text(FAILS)
    return tmp_path


def asked(root: Path, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """Start the server as an agent does, and return the tools that it lists and the results of the calls."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-c", "from ralph_tracker.cli.app import main; main()", "mcp"],
        cwd=root,
        env=dict(os.environ),
    )

    async def session() -> list[Any]:
        async with Client(stdio_client(server)) as client:
            listed = (await client.list_tools()).tools
            return [listed, *[await client.call_tool(name, words) for name, words in calls]]

    return anyio.run(session)


def text(result: Any) -> str:
    assert not result.is_error, result
    return result.content[0].text


def test_an_agent_learns_what_fails_and_whether_its_fix_would_pass(root):
    assert run(["hook", "pre-loop", "--root", str(root)]) == 0
    before = {path: path.read_bytes() for path in (root / ".aiwg").rglob("*") if path.is_file()}
    tools, status, feedback, gate = asked(root, ("status", {}), ("feedback", {}), ("gate", {}))
    assert {tool.name for tool in tools} == {*READ_ONLY, "gate"}
    assert {tool.name for tool in tools if tool.annotations.read_only_hint} == READ_ONLY
    assert json.loads(text(status))["iteration"] == 0
    assert "calc.py:3 s::t::two: assert 1 == 2" in text(feedback)
    assert json.loads(text(gate))["verdict"] == "pass"
    assert {path: path.read_bytes() for path in before} == before
    (root / "results.xml").write_text(PASSES)
    assert run(["hook", "post-iteration", "--root", str(root)]) == 0
    (root / "results.xml").write_text(FAILS)
    _, history, last, first, gate = asked(
        root, ("history", {"last": 1}), ("explain", {}), ("explain", {"iteration": 0}), ("gate", {})
    )
    assert [each["iteration_metrics"]["iteration"] for each in json.loads(text(history))["iterations"]] == [1]
    assert json.loads(text(last))["iteration_metrics"]["iteration"] == 1
    assert json.loads(text(first))["iteration_metrics"]["iteration"] == 0
    assert json.loads(text(gate))["verdict"] == "regression"
    assert json.loads(text(gate))["failures"] == ["calc.py:3 s::t::two: assert 1 == 2"]


def test_what_cannot_be_answered_is_one_line(root):
    _, status, feedback, explain = asked(root, ("status", {}), ("feedback", {}), ("explain", {"iteration": 7}))
    for answer in (status, feedback, explain):
        assert answer.is_error
        assert "no loop in" in answer.content[0].text
        assert "\n" not in answer.content[0].text


def test_a_project_that_nobody_accepted_runs_nothing(root, monkeypatch, tmp_path):
    assert run(["hook", "pre-loop", "--root", str(root)]) == 0
    monkeypatch.delenv("RALPH_TRACKER_TRUST")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (_, gate) = asked(root, ("gate", {}))
    assert gate.is_error
    assert "ralph-tracker trust" in gate.content[0].text
