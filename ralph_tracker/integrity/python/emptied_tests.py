"""What takes the place of a test's own function: something that cannot fail, or that keeps the failure to itself."""

import ast
from collections.abc import Mapping
from typing import Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.constants import UNKNOWN
from ralph_tracker.integrity.python.handlers import is_broad, is_quiet
from ralph_tracker.integrity.python.looseness import HARMLESS
from ralph_tracker.integrity.python.nodes import constant_of
from ralph_tracker.integrity.python.stand_ins import MOCKS
from ralph_tracker.integrity.python.syntax import Function, dotted, nodes_below, nodes_in

# What a test of pytest is called by.
CALLED_BY: Final = frozenset({"obj", "_obj", "runtest", "function", "_testfunc"})
Functions = Mapping[str, Function]
_SUPPRESSING: Final = Pattern(r"(^|\.)(suppress|raises)$")
_PASSES_OVER: Final = (ast.Pass, ast.Return, ast.Continue, ast.Assign, ast.Assert)


def cannot_fail(value: ast.AST | None, functions: Functions) -> bool:
    """Tell whether what is put in the place of a test calls nothing that can fail; `functions` are the file's."""
    if isinstance(value, ast.Lambda):
        return not any(_may_fail(each) for each in nodes_below(value.body))
    if isinstance(value, ast.Call):
        return MOCKS.search(dotted(value.func)) is not None
    function = functions.get(value.id) if isinstance(value, ast.Name) else None
    return function is not None and not any(map(_may_fail, nodes_in(function)))


def is_muffled(value: ast.AST | None, functions: Functions) -> bool:
    """Tell whether what is put in the place of a test is made of a function that passes over failures."""
    if isinstance(value, ast.Name):
        return value.id in functions and muffles(functions[value.id])
    made = functions.get(dotted(value.func)) if isinstance(value, ast.Call) else None
    return made is not None and muffles(made)


def muffles(function: Function) -> bool:
    """Tell whether a function calls something and lets no failure of it be known."""
    for each in nodes_in(function):
        if isinstance(each, ast.Try) and _calls(each.body) and any(map(passes_over, each.handlers)):
            return True
        if isinstance(each, ast.With) and any(map(_suppresses, each.items)):
            return True
    return False


def passes_over(handler: ast.ExceptHandler) -> bool:
    """Tell whether a handler takes every failed assertion and does no more than print, warn or go on."""
    return is_broad(handler.type) and all(isinstance(each, _PASSES_OVER) or is_quiet(each) for each in handler.body)


def _suppresses(item: ast.withitem) -> bool:
    call = item.context_expr
    named = isinstance(call, ast.Call) and _SUPPRESSING.search(dotted(call.func))
    return isinstance(call, ast.Call) and bool(named) and any(map(is_broad, call.args))


def _calls(body: list[ast.stmt]) -> bool:
    return any(isinstance(node, ast.Call) for each in body for node in nodes_below(each))


def _may_fail(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return HARMLESS.search(dotted(node.func)) is None
    if isinstance(node, ast.Assert):
        return constant_of(node.test) in {UNKNOWN, False, None}
    return isinstance(node, ast.Raise)
