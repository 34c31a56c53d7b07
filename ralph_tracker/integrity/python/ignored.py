"""What a conftest.py keeps from collection by name."""

import ast
from collections.abc import Iterator
from typing import Final

from ralph_tracker.integrity.python.syntax import tree_of

_NAMES: Final = frozenset({"collect_ignore", "collect_ignore_glob"})
_GROWING: Final = frozenset({"append", "extend"})


def ignored_by_collection(text: str) -> tuple[str, ...]:
    """Return the texts in `collect_ignore` and `collect_ignore_glob`, conditions aside. Raises Unparsable."""
    return tuple(dict.fromkeys(word for value in _values(tree_of(text)) for word in _words(value)))


def _values(tree: ast.Module) -> Iterator[ast.expr]:
    """Yield what is put into the lists where no condition is asked; under one, a platform is told apart."""
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if node.value is not None and any(isinstance(each, ast.Name) and each.id in _NAMES for each in targets):
                yield node.value
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            function = node.value.func
            owner = function.value if isinstance(function, ast.Attribute) and function.attr in _GROWING else None
            if isinstance(owner, ast.Name) and owner.id in _NAMES:
                yield from node.value.args


def _words(value: ast.expr) -> Iterator[str]:
    for node in ast.walk(value):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
