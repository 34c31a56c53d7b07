"""The published shapes of restore, verify, gc and doctor; a part of the table in `schemas`."""

from typing import Final, Literal

from pydantic import ConfigDict
from typing_extensions import TypedDict

_EXACT: Final = ConfigDict(extra="forbid")


class Restored(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # pydantic's own way to refuse more keys
    iteration: int | None
    undone: str | None
    undo: str


class Verified(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    damaged: dict[str, list[str]]
    collected: list[int]


class CollectedIteration(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    iteration: int
    bytes: int


class KeptIteration(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    iteration: int
    reasons: list[str]


class CollectionShape(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    loop_id: str
    keeps_files: bool
    collected: list[CollectedIteration]
    kept: list[KeptIteration]
    undo: list[str]
    leftovers: list[str]
    carried_out: bool
    freed_bytes: int | None


class Examined(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    what: str
    state: Literal["ok", "warning", "missing"]
    found: str
    next_step: str | None


class Examination(TypedDict):
    __pydantic_config__ = _EXACT  # type: ignore[misc]  # as above
    healthy: bool
    lines: list[Examined]
