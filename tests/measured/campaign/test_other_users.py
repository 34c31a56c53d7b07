"""Hostile trees as a user who is not root sees them, with submodules, worktrees, and `.git` as a file."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from .outsider import CHECKOUT, Shell, is_one_line, tree_of

NOBODY = 65534

pytestmark = [pytest.mark.faults, pytest.mark.slow]


@pytest.fixture(scope="module")
def pythons() -> str:
    """Return an interpreter that `nobody` can run on this checkout."""
    if os.geteuid():
        pytest.skip("needs root, to be another user")
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    path = f"{CHECKOUT}:{sysconfig.get_path('purelib')}"
    for python in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        words, environment = [python, "-c", "import ralph_tracker.tracker, pydantic"], {"PYTHONPATH": path}
        try:
            subprocess.run(words, env=environment, user=NOBODY, group=NOBODY, cwd="/", check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            continue
        return python
    pytest.skip(f"no {version} that another user can run on this checkout")


@pytest.fixture
def theirs(workshop_at, pythons):
    """Return a project, a shell in it, and what gives both to `nobody`."""
    place = Path(tempfile.mkdtemp(prefix="ralph-tracker-", dir="/tmp")).resolve()  # pytest's is root's alone
    place.chmod(0o755)
    root = place / "project"
    root.mkdir()
    yield (
        workshop_at(root).prepare(),
        Shell(root, place / "shell", user=NOBODY, python=pythons),
        lambda: given_to(place),
    )
    shutil.rmtree(place)


def given_to(place: Path) -> None:
    for folder, _, names in os.walk(place):
        for path in (folder, *(f"{folder}/{name}" for name in names)):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


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


def test_a_repository_with_a_submodule_is_kept_with_its_files(theirs, own_files):
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
