"""Fields of the events that test runners write, of which many are missing where they say nothing."""

from collections.abc import Mapping
from typing import Any

Event = Mapping[str, Any]


def text(event: Event, key: str) -> str:
    """Return the text of that name, "" where there is none."""
    value = event.get(key)
    return value if isinstance(value, str) else ""


def number(event: Event, key: str) -> float | None:
    """Return the number of that name, None where there is none."""
    value = event.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
