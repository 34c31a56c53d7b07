"""Durations as people write them."""

import re

UNITS = {"s": 1, "m": 60, "h": 3600}
_PART = re.compile(r"(\d+)([a-z])")


def parse(text):
    """Give the seconds of '1h30m'."""
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(f"not a duration: {text!r}")
    return sum(int(number) * UNITS.get(unit, 0) for number, unit in parts)


def human(seconds):
    """Name every unit that it takes, as in '1h 30m'."""
    parts = []
    for unit in sorted(UNITS, key=UNITS.get, reverse=True):
        count, seconds = divmod(seconds, UNITS[unit])
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts) or "0s"
