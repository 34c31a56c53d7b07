"""Part the tests inside source files from their source: Rust's `#[cfg(test)]`, vitest's `import.meta.vitest`."""

import re
from typing import Final

_START: Final = re.compile(
    r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod\s+\w+\s*\{"
    r"|if\s*\(\s*import\.meta\.vitest\s*\)\s*\{"
)
# Braces in strings, characters and comments do not count.
_BRACES: Final = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\\n]|\\.)'|//[^\n]*|(?P<brace>[{}])")


def parted(path: str, text: str) -> tuple[str, str]:
    """Return a source file without the block of tests that it holds, and that block, "" where it holds none."""
    start = _START.search(text) if re.search(r"\.(rs|[cm]?[jt]sx?)$", path) else None
    if start is None:
        return text, ""
    depth, end = 1, len(text)
    for found in _BRACES.finditer(text, start.end()):
        depth += {"{": 1, "}": -1}.get(found["brace"], 0)
        if not depth:
            end = found.end()
            break
    return text[: start.start()] + text[end:], text[start.start() : end]


def with_tests(path: str, source: str, other: str) -> str:
    """Return a source file with the tests that another form of it holds."""
    return f"{parted(path, source)[0].rstrip()}\n\n{parted(path, other)[1]}\n"


def differ(path: str, earlier: str, now: str) -> bool:
    """Return whether a source file held tests, and holds other ones now."""
    before = parted(path, earlier)[1]
    return bool(before) and before.split() != parted(path, now)[1].split()
