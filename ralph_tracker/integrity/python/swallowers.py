"""Which functions and classes of a Python file pass over the failures of what they call, wrap or manage."""

import ast
from functools import lru_cache
from typing import Final

from ralph_tracker.integrity.python.assertions import statements_of
from ralph_tracker.integrity.python.calls import is_assertion_name
from ralph_tracker.integrity.python.handlers import is_broad, is_loud, is_quiet
from ralph_tracker.integrity.python.nodes import functions_of, nodes_of
from ralph_tracker.integrity.python.stand_ins import answer_of
from ralph_tracker.integrity.python.syntax import FUNCTIONS, Function, dotted, nodes_below, nodes_in
from ralph_tracker.integrity.source_tests import Unparsable

_WORDS: Final = ("except", "finally", "suppress", "__exit__", "__aexit__")
_EXITS: Final = frozenset({"__exit__", "__aexit__"})
_NONE: Final = frozenset[str]()


@lru_cache(maxsize=32)
def swallowers_in(text: str) -> frozenset[str]:
    """Return the names of a file under which failures end, none where it is no program."""
    if not any(word in text for word in _WORDS):
        return _NONE
    try:
        classes = [each.name for each in nodes_of(text, ast.ClassDef) if any(map(_always_exits, each.body))]
        named = [each for each in functions_of(text) if not each.name.startswith("test")]
        functions = [each.name for each in named if _swallows(each)]
    except (Unparsable, RecursionError):
        return _NONE
    return frozenset((*classes, *functions))


def _always_exits(statement: ast.stmt) -> bool:
    if not isinstance(statement, FUNCTIONS) or statement.name not in _EXITS:
        return False
    return answer_of(statement) is True or (not may_demand(statement) and _passes_over_errors(statement))


def may_demand(function: Function) -> bool:
    """Tell whether a function raises or asserts something itself."""
    return any(isinstance(each, ast.Raise | ast.Assert) or _is_assertion(each) for each in nodes_in(function))


def _is_assertion(node: ast.AST) -> bool:
    name = dotted(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
    return name == "fail" or is_assertion_name(name)


def _passes_over_errors(function: Function) -> bool:
    """Tell whether a manager is left well whatever was raised in it: `return kind is not None`."""
    kind = function.args.args[1].arg if len(function.args.args) > 1 else ""
    for each in nodes_in(function):
        if isinstance(each, ast.Return) and each.value is not None and _asks_for_any(each.value, kind):
            return True
        if isinstance(each, ast.If) and _asks_for_any(each.test, kind):
            ends = each.body[-1]
            if isinstance(ends, ast.Return) and isinstance(ends.value, ast.Constant) and ends.value.value is True:
                return True
    return False


def _asks_for_any(node: ast.expr, kind: str) -> bool:
    """Tell whether it is asked if there was an error, or one of the kind by which assertions fail."""
    if isinstance(node, ast.BoolOp):
        return isinstance(node.op, ast.And) and all(_asks_for_any(each, kind) for each in node.values)
    if isinstance(node, ast.Call) and dotted(node.func) in {"issubclass", "isinstance", "bool"}:
        return len(node.args) == 1 or any(map(is_broad, node.args[1:]))
    if isinstance(node, ast.Compare):
        other = node.comparators[0]
        there = isinstance(node.ops[0], ast.IsNot) and isinstance(other, ast.Constant) and other.value is None
        return dotted(node.left) == kind and (there or (isinstance(node.ops[0], ast.Is | ast.Eq) and is_broad(other)))
    return isinstance(node, ast.Name) and node.id == kind


def _swallows(function: Function) -> bool:
    given = {each.arg for each in nodes_in(function) if isinstance(each, ast.arg)}
    for statement, _ in statements_of(function):
        if isinstance(statement, ast.Try) and _passes_over(statement) and _runs(statement.body, given):
            return True
        if isinstance(statement, ast.With) and _runs(statement.body, given):
            calls = [each.context_expr for each in statement.items if isinstance(each.context_expr, ast.Call)]
            if any(dotted(each).endswith("suppress") and any(map(is_broad, each.args)) for each in calls):
                return True
    return False


def _passes_over(statement: ast.Try) -> bool:
    if any(isinstance(each, ast.Return | ast.Break | ast.Continue) for each in statement.finalbody):
        return True
    broad = [each for each in statement.handlers if is_broad(each.type)]
    # What a helper keeps or hands on in its handler may be asked for by whoever calls it.
    return bool(broad) and all(map(is_quiet, statement.orelse)) and all(_is_mute(each) for each in broad)


def _is_mute(handler: ast.ExceptHandler) -> bool:
    return all(is_quiet(each) if _names(each, handler.name) else not is_loud(each) for each in handler.body)


def _names(statement: ast.stmt, name: str | None) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in nodes_below(statement))


def _runs(body: list[ast.stmt], given: set[str]) -> bool:
    """Tell whether statements yield to whoever is managed, call what was given, or assert it."""
    for part in body:
        if isinstance(part, ast.Assert) and any(isinstance(x, ast.Name) and x.id in given for x in nodes_below(part)):
            return True
        for each in nodes_below(part):
            if isinstance(each, ast.Yield) or (isinstance(each, ast.Call) and dotted(each.func) in given):
                return True
    return False


def swallowing_uses(test: Function, names: frozenset[str]) -> list[ast.expr]:
    """Return where a test is wrapped by one of these names, or gives it what to call; `suppress` wraps as well."""
    wrapped = [each for each in test.decorator_list if dotted(each).rpartition(".")[2] in names | {"suppress"}]
    called = [
        each for each in nodes_in(test) if isinstance(each, ast.Call) and dotted(each.func) in names and each.args
    ]
    return [*wrapped, *called]
