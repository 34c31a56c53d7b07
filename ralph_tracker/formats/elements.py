"""What the readers of XML share: where in the document they are, how deep it may go, and numbers out of attributes."""

import math
from collections.abc import Mapping
from typing import Final

from ralph_tracker.formats import markup
from ralph_tracker.formats.content import Content
from ralph_tracker.formats.damage import DamageError


class Elements:
    """Walk one XML document: `opened` and `closed` are told local names, `path` leads to the element around.

    `TEXTS` are the elements whose text is wanted: when such a one is closed, `text` is that.
    """

    TEXTS: frozenset[str] = frozenset()

    def __init__(self, content: Content) -> None:
        self.path: list[str] = []
        self.text = ""
        self._gathered = markup.Text()
        self._content = content
        self._max_depth = content.limits.max_depth

    def walk(self) -> None:
        """Read the document. Raises DamageError where it is malformed, nested too deep, or refused by `opened`."""
        self._content.stream(self.start, self.end, self._gathered)

    def opened(self, name: str, attributes: Mapping[str, str]) -> None:
        """Take an element that begins; the last of `path` is the one around it."""

    def closed(self, name: str) -> None:
        """Take an element that ends; the last of `path` is the one around it."""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Take what the parser says; a reader may handle elements of which there are very many itself."""
        local = markup.local_name(name)
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
    """Return a whole number of 0 or more, None where the attribute is missing or holds something else."""
    text = attributes.get(key, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS else None


def percent(attributes: Mapping[str, str], key: str, *, whole: int = _WHOLE) -> float | None:
    """Return a share as a number from 0 to 100, where `whole` is how all is written; None for anything else."""
    try:
        number = float(attributes.get(key, "")) * _WHOLE / whole
    except ValueError:
        number = math.nan
    return round(number, 6) if 0 <= number <= _WHOLE else None


def last_digit(text: str) -> float:
    """Return what the last digit of a decimal number is worth: 0.01 for 87.35, 1 for 87."""
    return float(10 ** -len(text.partition(".")[2]))
