"""A project that is measured in no time, an agent that does as a script says, and a screen that remembers."""

import json
import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from ralph_tracker.runner.run import Run, RunRequest, RunResult, open_run
from ralph_tracker.tracker import Tracker

CONFIG = """\
loop: {target_score: 0.9}
checks:
  tests: {run: "cp report.* {reports}/junit.xml", reports: ["{reports}/junit.xml"]}
"""


def report(passed: int, failed: int) -> str:
    """Return a JUnit report: of all tests the first ones pass."""
    cases = [f'<testcase classname="t" name="test_{number}"/>' for number in range(passed)]
    broken = [
        f'<testcase classname="t" name="test_{passed + number}"><failure message="no"/></testcase>'
        for number in range(failed)
    ]
    return f'<testsuite tests="{passed + failed}" failures="{failed}">{"".join([*cases, *broken])}</testsuite>\n'


def step(passed: int | None = None, failed: int = 0, **more: Any) -> dict[str, Any]:
    """Return a step of the agent: the tests as they are after it (None: it edits nothing), and how it goes wrong."""
    edits = {} if passed is None else {"write": {"report.xml": report(passed, failed)}}
    return {"does": "work", **edits, **more}


def shell_of(step: dict[str, Any]) -> str:
    """Return a step of the agent as a script."""
    said = step.get("prints", step["does"])
    if "spends" in step:
        tokens = {name: step["spends"][name] for name in ("input_tokens", "output_tokens")}
        cost, turns = step["spends"]["cost_usd"], step["spends"]["turns"]
        ended = {"type": "result", "subtype": "success", "is_error": False, "session_id": "s", "num_turns": turns}
        said = json.dumps({**ended, "result": said, "total_cost_usd": cost, "usage": tokens})
    lines = [f"printf %s {shlex.quote(text)} > $root/{path}" for path, text in step.get("write", {}).items()]
    lines += [f"echo {shlex.quote(said)}"] if said else []
    lines += [f"echo {shlex.quote(step['complains'])} >&2"] if "complains" in step else []
    lines += ["exec sleep 600"] if step.get("hangs") else []
    lines += [f"kill -{step['killed_by']} $$"] if "killed_by" in step else []
    return "\n".join([*lines, f"exit {step.get('exit', 0)}", ""])


@dataclass
class Screen:
    """Remember what was shown."""

    shown: bytes = b""
    complained: bytes = b""
    lines: list[str] = field(default_factory=list)

    def output(self, piece: bytes) -> None:
        self.shown += piece

    def errors(self, piece: bytes) -> None:
        self.complained += piece

    def line(self, text: str) -> None:
        self.lines.append(text)

    def status(self, text: Callable[[], str]) -> None:
        assert "iteration" in text()


@dataclass
class Project:
    """A project with an agent; `drive` is `ralph-tracker run`."""

    root: Path
    screen: Screen = field(default_factory=Screen)

    def scripted(self, *steps: dict[str, Any]) -> tuple[str, ...]:
        """Return the command of an agent that does these steps, one an iteration: the shipped fake's, in a shell."""
        folder = self.root.parent / "steps"
        folder.mkdir(exist_ok=True)
        for number, each in enumerate(steps, 1):
            tries = each.get("tries", [])
            for tried, one in enumerate(tries, 1):
                (folder / f"{number}-{tried}").write_text(shell_of(one))
            (folder / f"{number}").write_text(shell_of(each))
        script = f"cd {folder}; step=$RALPH_ITERATION-$RALPH_ATTEMPT; [ -e $step ] || step=$RALPH_ITERATION; . ./$step"
        return ("/bin/sh", "-c", f"root=$PWD; {script}")

    def asked(self, command: tuple[str, ...] = (), **more: Any) -> RunRequest:
        said = {name: more.pop(name) for name in ("resume", "new", "allow_missing") if name in more}
        limits = {name: more.pop(name) for name in list(more) if name.startswith(("max_", "target_", "until"))}
        settings = {"pause_s": 0.0, **more} if command else more
        return RunRequest(command, settings, limits, **said)

    def drive(self, *arguments: Any, change: Callable[[Run], None] | None = None, **more: Any) -> RunResult:
        """Drive a loop to its end; `change` gets the run before that."""
        with open_run(
            Tracker(self.root, environment=dict(os.environ)), self.asked(*arguments, **more), self.screen
        ) as run:
            if change is not None:
                change(run)
            return run.drive()

    @property
    def folder(self) -> Path:
        return self.root / ".aiwg" / "ralph" / "ralph-001"

    def progress(self) -> dict[str, Any]:
        return json.loads((self.folder / "run.json").read_text())

    def records(self, loop_id: str = "ralph-001") -> list[dict[str, Any]]:
        """Return what is on record, the baseline first, each with what it recommended."""
        files = sorted((self.folder.with_name(loop_id) / "progress").glob("iteration-*.yaml"))
        documents = [yaml.safe_load(file.read_text()) for file in files]
        return [each["iteration_metrics"] | {"action": each["recommendation"]["action"]} for each in documents]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Return a project with two of four tests passing."""
    monkeypatch.delenv("RALPH_LOOP_ID", raising=False)
    root = tmp_path / "project"
    root.mkdir()
    (root / "ralph-tracker.yaml").write_text(CONFIG)
    (root / "report.xml").write_text(report(2, 2))
    return Project(root)


@pytest.fixture
def planned(project: Project) -> Any:
    """Return the project with a plan that is to be written."""
    from tests.runner.planning import Planned  # noqa: PLC0415  # which is made of what stands here

    return Planned(project)
