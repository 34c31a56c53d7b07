"""Which language a file is in, and whether it belongs to the tests: by its name alone."""

from collections.abc import Mapping
from typing import Final, Literal

from ralph_tracker.integrity.patterns import Pattern

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
_TEST_FOLDER: Final = Pattern(r"(^|/)(tests?|testing|__tests__|specs?|e2e)/")
_TEST_FILE: Final = Pattern(
    r"(^|/)(test_[^/]*\.py|[^/]*_tests?\.py|tests?\.py|conftest\.py|[^/]*[._-](test|spec)\.[cm]?[jt]sx?"
    r"|[^/]*_test\.go|[^/]*_test\.rs|(Test[A-Z0-9_][^/]*|[^/]*(Test|Tests|TestCase|IT))\.java)$"
)


def language_of(path: str) -> Language | None:
    """Return the language of a file, None where it is none that is looked into."""
    stem, dot, suffix = path.rpartition("/")[2].rpartition(".")
    return _BY_SUFFIX.get(dot + suffix.lower()) if stem else None


def is_test_path(path: str) -> bool:
    """Tell whether a file belongs to the tests: a test file, or anything in a folder of tests."""
    return _TEST_FILE.search(path) is not None or _TEST_FOLDER.search(path) is not None
