"""Decode the JSON output of a checker, with one-line errors."""

from typing import TypeVar

import msgspec

from ralph_tracker.errors import InputError

T = TypeVar("T")


def decoded(data: bytes, shape: type[T], tool: str, command: str) -> T:
    """Return the output decoded into that shape; `command` is what prints it. Raises InputError."""
    try:
        return msgspec.json.decode(data, type=shape)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError) as error:
        why = "is nested too deeply" if isinstance(error, RecursionError) else _first_line(error)
        raise InputError(f"integrity.tool {tool}: not what it prints: {why}; make it with `{command}`") from None


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


def unknown(tool: str, version: str, kind: str) -> InputError:
    """Return the error for an unknown kind of finding in a version of the tool."""
    return InputError(
        f"integrity.tool {tool}: version {version} tells of {kind!r}, which is not known here; "
        f"use a version of {tool} that this one was made for, or leave integrity.tool out"
    )
