"""A scripted agent does what its steps say, and nothing at all where they do not fit."""

import os
import signal
import subprocess
import sys

import pytest

from ralph_tracker.agents.output.run_output import RunOutputReader
from ralph_tracker.agents.output.run_report import Ending
from ralph_tracker.agents.scripted import ScriptedAgent
from ralph_tracker.core.metrics import Usage
from ralph_tracker.errors import InputError, StoreError
from tests.tables import table

SCRIPT = """
- does: works
  write: {new/b.txt: "b\\n"}
  replace: {a.txt: [{find: one, with: two}, {find: two, with: three}]}
  delete: [old.txt]
- does: nothing
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / "old.txt").write_text("old\n")
    return tmp_path


def content(root):
    return {str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()}


def agent(script):
    return ScriptedAgent.from_yaml(script, "script.yaml")


def test_a_step_writes_replaces_and_deletes(project):
    assert agent(SCRIPT).act(1, project) == "works"
    assert content(project) == {"a.txt": "three\n", "new/b.txt": "b\n"}


def test_a_step_without_edits_changes_nothing(project):
    before = content(project)
    assert agent(SCRIPT).act(2, project) == "nothing"
    assert content(project) == before


def test_after_the_last_step_there_is_nothing_to_do(project):
    assert agent(SCRIPT).act(3, project) is None


@pytest.mark.parametrize(
    ("edits", "error", "words"),
    [
        ("replace: {a.txt: [{find: four, with: five}]}", InputError, "'four' occurs 0 times, not once"),
        ("replace: {none.txt: [{find: a, with: b}]}", StoreError, "No such file"),
        ("write: {../out.txt: x}", InputError, "outside the project"),
        ("delete: [../../a.txt]", InputError, "outside the project"),
    ],
)
def test_edits_that_do_not_fit_leave_the_tree_as_it_is(project, edits, error, words):
    before = content(project)
    with pytest.raises(error, match=words):
        agent(f"- does: harm\n  {edits}\n").act(1, project)
    assert content(project) == before


@table(
    ("script", "place"),
    [("- write: {}", "0.does"), ("- {does: x, wirte: {}}", "0.wirte"), ("steps", "the document")],
)
def test_a_script_that_is_none_is_refused_in_one_line(script, place):
    with pytest.raises(InputError, match=f"^script.yaml: {place}: .*; fix the script$"):
        agent(script)


class TestCommand:
    """The fake as a command: it goes wrong in every way that agents do."""

    SCRIPT = """
- {does: works, write: {a.txt: "two\\n"}}
- {does: works, prints: "", complains: a sigh, exit: 3}
- {does: works, killed_by: SIGKILL}
- {does: works, spends: {cost_usd: 0.5, input_tokens: 10, output_tokens: 2, turns: 3}}
- does: works at last
  tries: [{does: fails, exit: 1}]
- {does: works, hangs: true}
"""

    @pytest.fixture
    def call(self, project):
        script = project.parent / "script.yaml"
        script.write_text(self.SCRIPT)

        def start(iteration, attempt=None, **more):
            environment = {**os.environ, "RALPH_ITERATION": str(iteration)}
            environment |= {} if attempt is None else {"RALPH_ATTEMPT": str(attempt)}
            words = [sys.executable, "-m", "ralph_tracker.agents.scripted", str(script)]
            return subprocess.Popen(words, cwd=project, env=environment, stdout=-1, stderr=-1, text=True, **more)

        return start

    @pytest.mark.parametrize(
        ("run", "code", "out", "err"),
        [
            ((2,), 3, "", "a sigh\n"),
            ((3,), -signal.SIGKILL, "works\n", ""),
            ((5, 1), 1, "fails\n", ""),
            ((5, 2), 0, "works at last\n", ""),
            ((7,), 0, "nothing left to do\n", ""),
        ],
        ids=["fails silently", "is killed", "the first try", "the last try", "the script is over"],
    )
    def test_a_step_goes_as_it_says(self, call, run, code, out, err):
        process = call(*run)
        assert process.communicate() == (out, err)
        assert process.returncode == code

    def test_it_edits_the_folder_that_it_stands_in(self, call, project):
        assert call(1).communicate() == ("works\n", "")
        assert content(project)["a.txt"] == "two\n"

    def test_what_it_spends_is_told_as_claude_code_does(self, call):
        reader = RunOutputReader()
        reader.feed_stdout(call(4).communicate()[0].encode())
        told = reader.report(0)
        assert told.usage == Usage(cost_usd=0.5, input_tokens=10, output_tokens=2, turns=3)
        assert (told.ending, told.last_message) == (Ending.DONE, "works")

    def test_one_that_hangs_has_said_its_words_before(self, call):
        with call(6) as process:
            assert process.stdout.readline() == "works\n"
            assert process.poll() is None
            process.kill()
