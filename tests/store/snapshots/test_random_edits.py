"""Random edits: whatever happens to a tree, a snapshot is the tree, and each one comes back."""

import os
import random
from pathlib import Path

import pytest

from tests.sweep import FULL

from .projects import Project, look

SEEDS = range(40 if FULL else 4)

NAMES = ["a", "b", "c.txt", "d e", "-f", "g\nh", "\u00e9", "e\u0301", ":x", "*", "bad\udcff"]


def some_path(rng: random.Random) -> str:
    return "/".join(rng.choice(NAMES) for _ in range(rng.randint(1, 3)))


def clear_way(project: Project, path: str) -> None:
    """Take away what stands at a path or in the place of its folders."""
    parts = path.split("/")
    for depth in range(1, len(parts) + 1):
        step = project.root / "/".join(parts[:depth])
        if step.is_symlink() or (step.exists() and (depth == len(parts) or not step.is_dir())):
            project.remove("/".join(parts[:depth]))
            return


def edit(project: Project, rng: random.Random) -> None:
    path = some_path(rng)
    kind = rng.choice(["file", "file", "file", "empty", "exec", "link", "folder", "remove", "rename"])
    known = sorted(project.look())
    if kind == "remove" and known:
        project.remove(rng.choice(known).rstrip("/"))
        return
    if kind == "rename" and known:
        old = rng.choice(known).split("/")[0]
        new = rng.choice(NAMES)
        if not os.path.lexists(project.root / new):
            (project.root / old).rename(project.root / new)
        return
    clear_way(project, path)
    if kind == "link":
        project.link(path, rng.choice(["a", "../b", ".", "nowhere", "/etc/hostname"]))
    elif kind == "folder":
        (project.root / path).mkdir(parents=True, exist_ok=True)
    else:
        content = b"" if kind == "empty" else rng.randbytes(rng.randint(1, 40))
        project.write(path, content, 0o755 if kind == "exec" else None)


@pytest.mark.parametrize("place", ["with git", "without git"])
@pytest.mark.faults
@pytest.mark.parametrize("seed", SEEDS)
def test_every_state_of_a_random_history_comes_back(seed: int, place: str, tmp_path: Path) -> None:
    rng = random.Random(seed)
    project = Project(tmp_path / "project")
    if place == "with git":
        project.init()
        for _ in range(8):
            edit(project, rng)
        project.commit()
    users_own = project.users_own()
    store = project.make_store()
    states = []
    for number in range(6):
        for _ in range(rng.randint(0, 9)):
            edit(project, rng)
        snapshot, content = store.snapshot(number=number), project.look()
        store.export(snapshot.commit, tmp_path / f"out-{number}")
        assert look(tmp_path / f"out-{number}", ()) == content
        states.append((snapshot, content))
    for _ in range(8):
        snapshot, content = rng.choice(states)
        undo, current = store.restore(snapshot.commit), content
        assert project.look() == content
        assert store.snapshot().tree == snapshot.tree
        for _ in range(rng.randint(0, 3)):
            edit(project, rng)
        current = project.look()
        undo = store.restore(rng.choice(states)[0].commit)
        store.restore(f"refs/safety/{undo}")
        assert project.look() == current
    assert project.users_own() == users_own
