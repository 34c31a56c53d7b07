"""The first loop of somebody who has read the README alone, command by command, on a screen; a pipe gets the same."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

README = Path(__file__).resolve().parents[2] / "README.md"
COLUMNS = 80
SHORT = 24  # lines of a screen; a report is a document
CALC = "import os\n\n\ndef mean(numbers):\n    return sum(numbers) / len(numbers)\n"
TESTS = """\
from calc import mean


def test_mean():
    assert mean([1, 3]) == 2


def test_mean_of_nothing():
    assert mean([]) == 0
"""
AGENT = """\
#!/bin/sh
if grep -q 'import os' calc.py
then sed '/def test_mean_of_nothing/,$d' test_calc.py > new && mv new test_calc.py && sed -i.bak /^import/d calc.py
else printf '\\n\\ndef test_of_one():\\n    assert mean([1]) == 1\\n' >> test_calc.py
fi
rm -f calc.py.bak
"""
BACK = "`ralph-tracker hook loop-decision --apply` restores iteration 0"
ON = "let the agent work, then `ralph-tracker hook post-iteration`"
# command: what its answers have to name; the first iteration takes a red test away, the second adds one
NEXT = {
    "init": ["ralph-tracker hook pre-loop"],
    "hook pre-loop": ["`ralph-tracker hook post-iteration`"],
    "hook post-iteration": ["`ralph-tracker hook loop-decision`"] * 2,
    "status": [BACK, ON],
    "hook loop-decision": [BACK, ON],
    "select-best": ["`ralph-tracker select-best --apply worktree` puts it in place"],
    "hook post-loop": ["`ralph-tracker select-best --apply worktree` puts it in place"],
}


def commands():
    """Return the commands that the README shows for a loop by hand."""
    section = README.read_text(encoding="utf-8").partition("## By hand")[2]
    block = re.search(r"```shell\n(.*?)```", section, re.DOTALL)
    assert block is not None
    return [line.partition("#")[0].strip() for line in block[1].splitlines()]


def in_a_pipe(command, root, environment):
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=root,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


def on_a_screen(command, root, environment):
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        ["/bin/sh", "-c", command], cwd=root, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    ) as running:
        os.close(theirs)
        printed = b""
        while True:
            try:
                data = os.read(ours, 4096)
            except OSError:  # Linux: the other side is closed
                break
            if not data:
                break
            printed += data
        code = running.wait(timeout=120)
    os.close(ours)
    return code, RENEWED.sub("", printed.decode().replace("\r\n", "\n"))


RENEWED = re.compile(r"[^\n]*: running[^\n]*\n\x1b\[1A\x1b\[2K")  # the line of a check, by its next form
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
ON_A_SCREEN = {"COLUMNS": str(COLUMNS), "TERM": "xterm-256color", "CLICOLOR_FORCE": "1"}
IN_A_PIPE = {"NO_COLOR": "1", "TERM": "dumb"}


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    """Return every command of the path with its exit code and all that was printed, then what a pipe gets of two."""
    folder = tmp_path_factory.mktemp("stranger")
    root, tools = folder / "project", folder / "bin"
    for made in (root, tools):
        made.mkdir()
    (tools / "my-agent").write_text(AGENT)
    (tools / "my-agent").chmod(0o755)
    files = {"calc.py": CALC, "test_calc.py": TESTS, "pyproject.toml": '[project]\nname = "calc"\nversion = "1"\n'}
    for name, text in files.items():
        (root / name).write_text(text)
    (root / ".venv").symlink_to(sys.prefix)
    foreign = ("RALPH_", "PYTEST_", "COVERAGE_", "COV_CORE_", "VIRTUAL_ENV", "NO_COLOR")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    path = os.pathsep.join((str(tools), str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {**kept, "PATH": path, "HOME": str(folder)}
    asked = ("ralph-tracker status", "ralph-tracker hook loop-decision")
    steps = [step for shown in commands() for step in (shown, *(asked if shown.endswith("post-iteration") else ()))]
    shown = [(command, *on_a_screen(command, root, environment | ON_A_SCREEN)) for command in steps]
    piped = ("ralph-tracker report", "ralph-tracker status")
    return shown, [(command, *in_a_pipe(command, root, environment | IN_A_PIPE)) for command in piped]


def verb(command):
    return " ".join(word for word in command.split()[1:] if not word.startswith("-"))


def test_the_path_is_init_two_iterations_report_selection():
    verbs = [verb(command) for command in commands() if command.startswith("ralph-tracker")]
    iteration = "hook post-iteration"
    assert verbs == ["init", "hook pre-loop", iteration, iteration, "report", "select-best", "hook post-loop"]


def test_every_step_works(walked):
    codes = [(verb(command), code) for command, code, _ in walked[0] if verb(command)]
    assert [each for each in codes if each[1] != 0] == [("hook loop-decision", 11)]
    assert {name for name, _ in codes} == {*NEXT, "report"}


def test_every_answer_fits_a_screen_of_80_columns(walked):
    for command, _, printed in (*walked[0], *walked[1]):
        document = verb(command) == "report"  # Markdown, whose paragraphs and items are wrapped by what shows it
        for line in (
            line for line in printed.splitlines() if not (document and line.lstrip().startswith(("- ", "**")))
        ):
            without_paths = " ".join(word for word in COLOUR.sub("", line).split(" ") if "/" not in word)
            assert len(without_paths) <= COLUMNS, (command, line)


def test_nothing_but_a_renewed_line_moves_the_cursor_and_only_a_screen_gets_colours(walked):
    moving = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")
    shown, piped = walked
    assert [command for command, _, printed in shown if moving.search(COLOUR.sub("", printed))] == []
    assert [command for command, _, printed in piped if moving.search(printed)] == []
    assert any(COLOUR.search(printed) for _, _, printed in shown)


def test_every_answer_but_a_report_is_short(walked):
    told = {command: len(printed.splitlines()) for command, _, printed in walked[0]}
    assert {command: lines for command, lines in told.items() if lines > SHORT} == {
        "ralph-tracker report": told["ralph-tracker report"]
    }


def test_every_answer_ends_with_the_next_step(walked):
    for name, told in NEXT.items():
        answers = [printed for command, _, printed in walked[0] if verb(command) == name]
        said = [" ".join(COLOUR.sub("", printed).rpartition("  next: ")[2].split()) for printed in answers]
        assert len(said) == len(told), name
        assert all(each in answer for each, answer in zip(told, said, strict=True)), (name, said)


def test_a_report_says_what_to_do_and_on_a_screen_where_to_ask(walked):
    shown, piped = (next(text for command, _, text in told if verb(command) == "report") for told in walked)
    for printed in (shown, piped):
        assert "- **CRITICAL** failure_hidden, open since iteration 1: " in printed
    assert "**Action**: continue  \n" in shown
    assert shown.endswith("  next: `ralph-tracker status` says what to do now\n")
    assert "  next: " not in piped
