"""Read values from other programs' events: invalid ones are None, texts are bounded, without control characters."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from ralph_tracker.short_text import shorten

Object = Mapping[str, Any]

NOTHING: Final[Object] = {}
_WHY: Final = 200
_MESSAGE: Final = 2_000
_GREATEST: Final = 2**53
_ESCAPE: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
# Control characters but tab and newline, surrogates, and bidirectional control characters.
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")


def count(value: object) -> int | None:
    """Return an integer of 0 or more, None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _GREATEST else None


def input_tokens(usage: Object) -> int | None:
    """Return the input tokens including cache reads and writes, None if unknown.

    Anthropic's field excludes the cache. If there is a total, it is from a program whose field includes it.
    """
    fresh, whole, output = (count(usage.get(key)) for key in ("input_tokens", "total_tokens", "output_tokens"))
    if fresh is None:
        return None
    if whole is not None and output is not None:
        return max(fresh, whole - output)
    cached = (count(usage.get(key)) or 0 for key in ("cache_read_input_tokens", "cache_creation_input_tokens"))
    return fresh + sum(cached)


def amount(value: object) -> float | None:
    """Return a finite number of 0 or more, None for anything else."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < _GREATEST:
        return None
    return float(value) if math.isfinite(value) else None


def seconds(milliseconds: object) -> float | None:
    """Return milliseconds as seconds, None for anything but a number."""
    value = amount(milliseconds)
    return None if value is None else value / 1_000


def text(value: object) -> str | None:
    """Return a text that is not blank, None for anything else."""
    return value if isinstance(value, str) and value.strip() else None


def inner(owner: Object, *keys: str) -> Object:
    """Return the object at the path of keys, {} if there is none."""
    for key in keys:
        value = owner.get(key)
        if not isinstance(value, dict):
            return NOTHING
        owner = value
    return owner


def objects(value: object) -> list[Object]:
    """Return the objects in a list, [] if it is not one."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def total(values: Iterable[int | None]) -> int | None:
    """Return the sum, None if it is empty or a part is unknown."""
    parts = list(values)
    known = [each for each in parts if each is not None]
    return sum(known) if known and len(known) == len(parts) else None


def word(owner: Object, key: str) -> str:
    """Return the text of that key, "" if there is none, so that it can be looked up in a table."""
    value = owner.get(key)
    return value if isinstance(value, str) else ""


def is_session(value: object) -> bool:
    """Return whether a value can be the id of a session, which becomes an argument of the client."""
    return isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9][\w-]{0,127}", value, flags=re.ASCII) is not None


def plain(words: str) -> str:
    """Return the words without colours, other escape sequences and control characters but tabs and newlines."""
    return _CONTROL.sub("", _ESCAPE.sub("", words) if "\x1b" in words else words)


def one_line(words: str | None) -> str | None:
    """Return the words as one printable line of at most 200 characters, None if there are none."""
    if words is None:
        return None
    shown = "".join(each if each.isprintable() else " " for each in plain(words[: 8 * _WHY]))
    return shorten(" ".join(shown.split()), _WHY) or None


def last_words(words: str | None) -> str | None:
    """Return the end of the words, at most 2,000 characters, None if there are none."""
    if words is None:
        return None
    end = plain(words[-2 * _MESSAGE :]).strip()
    return (end if len(end) <= _MESSAGE else f"…{end[1 - _MESSAGE :]}") or None


NUMBER: Final = r"\d{1,9}(?:,\d{3}){0,4}(?:\.\d{1,3})?[kKmM]?"


def rounded_count(number: str) -> int:
    """Return the count that a rounded number (such as 1.2k) means."""
    factor = {"k": 1_000, "m": 1_000_000}.get(number[-1].lower(), 1)
    return round(float(number.rstrip("kKmM").replace(",", "")) * factor)
