"""Read the JSON that a checker prints, and say in one line what is wrong with it."""

from typing import TypeVar

import msgspec

from ralph_tracker.errors import InputError

T = TypeVar("T")


def decoded(data: bytes, shape: type[T], tool: str, command: str) -> T:
    """Return the document in the shape that the tool's has; `command` prints it. Raises InputError."""
    try:
        return msgspec.json.decode(data, type=shape)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError) as error:
        why = "is nested too deeply" if isinstance(error, RecursionError) else _first_line(error)
        raise InputError(f"integrity.tool {tool}: not what it prints: {why}; make it with `{command}`") from None


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


def unknown(tool: str, version: str, kind: str) -> InputError:
    """Return the error for a kind of finding that a version of the tool has and we do not know."""
    return InputError(
        f"integrity.tool {tool}: version {version} tells of {kind!r}, which is not known here; "
        f"use a version of {tool} that this one was made for, or leave integrity.tool out"
    )
