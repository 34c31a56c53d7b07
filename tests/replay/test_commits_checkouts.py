"""A checkout that was used before holds exactly the next commit, whatever the checks of the one before did to it."""

import os
import stat
import subprocess

import pytest

from ralph_tracker.replay.commits import Checkouts, Choice, History

FILES = {
    "src/app.py": "one = 1\n",
    "src/data/a.txt": "aaa\n",
    "src/data/b.txt": "bbb\n",
    "run.sh": "echo run\n",
    "sub/only/here.txt": "1\n",
    "same.txt": "the same in each commit\n",
}


def content(folder):
    """Return kind, permissions and bytes of all that is below a folder, but for its own repository."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.relative_to(folder).parts[0] == ".git":
            continue
        mode = path.lstat().st_mode
        is_link, is_file = stat.S_ISLNK(mode), stat.S_ISREG(mode)
        data = path.readlink() if is_link else path.read_bytes() if is_file else None
        found[str(path.relative_to(folder))] = (mode, data)
    return found


@pytest.fixture
def history(branch):
    """Return a history in which files come, change, become folders and links, and change their line ends."""
    branch.step("First", FILES)
    branch.git("tag", "first")
    (branch.root / "run.sh").chmod(0o755)
    branch.step("Executable")
    branch.git("rm", "-r", "-q", "sub")
    branch.step("Other content of the same size", {"src/app.py": "one = 2\n", "sub": "a file now\n"})
    branch.step("Windows line ends", {".gitattributes": "same.txt eol=crlf\n"})
    (branch.root / "link").symlink_to("src")
    branch.git("rm", "-q", ".gitattributes")
    branch.step("No line ends any more", {"src/data/a.txt": "aab\n"})
    return History.around(branch.root)


def git_in(folder, *words):
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def expected(history, commits, folder):
    return {commit.sha: content(history.lay_out(commit, folder / commit.sha)) for commit in commits}


def leave(copy):
    """Do what checks do, and what none should."""
    for name in ("__pycache__/app.pyc", "build/deep/er/out.o", ".venv/bin/python", "src/.cache", "../beside"):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_text("left behind")
    (copy / "build/deep").chmod(0o500)
    (copy / "empty/folder").mkdir(parents=True)
    os.mkfifo(copy / "pipe")
    subprocess.run(["git", "init", "-q", str(copy / "nested")], check=True)
    (copy / ".git/HEAD").unlink()
    (copy / ".git/hooks").mkdir()
    (copy / ".git/hooks").chmod(0o500)
    app = copy / "src/app.py"
    before = app.stat()
    app.write_text("one = 9\n")
    os.utime(app, ns=(before.st_atime_ns, before.st_mtime_ns))
    (copy / "same.txt").chmod(0o400)
    (copy / "run.sh").unlink(missing_ok=True)
    (copy / "src/data/b.txt").unlink()
    (copy / "src/data/b.txt").mkdir()
    (copy / "src/data/a.txt").unlink()
    (copy / "src/data/a.txt").symlink_to("/etc/passwd")
    (copy / "src/data").chmod(0o500)
    if (copy / "sub/only").is_dir():
        (copy / "sub/only/here.txt").unlink()
        (copy / "sub/only").rmdir()
        (copy / "sub/only").symlink_to("../src", target_is_directory=True)


def test_it_holds_exactly_the_next_commit_whatever_was_left_there(history, tmp_path):
    commits = history.commits("first..HEAD", Choice())
    wanted = expected(history, commits, tmp_path / "fresh")
    assert len({repr(each) for each in wanted.values()}) == len(commits)
    checkouts, used = Checkouts(history, tmp_path / "checkouts"), set()
    for commit in (*commits, *reversed(commits), commits[0], commits[-1]):
        with checkouts.of(commit) as copy:
            used.add(copy)
            assert content(copy) == wanted[commit.sha], commit.subject
            assert git_in(copy, "log", "--format=%s %T") == f"{commit.subject} {commit.tree}"
            assert git_in(copy, "status", "--porcelain") == ""
            assert {path.name for path in copy.parent.iterdir()} == {copy.name, f"{copy.name}.index"}
            leave(copy)
    assert len(used) == 1


def test_one_whose_index_or_folder_was_changed_is_laid_out_anew(history, tmp_path):
    first, *_, last = history.commits("first..HEAD", Choice())
    wanted = expected(history, [last], tmp_path / "fresh")[last.sha]
    checkouts, used = Checkouts(history, tmp_path / "checkouts"), set()
    for spoil in ("chmod 700 $0", "echo >> $0.index", "rm $0.index", "rm -r $0", "rm -r $0*", "true"):
        with checkouts.of(first) as copy:
            used.add(copy)
            subprocess.run(["/bin/sh", "-c", spoil, str(copy)], check=True)
        with checkouts.of(last) as copy:
            assert content(copy) == wanted, spoil
    assert len(used) == 3  # the first, and one after each that was spoilt but not emptied


def test_two_at_once_have_one_each_and_one_that_failed_is_not_used_again(history, tmp_path):
    first, second, *_ = history.commits("first..HEAD", Choice())
    checkouts = Checkouts(history, tmp_path / "checkouts")
    with pytest.raises(KeyError), checkouts.of(first) as one, checkouts.of(second) as other:
        raise KeyError
    with checkouts.of(first) as third:
        assert len({one, other, third}) == 3


def test_it_is_the_top_of_a_repository_of_its_own_without_hooks_and_settings_of_the_users(branch, history, tmp_path):
    ran = tmp_path / "ran"
    hook = branch.root / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
    hook.chmod(0o755)
    branch.git("config", "alias.mine", f"!touch {ran}")
    branch.git("config", "core.fsmonitor", f"touch {ran}")
    (commit, *_), before = history.commits("first..HEAD", Choice()), branch.gits_own
    with Checkouts(history, tmp_path / "checkouts").of(commit) as copy:
        assert git_in(copy / "src", "rev-parse", "--show-toplevel") == str(copy)
        assert git_in(copy, "ls-files", "src") == "src/app.py\nsrc/data/a.txt\nsrc/data/b.txt"
        git_in(copy, "checkout", "-q", "-f")
        assert subprocess.run(["git", "mine"], cwd=copy, capture_output=True, check=False).returncode
        (copy / "src/app.py").write_text("one = 7\n")
        assert git_in(copy, "status", "--porcelain") == "M src/app.py"
        git_in(copy, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-a", "-m", "Of a test")
    assert (branch.gits_own, ran.exists()) == (before, False)
