"""Read small JSON files; imports nothing heavy, since `loop-decision` lives on it."""

import json
from pathlib import Path
from typing import Any


def read_json(path: Path) -> Any:  # noqa: ANN401  # any document
    """Return the document in a file, None where there is none or it is damaged."""
    try:
        return json.loads(path.read_bytes().decode("utf-8", "surrogatepass"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None


def read_lines(path: Path) -> list[Any]:
    """Return the documents of a file of JSON lines, None in place of a damaged one; a torn last line is dropped."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    return [_line(line) for line in data.split(b"\n")[:-1] if line]


def _line(line: bytes) -> Any:  # noqa: ANN401  # any document
    try:
        return json.loads(line)
    except ValueError:
        return None
