"""What changed around the tests of a Python file: fixtures, set-ups, helpers and constants that they use."""

import ast
from collections.abc import Iterator
from typing import Final

from ralph_tracker.integrity.python.replacing import SET_UPS
from ralph_tracker.integrity.python.syntax import FUNCTIONS, dotted, lines_of, tree_of
from ralph_tracker.integrity.source_tests import SEPARATOR

_IMPORTS: Final = (ast.Import, ast.ImportFrom)
# Stands for all tests of a file, where something that is no definition runs before them.
ALL: Final = ""


def changed_around(old: str, new: str) -> frozenset[str]:
    """Return the names of what a file has around its tests that it did not have like this. Raises Unparsable."""
    lines = lines_of(new)
    return frozenset(_names(tree_of(new).body, lines, old, ""))


def _names(body: list[ast.stmt], lines: list[str], old: str, kind: str) -> Iterator[str]:
    for node in body:
        text = "\n".join(lines[_first(node) - 1 : node.end_lineno])
        if text in old or isinstance(node, _IMPORTS):
            continue
        if isinstance(node, ast.ClassDef):
            head = "\n".join(lines[_first(node) - 1 : _first(node.body[0]) - 1])
            if head and head not in old:
                yield f"{node.name}{SEPARATOR}"
            yield from _names(node.body, lines, old, f"{node.name}{SEPARATOR}")
            if not any(isinstance(each, FUNCTIONS) and each.name.startswith("test") for each in node.body):
                yield node.name
        elif isinstance(node, FUNCTIONS):
            if not node.name.startswith("test"):
                yield (kind or ALL) if node.name in SET_UPS else node.name
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            yield from _bound(node) or [kind or ALL]


def concerns(name: str, text: str, changed: frozenset[str]) -> bool:
    """Tell whether a test of that name and text may be about what changed around it."""
    return any(name.startswith(each) if each.endswith(SEPARATOR) else each in text for each in changed)


def _bound(node: ast.stmt) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [dotted(each) for each in targets if isinstance(each, ast.Name)]


def _first(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])
