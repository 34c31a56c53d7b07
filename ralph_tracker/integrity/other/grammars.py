"""The syntax of a text in one of the other languages, by a tree-sitter grammar that is loaded where one is needed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

from ralph_tracker.integrity.languages import Language
from ralph_tracker.integrity.source_tests import Unparsable

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Query, Tree

MAX_BYTES: Final = 500_000
MAX_DEPTH: Final = 1_000
_TOO_DEEP: Final = "is nested too deeply"
_UNREADABLE: Final = "is no {} that can be read"
# The parser calls back about 17 times for 1,000 bytes; from the first error on it may take a thousand times as long.
_CALLS_AFTER_ERROR: Final = 200
_CHUNK: Final = 65_536
_OPENING: Final = "([{<"
# A bracket, or what ends a statement: `<` is none where it compares, and is never closed then.
_BRACKET: Final = re.compile(r"[()\[\]{}<>;]")
_SCRIPT: Final = """
[(call_expression) (member_expression) (if_statement) (function_declaration)
 (variable_declarator value: [(arrow_function) (function_expression)])] @node
"""


@dataclass(frozen=True, slots=True)
class Grammar:
    """Describe a grammar: its package, the function that hands it out, and the nodes that its readers ask for."""

    package: str
    function: str
    nodes: str


_GRAMMARS: Final[Mapping[Language, Grammar]] = {
    "javascript": Grammar("tree-sitter-javascript", "language", _SCRIPT),
    "typescript": Grammar("tree-sitter-typescript", "language_typescript", _SCRIPT),
    "tsx": Grammar("tree-sitter-typescript", "language_tsx", _SCRIPT),
    "go": Grammar(
        "tree-sitter-go",
        "language",
        "[(call_expression) (if_statement) (function_declaration) (method_declaration)] @node",
    ),
    "rust": Grammar(
        "tree-sitter-rust",
        "language",
        "[(macro_invocation) (if_expression) (function_item) (mod_item) (attribute_item) (call_expression)] @node",
    ),
    "java": Grammar(
        "tree-sitter-java",
        "language",
        "[(method_invocation) (assert_statement) (if_statement) (method_declaration)"
        " (class_declaration) (record_declaration) (interface_declaration)] @node",
    ),
}


def parsed(language: Language, text: str) -> tuple[bytes, "Tree"]:
    """Return a text as bytes and its tree, which may hold errors. Raises Unparsable, also without the grammar."""
    data = text.encode("utf-8", "replace")
    if len(data) > MAX_BYTES:
        raise Unparsable(f"larger than {MAX_BYTES // 1_000} kB")
    if _is_deep(text):
        raise Unparsable(_TOO_DEEP)
    parser, _ = _loaded(language)
    errors = 0

    def is_hopeless(_: int, has_error: bool) -> bool:  # noqa: FBT001  # the parser calls it so
        nonlocal errors
        errors += has_error
        return errors > _CALLS_AFTER_ERROR

    try:
        tree = parser.parse(lambda start, _: data[start : start + _CHUNK], progress_callback=is_hopeless)
    except ValueError:
        parser.reset()
        raise Unparsable(_UNREADABLE.format(language)) from None
    if tree.root_node.type == "ERROR":
        raise Unparsable(_UNREADABLE.format(language))
    return data, tree


def nodes_of(language: Language, tree: "Tree") -> list["Node"]:
    """Return the nodes of a tree that the readers of its language ask for, by their start, the outer ones first."""
    from tree_sitter import QueryCursor  # noqa: PLC0415  where a file of such a language changed

    found = QueryCursor(_loaded(language)[1]).captures(tree.root_node).get("node", [])
    return sorted(found, key=lambda node: (node.start_byte, -node.end_byte))


@cache
def _loaded(language: Language) -> tuple["Parser", "Query"]:
    grammar = _GRAMMARS[language]
    try:
        import tree_sitter  # noqa: PLC0415  where a file of such a language changed

        module = import_module(grammar.package.replace("-", "_"))
    except ImportError as error:
        name = (error.name or "").partition(".")[0].replace("_", "-")
        raise Unparsable(f"needs {name or grammar.package}, which is not installed") from None
    known = tree_sitter.Language(getattr(module, grammar.function)())
    return tree_sitter.Parser(known), tree_sitter.Query(known, grammar.nodes)


def _is_deep(text: str) -> bool:
    """Tell whether brackets are nested deeper than any program has them, those of types included."""
    if sum(map(text.count, _OPENING)) <= MAX_DEPTH:
        return False
    depth = angles = 0
    for found in _BRACKET.finditer(text):
        bracket = found[0]
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
        if depth + angles > MAX_DEPTH:
            return True
    return False
