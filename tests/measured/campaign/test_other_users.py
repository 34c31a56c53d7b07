"""Hostile trees as a user who is not root sees them, with submodules, worktrees, and `.git` as a file."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from .outsider import CHECKOUT, Shell, is_one_line, tree_of

NOBODY = 65534
VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"

pytestmark = [pytest.mark.faults, pytest.mark.slow]


class Python(NamedTuple):
    """An interpreter that `nobody` can run, and the environment in which it finds this package."""

    program: str
    environment: dict[str, str]

    def runs(self) -> bool:
        words = [self.program, "-c", "import ralph_tracker.tracker, pydantic, git"]
        try:
            done = subprocess.run(
                words,
                env=self.environment,
                user=NOBODY,
                group=NOBODY,
                extra_groups=[],
                cwd="/",
                capture_output=True,
                check=False,
            )
        except OSError:
            return False
        return done.returncode == 0


@pytest.fixture(scope="module")
def python() -> Iterator[Python]:
    """Return an interpreter of `nobody`: one of the system's, else a copy where others are root's alone."""
    if os.geteuid():
        pytest.skip("needs root, to be another user")
    own = {"PYTHONPATH": f"{CHECKOUT}:{sysconfig.get_path('purelib')}"}
    found = next((each for name in (sys.executable, f"/usr/bin/{VERSION}") if (each := Python(name, own)).runs()), None)
    if found is not None:
        yield found
        return
    place = open_folder()
    copy = copied_python(place)
    assert copy.runs(), subprocess.run([copy.program, "-c", "import ralph_tracker"], env=copy.environment, check=False)
    yield copy
    shutil.rmtree(place)


def copied_python(place: Path) -> Python:
    """Copy the running interpreter, this package and what is installed into a folder that everybody can read."""
    left_out = shutil.ignore_patterns(
        "__pycache__", "site-packages", "test", "idlelib", "config-*", "mypy*", "ruff*", "pip"
    )
    shutil.copytree(sysconfig.get_path("purelib"), place / "packages", ignore=left_out)
    shutil.copytree(CHECKOUT / "ralph_tracker", place / "packages/ralph_tracker", ignore=left_out, dirs_exist_ok=True)
    shutil.copytree(sysconfig.get_path("stdlib"), place / "lib" / VERSION, ignore=left_out, symlinks=True)
    library = Path(sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("INSTSONAME") or "")
    if library.is_file():
        shutil.copy(library, place / "lib")
    (place / "bin").mkdir()
    program = shutil.copy(Path(sys.executable).resolve(), place / "bin" / VERSION)
    return Python(str(program), {"PYTHONPATH": str(place / "packages"), "LD_LIBRARY_PATH": str(place / "lib")})


def open_folder() -> Path:
    """Make a folder that everybody can enter; those of pytest are root's alone."""
    place = Path(tempfile.mkdtemp(prefix="ralph-tracker-", dir="/tmp")).resolve()
    place.chmod(0o755)
    return place


@pytest.fixture
def theirs(workshop_at, python):
    """Return a project, a shell in it, and what gives both to `nobody`."""
    place = open_folder()
    root = place / "project"
    root.mkdir()
    yield (
        workshop_at(root).prepare(),
        Shell(root, place / "shell", python.environment, user=NOBODY, python=python.program),
        lambda: given_to(place),
    )
    shutil.rmtree(place)


def given_to(place: Path, user: int = NOBODY) -> None:
    for folder, _, names in os.walk(place):
        for path in (folder, *(f"{folder}/{name}" for name in names)):
            os.chown(path, user, user, follow_symlinks=False)


def lived(shell: Shell, shop, kept):
    """Record a loop as that user, and return what its tree was at each iteration."""
    trees = {}
    for number in range(3):
        shop.passing(4 + number)
        (shop.root / f"new-{number}.txt").write_text(f"{number}\n")
        kept()
        hook = ("post-iteration", "--iteration", str(number)) if number else ("pre-loop",)
        told = shell.call("hook", *hook)
        assert told.code == 0, told
        trees[number] = tree_of(shop.root)
    return trees


def come_back(shell: Shell, trees) -> list[int]:
    """Return the iterations that do not come back as they were."""
    wrong = []
    for number, tree in trees.items():
        told = shell.call("restore", str(number))
        if told.code or tree_of(shell.root) != tree:
            wrong.append((number, told))
    return wrong


def test_a_tree_that_is_partly_out_of_reach(theirs):
    shop, shell, give = theirs
    shop.write("sealed/inside.txt", "nobody reads this\n")
    shop.write("unread.txt", "nor this\n")
    shop.write("fixed/file.txt", "in a folder that cannot be changed\n")
    os.mkfifo(shop.root / "pipe")
    (shop.root / "out").symlink_to("/etc")
    (shop.root / os.fsdecode(b"odd\n\xff")).write_text("odd\n")

    def closed():
        give()
        (shop.root / "sealed").chmod(0)
        (shop.root / "unread.txt").chmod(0)
        (shop.root / "fixed").chmod(0o555)

    trees = {}
    for number in range(3):
        shop.passing(4 + number)
        (shop.root / f"new-{number}.txt").write_text(f"{number}\n")
        closed()
        hook = ("post-iteration", "--iteration", str(number)) if number else ("pre-loop",)
        told = shell.call("hook", *hook)
        assert told.code == 0 or is_one_line(told), told
        if told.code:
            assert any(name in told.err for name in ("unread.txt", "sealed")), told
            return
        trees[number] = {path.name for path in shop.root.iterdir()}
    for number, names in trees.items():
        told = shell.call("restore", str(number))
        assert told.code == 0 or is_one_line(told), told
        if not told.code:
            assert {path.name for path in shop.root.iterdir()} == names
    assert shell.call("verify").code == 0
    assert (shop.root / "unread.txt").read_text() == "nor this\n"
    assert (shop.root / "sealed/inside.txt").read_text() == "nobody reads this\n"


def test_a_submodule_is_left_alone_by_every_iteration(theirs, own_files):
    shop, shell, give = theirs
    other = shop.root.parent / "other"
    other.mkdir()
    (other / "lib.py").write_text("def lib():\n    return 1\n")
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "first")):
        shop.git(*words, where=other)
    shop.commit()
    shop.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "vendored")
    shop.git("commit", "-q", "-m", "with a submodule")
    before = own_files(shop.root / ".git")
    trees = {}
    for number in range(3):
        shop.passing(4 + number)
        (shop.root / "vendored/lib.py").write_text(f"def lib():\n    return {number}\n")
        give()
        hook = ("post-iteration", "--iteration", str(number)) if number else ("pre-loop",)
        told = shell.call("hook", *hook)
        assert told.code == 0, told
        trees[number] = tree_of(shop.root)
        trees[number]["vendored/lib.py"] = ("file", b"def lib():\n    return 2\n", False)
    assert come_back(shell, trees) == []
    assert own_files(shop.root / ".git") == before
    assert json.loads(shell.call("verify", "--json").out)["damaged"] == {}


def test_a_worktree_whose_git_is_a_file(theirs, workshop_at, own_files):
    shop, shell, give = theirs
    shop.commit()
    shop.git("worktree", "add", "-q", "-b", "linked", str(shop.root.parent / "linked"))
    linked = workshop_at(shop.root.parent / "linked")
    at = replace(shell, root=linked.root)
    before = own_files(shop.root / ".git"), (linked.root / ".git").read_bytes()
    trees = lived(at, linked, give)
    assert come_back(at, trees) == []
    assert (own_files(shop.root / ".git"), (linked.root / ".git").read_bytes()) == before


def test_a_repository_of_another_user(theirs, own_files):
    """Git does not trust it; what is kept and restored does not depend on that."""
    shop, shell, give = theirs
    shop.commit()

    def kept():
        give()
        for folder, _, names in os.walk(shop.root / ".git"):
            for path in (folder, *(f"{folder}/{name}" for name in names)):
                os.chown(path, 0, 0)

    kept()
    before = own_files(shop.root / ".git")
    trees = lived(shell, shop, kept)
    assert come_back(shell, trees) == []
    assert own_files(shop.root / ".git") == before


def test_a_project_without_git_where_git_is_not_installed(theirs):
    shop, shell, give = theirs
    (shell.place / "tools").mkdir()
    for name in ("sh", "cp", "env"):
        (shell.place / "tools" / name).symlink_to(shutil.which(name))
    at = replace(shell, more={**shell.more, "PATH": f"{shell.place / 'bin'}:{shell.place / 'tools'}"})
    trees = lived(at, shop, give)
    assert come_back(at, trees) == []
    assert at.call("verify").code == 0


def test_git_files_that_lead_nowhere_or_to_a_pipe_are_as_good_as_none(theirs):
    shop, shell, give = theirs
    shop.commit()
    shutil.move(shop.root / ".git", shop.root.parent / "apart.git")
    pipe = shop.root.parent / "piped.git"
    pipe.mkdir()
    os.mkfifo(pipe / "HEAD")
    for number, text in enumerate(("", "gitdir: .git", "gitdir: /dev/zero", "gitdir: a\0b", "gitdir: " + "a/" * 5000)):
        (shop.root / ".git").write_text(text)
        give()
        told = shell.call("hook", "pre-loop", "--loop-id", f"nowhere-{number}", *(("--new",) if number else ()))
        assert (told.code, told.err) == (0, ""), text
    for name in ("piped.git", "apart.git"):
        (shop.root / ".git").write_text(f"gitdir: ../{name}\n")
        give()
        told = shell.call("hook", "pre-loop", "--loop-id", name.partition(".")[0], "--new")
        assert (told.code, "piped.git/HEAD: a pipe" in told.out + told.err) == (0, name == "piped.git"), told
    shop.write("later.txt", "later\n")
    give()
    assert shell.call("hook", "post-iteration").code == 0
    assert shell.call("select-best", "--apply", "branch", "--branch", "peak").code == 0
    given_to(shop.root.parent, 0)
    assert "later.txt" in shop.git("ls-tree", "--name-only", "peak").split()
