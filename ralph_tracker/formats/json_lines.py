"""Read one JSON object per line among other lines, as tools write that report while they run."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from ralph_tracker.formats.report_bytes import Content, parse_json
from ralph_tracker.formats.unreadable import DamageError, Unreadable

_TRIED: Final = 20
_CHUNK: Final = 1 << 16

Object = Mapping[str, Any]


def first_objects(content: Content) -> tuple[Object, ...]:
    """Return the objects among the first 20 lines that start like one, which is enough to tell formats apart."""
    values = (parse_json(line) for line in islice(_beginning_like_objects(content.text), _TRIED))
    return tuple(value for value in values if isinstance(value, dict))


def _beginning_like_objects(text: str) -> Iterator[str]:
    """Yield the lines that begin with a brace; skips all others fast, because this runs on every text."""
    start = 0 if text.startswith("{") else text.find("\n{") + 1 or len(text)
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = text.find("\n{", end) + 1 or len(text)


def objects(content: Content) -> Iterator[tuple[str, Object | None]]:
    """Yield each non-blank line with its object, None if it holds none.

    Raises DamageError if the last line is half an object: the report was cut short. A cut between two lines cannot be
    detected.
    """
    line, cut = "", False
    for line in lines(content):
        value = parse_json(line) if line.startswith("{") else None
        cut = isinstance(value, Unreadable)
        if line.strip():
            yield line, value if isinstance(value, dict) else None
    if cut and not content.text.endswith("\n"):
        raise DamageError("cut short: the last line is half an object", content.text.count("\n") + 1, len(line) + 1)


def lines(content: Content) -> Iterator[str]:
    """Yield the lines without holding them all; only newlines end a line, carriage returns stay."""
    text, start = content.text, 0
    while (end := text.find("\n", start + _CHUNK)) >= 0:
        yield from text[start:end].split("\n")
        start = end + 1
    if start < len(text):
        yield from text[start:].removesuffix("\n").split("\n")
