"""A copy of a project is the top of a repository of its own, where git lists its files."""

import os
import subprocess

import pytest

from ralph_tracker.measure.git_root import make_git_root


@pytest.fixture
def copy(tmp_path):
    """Return a folder with files, one ignored, inside of another repository."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    folder = tmp_path / "copy"
    (folder / "src").mkdir(parents=True)
    for name, text in (("src/a.py", "one\n"), ("b.txt", "two\n"), (".gitignore", "made\n"), ("made", "ignored\n")):
        (folder / name).write_text(text)
    return folder


def git(folder, *words):
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout.split()


def test_git_finds_the_copy_and_lists_its_files(copy):
    make_git_root(copy)
    assert git(copy / "src", "rev-parse", "--show-toplevel") == [str(copy)]
    assert git(copy, "ls-files") == [".gitignore", "b.txt", "src/a.py"]
    assert git(copy, "rev-list", "--count", "HEAD") == ["1"]
    assert git(copy, "fsck", "--strict") == []


@pytest.mark.parametrize("left", ["file", "link", "folder"])
def test_what_was_there_is_replaced(copy, tmp_path, left):
    elsewhere = tmp_path / "elsewhere"
    subprocess.run(["git", "init", "-q", str(elsewhere)], check=True)
    if left == "file":
        (copy / ".git").write_text(f"gitdir: {elsewhere}/.git\n")
    elif left == "link":
        (copy / ".git").symlink_to(elsewhere / ".git")
    else:
        subprocess.run(["git", "init", "-q", str(copy)], check=True)
        (copy / ".git/info/exclude").write_text("*\n")
    make_git_root(copy)
    assert git(copy, "ls-files") == [".gitignore", "b.txt", "src/a.py"]
    assert not (elsewhere / ".git/index").exists()


def test_no_setting_of_the_user_starts_a_program(copy, tmp_path, monkeypatch):
    ran = tmp_path / "ran"
    settings = f'[core]\nfsmonitor = "touch {ran}"\nhooksPath = {tmp_path}\n[filter "x"]\nclean = touch {ran}\n'
    (tmp_path / ".gitconfig").write_text(settings)
    monkeypatch.setenv("HOME", str(tmp_path))
    (copy / ".gitattributes").write_text("* filter=x\n")
    make_git_root(copy)
    monkeypatch.setenv("HOME", str(copy))
    assert (".gitattributes" in git(copy, "ls-files"), ran.exists()) == (True, False)


def test_without_git_it_is_a_repository_all_the_same(copy, monkeypatch):
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", str(copy))
    make_git_root(copy)
    monkeypatch.setenv("PATH", path)
    assert git(copy, "rev-parse", "--show-toplevel") == [str(copy)]
