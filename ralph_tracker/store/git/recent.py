"""Contents that were read a moment ago: one iteration asks for those of its changed files several times."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ralph_tracker.store.git.objects import each_blob
from ralph_tracker.store.git.verbs import Runner

LARGEST: Final = 1 << 20
MOST: Final = 16 << 20


class Recent:
    """Read contents by their ids, and hold those that were read whole: what an id names never changes.

    One of more than `largest` bytes is not held, nor any that would make it more than `most` bytes altogether.
    """

    def __init__(self, git: Runner, *, largest: int = LARGEST, most: int = MOST) -> None:
        self._git = git
        self._largest = largest
        self._left = most
        self._held: dict[str, bytes] = {}

    def each(self, object_ids: Sequence[str]) -> Iterator[Iterator[bytes]]:
        """Yield each content in chunks, as `each_blob` does; git is asked only for those that are not held."""
        held = {each: self._held[each] for each in object_ids if each in self._held}
        read = each_blob(self._git, [each for each in object_ids if each not in held])
        for object_id in object_ids:
            yield iter((held[object_id],)) if object_id in held else self._holding(object_id, next(read))
        for _ in read:  # none is left: git is waited for, and its status looked at
            pass

    def _holding(self, object_id: str, chunks: Iterable[bytes]) -> Iterator[bytes]:
        parts, size = [], 0
        for chunk in chunks:
            size += len(chunk)
            if size <= self._largest:
                parts.append(chunk)
            yield chunk
        if size <= min(self._largest, self._left) and object_id not in self._held:
            self._held[object_id] = b"".join(parts)
            self._left -= size
