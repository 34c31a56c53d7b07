"""A scripted agent does what its steps say, and nothing at all where they do not fit."""

import pytest

from ralph_tracker.agents.scripted import ScriptedAgent
from ralph_tracker.errors import InputError, StoreError

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
        ("replace: {a.txt: [{find: four, with: five}]}", InputError, "'four' stands there 0 times, not once"),
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


@pytest.mark.parametrize(
    ("script", "place"),
    [("- write: {}", "0.does"), ("- {does: x, wirte: {}}", "0.wirte"), ("steps", "the document")],
)
def test_a_script_that_is_none_is_refused_in_one_line(script, place):
    with pytest.raises(InputError, match=f"^script.yaml: {place}: .*; mend the script$"):
        agent(script)
