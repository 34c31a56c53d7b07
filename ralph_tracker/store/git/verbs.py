"""How the parts of the snapshot store talk to git: the fixed verbs, one seam, and git's NUL-separated lists."""

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Final, Literal, NamedTuple, Protocol

from ralph_tracker.errors import StoreError
from ralph_tracker.store.choosing import OLDEST_GIT
from ralph_tracker.store.snapshots import Entry

Verb = Literal[
    "cat-file",
    "check-ignore",
    "check-ref-format",
    "commit-tree",
    "config",
    "diff-files",
    "diff-tree",
    "fast-import",
    "for-each-ref",
    "grep",
    "init",
    "ls-files",
    "ls-tree",
    "prune",
    "read-tree",
    "repack",
    "rev-parse",
    "update-index",
    "update-ref",
    "version",
    "write-tree",
]

NO_OBJECT: Final = "0" * 40
# The tree without entries; every git knows it without having it stored.
EMPTY_TREE: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
EMPTY_BLOB: Final = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
GITLINK_MODE: Final = "160000"
_ARGUMENT_BYTES: Final = 100_000  # what one command line may hold, well under every system's limit


class Answer(NamedTuple):
    """Hold how a git command ended: its exit status (negative: a signal), its output, its error text."""

    status: int
    out: bytes
    error: str


class Runner(Protocol):
    """Run git verbs in one repository on one tree; `index` is another index file than the repository's own."""

    def run(self, verb: Verb, *arguments: str, stdin: bytes = b"", index: Path | None = None) -> bytes:
        """Return what the command prints; raise StoreError where it does not end with 0."""
        ...

    def ask(self, verb: Verb, *arguments: str, stdin: bytes = b"", index: Path | None = None) -> Answer:
        """Return how the command ends, whatever its exit status."""
        ...

    def stream(self, verb: Verb, *arguments: str, stdin: bytes) -> AbstractContextManager[BinaryIO]:
        """Yield the command's output while it runs."""
        ...

    def feed(self, verb: Verb, *arguments: str) -> AbstractContextManager[BinaryIO]:
        """Yield the command's input while it runs; raise StoreError where it does not end with 0."""
        ...


def git_version(git: Runner) -> tuple[int, ...]:
    """Return the version of git; raise StoreError for one that is too old."""
    text = git.run("version").decode("utf-8", "replace")
    found = re.search(r"(\d+)\.(\d+)", text)
    version = tuple(map(int, found.groups())) if found else (0,)
    if version < OLDEST_GIT:
        raise StoreError(f"{text.strip()} is too old: install git {OLDEST_GIT[0]}.{OLDEST_GIT[1]} or newer")
    return version


def paths_of(output: bytes) -> list[str]:
    """Split what a verb prints with -z."""
    return [os.fsdecode(item) for item in output.split(b"\0") if item]


def path_list(paths: Iterable[str]) -> bytes:
    """Join paths as `--stdin -z` reads them."""
    return b"".join(os.fsencode(path) + b"\0" for path in paths)


def quoted(path: str | Path) -> bytes:
    """Write a path as git does where a name could be mistaken for something else, or for two."""
    escaped = os.fsencode(path).replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + escaped + b'"'


def index_lines(entries: Iterable[Entry]) -> bytes:
    """Join entries as `update-index -z --index-info` reads them."""
    return b"".join(f"{mode} {oid}\t".encode() + os.fsencode(path) + b"\0" for path, mode, oid in entries)


def removals(paths: Iterable[str]) -> bytes:
    """Say to `update-index -z --index-info` which paths go.

    `--remove` would not do: it refuses a path behind a symbolic link.
    """
    return index_lines(Entry(path, "0", NO_OBJECT) for path in paths)


def index_entries(git: Runner, index: Path | None = None) -> list[Entry]:
    """List what the index holds."""
    return [_indexed(item) for item in git.run("ls-files", "-s", "-z", index=index).split(b"\0") if item]


def tree_entries(git: Runner, tree: str) -> list[Entry]:
    """List the files of a tree, in git's order of paths."""
    listed = git.run("ls-tree", "-r", "-z", "--full-tree", tree)
    return [_listed(item) for item in listed.split(b"\0") if item]


def in_batches(paths: Sequence[str]) -> Iterable[Sequence[str]]:
    """Cut paths into parts that fit on a command line."""
    start = size = 0
    for position, path in enumerate(paths):
        size += len(os.fsencode(path)) + 1
        if size > _ARGUMENT_BYTES and position > start:
            yield paths[start:position]
            start, size = position, len(os.fsencode(path)) + 1
    if paths:
        yield paths[start:]


def _indexed(item: bytes) -> Entry:
    about, _, path = item.partition(b"\t")
    mode, object_id, _stage = about.decode().split(" ")
    return Entry(os.fsdecode(path), mode, object_id)


def _listed(item: bytes) -> Entry:
    about, _, path = item.partition(b"\t")
    mode, _kind, object_id = about.decode().split(" ")
    return Entry(os.fsdecode(path), mode, object_id)
