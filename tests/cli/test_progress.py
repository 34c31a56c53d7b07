"""Progress is for a person at a terminal: renewed in place while a check runs, and not there with --quiet."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ralph_tracker.tracker import Tracker
from tests.columns import wider_than_80

PROGRAM = Path(sys.executable).with_name("ralph-tracker")
LINES = """
from ralph_tracker.cli.terminal import complain, progress
show = progress()
for line in ("one: running", "one: running, 3 s", "one: exit 0 after 4.0 s", "two: running"):
    show(line)
complain("a note")
show("two: exit 0 after 1.0 s")
"""


def on_terminal(words, given=None, **variables):
    """Return the standard output of a command whose standard error is a terminal, and what that got."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80", **variables}
    running = subprocess.Popen(
        [*map(str, words)], stdin=given, stdout=subprocess.PIPE, stderr=theirs, text=True, env=environment
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    out, _ = running.communicate()
    assert running.returncode == 0, shown
    return out, shown.decode()


@pytest.fixture
def checked(project):
    """Return a project whose only check passes at once."""
    (project.root / "ralph-tracker.yaml").write_text("checks: {build: {run: [sh, -c, 'exit 0'], kind: build}}\n")
    return project.root


def test_the_line_of_a_check_is_renewed_until_something_else_is_printed():
    _, shown = on_terminal([sys.executable, "-c", LINES])
    erase = "\x1b[1A\x1b[2K"
    assert shown.split("\r\n") == [
        "  one: running",
        f"{erase}  one: running, 3 s",
        f"{erase}  one: exit 0 after 4.0 s",
        "  two: running",
        "ralph-tracker: a note",
        "  two: exit 0 after 1.0 s",
        "",
    ]


def test_a_terminal_that_cannot_go_back_gets_the_start_and_the_end():
    _, shown = on_terminal([sys.executable, "-c", LINES], TERM="dumb")
    assert "\x1b" not in shown
    assert shown.count("one: running") == 1


@pytest.mark.parametrize("quiet", [False, True])
def test_a_quiet_command_prints_its_result_alone(checked, quiet):
    words = [PROGRAM, "hook", "pre-loop", "--trust", "--root", checked]
    out, shown = on_terminal([*words, "--quiet"] if quiet else words)
    assert ("build: running" in shown) is not quiet
    assert "ralph-tracker hook post-iteration" in out


def test_a_quiet_run_says_how_it_ended_and_nothing_of_agent_and_iterations(checked):
    words = ["--trust", "--max-iterations", "1", "--root", checked, "--", "sh", "-c", "echo I work; echo a >> a.txt"]
    out, shown = on_terminal([PROGRAM, "run", "--quiet", *words])
    assert shown == ""
    assert out.startswith("Stopped: ")
    assert "I work" not in out


def test_the_time_of_the_last_iteration_is_what_is_expected(tmp_path):
    told, seen = [], tmp_path / "seen"

    def tell(line):
        told.append(line)
        if ", " in line:
            seen.touch()

    root = tmp_path / "project"
    root.mkdir()
    command = f"until [ -e '{seen}' ]; do sleep 0.05; done"
    (root / "ralph-tracker.yaml").write_text(f'checks: {{build: {{run: "{command}", kind: build}}}}\n')
    tracker = Tracker(root, progress=tell, trust=True)
    tracker.pre_loop(None)
    assert re.fullmatch(r"build: running, \d+ s", told[1])
    told.clear()
    seen.unlink()
    (root / "a.txt").write_text("a")
    tracker.post_iteration(None)
    assert re.fullmatch(r"build: running, \d+ s, \d+ s last time", told[1])


def test_an_error_is_wrapped_for_a_terminal(tmp_path):
    page = Path(__file__).parents[2] / "docs/messages.md"
    errors = re.findall(r"^\| `.*?` \| (.*) \| \d+ \|$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(errors) > 30
    (tmp_path / "errors.json").write_text(json.dumps(errors))
    script = "import json, sys; from ralph_tracker.cli.terminal import complain; [*map(complain, json.load(sys.stdin))]"
    with (tmp_path / "errors.json").open() as given:
        _, shown = on_terminal([sys.executable, "-c", script], given)
    assert wider_than_80(shown) == []
    assert " ".join(shown.split()) == " ".join(f"ralph-tracker: {' '.join(error.split())}" for error in errors)


def test_an_error_in_a_pipe_is_one_line(project):
    error = project.plainly("hook", "pre-loop", "--metrics", "/nowhere/" + "long/" * 30).err
    assert len(error) > 160
    assert error.count("\n") == 1
