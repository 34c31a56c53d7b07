"""Git as a process: with our variables only, and a word where it cannot be started."""

from pathlib import Path

import pytest

from ralph_tracker.errors import StoreError
from ralph_tracker.store.git.runner import GitRunner, Start, plainly, through_gitpython

WAYS = pytest.mark.parametrize("start", [plainly, through_gitpython], ids=["plainly", "through GitPython"])


@WAYS
def test_what_the_shell_has_set_does_not_reach_git(start: Start, tmp_path: Path, monkeypatch) -> None:
    GitRunner({}, tmp_path, start=start).run("init", "-q", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "elsewhere"))
    git = GitRunner({}, tmp_path, start=start)
    assert git.run("rev-parse", "--git-dir") == b".git\n"


@WAYS
def test_messages_are_in_english(start: Start, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("LANGUAGE", "de")
    assert GitRunner({}, tmp_path, start=start).ask("cat-file", "-t", "x").error.startswith("fatal: ")


@WAYS
def test_without_git_it_is_said_what_to_install(start: Start, tmp_path: Path, monkeypatch) -> None:
    GitRunner({}, tmp_path, start=start).run("version")  # GitPython looks for it once, when it is imported
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(StoreError, match=r"^git was not found, with which .*: install git 2\.34"):
        GitRunner({}, tmp_path, start=start).run("version")


def test_a_folder_that_is_gone_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"^git cannot be started in .*/gone \(No such file or directory\): look at"):
        GitRunner({}, tmp_path / "gone").run("version")
