"""Settings as flat keys and plain values, however the file writes them."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from ralph_tracker.integrity.patterns import Pattern

Scalar = str | bool | int | float
Value = Scalar | tuple[Scalar, ...]
Settings = Mapping[str, Value]
MAX_SETTINGS: Final = 20_000
_MAX_KEY: Final = 1_000
_NUMBER: Final = Pattern(r"-?\d+(?:\.\d+)?")
_WORD_ENDS: Final = Pattern(r"[\s,]+")
_COMMENT: Final = Pattern(r"(?:^|\s)#.*")
_VERBOSE: Final = "(?x)"
_BRANCHES: Final = Pattern(r"\\.|[()|]", re.DOTALL)
_TRUE: Final = frozenset({"true", "yes", "on", "1", "error", "always"})


def flat(document: object, prefix: str = "") -> dict[str, Value]:
    """Return a document as `{a.b.c: value}`; lists become tuples, what stands in a list's tables joins their keys.

    What aliases expand beyond `MAX_SETTINGS` items is left out.
    """
    found: dict[str, Value] = {}
    waiting: list[tuple[str, Any]] = [(prefix, document)]
    left = MAX_SETTINGS
    while waiting and left > 0:
        key, value = waiting.pop()
        left -= 1 + (len(value) if isinstance(value, Mapping | list) else 0)
        if isinstance(value, Mapping):
            inner = [(f"{key}.{name}" if key else str(name), each) for name, each in value.items()]
            waiting.extend((name, each) for name, each in reversed(inner) if len(name) <= _MAX_KEY)
        elif isinstance(value, list):
            plain = tuple(each for each in value if isinstance(each, str | bool | int | float))
            if plain or not value:
                found[key] = joined(found.get(key), plain)
            waiting.extend((key, each) for each in reversed(value) if isinstance(each, Mapping | list))
        elif isinstance(value, str | bool | int | float):
            found[key] = value if key not in found else joined(found[key], (value,))
    return found


def joined(before: Value | None, more: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
    """Return a value with more behind it, as a tuple."""
    return (*scalars(before), *more)


def scalars(value: Value | None) -> tuple[Scalar, ...]:
    """Return a value as a tuple, () for None."""
    if value is None:
        return ()
    return value if isinstance(value, tuple) else (value,)


def words(value: Value | None) -> tuple[str, ...]:
    """Return the items of a list, or the words of a text that white space and commas part."""
    return tuple(word for text in _texts(value) for word in _WORD_ENDS.split(text) if word)


def lines(value: Value | None) -> tuple[str, ...]:
    """Return the items of a list, or the lines of a text without their comments."""
    return tuple(line.strip() for text in _texts(value) for line in text.splitlines() if line.strip())


def alternatives(value: Value | None) -> tuple[str, ...]:
    """Return what the regular expressions of a list or text find, each way of a `|` outside of groups on its own."""
    texts = [text for each in _texts(value) for text in ([each] if _VERBOSE in each else each.splitlines())]
    return tuple(way for text in texts for way in _ways(text) if way)


def _ways(text: str) -> Iterator[str]:
    bare = "".join(text.replace(_VERBOSE, "").split()) if _VERBOSE in text else text.strip()
    depth, closed, begin, ends = 0, 0, 0, list[tuple[int, int]]()
    for mark in _BRANCHES.finditer(bare):
        depth += {"(": 1, ")": -1}.get(mark.group(), 0)
        closed += mark.group() == ")" and depth <= 0
        if mark.group() == "|" and depth <= 0:
            ends.append((begin, mark.start()))
            begin = mark.end()
    if not ends and closed == 1 and depth == 0 and bare.startswith("(") and bare.endswith(")") and bare[1:2] != "?":
        yield from _ways(bare[1:-1])
        return
    yield from (bare[one:other] for one, other in (*ends, (begin, len(bare))))


def shell_words(value: Value | None) -> tuple[str, ...]:
    """Return the words of command line options, as a shell parts them."""
    if isinstance(value, tuple):
        return tuple(str(each) for each in value)
    return tuple(word for text in _texts(value) for word in split_shell(text))


def split_shell(text: str) -> list[str]:
    """Return the words of a command; where quotes do not close, white space parts them."""
    try:
        return shlex.split(text, comments=True)
    except ValueError:
        return text.split()


def numbers(value: Value | None) -> tuple[float, ...]:
    """Return the numbers that a value's items begin with, the least first."""
    found = (_NUMBER.match(str(each).strip()) for each in scalars(value) if not isinstance(each, bool))
    return tuple(sorted(float(match.group()) for match in found if match))


def is_on(value: Value | None) -> bool:
    """Tell whether a value means yes."""
    return value.strip().lower() in _TRUE if isinstance(value, str) else bool(value)


def shown(value: Value | Iterable[str] | None) -> str | None:
    """Return a value as a person writes it."""
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    return ", ".join(str(each) for each in value)


def _texts(value: Value | None) -> Iterator[str]:
    if isinstance(value, tuple):
        yield from (str(each) for each in value)
    elif isinstance(value, str):
        yield "\n".join(_COMMENT.sub("", line) for line in value.splitlines())
