"""Put a kept tree onto a branch of the user's repository, on top of HEAD, which stays where it is.

The commit is made as `git add` would make it there, with the user's line endings and filters: the one place where their
settings apply, as the branch is theirs. Index and working tree are temporary ones.
"""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from ralph_tracker.errors import StoreError
from ralph_tracker.store.exporting import write_files
from ralph_tracker.store.git.head import head_commit
from ralph_tracker.store.git.objects import each_blob
from ralph_tracker.store.git.source import RunnerFor, Source
from ralph_tracker.store.git.verbs import (
    GITLINK_MODE,
    NO_OBJECT,
    Runner,
    index_entries,
    path_list,
    removals,
    tree_entries,
)
from ralph_tracker.store.notes import Content
from ralph_tracker.store.snapshots import Entry, shown
from ralph_tracker.store.tree.filter import LOOP_FOLDER
from ralph_tracker.store.tree.writer import TreeWriter

_NOBODY: Final = {
    "GIT_AUTHOR_NAME": "ralph-tracker",
    "GIT_AUTHOR_EMAIL": "ralph-tracker@localhost",
    "GIT_COMMITTER_NAME": "ralph-tracker",
    "GIT_COMMITTER_EMAIL": "ralph-tracker@localhost",
}


@dataclass(frozen=True, slots=True)
class _Edit:
    """Hold how HEAD's tree becomes the kept one; paths from the root."""

    written: list[Entry]
    removed: list[str]


def make_branch(kept: Runner, source: Source, runner_for: RunnerFor, content: Content, name: str) -> str:
    """Make the branch and return its commit; raise StoreError for a name that is taken or none."""
    user = runner_for(source.environment, source.top)
    _refuse_name(user, name)
    head = head_commit(user)
    with tempfile.TemporaryDirectory(prefix="ralph-tracker-") as scratch:
        top = Path(scratch).resolve() / "tree"
        top.mkdir()
        place = {"GIT_WORK_TREE": str(top), "GIT_INDEX_FILE": str(top.with_name("index"))}
        git = runner_for({**source.environment, **place, **_identity(user)}, top)
        git.run("read-tree", head or "--empty")
        edit = _edit(kept, git, user, source, content)
        _write(kept, top / source.prefix, edit.written)
        git.run("update-index", "-z", "--index-info", stdin=removals(source.prefix + path for path in edit.removed))
        added = path_list(source.prefix + entry.path for entry in edit.written)
        git.run("update-index", "--add", "-z", "--stdin", stdin=added)
        tree = git.run("write-tree").decode().strip()
        parent = ("-p", head) if head else ()
        message = content.note.message if content.note else ""
        commit = git.run("commit-tree", tree, *parent, stdin=(message or "Kept by ralph-tracker").encode())
    commit_id = commit.decode().strip()
    user.run("update-ref", f"refs/heads/{name}", commit_id, NO_OBJECT)
    return commit_id


def _refuse_name(user: Runner, name: str) -> None:
    answer = user.ask("check-ref-format", "--branch", name)
    if answer.status or answer.out.decode("utf-8", "replace").strip() != name:
        raise StoreError(f"{shown(name)} cannot be the name of a branch; give another one")
    if not user.ask("rev-parse", "-q", "--verify", f"refs/heads/{name}").status:
        raise StoreError(f"the branch {shown(name)} exists already; give another name, or delete that branch first")


def _identity(user: Runner) -> Mapping[str, str]:
    """Commit as the user where git knows who that is, else as ralph-tracker."""
    known = all(not user.ask("config", "--includes", "--get", key).status for key in ("user.name", "user.email"))
    return {} if known else _NOBODY


def _edit(kept: Runner, git: Runner, user: Runner, source: Source, content: Content) -> _Edit:
    """Leave alone what no snapshot holds: submodules, our folder, skipped files, what is not checked out."""
    start = source.prefix
    head = {entry.path.removeprefix(start): entry for entry in index_entries(git) if entry.path.startswith(start)}
    modules = {path for path, entry in head.items() if entry.mode == GITLINK_MODE}
    skipped = {skip.path for skip in content.note.skipped} if content.note else set()
    absent = {path.removeprefix(start) for path in _sparse(user)}
    goal = {entry.path: entry for entry in tree_entries(kept, content.tree)}
    written = [
        entry
        for path, entry in goal.items()
        if not _is_below(path, modules) and (_differs(entry, head.get(path)) or path.endswith(".gitattributes"))
    ]
    left = modules | skipped | absent
    removed = [path for path in head if path not in goal and path not in left and LOOP_FOLDER not in path.split("/")]
    return _Edit(written, removed)


def _differs(entry: Entry, old: Entry | None) -> bool:
    return old is None or (entry.mode, entry.object_id) != (old.mode, old.object_id)


def _is_below(path: str, folders: set[str]) -> bool:
    parts = path.split("/")
    return any("/".join(parts[:depth]) in folders for depth in range(1, len(parts) + 1))


def _sparse(user: Runner) -> list[str]:
    """List what the user's index says is not checked out."""
    output = user.run("ls-files", "-t", "-z").decode("utf-8", "surrogateescape")
    return [item[2:] for item in output.split("\0") if item.startswith("S ")]


def _write(kept: Runner, top: Path, entries: list[Entry]) -> None:
    top.mkdir(parents=True, exist_ok=True)
    with TreeWriter(top) as writer:
        write_files(partial(each_blob, kept), entries, writer)
