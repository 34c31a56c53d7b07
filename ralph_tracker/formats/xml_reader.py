"""Shared by the XML readers: the position in the document, the depth limit, and numbers in attributes."""

import math
from collections.abc import Mapping
from typing import Final, Self

from ralph_tracker.formats.report_content import Content, DamageError, Text, local_name


class Elements:
    """Walk one XML document: `opened` and `closed` get local names, `path` leads to the enclosing element.

    `TEXTS` are the elements whose text is needed: when one is closed, `text` holds it.
    """

    TEXTS: frozenset[str] = frozenset()

    def __init__(self, content: Content) -> None:
        self.path: list[str] = []
        self.text = ""
        self._gathered = Text()
        self._content = content
        self._max_depth = content.limits.max_depth

    def walk(self) -> Self:
        """Read the document. Raises DamageError if it is malformed, nested too deeply, or refused by `opened`."""
        self._content.stream(self.start, self.end, self._gathered)
        return self

    def opened(self, name: str, attributes: Mapping[str, str]) -> None:
        """Handle the start of an element; the last of `path` is its parent."""

    def closed(self, name: str) -> None:
        """Handle the end of an element; the last of `path` is its parent."""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle a start event of the parser; a reader may override it for very frequent elements."""
        local = local_name(name)
        self.opened(local, attributes)
        self.path.append(local)
        if local in self.TEXTS:
            self._gathered.begin()
        if len(self.path) > self._max_depth:
            raise DamageError(f"elements are nested deeper than {self._max_depth}")

    def end(self, _name: str) -> None:
        local = self.path.pop()
        if local in self.TEXTS:
            self.text = self._gathered.end()
        self.closed(local)


_MAX_DIGITS: Final = 18
_WHOLE: Final = 100


def count(attributes: Mapping[str, str], key: str) -> int | None:
    """Return a whole number, None if the attribute is missing or anything else.

    What no count can be is kept, so that it contradicts what is listed: a negative one, and for more than 18 digits the
    largest of these.
    """
    text = attributes.get(key, "")
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal()):
        return None
    size = int(digits) if len(digits) <= _MAX_DIGITS else 10**_MAX_DIGITS - 1
    return size if digits == text else -size


def percent(attributes: Mapping[str, str], key: str, *, whole: int = _WHOLE) -> float | None:
    """Return a share as a number from 0 to 100, given that `whole` means 100 %; None for anything else."""
    try:
        number = float(attributes.get(key, "")) * _WHOLE / whole
    except ValueError:
        number = math.nan
    return round(number, 6) if 0 <= number <= _WHOLE else None


def last_digit(text: str) -> float:
    """Return the value of one unit in the last digit of a decimal number: 0.01 for 87.35, 1 for 87."""
    return float(10 ** -len(text.partition(".")[2]))
