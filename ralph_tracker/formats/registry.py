"""The table of formats, and how bytes are told apart: by what they hold, never by a file's name.

A new format is one file with `sniff` and `read`, one line in FORMATS, one folder in fixtures/reports/.
"""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from ralph_tracker.formats import coveragepy, junit, markup, mypy_json, mypy_text, ruff
from ralph_tracker.formats.content import DEFAULT_LIMITS, Content, DamageError, Limits
from ralph_tracker.formats.report import EMPTY, Kind, Report, TypeReport, Unreadable


@dataclass(frozen=True, slots=True)
class Format:
    """Describe one format.

    `sniff` says whether the content looks like it, however damaged further on; `read` returns the report or raises
    DamageError. `silence` is what an empty output means when the tool exited 0; None where the tool writes
    something even then.
    """

    name: str
    kind: Kind
    sniff: Callable[[Content], bool]
    read: Callable[[Content], Report]
    silence: Report | None = None


# In the order in which they are tried: exact ones first, text last.
FORMATS: Final[tuple[Format, ...]] = (
    Format("junit", "tests", junit.sniff, junit.read),
    Format("coveragepy-json", "coverage", coveragepy.sniff, coveragepy.read),
    Format("ruff-json", "lint", ruff.sniff, ruff.read),
    Format("mypy-json", "types", mypy_json.sniff, mypy_json.read, silence=TypeReport()),
    Format("mypy-text", "types", mypy_text.sniff, mypy_text.read, silence=TypeReport()),
)
BY_NAME: Final[Mapping[str, Format]] = {each.name: each for each in FORMATS}


def read(data: bytes, *, format: str | None = None, limits: Limits = DEFAULT_LIMITS) -> Report | Unreadable:  # noqa: A002
    """Return the report that the bytes are, in that format (None: the one they look like), or Unreadable.

    Never raises, whatever the bytes. Empty input, white space included, is Unreadable with `empty` set, never a
    report of zeros: only a caller who knows that the tool ran and exited 0 may take it for one, as
    `BY_NAME[format].silence`, where the format has it (mypy's `--output=json` writes nothing when it finds nothing).
    """
    if len(data) > limits.max_bytes:
        return Unreadable(f"{len(data)} bytes are more than the limit of {limits.max_bytes}")
    content = Content(data, limits)
    if not content.opening:
        return Unreadable(EMPTY)
    if format is not None and format not in BY_NAME:
        return _unknown(format)
    chosen = BY_NAME[format] if format is not None else recognise(content)
    if chosen is None:
        return _unrecognised(content)
    try:
        return chosen.read(content)
    except DamageError as damage:
        return damage.unreadable


def recognise(content: Content) -> Format | None:
    """Return the format that the content looks like, None where it looks like none."""
    return next((each for each in FORMATS if each.sniff(content)), None)


def _unknown(name: str) -> Unreadable:
    near = difflib.get_close_matches(name, BY_NAME, n=1)
    hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(BY_NAME)}"
    return Unreadable(f"no format is called {name!r}; {hint}")


def _unrecognised(content: Content) -> Unreadable:
    """Say as closely as possible why the content is no report that is known."""
    if content.opening.startswith("<"):
        root = markup.root_of(content)
        return root if isinstance(root, Unreadable) else Unreadable(f"XML with the root <{root}>, no known report")
    if content.opening[0] in "{[" and isinstance(content.json, Unreadable):
        return content.json
    if content.opening[0] in "{[":
        return Unreadable("JSON, but no known report")
    return Unreadable("not a report of a known format")
