"""Determine the language of a file by its name."""

from collections.abc import Mapping
from typing import Final, Literal

Language = Literal["python", "javascript", "typescript", "tsx", "go", "rust", "java"]
_BY_SUFFIX: Final[Mapping[str, Language]] = {
    ".py": "python",
    ".pyi": "python",
    ".js": "javascript",
    ".jsx": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".ts": "typescript",
    ".mts": "typescript",
    ".cts": "typescript",
    ".tsx": "tsx",
    ".go": "go",
    ".rs": "rust",
    ".java": "java",
}


def language_of(path: str) -> Language | None:
    """Return the language of a file, None if it is not supported."""
    stem, dot, suffix = path.rpartition("/")[2].rpartition(".")
    return _BY_SUFFIX.get(dot + suffix.lower()) if stem else None
