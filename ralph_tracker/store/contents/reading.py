"""What becomes of a content that is read from the tree: it is kept, or only hashed."""

from collections.abc import Iterator

from ralph_tracker.store.contents.objects import Objects
from ralph_tracker.store.files import measured
from ralph_tracker.store.tree.reader import CHUNK, Take


def keeping(objects: Objects) -> Take:
    """Return what stages a content; a small one in one piece, as it may be there already."""

    def take(chunks: Iterator[bytes]) -> tuple[str, int]:
        first = next(chunks, b"")
        if len(first) < CHUNK:
            return objects.add(first), len(first)
        return objects.add_chunks(_with_first(first, chunks))

    return take


def hashing(chunks: Iterator[bytes]) -> tuple[str, int]:
    """Keep nothing, and tell what the id would be."""
    size, name = measured(chunks)
    return name, size


def _with_first(first: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from chunks
