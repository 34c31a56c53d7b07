"""Regular expressions that are compiled when they are first asked: most changes raise few of the questions."""

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any


class Pattern:
    """Be a regular expression as `re` has it; nothing is compiled before the first question.

    Of `words`, one stands in each match: a text without any of them is not searched.
    """

    def __init__(self, pattern: str, flags: int = 0, *, words: tuple[str, ...] = ()) -> None:
        self.pattern = pattern
        self._flags = flags
        self._words = words

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """Return the expression that `re` makes of it."""
        return re.compile(self.pattern, self._flags)

    @property
    def groupindex(self) -> dict[str, int]:
        """Return the numbers of its named groups."""
        return dict(self.compiled.groupindex)

    def search(self, text: str, start: int = 0) -> re.Match[str] | None:
        """Return the first match from a place on."""
        return self.compiled.search(text, start) if self._may_match(text) else None

    def match(self, text: str, start: int = 0) -> re.Match[str] | None:
        """Return the match that begins at a place."""
        return self.compiled.match(text, start)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Return the match of the whole text."""
        return self.compiled.fullmatch(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Yield the matches one after the other."""
        return self.compiled.finditer(text)

    def findall(self, text: str) -> list[Any]:
        """Return the texts of the matches, or of their groups."""
        return self.compiled.findall(text) if self._may_match(text) else []

    def split(self, text: str) -> list[str | Any]:
        """Return what stands between the matches."""
        return self.compiled.split(text)

    def sub(self, new: str | Callable[[re.Match[str]], str], text: str) -> str:
        """Return a text with each match replaced."""
        return self.compiled.sub(new, text)

    def _may_match(self, text: str) -> bool:
        # A generator that asks `word in text` takes longer than most searches.
        return not self._words or any(map(text.__contains__, self._words))
