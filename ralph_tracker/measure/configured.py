"""The checks of a frozen configuration, ready to run."""

import re
from collections.abc import Mapping
from typing import Any, Final

from ralph_tracker.errors import ConfigError
from ralph_tracker.measure.checks import Check, in_order

_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h)?")
_SECONDS: Final[Mapping[str, int]] = {"s": 1, "m": 60, "h": 3600}


def checks_from(document: Mapping[str, Any]) -> tuple[Check, ...]:
    """Return the checks of a configuration document in the order in which they run.

    Raises ConfigError for a time limit that is none, and as `in_order` does.
    """
    checks = [_check(name, section) for name, section in document.get("checks", {}).items()]
    return in_order(checks)


def _check(name: str, section: Mapping[str, Any]) -> Check:
    return Check(
        name=name,
        run=section["run"],
        kind=section.get("kind"),
        reports=tuple(section.get("reports") or ()),
        format=section.get("format"),
        cwd=section.get("cwd") or ".",
        env=section.get("env") or {},
        needs=tuple(section.get("needs") or ()),
        timeout_s=seconds(name, section.get("timeout", "15m")),
    )


def seconds(name: str, limit: str | float) -> float:
    """Return a time limit in seconds: a number, or a number with s, m or h. Raises ConfigError."""
    found = _DURATION.fullmatch(str(limit).strip())
    if found is None or float(found[1]) <= 0:
        raise ConfigError(f"checks.{name}.timeout: {limit!r} is no time; write seconds, or 90s, 15m, 1h")
    return float(found[1]) * _SECONDS[found[2] or "s"]
