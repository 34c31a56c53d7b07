"""Where a test stands, as far as its id tells: the file that it names, and the line that defines it."""

import re
from pathlib import Path
from typing import Final, NamedTuple

SIZE_CAP: Final = 1_000_000
_SEPARATOR: Final = "::"
_DEFINES: Final = r"^\s*(?:async\s+)?(?:def|func|fn|function)\s+(?:\([^)]*\)\s*)?{}\b"


class Place(NamedTuple):
    """Name a file, relative to the root with forward slashes, and a line in it (None: not known)."""

    file: str
    line: int | None


def place_of(root: Path, test: str) -> Place | None:
    """Return where a test stands, None where its id names no file of the tree.

    An id names a file by its path (`tests/test_a.py::test_b`) or as a module (`tests.test_a.TestC::test_b`).
    """
    parts = test.split(_SEPARATOR)
    name = parts[-1].partition("[")[0]
    for part in parts[:-1] or parts:
        file = next((path for path in _candidates(part) if _is_file(root, path)), None)
        if file is not None:
            return Place(file, _line(root / file, name))
    return None


def _candidates(part: str) -> list[str]:
    """Return the paths that a part of an id may mean: itself, else the module that a class stands in, inner first."""
    words = part.split(".")
    modules = ["/".join(words[:end]) + ".py" for end in range(len(words), 0, -1)] if all(words) else []
    return [part, *modules]


def _is_file(root: Path, path: str) -> bool:
    """Tell whether a path is a file of the tree; what a link leads out of it to is none."""
    try:
        found = (root / path).resolve()
        return found.is_relative_to(root.resolve()) and found.is_file() and not Path(path).is_absolute()
    except (OSError, ValueError):
        return False  # no file has such a name


def _line(file: Path, name: str) -> int | None:
    try:
        text = file.read_text("utf-8", "replace") if file.stat().st_size <= SIZE_CAP else ""
    except OSError:
        return None
    defines = re.compile(_DEFINES.format(re.escape(name)))
    return next((number for number, line in enumerate(text.splitlines(), 1) if defines.match(line)), None)
