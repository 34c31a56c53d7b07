"""Git as a process: with our variables only, and a word where it cannot be started."""

import os
from collections.abc import Iterable
from itertools import repeat
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


def test_what_git_is_fed_it_reads_while_it_is_written(tmp_path: Path) -> None:
    git = GitRunner({}, tmp_path)
    git.run("init", "-q")
    with git.feed("fast-import", "--quiet", "--done") as feed:
        feed.writelines(b"blob\ndata 1\n%c" % letter for letter in b"ab")
        feed.write(b"done\n")
    assert len(git.run("cat-file", "--batch-all-objects", "--batch-check").splitlines()) == 2
    assert not git.is_troubled


def feed(git: GitRunner, begin: bytes, more: Iterable[bytes]) -> None:
    with git.feed("fast-import", "--quiet", "--done") as stdin:
        stdin.write(begin)
        stdin.writelines(more)


def test_git_that_ends_before_it_has_read_all_says_why(tmp_path: Path) -> None:
    git = GitRunner({}, tmp_path)
    git.run("init", "-q")
    with pytest.raises(StoreError, match=r"git fast-import failed in .* Unsupported command: nonsense"):
        feed(git, b"nonsense\n", repeat(bytes(1 << 16)))
    assert git.is_troubled


def test_whoever_cannot_feed_git_to_the_end_ends_it(tmp_path: Path) -> None:
    git = GitRunner({}, tmp_path)
    git.run("init", "-q")
    with pytest.raises(KeyError):
        feed(git, b"blob\ndata 10\nhalf", ({}[0] for _ in range(1)))
    assert git.run("cat-file", "--batch-all-objects", "--batch-check") == b""


@pytest.mark.parametrize("count", [0, 1, 30_000])
@pytest.mark.parametrize("held", ["in memory", "in a file"])
def test_git_answers_all_that_it_is_asked(held: str, count: int, tmp_path: Path, monkeypatch) -> None:
    if held == "in a file":
        monkeypatch.delattr(os, "memfd_create", raising=False)
    git = GitRunner({}, tmp_path)
    git.run("init", "-q")
    asked = [f"{number:040d}" for number in range(1, count + 1)]
    with git.stream("cat-file", "--batch-check", stdin="".join(f"{each}\n" for each in asked).encode()) as output:
        assert [line.decode().split()[0] for line in output] == asked
