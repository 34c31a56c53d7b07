"""Numbers out of foreign JSON: counts and percentages that are what they say, or DamageError."""

import math
from collections.abc import Mapping
from typing import Final

from ralph_tracker.formats.damage import DamageError

_SHOWN: Final = 40
_WHOLE: Final = 100


def mapping(owner: Mapping[str, object], key: str) -> Mapping[str, object]:
    """Return the object of that name. Raises DamageError where there is none."""
    value = owner.get(key)
    if not isinstance(value, dict):
        raise DamageError(f"{key} is {_shown(value)}, not an object")
    return value


def count(owner: Mapping[str, object], key: str) -> int:
    """Return a whole number of 0 or more. Raises DamageError for anything else."""
    value = owner.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise DamageError(f"{key} is {_shown(value)}, not a count")
    return value


def percent(owner: Mapping[str, object], key: str) -> float:
    """Return a number from 0 to 100. Raises DamageError for anything else."""
    value = owner.get(key)
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    if not 0 <= number <= _WHOLE:  # which NaN is not
        raise DamageError(f"{key} is {_shown(value)}, not a percentage from 0 to 100")
    return float(number)


def _shown(value: object) -> str:
    if value is None:
        return "missing"
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
