"""What of a source text is comment, and what is code: by one pass over strings and comments, in any language."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from ralph_tracker.integrity.languages import language_of
from ralph_tracker.integrity.patterns import Pattern

_TEXT: Final = r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\''
_PYTHON: Final = Pattern(
    r'"""(?:[^"\\]|\\.|"(?!""))*(?:"""|\Z)|\'\'\'(?:[^\'\\]|\\.|\'(?!\'\'))*(?:\'\'\'|\Z)'
    rf"|{_TEXT}|(?P<comment>\#[^\n]*)",
    re.DOTALL,
)
_BRACES: Final = Pattern(
    rf"(?P<comment>//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z))|{_TEXT}|`(?:[^`\\]|\\.)*(?:`|\Z)", re.DOTALL
)
_SHELL: Final = Pattern(rf"{_TEXT}|(?P<comment>(?:^|(?<=\s))\#[^\n]*)", re.DOTALL | re.MULTILINE)


def _parts(path: str) -> Pattern:
    language = language_of(path)
    if language == "python":
        return _PYTHON
    return _SHELL if language is None else _BRACES


def comments_of(path: str, text: str) -> Iterator[str]:
    """Yield the comments of a text with their marks."""
    for match in _parts(path).finditer(text):
        if match["comment"] is not None:
            yield match["comment"]


@lru_cache(maxsize=64)
def code_of(path: str, text: str) -> str:
    """Return a text without its comments and with empty strings; its lines are not those of the text."""
    return _parts(path).sub(lambda match: " " if match["comment"] is not None else '""', text)
