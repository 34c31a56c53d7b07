"""What the names of Python source always stand for, and which of its functions lead to a name."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final

from ralph_tracker.integrity.python.nodes import Way, functions_of
from ralph_tracker.integrity.python.questions import is_fixed, named_values
from ralph_tracker.integrity.python.syntax import FUNCTIONS, Function, dotted, nodes_below, tree_of

_ROUNDS: Final = 2
# What more functions use is no answer for the tests of one.
_MOST: Final = 12
_MAKING: Final = frozenset({"__init__", "__new__", "__call__", "__post_init__"})


class Meaning:
    """Tell what stands at one place of a file for a fixed value; `fixed` are the values of names that vary there."""

    def __init__(self, text: str, way: Way) -> None:
        self._text = text
        self._way = way

    def of(self, node: ast.AST) -> ast.expr | None:
        """Return the fixed expression that one always comes to, None where it may vary."""
        if isinstance(node, ast.Name | ast.Attribute):
            name = dotted(node)
            for step in reversed(self._way):
                if isinstance(step, FUNCTIONS):
                    if name in _inside(step):
                        return _inside(step)[name]
                    if name in _given(step):
                        return None
            return _at_top(self._text).get(name)
        return node if isinstance(node, ast.expr) and is_fixed(node) else None


@lru_cache(maxsize=64)
def _inside(function: Function) -> Mapping[str, ast.expr]:
    return named_values(function.body)


@lru_cache(maxsize=64)
def _given(function: Function) -> frozenset[str]:
    return frozenset(each.arg for each in nodes_below(function.args) if isinstance(each, ast.arg))


@lru_cache(maxsize=32)
def _at_top(text: str) -> Mapping[str, ast.expr]:
    """Return what the names of a module always stand for, those of its classes as `Class.name`. Raises Unparsable."""
    body = tree_of(text).body
    found = dict(named_values(body))
    for kind in body:
        if isinstance(kind, ast.ClassDef):
            held = named_values(kind.body).items()
            found.update((f"{owner}.{name}", value) for name, value in held for owner in (kind.name, "self", "cls"))
    return found


def places_of(way: Way) -> frozenset[str]:
    """Return the names of the functions that something stands in, of the class too where it makes its objects."""
    functions = [step.name for step in way if isinstance(step, FUNCTIONS)]
    kinds = (step.name for step in way if isinstance(step, ast.ClassDef))
    return frozenset(functions) | (frozenset(kinds) if _MAKING.intersection(functions) else frozenset())


def leading_to(names: Iterable[str], text: str) -> frozenset[str]:
    """Return the functions that use one of some names, by a function between them too, and the names themselves.

    Nothing more where many do. Raises Unparsable.
    """
    first = found = frozenset(filter(None, names))
    for _ in range(_ROUNDS):
        found |= {user for name in found for user in _users(text).get(name, ())}
    return found if len(found) <= _MOST else first


@lru_cache(maxsize=32)
def _users(text: str) -> Mapping[str, set[str]]:
    """Return the functions that use a name, by the name."""
    found: dict[str, set[str]] = {}
    for function in functions_of(text):
        for name in _used_by(function):
            found.setdefault(name, set()).add(function.name)
    return found


def _used_by(function: Function) -> Iterator[str]:
    for each in nodes_below(function):
        if isinstance(each, ast.Name):
            yield each.id
        elif isinstance(each, ast.Attribute):
            yield each.attr
