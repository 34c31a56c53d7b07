"""A clone that ships a loop, a store and settings of somebody else: no verb and no hook runs a program of it."""

import io
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import urlopen

import click
import pytest
from coverage import CoverageData

from ralph_tracker.agents.hosts.host import answer_function
from ralph_tracker.cli.app import run
from ralph_tracker.cli.verbs import cli
from ralph_tracker.errors import EXIT_BUG, EXIT_OK

from . import story
from .test_hostile_git import SENTINELS, Trap

pytestmark = [pytest.mark.slow, pytest.mark.sampled(up_to="::")]

AGENT = ("--retries", "0", "--", "/bin/sh", "-c", "echo more >> later.txt")
NO_CHANGE = ("--iteration", "1", "--reason", "asked for", "--apply", "none", "--verify")
# How each verb is called; one that stands in no row fails the test of all verbs. `demo` has nothing of the clone, and
# `serve`, which does not end, has a test of its own.
CALLS: dict[tuple[str, ...], list[tuple[str, ...]]] = {
    **{(verb,): [tuple(rest)] for verb, *rest in story.READING},
    ("init",): [("--yes",)],
    ("run",): [
        ("--resume", "--retries", "0"),
        ("--new", *AGENT),
        ("--resume", *AGENT),
        ("--plan", "plan.yaml", "--new", *AGENT),
    ],
    ("wrap",): [("--", "/bin/sh", "-c", "echo more >> later.txt", "-p", "go on")],
    ("plan", "show"): [("plan.yaml",)],
    ("plan", "edit"): [("--yes", "plan.yaml")],
    ("hook", "pre-loop"): [("--new",), ("--rebaseline", "--loop-id", "mine")],
    ("hook", "post-iteration"): [(), ("--iteration", "2"), ("--loop-id", "ralph-001")],
    ("hook", "loop-decision"): [(), ("--apply",)],
    ("hook", "post-loop"): [(), NO_CHANGE, ("--apply", "branch")],
    ("agent", "install"): [("claude-code",)],
    ("agent", "uninstall"): [("claude-code",)],
    ("agent", "hook"): [("claude-code",), ("ralph-orchestrator",)],
    ("agent", "status-line"): [("claude-code",)],
    ("demo",): [],
    ("serve",): [],
    ("mcp",): [()],
    ("history",): [("--alerts",)],
    ("report",): [(), ("0",)],
    ("export",): [("--to", "csv"), ("--to", "jsonl", "-o", "rows.jsonl")],
    ("integrity",): [(), ("1", "--rerun")],
    ("gate",): [(), ("--github",)],
    ("select-best",): [NO_CHANGE, ("--apply", "output"), ("--apply", "worktree"), ("--apply", "branch")],
    ("restore",): [("0",), ("--list",), ("1",)],
    ("read",): [("results.xml",), (".coverage",)],
    ("simulate",): [("events.jsonl",)],
    ("verify",): [(), ("--repair",)],
    ("gc",): [("--yes", "--keep-last", "1")],
    ("doctor",): [()],
    ("accept",): [("it1-stalled", "--reason", "why not")],
    ("trust",): [("--show",), ("--revoke",), ()],
    ("replay",): [("HEAD..refs/stash",)],
    ("compare",): [("refs/stash", ".")],
    ("schema",): [("config",)],
    ("completion",): [("bash",)],
}
# Of these every one runs something of the clone once that is trusted.
WORST = {("run",), ("hook", "post-iteration"), ("read",), ("doctor",)}
# What is put in the place of a part of the store, and verbs that would write to it, delete in it or wait for it.
LINKED = (
    "progress/events.jsonl",
    "progress",
    "iterations/iteration-001",
    "trees",
    "tmp",
    "store/tmp",
    "store/objects/pack",
    "store/objects/ab",
    "store/refs/safety",
    "store/damaged",
    "store/ralph-tracker.lock",
)
PIPES = ("state.json", "progress/events.jsonl", "iterations/iteration-001/seal.json", "store/index", "restoring.json")
WRITING = (
    ("restore", "0"),
    ("accept", "it1-stalled", "--reason", "why not"),
    ("select-best", "--apply", "output"),
    ("verify", "--repair"),
    ("gc", "--yes", "--keep-last", "1"),
    ("hook", "post-loop"),
)
READING = (
    ("status",),
    ("history",),
    ("show", "1"),
    ("verify",),
    ("restore", "--list"),
    ("report", "--html", "out.html"),
)
PAGES = ("/", "/compare?loop=ralph-001", "/loops/{}", "/loops/{}/iterations/1", "/loops/{}/diff?before=0&after=1")
API = ("status", "history", "iterations/1", "diff?before=0&after=1")
EVENTS = ("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolBatch", "Stop")


class Clone(Trap):
    """A trap that a stranger has set with all that a project can bring along."""

    def __init__(self, shop: Any, folder: Path) -> None:
        super().__init__(shop, folder)
        (folder / "user").mkdir()

    def program(self, name: str) -> str:
        """Return the path of a program that leaves its name."""
        path = self._folder / "programs" / name
        self._program(path)
        return str(path)

    def set_loop(self) -> None:
        """Drive a loop whose check is one of the programs, with a run, a plan and templates beside it."""
        shop = self.shop
        shop.write("measure.sh", f'{self.program("check")}\ncp results.xml "$1/junit.xml"\n')
        shop.start()
        shop.write("app.py", "def two():\n    return 2\n")
        shop.turn()
        settings = {"command": [self.program("agent")]}
        rest = {"iteration": 2, "phase": "agent", "tried": 0, "at_work": False, "waited_s": 0.0, "usage": {}}
        journal = {
            "schema_version": 1,
            "loop_id": "ralph-001",
            "settings": settings,
            "notes": [],
            "blocked": None,
            **rest,
        }
        shop.write(".aiwg/ralph/ralph-001/run.json", json.dumps(journal))
        shop.write("plan.yaml", f"tasks:\n  - {{id: one, title: One, checks: [{self.program('plan-check')}]}}\n")
        shop.write(".aiwg/ralph/templates/iteration-report.md.j2", "of a stranger\n")
        shop.write(".aiwg/ralph/trust", "0" * 64 + "\n")  # as good as any other of theirs
        shop.write("events.jsonl", "")
        shop.write(".gitattributes", "* filter=evil diff=evil merge=evil\n")
        shop.write(".coveragerc", "[run]\nplugins = evil\n")
        shop.write("evil.py", f"import os\nos.system('{self.program('plugin')}')\n")
        ran = CoverageData(str(shop.root / ".coverage"))
        ran.add_lines({str(shop.root / "app.py"): [1]})
        ran.write()
        python = shop.write(".venv/bin/python", f'#!/bin/sh\n{self.program("python")}\nexec python3 "$@"\n')
        python.chmod(0o755)
        self.write(shop.root / ".git/config")
        self.ran()


def leaves(command: click.Command, at: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of every verb, as the command line itself lists them."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from leaves(found, (*at, name))
    else:
        yield at


def test_every_verb_has_a_call():
    assert sorted(leaves(cli)) == sorted(CALLS)


@pytest.fixture
def clone(workshop, tmp_path, monkeypatch):
    (tmp_path / "trap").mkdir()
    workshop.commit()
    made = Clone(workshop, (tmp_path / "trap").resolve())
    made.set_loop()
    for name, value in made.variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "trap/user"))
    monkeypatch.setenv("EDITOR", "true")
    monkeypatch.delenv("RALPH_TRACKER_TRUST")
    return made


def called(
    clone: Clone, monkeypatch: pytest.MonkeyPatch, verbs: Collection[tuple[str, ...]]
) -> dict[tuple[str, ...], tuple[int, set[str]]]:
    """Call verbs, each in a fresh copy, and return how it ended and which programs ran."""
    found, original = {}, clone.shop.root
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    for verb in verbs:
        for words in CALLS[verb]:
            copy = original.parent / "cloned"
            shutil.copytree(original, copy, symlinks=True)
            monkeypatch.chdir(copy)
            found[*verb, *words] = run([*verb, *words]), clone.ran()
            monkeypatch.chdir(original)
            shutil.rmtree(copy)
    return found


def test_no_verb_runs_a_program_of_a_clone_until_it_is_trusted(clone, monkeypatch):
    found = called(clone, monkeypatch, CALLS)
    assert {words: ran for words, (_, ran) in found.items() if ran} == {}
    assert (clone.shop.root / ".coverage").exists()
    assert EXIT_BUG not in {code for code, _ in found.values()}
    monkeypatch.setenv("RALPH_TRACKER_TRUST", "1")
    trusted = called(clone, monkeypatch, WORST)
    ran = set().union(*(ran for _, ran in trusted.values()))
    assert {"check", "agent", "plan-check", "plugin", "python"} <= ran, "the clone is as bad as it should be"
    assert ran.isdisjoint(sentinel.name for sentinel in SENTINELS)


def test_the_pages_of_serve_run_no_program_of_a_clone(clone, program):
    pytest.importorskip("uvicorn", reason="the extra `web` is not installed")
    paths = clone.shop.paths
    before = contents(clone.shop.root)
    words = [program, "serve", "--root", clone.shop.root]
    with subprocess.Popen(
        words, cwd=clone.shop.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            first = [server.stdout.readline() for _ in range(2)][1].strip()
            address = urlsplit(first)
            for page in (*PAGES, "/api/loops", *(f"/api/loops/{{}}/{each}" for each in API)):
                query = f"{'&' if '?' in page else '?'}{address.query}"
                where = f"http://127.0.0.1:{address.port}{page.format(paths.loop_id)}{query}"
                with suppress(HTTPError), urlopen(where, timeout=20) as answer:
                    assert answer.read(), page
                assert clone.ran() == set(), page
        finally:
            server.send_signal(signal.SIGINT)
            said = server.communicate(timeout=20)[1]
    assert (server.returncode, said) == (0, "")
    assert contents(clone.shop.root) == before


@pytest.mark.parametrize("wanted", ["", "1"])
def test_the_agent_hook_says_one_line_to_the_person_and_lets_the_agent_go(clone, wanted, monkeypatch, capfd):
    root = clone.shop.root
    environment = {
        "CLAUDE_PROJECT_DIR": str(root),
        "PATH": clone.shop.environment["PATH"],
        "RALPH_TRACKER_LOOP": wanted,
    }
    before = clone.shop.paths.state.read_bytes()
    for name in EVENTS:
        event = {"hook_event_name": name, "session_id": "s", "prompt_id": "p", "prompt": "Go.", "tool_name": "Read"}
        (root.parent / "event").write_text(json.dumps(event))
        with (root.parent / "event").open("rb") as file:
            said = answer_function("claude-code")(environment, file.fileno())
        assert clone.ran() == set(), name
        if name in {"SessionStart", "Stop"}:
            assert json.loads(said).keys() == {"systemMessage"}
            assert "ralph-tracker trust" in json.loads(said)["systemMessage"]
            assert said.count("\n") == 1
        else:
            assert said == ""
    assert clone.shop.paths.state.read_bytes() == before
    assert capfd.readouterr() == ("", "")


def test_templates_of_a_stranger_are_not_rendered_before_they_are_accepted(clone, monkeypatch, capsys):
    monkeypatch.chdir(clone.shop.root)
    assert run(["report", "1"]) == EXIT_OK
    said = capsys.readouterr()
    assert "\n\n## Iteration 1 Progress Report" in said.out
    assert "templates in .aiwg/ralph/templates are not used" in said.err
    assert run(["trust"]) == EXIT_OK
    assert "template iteration-report.md.j2" in capsys.readouterr().out
    assert run(["report", "1"]) == EXIT_OK
    assert capsys.readouterr() == ("of a stranger\n", "")


def contents(path: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in path.rglob("*") if file.is_file()}


@pytest.mark.parametrize("place", LINKED)
def test_nothing_is_written_or_deleted_through_a_link_of_a_clone(clone, place, tmp_path, monkeypatch, capfd):
    precious = tmp_path / "precious"
    (precious / "tmp").mkdir(parents=True)
    (precious / "notes.pack").write_text("mine\n")
    (precious / "rc").write_text("mine\n")
    before, part = contents(precious), clone.shop.paths.folder / place
    is_file = part.is_file() or part.suffix == ".lock"
    shutil.rmtree(part, ignore_errors=True)
    part.unlink(missing_ok=True)
    part.symlink_to(precious / "rc" if is_file else precious)
    monkeypatch.chdir(clone.shop.root)
    for words in WRITING:
        code, said = run(words), capfd.readouterr().err
        assert code in {0, 1}, (words, said)
        assert said.count("\n") <= 1, said
    assert contents(precious) == before


@pytest.mark.parametrize("place", PIPES)
def test_no_verb_waits_for_a_pipe_of_a_clone(clone, place, monkeypatch, capfd):
    part = clone.shop.paths.folder / place
    part.unlink(missing_ok=True)
    os.mkfifo(part)
    monkeypatch.chdir(clone.shop.root)

    def waited(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, waited)
    try:
        for words in (*READING, *WRITING):
            signal.alarm(20)
            code = run(words)
            signal.alarm(0)
            out, said = capfd.readouterr()
            assert code in {0, 1}, (words, said)
            is_named = words == ("verify",) and place in out
            assert code == 0 or said.count("\n") == 1 or (is_named and not said), (words, said)
        signal.alarm(20)
        with (clone.shop.root / "events.jsonl").open("rb") as nothing:
            answer = answer_function("claude-code")({"CLAUDE_PROJECT_DIR": str(clone.shop.root)}, nothing.fileno())
        assert answer == ""
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
