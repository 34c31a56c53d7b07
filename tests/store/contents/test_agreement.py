"""Both stores agree on every tree: what differs, what is skipped, what comes back. Each is the other's oracle."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from ralph_tracker.errors import StoreError
from ralph_tracker.store.contents.store import ContentStore
from ralph_tracker.store.git.store import GitStore
from ralph_tracker.store.snapshots import Limits, Snapshot, SnapshotStore
from ralph_tracker.store.tree.filter import NESTED

from ..snapshots.projects import Project  # noqa: TID252  # one folder of tests for each store

EXAMPLES = settings.default.max_examples
IN_HASTE = EXAMPLES < 100
NAMES = ["a", "b", "c.txt", "d e", "-f", "g\nh", "\u00e9", "e\u0301", ":x", "*", "bad\udcff", "x.log", "build", ".env"]
LIMITS = Limits(max_file_bytes=200)
RULES = ["*.log", "build/", "!b/x.log", "/a", "b/*", "**/c.txt", "d e/**", "[ab]/?"]

names = st.sampled_from(NAMES)
paths = st.lists(names, min_size=1, max_size=3).map("/".join)
places = st.integers(0, 50)
edits = st.one_of(
    st.tuples(st.just("write"), paths, st.one_of(st.just(b""), st.binary(max_size=20), st.just(b"x" * 300))),
    st.tuples(st.just("exec"), paths, st.just(b"#!/bin/sh\n")),
    st.tuples(st.just("link"), paths, st.sampled_from([b"a", b"../b", b".", b"nowhere", b"/etc/hostname", b"b\xff"])),
    st.tuples(st.just("folder"), paths, st.just(b"")),
    st.tuples(st.just("pipe"), paths, st.just(b"")),
    st.tuples(st.just("cache"), paths, st.sampled_from([b"node_modules", b"__pycache__", b".aiwg"])),
    st.tuples(st.just("repository"), paths, st.just(b"")),
    st.tuples(st.just("rules"), st.just(".gitignore"), st.sampled_from(RULES).map(str.encode)),
    st.tuples(st.sampled_from(["remove", "touch", "same"]), places, st.just(b"")),
    st.tuples(st.just("rename"), places, names),
)
rounds = st.lists(st.lists(edits, max_size=6), min_size=2, max_size=4)
Kept = list[tuple[Snapshot, Snapshot]]


class Eager(GitStore):
    """A store for which any number of new files is very many."""

    very_many = 0


def clear_way(project: Project, path: str, *, is_folder: bool = False) -> None:
    """Take away what stands in the place of a path's folders, and at the path; a folder in place of a folder stays."""
    parts = path.split("/")
    for depth in range(1, len(parts) + 1):
        step = project.root.joinpath(*parts[:depth])
        is_real = step.is_dir() and not step.is_symlink()
        if os.path.lexists(step) and not (is_real and (is_folder or depth < len(parts))):
            project.remove("/".join(parts[:depth]))
            return


def there(project: Project, place: int) -> str | None:
    """Return one of the paths that stand there."""
    known = sorted(path.rstrip("/") for path in project.look())
    return known[place % len(known)] if known else None


def change(project: Project, kind: str, place: int, content: Any) -> None:
    """Change what is there already."""
    path = there(project, place)
    if path is None:
        return
    file = project.root / path
    if kind == "remove":
        project.remove(path)
    elif kind == "rename":
        old, new = project.root / path.split("/")[0], project.root / content
        if not os.path.lexists(new):
            old.rename(new)
    elif file.is_file() and not file.is_symlink():
        status = file.stat()
        if kind == "same":
            file.write_bytes(file.read_bytes()[::-1])
        os.utime(file, ns=(1, 1) if kind == "touch" else (status.st_atime_ns, status.st_mtime_ns))


def edit(project: Project, kind: str, where: Any, content: Any) -> None:
    if isinstance(where, int):
        change(project, kind, where, content)
        return
    clear_way(project, where, is_folder=kind in {"folder", "cache", "repository"})
    if kind == "link":
        project.link(where, os.fsdecode(content))
    elif kind == "folder":
        (project.root / where).mkdir(parents=True, exist_ok=True)
    elif kind == "pipe":
        (project.root / where).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(project.root / where)
    elif kind == "cache":
        project.write(f"{where}/{content.decode()}/inside", b"cached")
    elif kind == "repository":
        (project.root / where).mkdir(parents=True, exist_ok=True)
        if not any((project.root / where).iterdir()):
            project.git("init", "-q", "--template=", at=project.root / where)
            project.write(f"{where}/inside", b"of a repository")
    else:
        project.write(where, content, 0o755 if kind == "exec" else None)


def manifest(store: SnapshotStore, before: str | None, after: str) -> list[Any]:
    return [change._replace(old_id=None, new_id=None) for change in store.changes(before, after)]


def agree(git: SnapshotStore, contents: SnapshotStore, kept: Kept) -> None:
    """Compare what both say of the last state, against every earlier one."""
    one, other = kept[-1]
    for name in ("changed", "skipped", "quiescent"):
        assert getattr(one, name) == getattr(other, name), name
    assert empty(one) == empty(other)
    assert git.paths(one.commit) == contents.paths(other.commit)
    assert manifest(git, None, one.tree) == manifest(contents, None, other.tree)
    for before, known in kept:
        assert manifest(git, before.tree, one.tree) == manifest(contents, known.tree, other.tree)
        assert (before.tree == one.tree) == (known.tree == other.tree)
    for path in git.paths(one.tree):
        assert git.read(one.tree, path) == contents.read(other.tree, path)


def empty(snapshot: Snapshot) -> list[str]:
    """Return the empty folders outside of nested repositories, in which git does not look for them."""
    nested = tuple(skip.path.removesuffix(".git") for skip in snapshot.skipped if skip.reason == NESTED)
    return [path for path in snapshot.empty_directories if not path.startswith(nested)]


def refused(store: SnapshotStore, commit: str) -> str | None:
    try:
        store.restore(commit)
    except StoreError as error:
        return str(error)
    return None


def come_back(stores: tuple[SnapshotStore, SnapshotStore], project: Project, kept: Kept, which: int) -> None:
    """Bring back a state with one store, and see both say that it is that state."""
    goal, first = kept[which // 2 % len(kept)], which % 2
    now = [store.snapshot() for store in stores]
    why = refused(stores[first], goal[first].commit)
    if why is not None:
        assert why == refused(stores[1 - first], goal[1 - first].commit)
        return
    after = [store.snapshot() for store in stores]
    assert empty(after[0]) == empty(after[1])
    spared = {skip.path for skip in goal[1].skipped}.intersection(stores[1].paths(now[1].tree))
    for store, seen, wanted in zip(stores, after, goal, strict=True):
        left = {change.path for change in store.changes(wanted.tree, seen.tree)}
        assert left == spared  # what the goal had left out stays as it is
    found = project.look()
    for path in stores[1].paths(goal[1].tree):
        assert found[path][2] == stores[1].read(goal[1].tree, path)


@contextmanager
def scratch() -> Iterator[Project]:
    folder = Path(tempfile.mkdtemp(prefix="agreement-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")))
    try:
        yield Project(folder.resolve() / "project")
    finally:
        shutil.rmtree(folder)


@example([], [[("write", "a", b"ab"), ("touch", 1, b"")], *[[("same", 1, b"")]] * 3], [], GitStore)
@example([], [[("write", "a/a", b"")], [("link", "a", b"a")]], [0, 1], Eager)
@example([], [[("folder", "c.txt", b"")], [("write", "c.txt", b"x" * 300)]], [0], GitStore)
@settings(max_examples=EXAMPLES // 4 if IN_HASTE else EXAMPLES, derandomize=IN_HASTE, deadline=None)
@given(
    st.lists(st.sampled_from(RULES), max_size=3),
    rounds,
    st.lists(st.integers(0, 50), max_size=3),
    st.sampled_from([GitStore, Eager]),
)
def test_both_stores_agree_on_every_state_of_a_random_history(
    rules: list[str], history: list[list[Any]], returns: list[int], of_git: type[GitStore]
) -> None:
    with scratch() as project:
        project.write(".gitignore", "".join(f"{rule}\n" for rule in rules))
        place = project.root / ".aiwg"
        stores = (
            of_git(place / "store.git", project.root, LIMITS),
            ContentStore(place / "store", project.root, LIMITS),
        )
        for store in stores:
            store.create()
        kept: Kept = []
        for steps in history:
            for kind, where, content in steps:
                edit(project, kind, where, content)
            before = kept[-1] if kept else (None, None)
            one, other = (
                store.snapshot(previous=known and known.tree) for store, known in zip(stores, before, strict=True)
            )
            kept.append((one, other))
            agree(*stores, kept)
        for which in returns:
            come_back(stores, project, kept, which)
