"""Read what the store holds: notes, trees, contents, differences, and whether all of it is intact."""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Final, cast

from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.store import notes
from ralph_tracker.store.exporting import Read, into_empty_folder, write_files
from ralph_tracker.store.files import measured
from ralph_tracker.store.git.verbs import EMPTY_TREE, NO_OBJECT, Answer, Runner, paths_of, tree_entries
from ralph_tracker.store.notes import Content, Difference, Note, decode_note
from ralph_tracker.store.snapshots import Change, Entry, Status, shown

_CHUNK: Final = 1 << 20
_HEADER_PARTS: Final = 3
_DIGITS: Final = 40
_NO_MODE: Final = "000000"
_RAW: Final = ("-r", "-z", "--raw", "--no-renames")
_TREES: Final = re.compile(rf"[0-9a-f]{{{_DIGITS}}} [0-9a-f]{{{_DIGITS}}}")
_FEW: Final = 256


def checked(content: str) -> str:
    """Return a name that git can be given; raise NoSnapshotError for what is none."""
    return notes.checked(content, _DIGITS)


def describe(git: Runner, content: str) -> Content:
    """Look up the id of a tree or a commit, or the full name of a reference.

    Raises NoSnapshotError where the store holds nothing of that name.
    """
    answer = git.run("cat-file", "--batch", stdin=checked(content).encode() + b"\n")
    header, _, rest = answer.partition(b"\n")
    parts = header.decode().split(" ")
    if len(parts) == _HEADER_PARTS and parts[1] == "tree":
        return Content(parts[0], None, None)
    if len(parts) == _HEADER_PARTS and parts[1] == "commit":
        body = rest[: int(parts[2])]
        head, _, message = body.partition(b"\n\n")
        return Content(head[len("tree ") :].split(b"\n")[0].decode(), parts[0], decode_note(message))
    raise notes.not_kept(content)


def write_commit(git: Runner, tree: str, note: Note) -> str:
    """Write a commit without parents, so that none keeps another one alive, and return its id."""
    return git.run("commit-tree", tree, stdin=note.encode()).decode().strip()


def each_blob(git: Runner, object_ids: Sequence[str]) -> Iterator[Iterator[bytes]]:
    """Yield the content of each object in chunks; what of it is not read is passed over."""
    if not object_ids:
        return
    with git.stream("cat-file", "--batch", "--buffer", stdin=_lines(object_ids)) as output:
        for object_id in object_ids:
            header = output.readline().decode().split()
            if len(header) != _HEADER_PARTS:
                raise StoreError(f"the kept object {object_id} is missing or damaged; run `ralph-tracker verify`")
            chunks = _chunks(output, int(header[2]))
            yield chunks
            for _ in chunks:
                pass
            output.read(1)


def differences(git: Runner, before: str | None, after: str | None) -> list[Difference]:
    """Compare two trees or commits; None is the tree without files."""
    contents = [checked(content or EMPTY_TREE) for content in (before, after)]
    answer = git.ask("diff-tree", *_RAW, *contents, "--")
    _refuse_failed(git, answer, contents)
    fields = answer.out.split(b"\0")
    return [_difference(about, path) for about, path in zip(fields[0::2], fields[1::2], strict=False)]


def _each_difference(
    git: Runner, befores: Iterable[str | None], after: str | None
) -> dict[str | None, list[Difference]]:
    """Compare several with a later one, those that are named by the ids of trees in one call of git."""
    found: dict[str | None, list[Difference]] = {}
    pairs = {before: f"{before or EMPTY_TREE} {after or EMPTY_TREE}" for before in befores}
    if len(pairs) > 1 and all(_TREES.fullmatch(pair) for pair in pairs.values()):
        found = _together(git, pairs)
    return {before: found[before] if before in found else differences(git, before, after) for before in pairs}


def _together(git: Runner, pairs: Mapping[str | None, str]) -> dict[str | None, list[Difference]]:
    """Compare pairs of trees; those of which git says nothing, as it has not all of both, are not in the answer."""
    answer = git.ask("diff-tree", "--stdin", *_RAW, stdin="".join(f"{pair}\n" for pair in pairs.values()).encode())
    if answer.status or answer.error:
        return {}
    told: dict[bytes, list[Difference]] = {}
    fields = iter(answer.out.split(b"\0"))
    for field in fields:
        *heads, about = field.split(b"\n")  # a pair is named on a line of its own, where its first difference begins
        for head in heads:
            found = told[head] = []
        if about:
            found.append(_difference(about, next(fields)))
    return {before: told[pair.encode()] for before, pair in pairs.items() if pair.encode() in told}


def _refuse_failed(git: Runner, answer: Answer, contents: Iterable[str]) -> None:
    if answer.status:
        for content in contents:
            describe(git, content)  # it tells what is not kept
        raise StoreError(f"what was kept cannot be read ({answer.error}); run `ralph-tracker verify`")


def changes(
    git: Runner, befores: Iterable[str | None], after: str | None, each: Read, *, ahead: bool = False
) -> list[tuple[Change, ...]]:
    """Compare trees or commits with a later one each, with size and sha256 of every new content.

    With `ahead`, what a few changed files held before is read too, as the same reader will be asked for it next.
    """
    found = _each_difference(git, befores, after)
    new = (item.new_id for items in found.values() for item in items)
    wanted = dict.fromkeys(object_id for object_id in new if object_id)
    known = _measured(each, list(wanted), [old for old in _olds(found) if old not in wanted] if ahead else [])
    made = {
        before: tuple(item.change(*known.get(item.new_id, (None, None))) for item in items)
        for before, items in found.items()
    }
    return [made[before] for before in befores]


def _olds(found: Mapping[str | None, Sequence[Difference]]) -> list[str]:
    """Return what the files that the first comparison names held before, in each; nothing where they are many."""
    touched = {item.path for items in list(found.values())[:1] for item in items}
    if len(touched) > _FEW:
        return []
    olds = (item.old_id for items in found.values() for item in items if item.path in touched)
    return list(dict.fromkeys(old for old in olds if old))


def _measured(each: Read, wanted: list[str], ahead: list[str]) -> dict[str, tuple[int, str]]:
    """Return size and sha256 of contents; what is read ahead may be damaged, and whoever asks for it is told then."""
    names = [*wanted, *ahead]
    try:
        return dict(zip(names, map(measured, each(names)), strict=True))
    except StoreError:
        if not ahead:
            raise
        return _measured(each, wanted, [])


def read_file(git: Runner, content: str, path: str) -> bytes:
    """Return one file of a tree or a commit, of a symbolic link the text; raise NoSnapshotError where none is kept."""
    answer = git.ask("cat-file", "blob", f"{checked(content)}:{path}")
    if answer.status:
        describe(git, content)
        raise NoSnapshotError(f"{shown(path)} is not kept in {content}: {answer.error}")
    return answer.out


def read_objects(each: Read, object_ids: Iterable[str], at_most: int) -> dict[str, bytes]:
    """Return contents by their ids, each cut after `at_most` bytes. Raises StoreError for one that is not there."""
    wanted = list(dict.fromkeys(object_ids))
    return {name: _beginning(chunks, at_most) for name, chunks in zip(wanted, each(wanted), strict=True)}


def _beginning(chunks: Iterable[bytes], size: int) -> bytes:
    data = b""
    for chunk in chunks:
        data += chunk
        if len(data) >= size:
            break
    return data[:size]


def paths_in(git: Runner, content: str) -> tuple[str, ...]:
    """Return the paths of the files of a tree or a commit; raise NoSnapshotError where none is kept."""
    answer = git.ask("ls-tree", "-r", "-z", "--full-tree", "--name-only", checked(content))
    _refuse_failed(git, answer, [content])
    return tuple(paths_of(answer.out))


def export(git: Runner, content: str, destination: Path, each: Read) -> None:
    """Write the files of a tree into an empty folder, with the empty folders of a commit."""
    kept = describe(git, content)
    with into_empty_folder(destination) as writer:
        write_files(each, tree_entries(git, kept.tree), writer)
        for path in kept.note.empty_directories if kept.note else ():
            writer.make_folder(path)


def damaged(git: Runner, content: Content) -> tuple[str, ...]:
    """Return the paths whose kept content is missing or is not what its id says; () where all is intact.

    A folder is named with a slash at its end, the whole tree as "/".
    """
    try:
        entries = _all_entries(git, content.tree)
    except StoreError:
        return ("/",)
    bad = _damaged_objects(git, list(dict.fromkeys(entry.object_id for entry in entries)))
    return tuple(entry.path for entry in entries if entry.object_id in bad)


def refuse_damaged(git: Runner, object_ids: Sequence[str]) -> None:
    """Raise StoreError where one of the objects cannot be brought back as it was."""
    notes.refuse_missing(len(_damaged_objects(git, list(dict.fromkeys(object_ids)))))


def _all_entries(git: Runner, tree: str) -> list[Entry]:
    """List the tree itself, its folders and its files."""
    lines = [item.partition(b"\t") for item in git.run("ls-tree", "-r", "-t", "-z", tree).split(b"\0") if item]
    found = [Entry("/", "040000", tree)]
    for about, _, path in lines:
        mode, kind, object_id = about.decode().split(" ")
        name = os.fsdecode(path)
        found.append(Entry(name + "/" if kind == "tree" else name, mode, object_id))
    return found


def _damaged_objects(git: Runner, object_ids: Sequence[str]) -> set[str]:
    """Hash each object anew; git ends at an object it cannot unpack, so begin again behind it."""
    bad: set[str] = set()
    rest = list(object_ids)
    while rest:
        count = 0
        try:
            with git.stream("cat-file", "--batch", "--buffer", stdin=_lines(rest)) as output:
                for object_id in rest:
                    if not _is_intact(output, object_id):
                        bad.add(object_id)
                    count += 1
        except (EOFError, StoreError):
            bad.update(rest[count : count + 1])
            count += 1
        rest = rest[count:]
    return bad


def _is_intact(output: BinaryIO, object_id: str) -> bool:
    line = output.readline()
    if not line:
        raise EOFError
    header = line.decode().split()
    if len(header) != _HEADER_PARTS:
        return False
    digest = hashlib.sha1(f"{header[1]} {header[2]}\0".encode(), usedforsecurity=False)
    for chunk in _chunks(output, int(header[2])):
        digest.update(chunk)
    if output.read(1) != b"\n":
        raise EOFError
    return digest.hexdigest() == object_id


def _chunks(output: BinaryIO, size: int) -> Iterator[bytes]:
    while size:
        chunk = output.read(min(size, _CHUNK))
        if not chunk:
            raise StoreError("a kept object ends too early; run `ralph-tracker verify`")
        size -= len(chunk)
        yield chunk


def _difference(about: bytes, path: bytes) -> Difference:
    *both, status = about.decode().lstrip(":").split(" ")
    sides = ("" if each in {_NO_MODE, NO_OBJECT} else each for each in both)
    return Difference(os.fsdecode(path), cast("Status", status[0]), *sides)


def _lines(object_ids: Iterable[str]) -> bytes:
    return "".join(f"{object_id}\n" for object_id in object_ids).encode()
