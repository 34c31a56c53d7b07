"""The syntax of a text in one of the languages that are looked into, by a tree-sitter grammar loaded where needed."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, NamedTuple

from ralph_tracker.integrity.languages import Language

if TYPE_CHECKING:
    import tree_sitter
    from tree_sitter import Node

# The package of a grammar and the function that hands it out.
_GRAMMARS: Final[Mapping[Language, tuple[str, str]]] = {
    "python": ("tree_sitter_python", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "go": ("tree_sitter_go", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "java": ("tree_sitter_java", "language"),
}
_MAX_BYTES: Final = 2_000_000
_MAX_DEPTH: Final = 1_000  # of brackets; parsing takes time that grows with its square
# A bracket, or what ends a statement: `<` is none where it compares, and is never closed then.
_BRACKET: Final = re.compile(r"[()\[\]{}<>;]")
_CHUNK: Final = 2_048  # a query reads one for each node whose text it asks
# The parser calls back about 17 times for 1,000 bytes; from the first error on it may take a thousand times as long.
_CALLS_AFTER_ERROR: Final = 200


class Syntax(NamedTuple):
    """Hold a text with its tree; where the text is no program, parts of the tree are errors."""

    language: Language
    data: bytes
    root: "Node"

    def text(self, node: "Node") -> str:
        """Return what a node reads."""
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def matches(self, query: str) -> Sequence[Mapping[str, Sequence["Node"]]]:
        """Return the matches of a tree-sitter query, each as its captures by name."""
        from tree_sitter import QueryCursor  # noqa: PLC0415  only where a file has to be parsed

        return [captures for _, captures in QueryCursor(_query(self.language, query)).matches(self.root)]


def syntax_of(language: Language, text: str) -> Syntax | None:
    """Return the syntax of a text, None where it is larger than 2 MB, nested deeper than programs are, or hopeless."""
    data = text.encode("utf-8", "replace")
    if len(data) > _MAX_BYTES or _is_deep(text):
        return None
    import tree_sitter  # noqa: PLC0415  only where a file has to be parsed

    parser = tree_sitter.Parser(_grammar(language))
    errors = 0

    def is_hopeless(_: int, has_error: bool) -> bool:  # noqa: FBT001  # the parser calls it so
        nonlocal errors
        errors += has_error
        return errors > _CALLS_AFTER_ERROR

    try:
        tree = parser.parse(lambda start, _: data[start : start + _CHUNK], progress_callback=is_hopeless)
    except ValueError:  # it was stopped
        return None
    return Syntax(language, data, tree.root_node)


def _is_deep(text: str) -> bool:
    if sum(map(text.count, "([{<")) <= _MAX_DEPTH:
        return False
    depth = angles = 0
    for bracket in _BRACKET.findall(text):
        if bracket in "([{":
            depth += 1
        elif bracket in ")]}":
            depth = max(0, depth - 1)
        elif bracket == "<":
            angles += 1
        elif bracket == ">":
            angles = max(0, angles - 1)
        if bracket in ";{}":
            angles = 0
        if depth + angles > _MAX_DEPTH:
            return True
    return False


@cache
def _grammar(language: Language) -> "tree_sitter.Language":
    import tree_sitter  # noqa: PLC0415  only where a file has to be parsed

    package, function = _GRAMMARS[language]
    return tree_sitter.Language(getattr(import_module(package), function)())


@cache
def _query(language: Language, query: str) -> "tree_sitter.Query":
    import tree_sitter  # noqa: PLC0415  only where a file has to be parsed

    return tree_sitter.Query(_grammar(language), query)
