"""The commit that the user's repository stands on."""

import subprocess

from ralph_tracker.store.git.head import head_of


def git(folder, *words):
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    done = subprocess.run(["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_it_is_that_of_head_also_below_the_top(tmp_path):
    git(tmp_path, "init", "-q")
    (tmp_path / "sub").mkdir()
    assert head_of(tmp_path) is None
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "first")
    assert head_of(tmp_path) == head_of(tmp_path / "sub") == git(tmp_path, "rev-parse", "HEAD")


def test_without_a_repository_or_without_git_there_is_none(tmp_path, monkeypatch):
    assert head_of(tmp_path) is None
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "first")
    monkeypatch.setattr("git.cmd.Git.GIT_PYTHON_GIT_EXECUTABLE", str(tmp_path / "no-git"))
    assert head_of(tmp_path) is None
