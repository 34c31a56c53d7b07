"""When an agent may be tried again, in its own words: a span ("try again in 5 minutes") or a time.

A time of day alone ("resets 3pm") names no day: it stays in the words for whoever has a clock.
"""

import re
from datetime import UTC, datetime
from typing import Final, NamedTuple

_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_UNIT: Final = r"(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])"
_PART: Final = re.compile(
    rf"(?P<number>\d{{1,9}}(?:\.\d{{1,9}})?)\s{{0,2}}(?P<unit>{_UNIT}|(?<=[0-9])[smhd](?=\d))", re.IGNORECASE
)
_SPAN: Final = re.compile(
    rf"(?:try again|retry(?:ing|[-_ ]?delay)?|resets?|wait|available)(?: again)?(?: in| after| for)?[\"':=\s]{{1,4}}"
    rf"(?P<span>(?:\d{{1,9}}(?:\.\d{{1,9}})?\s{{0,2}}(?:{_UNIT}|[smhd](?=\d))[\s,]{{0,2}}(?:and )?){{1,4}})",
    re.IGNORECASE,
)
_HEADER: Final = re.compile(r"retry[-_ ]after[\"':=\s]{1,4}(?P<seconds>\d{1,9}(?:\.\d{1,9})?)\b", re.IGNORECASE)
_EPOCH: Final = re.compile(r"(?:\||resets?_?at[\"':=\s]{1,4})(?P<epoch>\d{10}|\d{13})\b", re.IGNORECASE)
_ISO: Final = re.compile(
    r"(?:until|\bat|resets?|after)[\"':=\s]{1,4}"
    r"(?P<iso>\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d))",
    re.IGNORECASE,
)
_DATE: Final = re.compile(
    r"\bat (?P<month>[A-Z][a-z]{2}) (?P<day>\d{1,2})(?:st|nd|rd|th), (?P<rest>\d{4} \d{1,2}:\d\d [AP]M)\b"
)
_DIGITS_OF_SECONDS: Final = 10


class When(NamedTuple):
    """Hold a span in seconds and a time in epoch seconds, each None where it is not said."""

    after_s: float | None = None
    at: float | None = None


def when(words: str) -> When:
    """Return when the words say that it may be tried again."""
    return When(_span(words), _time(words))


def _span(words: str) -> float | None:
    header = _HEADER.search(words)
    span = _SPAN.search(words)
    if span:
        return sum(float(part["number"]) * _UNITS[_short(part["unit"])] for part in _PART.finditer(span["span"]))
    return float(header["seconds"]) if header else None


def _short(unit: str) -> str:
    lower = unit.lower()
    return "ms" if lower in {"ms", "millisecond", "milliseconds"} else lower[0]


def _time(words: str) -> float | None:
    epoch = _EPOCH.search(words)
    if epoch:
        digits = epoch["epoch"]
        return float(digits) if len(digits) == _DIGITS_OF_SECONDS else float(digits) / 1_000
    iso = _ISO.search(words)
    date = _DATE.search(words)
    try:
        if iso:
            return datetime.fromisoformat(iso["iso"].upper()).astimezone(UTC).timestamp()
        if date:
            # Without a zone it is the local time of the machine on which the agent runs, which is this one.
            said = f"{date['month']} {date['day']} {date['rest']}"
            return datetime.strptime(said, "%b %d %Y %I:%M %p").astimezone().timestamp()
    except (ValueError, OverflowError):
        return None
    return None
