"""One JSON object a line, among lines that are something else: what tools write that report while they run."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from ralph_tracker.formats.content import Content, parse_json
from ralph_tracker.formats.damage import DamageError
from ralph_tracker.formats.report import Unreadable

_TRIED: Final = 20

Object = Mapping[str, Any]


def first_objects(content: Content) -> tuple[Object, ...]:
    """Return the first 20 lines that are objects, which is enough to tell one format from another."""
    candidates = (line for line in lines(content) if line.startswith("{"))
    values = (parse_json(line) for line in islice(candidates, _TRIED))
    return tuple(value for value in values if isinstance(value, dict))


def objects(content: Content) -> Iterator[tuple[str, Object | None]]:
    """Yield each line that is not blank with its object, None where it holds none.

    Raises DamageError at a last line that is half an object: the report was cut short. A cut between two lines
    cannot be seen.
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
    """Yield the lines without holding them all; a line ends with a newline alone, carriage returns stay."""
    text, start = content.text, 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    if start < len(text):
        yield text[start:]
