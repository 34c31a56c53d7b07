"""Path patterns, as configurations hold them.

Paths are relative and written with `/`; a pattern stands for the whole path, from the root on:

    src/*.py        `*` is any run of characters without `/`, `?` is one of them, `[a-z]` and `[!a-z]` are classes
    src/**/*.py     `**` as a whole segment is any number of folders, also none
    src/**, src/    everything below the folder
    src, src/a.py   without a wildcard: that file, or everything below that folder

A leading `./` or `/` says nothing new. Upper and lower case differ, and a leading dot is a character like any other.
"""

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from ralph_tracker.errors import ConfigError

_WILDCARDS: Final = re.compile(r"[*?\[]")
_PARTS: Final = re.compile(r"(\*+|\?|\[!?\]?[^\]]*\])")
# Nothing that a check writes is looked for in the repository's own folder or in our records of earlier iterations.
_NEVER_WALKED: Final = frozenset({".git", ".aiwg"})


def has_wildcard(pattern: str) -> bool:
    """Tell whether a pattern stands for more than the path that it spells."""
    return _WILDCARDS.search(pattern) is not None


def matcher(patterns: Iterable[str]) -> Callable[[str], bool]:
    """Compile patterns into one test of a path; no pattern at all matches nothing.

    Raises ConfigError for a character class that cannot be.
    """
    one = "|".join(f"(?:{_compiled(pattern).pattern})" for pattern in patterns)
    whole = re.compile(one or r"(?!)", re.DOTALL)
    return lambda path: whole.fullmatch(path) is not None


def matching_files(base: Path, pattern: str) -> list[str]:
    """List what a pattern with wildcards finds below a folder, sorted, relative to it as the pattern is.

    Symbolic links to folders are not followed, so a link in a circle does no harm. Files that are no regular ones
    are listed as well: it is for the caller to say what is wrong with them.
    """
    segments = _clean(pattern).split("/")
    wild = next((at for at, segment in enumerate(segments) if has_wildcard(segment)), len(segments))
    fixed, rest = segments[:wild], segments[wild:]
    compiled = _compiled("/".join(rest))
    depth = None if "**" in rest else len(rest)
    return sorted("/".join([*fixed, path]) for path in _walk(base.joinpath(*fixed), depth) if compiled.fullmatch(path))


def _walk(start: Path, depth: int | None) -> Iterable[str]:
    for folder, folders, files in os.walk(start):
        below = Path(folder).relative_to(start)
        enough = depth is not None and len(below.parts) + 1 >= depth
        folders[:] = [] if enough else [name for name in folders if name not in _NEVER_WALKED]
        yield from ((below / name).as_posix() for name in files)


def _clean(pattern: str) -> str:
    return re.sub(r"^(?:\./+|/+)+", "", pattern)


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(_regex(_clean(pattern)), re.DOTALL)
    except re.error as error:
        raise ConfigError(f"the pattern {pattern!r} cannot be used: {error}; write [ as [[] to mean itself") from error


def _regex(pattern: str) -> str:
    if pattern in {".", ""}:
        return ".+"
    if not has_wildcard(pattern):
        return re.escape(pattern.rstrip("/")) + "(?:/.+)?"
    if pattern.endswith("/"):
        pattern += "**"
    *leading, last = pattern.split("/")
    return "".join(map(_folder, leading)) + (".+" if last == "**" else _segment(last))


def _folder(segment: str) -> str:
    return "(?:[^/]+/)*" if segment == "**" else _segment(segment) + "/"


def _segment(segment: str) -> str:
    return "".join(map(_part, _PARTS.split(segment)))


def _part(part: str) -> str:
    if part.startswith("*"):
        return "[^/]*"
    if part == "?":
        return "[^/]"
    if part.startswith("[") and part.endswith("]") and len(part) > 1:
        negated = part[1] == "!"
        body = re.sub(r"([^\w\s-])", r"\\\1", part[1 + negated : -1])
        return f"(?!/)[{'^' if negated else ''}{body}]"
    return re.escape(part)
