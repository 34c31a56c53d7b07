"""What a Python test leaves to others: the helpers that it calls and the fixtures that it asks for."""

import ast
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from ralph_tracker.integrity.changes import Side
from ralph_tracker.integrity.python.assertions import assertions_of
from ralph_tracker.integrity.python.nodes import functions_of
from ralph_tracker.integrity.python.syntax import Function
from ralph_tracker.integrity.source_tests import Assertion, Unparsable

_DEPTH: Final = 3
_KEPT: Final = 8


@lru_cache(maxsize=_KEPT)
def _by_name(texts: tuple[str, ...]) -> dict[str, list[Function]]:
    found: dict[str, list[Function]] = {}
    for text in texts:
        try:
            functions = functions_of(text)
        except Unparsable:
            continue
        for each in functions:
            found.setdefault(each.name, []).append(each)
    return found


def asserted_by_helpers(test: Function, sides: Iterable[Side]) -> int:
    """Return how many assertions stand in the functions of these files that a test calls or asks for as fixtures."""
    functions = _by_name(tuple(side.text for side in sides if side.language == "python"))
    seen = {test.name}
    waiting = names_used(test).intersection(functions)
    count = 0
    for _ in range(_DEPTH):
        waiting -= seen
        seen |= waiting
        found = [each for name in waiting for each in functions[name]]
        count += sum(each.vacuous is None for function in found for each in assertions_of(function))
        waiting = frozenset(name for each in found for name in names_used(each)).intersection(functions)
    return count


def helpers_of(text: str) -> list[tuple[Assertion, ...]]:
    """Return the assertions of each function of a file that is no test. Raises Unparsable."""
    return [assertions_of(each) for each in functions_of(text) if not each.name.startswith("test")]


def names_used(test: Function) -> frozenset[str]:
    """Return the names that a function calls or refers to, its parameters included."""
    given = test.args
    names = {each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
    for node in ast.walk(test):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
    return frozenset(names)
