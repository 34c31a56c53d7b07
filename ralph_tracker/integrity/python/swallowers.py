"""Which functions and classes of a Python file pass over the failures of what they call, wrap or manage."""

import ast
from functools import lru_cache
from typing import Final

from ralph_tracker.integrity.python.assertions import statements_of
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
        functions = [each.name for each in functions_of(text) if not each.name.startswith("test") and _swallows(each)]
    except (Unparsable, RecursionError):
        return _NONE
    return frozenset((*classes, *functions))


def _always_exits(statement: ast.stmt) -> bool:
    return isinstance(statement, FUNCTIONS) and statement.name in _EXITS and answer_of(statement) is True


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
    """Tell whether statements yield to whoever is managed, or call what was given."""
    for part in body:
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
