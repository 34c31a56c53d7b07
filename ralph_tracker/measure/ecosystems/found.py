"""What an ecosystem says of a project."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Checks = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Found:
    """Hold what was found: how the ecosystem's own program is called, its version, and the tools it can run.

    `version` is None where that program does not run. `checks` are as a configuration has them, empty where nothing
    can be measured; `notes` say what was not found and what to do about it.
    """

    name: str
    call: tuple[str, ...] = ()
    version: str | None = None
    tools: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    checks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
