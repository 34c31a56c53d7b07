"""What changed in each file between two kept trees, renames found, with a patch that a person reads."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from ralph_tracker.errors import StoreError
from ralph_tracker.store.git.objects import checked, describe, each_blob
from ralph_tracker.store.git.verbs import NO_OBJECT, Runner, in_batches
from ralph_tracker.store.patches import SECTION, STATUS, FileChange, counted, kind_of, kind_of_both

# A rename of many files into many others costs the product of both; beyond this only equal contents are matched.
_RENAMES: Final = ("--find-renames", "--no-rename-empty", "-l200")
# Nothing that is configured anywhere starts a program or changes a line.
_PATCH: Final = ("--patch", "--text", "--unified=3", "--no-color", "--no-ext-diff", "--no-textconv")
_NO_MODE: Final = "000000"


def file_changes(git: Runner, before: str, after: str) -> tuple[FileChange, ...]:
    """Compare two trees or commits file by file, in the order of paths.

    Raises NoSnapshotError for what is not kept, StoreError for what is damaged.
    """
    answer = git.ask("diff-tree", "-r", "-z", "--raw", *_RENAMES, checked(before), checked(after), "--")
    if answer.status:
        for content in (before, after):
            describe(git, content)  # it tells what is not kept
        raise StoreError(f"what was kept cannot be compared ({answer.error}); run `ralph-tracker verify`")
    seen = _judged(git, tuple(_listed(answer.out)))
    found = [change for change in seen if change.content != "text"]
    paths = [path for change in seen if change.content == "text" for path in (change.old_path, change.path) if path]
    for batch in in_batches(paths) if found else [()] if paths else ():
        found += _patched(git, before, after, batch)
    return tuple(sorted(found, key=lambda change: os.fsencode(change.path)))


def _listed(raw: bytes) -> Iterator[tuple[FileChange, tuple[str, ...]]]:
    """Read git's list of changes: each with the objects that it is about."""
    fields = iter(os.fsdecode(field) for field in raw.split(b"\0") if field)
    for about in fields:
        old_mode, new_mode, old_id, new_id, status = about.lstrip(":").split(" ")
        old_path = next(fields) if status[0] == "R" else None
        change = FileChange(
            path=next(fields),
            status=STATUS[status[0]],
            old_path=old_path,
            old_mode=None if old_mode == _NO_MODE else old_mode,
            new_mode=None if new_mode == _NO_MODE else new_mode,
        )
        yield change, tuple(each for each in (old_id, new_id) if each != NO_OBJECT)


def _judged(git: Runner, found: Sequence[tuple[FileChange, tuple[str, ...]]]) -> list[FileChange]:
    """Look at both sides of every file that differs; one that is no text, or large, makes both so."""
    wanted = list(dict.fromkeys(object_id for _, ids in found for object_id in ids))
    known = dict(zip(wanted, map(kind_of, each_blob(git, wanted)), strict=True))
    kinds = [kind_of_both(known[object_id] for object_id in ids) for _, ids in found]
    return [replace(change, content=kind) for (change, _), kind in zip(found, kinds, strict=True)]


def _patched(git: Runner, before: str, after: str, paths: Sequence[str]) -> Iterator[FileChange]:
    """Yield the changes of those files with their patches, () is all; list and patch are of one run, so they agree."""
    output = git.run("diff-tree", "-r", "-z", "--raw", *_RENAMES, *_PATCH, before, after, "--", *paths)
    raw, _, patch = output.partition(b"\0\0")
    sections = iter(_sections(patch.decode("utf-8", "backslashreplace")))
    for change, _ids in _listed(raw):
        yield _with_patch(change, sections)


def _with_patch(change: FileChange, sections: Iterator[str]) -> FileChange:
    """Add the patch; a change of type is a deletion and an addition there."""
    patch = next(sections) + (next(sections) if change.status == "type_changed" else "")
    added, deleted = counted(patch)
    return replace(change, added=added, deleted=deleted, patch=patch)


def _sections(patch: str) -> list[str]:
    """Cut a patch where the next file begins: inside of a hunk no line begins like that."""
    starts = [0, *(at + 1 for at in _found(patch, f"\n{SECTION}"))] if patch else []
    return [patch[start:end] for start, end in pairwise([*starts, len(patch)])]


def _found(text: str, wanted: str) -> Iterator[int]:
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + 1)
