"""Very many new files: their contents become one pack, ahead of the git that takes them in and finds them there.

That git hashes every file all the same, and writes what it does not find: a file that changes meanwhile, or a pack that
could not be made, costs time and nothing else. The same is true of trees.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Final

from ralph_tracker.errors import StoreError
from ralph_tracker.store.git.verbs import NO_OBJECT, Runner, quoted
from ralph_tracker.store.tree.reader import CHUNK, TreeReader

# The stream has an end of its own: without it a pack is of no use. Deltas cost more than they save here.
_OPTIONS: Final = ("--quiet", "--done", "--depth=0", "--date-format=raw")
# Trees are made of a commit only; nothing comes to its name, which is taken back in the same breath.
_COMMIT: Final = b"commit refs/heads/ahead\ncommitter ralph-tracker <ralph-tracker@localhost> 0 +0000\ndata 0\n"
_NO_COMMIT: Final = f"reset refs/heads/ahead\nfrom {NO_OBJECT}\n\n".encode()
# The time that fast-import takes for a folder grows with the square of it.
_WIDEST: Final = 2_000


def pack_ahead(git: Runner, root: Path, paths: Sequence[str], *, trees: bool) -> bool:
    """Write the contents of files below `root` into one pack, and tell whether that went well.

    With `trees` the files are all that the tree will have, and its folders are written too.
    """
    try:
        with git.feed("fast-import", *_OPTIONS) as feed:
            entries = list(_contents(feed, root, paths))
            if trees and _widest(paths) <= _WIDEST:
                feed.writelines((_COMMIT, *entries, b"\n", _NO_COMMIT))
            feed.write(b"done\n")
    except StoreError:  # the git that comes next says what is wrong
        return False
    return True


def _contents(feed: BinaryIO, root: Path, paths: Iterable[str]) -> Iterator[bytes]:
    """Write contents, and yield what places each in a tree; large ones are left out, as nobody should hold them."""
    mark = 0

    def take(chunks: Iterator[bytes]) -> tuple[str, int]:
        data = next(chunks, b"")
        if len(data) < CHUNK:
            feed.write(b"blob\nmark :%d\ndata %d\n" % (mark, len(data)))
            feed.write(data)
        return "", len(data)

    with TreeReader(root, take) as reader:
        for mark, path in enumerate(paths, 1):
            try:
                content = reader.read(path)
            except StoreError:  # it is gone, or something else by now
                continue
            if content.size < CHUNK:
                yield b"M %s :%d %s\n" % (content.mode.encode(), mark, quoted(path))


def _widest(paths: Iterable[str]) -> int:
    """Return how many files and folders the fullest folder holds."""
    held: Counter[str] = Counter()
    folders = {""}
    for path in paths:
        folder = path.rpartition("/")[0]
        held[folder] += 1
        while folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
            held[folder] += 1
    return max(held.values(), default=0)
