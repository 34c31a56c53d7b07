"""The tests of a JavaScript, TypeScript, Go, Rust or Java file."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from ralph_tracker.integrity.languages import Language, language_of
from ralph_tracker.integrity.other.gathering import Found
from ralph_tracker.integrity.other.go import tests_in as in_go
from ralph_tracker.integrity.other.java import tests_in as in_java
from ralph_tracker.integrity.other.javascript import tests_in as in_javascript
from ralph_tracker.integrity.other.rust import tests_in as in_rust
from ralph_tracker.integrity.other.source import Source
from ralph_tracker.integrity.source_tests import SourceTest

Reader = Callable[[Source], Iterable[Found]]
_READERS: Final[Mapping[Language, Reader]] = {
    **dict.fromkeys(("javascript", "typescript", "tsx"), in_javascript),
    "go": in_go,
    "rust": in_rust,
    "java": in_java,
}


def other_tests(path: str, text: str) -> tuple[SourceTest, ...]:
    """Return the tests of a file in their order. Raises Unparsable, also where the grammar is not installed."""
    language = language_of(path)
    if language is None or language not in _READERS:
        return ()
    source = Source(language, text)
    return tuple(_test(path, each, source.lines) for each in _READERS[language](source))


def _test(path: str, found: Found, lines: list[str]) -> SourceTest:
    return SourceTest(
        path=path,
        name=found.name,
        line=found.line,
        end=found.end,
        text="\n".join(lines[found.line - 1 : found.end]),
        assertions=found.assertions,
        skipped=found.skipped,
    )
