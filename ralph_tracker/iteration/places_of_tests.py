"""Find where a test stands in the source, from its id."""

import re
from pathlib import Path
from typing import Final, NamedTuple

SIZE_CAP: Final = 1_000_000
_SEPARATOR: Final = "::"
_DEFINES: Final = r"^\s*(?:async\s+)?(?:def|func|fn|function)\s+(?:\([^)]*\)\s*)?{}\b"


class SourceLine(NamedTuple):
    """A file, relative to the root with forward slashes, and a line in it (None: unknown)."""

    file: str
    line: int | None

    @property
    def text(self) -> str:
        """Return `file:line`, only the file where the line is unknown."""
        return self.file if self.line is None else f"{self.file}:{self.line}"


def place_of(root: Path, test: str) -> SourceLine | None:
    """Return the location of a test, None if its id names no file of the tree.

    An id names a file by its path (`tests/test_a.py::test_b`) or as a module (`tests.test_a.TestC::test_b`).
    """
    parts = test.split(_SEPARATOR)
    name = parts[-1].partition("[")[0]
    for part in parts[:-1] or parts:
        file = next((path for path in _candidates(part) if _is_file(root, path)), None)
        if file is not None:
            return SourceLine(file, _line(root / file, name))
    return None


def _candidates(part: str) -> list[str]:
    """Return the paths that a part of an id may mean: itself, or the module of a class, inner first."""
    words = part.split(".")
    modules = ["/".join(words[:end]) + ".py" for end in range(len(words), 0, -1)] if all(words) else []
    return [part, *modules]


def _is_file(root: Path, path: str) -> bool:
    """Return whether a path is a file of the tree; a link that leads out of the tree is not."""
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
