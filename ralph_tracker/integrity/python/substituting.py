"""Python expressions with what their names come to in their places, so far as they only ask for what these hold."""

import ast
import copy
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from ralph_tracker.integrity.python.syntax import dotted, nodes_below

Node = TypeVar("Node", bound=ast.AST)
Worth = Callable[[str], ast.expr | None]
# What asks for what it is given, and changes nothing of it.
_ASKING: Final = frozenset(
    {"all", "any", "len", "bool", "isinstance", "sum", "zip", "sorted", "list", "set", "tuple", "enumerate", "str"}
)
_VIEWS: Final = frozenset({"keys", "values", "items"})
_TELLING: Final = frozenset({"print", "pprint", "log", "logger", "logging"})
_LOOKED_INTO: Final = (
    *(ast.BoolOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Tuple, ast.List, ast.Set, ast.Starred, ast.comprehension),
    *(ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.Subscript),
)
_ASSIGNING: Final = (ast.Assign, ast.AnnAssign)


def substituted(node: ast.expr, worth: Worth) -> ast.expr:
    """Return an expression with what is known of its names in their places, itself where nothing is."""
    if isinstance(node, ast.Call) and _asserts(node):
        args = [_put(each, worth) for each in node.args]
        alike = all(one is other for one, other in zip(args, node.args, strict=True))
        return node if alike else ast.Call(node.func, args, node.keywords)
    return _put(node, worth)


def _asserts(call: ast.Call) -> bool:
    return "assert" in dotted(call.func).lower()


def _put(node: ast.expr, worth: Worth) -> ast.expr:
    if isinstance(node, ast.Name):
        known = worth(node.id) if isinstance(node.ctx, ast.Load) else None
        return node if known is None else known
    return _rebuilt(node, worth) if _is_looked_into(node) else node


def _rebuilt(node: Node, worth: Worth) -> Node:
    made: Node | None = None
    for name in node._fields:
        old = getattr(node, name, None)
        new = _within(old, worth)
        if new is not old:
            made = copy.copy(node) if made is None else made
            setattr(made, name, new)
    return node if made is None else made


def _within(old: object, worth: Worth) -> object:
    if isinstance(old, list):
        new = [_within(each, worth) for each in old]
        return old if all(one is other for one, other in zip(old, new, strict=True)) else new
    if isinstance(old, ast.comprehension):
        return _rebuilt(old, worth)
    if isinstance(old, ast.Attribute):
        owner = _put(old.value, worth)
        return old if owner is old.value else ast.Attribute(owner, old.attr, ast.Load())
    return _put(old, worth) if isinstance(old, ast.expr) else old


def _is_looked_into(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return isinstance(node, _LOOKED_INTO)
    if isinstance(node.func, ast.Attribute):
        return node.func.attr in _VIEWS and not node.args
    return dotted(node.func) in _ASKING


def asked_by(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the names that a statement does no more with than ask what they hold, or tell it."""
    if isinstance(statement, ast.Assert):
        yield from _asked_in([statement.test])
        yield from nodes_below(statement.msg) if statement.msg is not None else ()
    elif isinstance(statement, ast.For | ast.AsyncFor):
        yield from _asked_in([statement.iter])
    elif isinstance(statement, _ASSIGNING) and statement.value is not None:
        yield from _asked_in([statement.value]) if not isinstance(statement.value, ast.Name) else ()
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        if dotted(statement.value.func).partition(".")[0] in _TELLING:
            yield from nodes_below(statement.value)
        elif _asserts(statement.value):
            yield from _asked_in(statement.value.args)


def _asked_in(expressions: list[ast.expr]) -> Iterator[ast.AST]:
    waiting: list[ast.AST] = [*expressions]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            yield node
        elif _is_looked_into(node):
            waiting.extend(ast.iter_child_nodes(node))
        elif isinstance(node, ast.Attribute):
            waiting.extend([node.value] if node.attr in _VIEWS else [])
