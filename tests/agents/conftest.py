"""A client's side of the hooks, in this process: a project in a loop, events on a descriptor, a transcript."""

import json
import os
from collections.abc import Mapping
from contextlib import chdir, nullcontext
from pathlib import Path
from typing import Any

import pytest

from ralph_tracker.agents.hosts import claude_code_status_line
from ralph_tracker.agents.hosts.host import answer_function
from ralph_tracker.tracker import Tracker

# A check that costs nothing: the report is what the test wrote. A file that the command named would be one of its own.
CONFIG = """\
loop: {target_score: 0.9}
checks:
  tests: {run: "cp results.* {reports}/junit.xml", reports: ["{reports}/junit.xml"]}
"""
SESSION, PROMPT = "5e55", "4444"


class Session:
    """Play a session of the client in a project."""

    def __init__(self, root: Path, transcript: Path) -> None:
        self.root, self.transcript = root, transcript
        self.host = "claude-code"
        self.environment: dict[str, str] = {"CLAUDE_PROJECT_DIR": str(root), "PATH": os.environ["PATH"]}
        self.loop = root / ".aiwg" / "ralph" / "ralph-001"
        (root / "ralph-tracker.yaml").write_text(CONFIG)

    def tests(self, **outcomes: bool) -> None:
        """Let the project's tests come out so."""
        cases = (
            f'<testcase classname="t" name="{name}">{"" if passed else "<failure/>"}</testcase>'
            for name, passed in outcomes.items()
        )
        (self.root / "results.xml").write_text(f'<testsuite name="s">{"".join(cases)}</testsuite>')

    def begin(self, **outcomes: bool) -> None:
        """Take the baseline of a loop."""
        self.tests(**outcomes)
        self.tracker.pre_loop(None)

    @property
    def tracker(self) -> Tracker:
        """Return a tracker of the project."""
        return Tracker(self.root, environment=self.environment)

    @property
    def state(self) -> dict[str, Any]:
        """Return where the loop stands."""
        found: dict[str, Any] = json.loads((self.loop / "state.json").read_text())
        return found

    def record(self, number: int) -> dict[str, Any]:
        """Return the record of an iteration."""
        file = self.loop / "iterations" / f"iteration-{number:03d}" / "metrics.json"
        found: dict[str, Any] = json.loads(file.read_text())["iteration_metrics"]
        return found

    def noted(self, name: str = "agent-events.jsonl") -> list[dict[str, Any]]:
        """Return the lines of a file in the loop's folder."""
        file = self.loop / name
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    @property
    def troubles(self) -> list[str]:
        """Return what went wrong."""
        return [line["error"] for line in self.noted("agent-errors.jsonl")]

    def raw(self, data: bytes, function: Any = None) -> str:
        """Put bytes on the standard input of a hook, and return what it printed."""
        file = self.root.parent / "event"
        file.write_bytes(data)
        descriptor = os.open(file, os.O_RDONLY)
        try:
            with nullcontext() if self.host == "claude-code" else chdir(self.root):  # where others run their hooks
                answer: str = (function or answer_function(self.host))(self.environment, descriptor)
        finally:
            os.close(descriptor)
        return answer

    def send(self, name: str | None, **fields: Any) -> Any:
        """Send an event, and return the answer; None where there is none."""
        common = {"session_id": SESSION, "prompt_id": PROMPT, "transcript_path": str(self.transcript)}
        printed = self.raw(json.dumps({**common, "hook_event_name": name, **fields}).encode())
        return json.loads(printed) if printed else None

    def stop(self, *, active: bool = False, **fields: Any) -> Any:
        """Send the end of a turn; `active` where it follows a block."""
        return self.send("Stop", stop_hook_active=active, **fields)

    def status(self, payload: Mapping[str, Any]) -> str:
        """Ask for the status line."""
        return self.raw(json.dumps(payload).encode(), claude_code_status_line.line)

    def said(self, number: int, *, blocks: int = 1, text: str = "", **fields: Any) -> None:
        """Write an answer of the model to the transcript, a line for each block; a text as its last one."""
        usage = {"input_tokens": 100, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 1000}
        message = {
            "id": f"msg_{number}",
            "model": "m",
            "stop_reason": "end_turn",
            "usage": {**usage, "output_tokens": 10},
        }
        line: dict[str, Any] = {"type": "assistant", "requestId": f"req_{number}", "timestamp": "2999-01-01T00:00:00Z"}
        with self.transcript.open("a") as file:
            for place in range(blocks):
                content = [{"type": "text", "text": text if place == blocks - 1 else ""}]
                whole = {"message": {**message, "content": content, **fields.get("message", {})}}
                document = {**line, **whole, **{k: v for k, v in fields.items() if k != "message"}}
                file.write(json.dumps(document, separators=(",", ":")) + "\n")


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """Return a session in a project that has no loop yet."""
    root = tmp_path / "project"
    root.mkdir()
    made = Session(root.resolve(), tmp_path / "5e55.jsonl")
    made.tests(test_add=False, test_sub=True)
    return made
