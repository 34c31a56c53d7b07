"""Hooks of pytest and unittest that take tests out of what was collected."""

import ast
from collections.abc import Iterator
from typing import Final, NamedTuple

from ralph_tracker.integrity.python.narrowing_hooks import ADDOPTS, MAY_NARROW, begins_with_less, narrows
from ralph_tracker.integrity.python.syntax import FUNCTIONS, Function, dotted, tree_of

_ASKS: Final = frozenset({"getoption", "getvalue", "getini", "environ", "getenv", "option", "platform", "version_info"})
_TAKES_OUT: Final = frozenset({"clear", "remove", "pop"})
_ORDERS: Final = frozenset({"sorted", "reversed", "list"})


class Dropped(NamedTuple):
    """Hold a statement by which a hook leaves tests out, as text."""

    hook: str
    line: int
    about: str


def dropped_from_collection(text: str) -> tuple[Dropped, ...]:
    """Return the statements that leave tests out without asking an option or the platform. Raises Unparsable."""
    functions = [node for node in tree_of(text).body if isinstance(node, FUNCTIONS)]
    found = [(hook.name, node) for hook in functions if not _asks(hook) for node in _dropping(hook)]
    if MAY_NARROW.search(text):
        found += [(hook.name, node) for hook in functions for node in begins_with_less(hook)]
        found += [(ADDOPTS, node) for node in tree_of(text).body if ADDOPTS in text and narrows(node)]
    return tuple(Dropped(hook, node.lineno, ast.unparse(node)) for hook, node in found)


def _asks(hook: Function) -> bool:
    return any(
        (isinstance(node, ast.Attribute) and node.attr in _ASKS) or (isinstance(node, ast.Name) and node.id in _ASKS)
        for node in ast.walk(hook)
    )


def _dropping(hook: Function) -> Iterator[ast.stmt]:
    if hook.name == "pytest_collection_modifyitems":
        yield from (node for node in ast.walk(hook) if isinstance(node, ast.stmt) and _shrinks(node))
    elif hook.name == "pytest_ignore_collect":
        yield from (node for node in ast.walk(hook) if isinstance(node, ast.Return) and _is_true(node.value))
    elif hook.name == "load_tests":
        given = [each.arg for each in hook.args.args][1:2]
        if not any(isinstance(node, ast.Name) and node.id in given for node in ast.walk(hook)):
            yield hook.body[-1]


def _is_true(value: ast.expr | None) -> bool:
    return value is not None and not (isinstance(value, ast.Constant) and not value.value)


def _shrinks(node: ast.stmt) -> bool:
    if isinstance(node, ast.Delete):
        return any(isinstance(target, ast.Subscript) and dotted(target.value) == "items" for target in node.targets)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        owner, _, method = dotted(node.value.func).rpartition(".")
        return owner == "items" and method in _TAKES_OUT
    if not isinstance(node, ast.Assign):
        return False
    slices = [
        target for target in node.targets if isinstance(target, ast.Subscript) and dotted(target.value) == "items"
    ]
    return any(isinstance(target.slice, ast.Slice) for target in slices) and _selects(node.value)


def _selects(value: ast.expr) -> bool:
    """Tell whether an expression holds less than all items: filtered, sliced or empty."""
    if isinstance(value, ast.ListComp | ast.GeneratorExp):
        return any(generator.ifs for generator in value.generators)
    if isinstance(value, ast.List | ast.Tuple):
        return not value.elts
    if isinstance(value, ast.Call) and dotted(value.func) in _ORDERS and value.args:
        return _selects(value.args[0])
    if isinstance(value, ast.Subscript):
        return not isinstance(value.slice, ast.Slice) or bool(value.slice.lower or value.slice.upper)
    return isinstance(value, ast.Call) and dotted(value.func) == "filter"
