"""Bytes that come in chunks, made into lines: a bounded state, however long they are and however they are cut."""

import re
from collections.abc import Iterator
from typing import Final

MAX_LINE: Final = 1 << 20
_END: Final = re.compile(rb"[\r\n]")


class Lines:
    """Cut bytes at newlines and carriage returns, which progress lines end with; what is no UTF-8 is replaced.

    A line of more than 1 MiB is dropped; `dropped` is how many were.
    """

    def __init__(self) -> None:
        self.dropped = 0
        self._begun = bytearray()
        self._dropping = False

    def take(self, chunk: bytes) -> Iterator[str]:
        """Yield the lines that end within the chunk, without their ends; blank ones are passed over."""
        start = 0
        for end in _END.finditer(chunk):
            self._add(memoryview(chunk)[start : end.start()])
            yield from self.end()
            start = end.end()
        self._add(memoryview(chunk)[start:])

    def end(self) -> Iterator[str]:
        """Yield the line that was begun, if there is one."""
        line = bytes(self._begun).decode(errors="replace")
        self._begun.clear()
        self._dropping = False
        if line.strip():
            yield line

    def _add(self, part: memoryview) -> None:
        if self._dropping:
            return
        if len(self._begun) + len(part) > MAX_LINE:
            self._begun.clear()
            self._dropping = True
            self.dropped += 1
            return
        self._begun += part


class Document:
    """Put together a JSON object that was printed over several lines, as long as it has at most 1 MiB."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._size = 0

    def take(self, line: str) -> str | None:
        """Return the object's text where the line ends it, None otherwise."""
        if line == "{":
            self._lines, self._size = [], 0
        elif not self._lines:
            return None
        self._size += len(line)
        if self._size > MAX_LINE:
            self._lines = []
            return None
        self._lines.append(line)
        if line != "}":
            return None
        whole, self._lines = "\n".join(self._lines), []
        return whole
