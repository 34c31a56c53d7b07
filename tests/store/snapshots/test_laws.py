"""Laws of the store: a snapshot is the tree, whatever the index knew of it before, and each one comes back."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from ralph_tracker.errors import StoreError
from ralph_tracker.store.snapshots.snapshot_types import Snapshot, SnapshotLimits
from ralph_tracker.store.snapshots.store import SnapshotStore

from .projects import Project

EXAMPLES = settings.default.max_examples
IN_HASTE = EXAMPLES < 50
NAMES = ["a", "b", "c.txt", "d e", "-f", "g\nh", "\u00e9", "e\u0301", ":x", "*", "bad\udcff", "x.log", "build", ".env"]
LIMITS = SnapshotLimits(max_file_bytes=200)
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


def state(store: SnapshotStore, snapshot: Snapshot) -> dict[str, tuple[str | None, bytes]]:
    """Return mode and content of each kept file."""
    changes = store.changes(None, snapshot.tree)
    return {change.path: (change.new_mode, store.read(snapshot.tree, change.path)) for change in changes}


def is_the_tree(project: Project, store: SnapshotStore, snapshot: Snapshot) -> None:
    """See that what is kept stands in the tree."""
    found = project.look()
    for path, (mode, content) in state(store, snapshot).items():
        kind, executable, data = found[path]
        assert data == content
        assert mode == ("120000" if kind == "link" else "100755" if executable else "100644")


def agree(store: SnapshotStore, kept: list[Snapshot]) -> None:
    """Compare the last state with every earlier one, as their contents say it."""
    last = kept[-1]
    now = state(store, last)
    assert tuple(now) == store.paths(last.commit)
    for known in kept:
        before = state(store, known)
        assert (before == now) == (known.tree == last.tree)
        changed = {path for path in {*before, *now} if before.get(path) != now.get(path)}
        assert {change.path for change in store.changes(known.tree, last.tree)} == changed


def from_nothing(project: Project, store: SnapshotStore, place: Path) -> Snapshot:
    """Keep the tree in a new store of the same scope, which knows nothing of it yet."""
    new = SnapshotStore(place, project.root, LIMITS)
    new.create()
    for name in ("ignore", "tracked"):
        shutil.copyfile(project.folder / name, place / name)
    return new.snapshot()


def come_back(store: SnapshotStore, project: Project, goal: Snapshot) -> None:
    """Bring back a state, unless something that cannot be kept is in the way."""
    now = store.snapshot()
    with suppress(StoreError):
        store.restore(goal.commit)
        left_out = [skip.path.rstrip("/") for skip in goal.skipped]
        spared = {
            path for path in store.paths(now.tree) if any(path == out or path.startswith(f"{out}/") for out in left_out)
        }
        after = store.snapshot()
        assert {change.path for change in store.changes(goal.tree, after.tree)} == spared  # left out then, stays now
        is_the_tree(project, store, after)


@contextmanager
def scratch() -> Iterator[Project]:
    folder = Path(tempfile.mkdtemp(prefix="agreement-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")))
    try:
        yield Project(folder.resolve() / "project")
    finally:
        shutil.rmtree(folder)


@example([], [[("write", "a", b"ab"), ("touch", 1, b"")], *[[("same", 1, b"")]] * 3], [])
@example([], [[("write", "a/a", b"")], [("link", "a", b"a")]], [0, 1])
@example([], [[("pipe", "a", b"")], [("repository", "a", b"")]], [0])
@example([], [[("folder", "c.txt", b"")], [("write", "c.txt", b"x" * 300)]], [0])
@settings(max_examples=EXAMPLES // 4 if IN_HASTE else EXAMPLES, derandomize=IN_HASTE, deadline=None)
@given(st.lists(st.sampled_from(RULES), max_size=3), rounds, st.lists(st.integers(0, 50), max_size=3))
def test_a_snapshot_is_the_tree_whatever_was_known_of_it_and_comes_back(
    rules: list[str], history: list[list[Any]], returns: list[int]
) -> None:
    with scratch() as project:
        project.write(".gitignore", "".join(f"{rule}\n" for rule in rules))
        store = project.make_store(LIMITS)
        kept: list[Snapshot] = []
        for number, steps in enumerate(history):
            for kind, where, content in steps:
                edit(project, kind, where, content)
            snapshot = store.snapshot()
            fresh = from_nothing(project, store, project.folder.with_name(f"fresh-{number}"))
            assert fresh._replace(commit="") == snapshot._replace(commit="")
            kept.append(snapshot)
            is_the_tree(project, store, snapshot)
            agree(store, kept)
        for which in returns:
            come_back(store, project, kept[which % len(kept)])
