"""What an expression is worth whatever is under test: constants folded, comparisons that come out one way."""

import ast
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

from ralph_tracker.integrity.python.certainties import (
    bounds_of,
    goes_through_nothing,
    is_empty,
    is_endless,
    is_mock_question,
    is_object,
    is_pure,
    is_truth,
    makes_mock,
    never_none,
    within,
)
from ralph_tracker.integrity.python.opposites import deny_each_other
from ralph_tracker.integrity.python.syntax import dotted, nodes_below, same
from ralph_tracker.integrity.python.trivial import (
    asks_constants,
    asks_nothing,
    finds_anything,
    is_part_of_any,
    is_picked_so,
    names_of_itself,
)

Known = tuple[bool, str]
CONSTANT: Final = "it is a constant"
ITSELF: Final = "it compares a thing with itself"
LENGTH: Final = "a length is never negative"
COUNT: Final = "nothing else can come of it"
EVERYTHING: Final = "everything is one"
ANY_TEXT: Final = "any text is one"
BOTH_WAYS: Final = "it holds either way"
NOT_EMPTY: Final = "a tuple that is not empty is always true"
NOT_CALLED: Final = "it is not called"
NOTHING: Final = "it stands in a loop over nothing"
UNKNOWN: Final = object()
_OPERATORS: Final[dict[type[ast.cmpop], Callable[[Any, Any], Any]]] = {
    ast.Eq: lambda a, b: a == b,
    ast.NotEq: lambda a, b: a != b,
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
    ast.Is: lambda a, b: a is b or a == b,
    ast.IsNot: lambda a, b: not (a is b or a == b),
}
_REFLEXIVE: Final = (ast.Eq, ast.Is, ast.LtE, ast.GtE)
_DENIALS: Final = (ast.IsNot, ast.NotEq)
_ROWS: Final = (ast.Tuple, ast.List)
_DISPLAYS: Final = (*_ROWS, ast.Set)
_NAMES: Final = (ast.Name, ast.Await)
_MIRRORED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
}
_ARITHMETIC: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
}
_DIGITS: Final = 1e9
_ENDLESS: Final = float("inf")


def always_true(node: ast.expr) -> str | None:
    """Return why an expression is true whatever is under test, None where it may be false."""
    known = truth(node)
    if known is None and asks_constants(node):
        return CONSTANT
    return known[1] if known is not None and known[0] else None


def truth(node: ast.expr) -> Known | None:
    """Return whether an expression is true, and why that is known; None where it is not."""
    reader = _READERS.get(type(node))
    known = reader(node) if reader is not None else None
    return (True, CONSTANT) if known is None and is_object(node) else known


def value_of(node: ast.expr) -> object:
    """Return what a literal or arithmetic on numbers comes to, UNKNOWN for anything else."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = value_of(node.operand)
        return -value if isinstance(value, int | float) else UNKNOWN
    if isinstance(node, ast.BinOp):
        return _arithmetic(node)
    if isinstance(node, ast.Call | ast.Attribute) and is_endless(node):
        return _ENDLESS
    if isinstance(node, _ROWS):
        values = [value_of(each) for each in node.elts]
        return UNKNOWN if any(each is UNKNOWN for each in values) else (type(node), *values)
    return UNKNOWN


def is_literal(node: ast.expr) -> bool:
    """Tell whether an expression holds no name at all."""
    return not any(isinstance(each, _NAMES) for each in nodes_below(node))


def _arithmetic(node: ast.BinOp) -> object:
    left, right = value_of(node.left), value_of(node.right)
    operation = _ARITHMETIC.get(type(node.op))
    if operation is None or not (isinstance(left, int | float) and isinstance(right, int | float)):
        return UNKNOWN
    return operation(left, right) if max(abs(left), abs(right)) < _DIGITS else UNKNOWN


def _constant(node: ast.Constant) -> Known:
    return bool(node.value), CONSTANT


def _format(node: ast.JoinedStr) -> Known | None:
    return (True, CONSTANT) if any(isinstance(each, ast.Constant) and each.value for each in node.values) else None


def _display(node: ast.Tuple | ast.List | ast.Set) -> Known | None:
    if not node.elts:
        return False, CONSTANT
    if all(isinstance(each, ast.Starred) for each in node.elts):
        return None
    return True, NOT_EMPTY if isinstance(node, ast.Tuple) else CONSTANT


def _mapping(node: ast.Dict) -> Known | None:
    if not node.keys:
        return False, CONSTANT
    return (True, CONSTANT) if any(key is not None for key in node.keys) else None


def _lambda(_: ast.Lambda) -> Known:
    return True, CONSTANT


def _unary(node: ast.UnaryOp) -> Known | None:
    if not isinstance(node.op, ast.Not):
        value = value_of(node)
        return None if value is UNKNOWN else (bool(value), CONSTANT)
    known = truth(node.operand)
    return None if known is None else (not known[0], known[1])


def _boolean(node: ast.BoolOp) -> Known | None:
    decides = isinstance(node.op, ast.Or)
    parts = [truth(each) for each in node.values]
    for known in parts:
        if known is not None and known[0] == decides:
            return known
    if all(known is not None for known in parts):
        return not decides, CONSTANT
    if deny_each_other(node.values):
        return decides, BOTH_WAYS
    return None


def _comparison(node: ast.Compare) -> Known | None:
    parts = [
        _compared(left, operator, right)
        for (left, right), operator in zip(pairwise([node.left, *node.comparators]), node.ops, strict=True)
    ]
    for known in parts:
        if known is not None and not known[0]:
            return known
    return parts[0] if all(known is not None for known in parts) else None


def _compared(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> Known | None:
    values = value_of(left), value_of(right)
    if values[0] is not UNKNOWN and values[1] is not UNKNOWN:
        try:
            return bool(_OPERATORS[type(operator)](*values)), CONSTANT
        except TypeError:
            return None
    return _of_same(left, operator, right) or _of_kind(left, operator, right, values)


def _of_same(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> Known | None:
    if isinstance(operator, _REFLEXIVE) and (names_of_itself(left, right) or (same(left, right) and is_pure(left))):
        return True, ITSELF
    if isinstance(operator, ast.In) and isinstance(right, _DISPLAYS) and is_truth(left):
        held = [value_of(each) for each in right.elts]
        if any(each is True for each in held) and any(each is False for each in held):
            return True, BOTH_WAYS
    if isinstance(operator, ast.In) and isinstance(right, _DISPLAYS) and is_pure(left):
        return (True, ITSELF) if any(same(left, each) for each in right.elts) else None
    return None


def _of_kind(left: ast.expr, operator: ast.cmpop, right: ast.expr, values: tuple[object, object]) -> Known | None:
    if values[1] is None and isinstance(operator, _DENIALS) and (never_none(left) or _is_found(left)):
        return True, EVERYTHING
    if is_part_of_any(left, operator, right):
        return True, EVERYTHING
    return _bounded(left, type(operator), values[1]) or _bounded(right, _mirror(type(operator)), values[0])


def _is_found(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and finds_anything(node)


def _mirror(operator: type[ast.cmpop]) -> type[ast.cmpop]:
    return _MIRRORED.get(operator, operator)


def _bounded(node: ast.expr, operator: type[ast.cmpop], bound: object) -> Known | None:
    if (bound, operator) in {(_ENDLESS, ast.LtE), (-_ENDLESS, ast.GtE)}:
        return True, COUNT
    bounds = bounds_of(node) if isinstance(bound, int | float) else None
    known = within(bounds, operator, bound) if bounds is not None and isinstance(bound, int | float) else None
    if known is None:
        return None
    return known, LENGTH if isinstance(node, ast.Call) and dotted(node.func) == "len" else COUNT


def _call(node: ast.Call) -> Known | None:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in {"bool", "all", "any"} and len(node.args) == 1:
        return _over(name, node.args[0])
    if name in {"repr", "type", "id"} and len(node.args) == 1:
        return True, CONSTANT
    if finds_anything(node):
        return True, ANY_TEXT
    return (True, EVERYTHING) if asks_nothing(node) else _spelled(node)


def _spelled(node: ast.Call) -> Known | None:
    return (True, "a mock made by its name is always true") if makes_mock(node) else None


def _over(name: str, argument: ast.expr) -> Known | None:
    if name == "bool":
        return truth(argument)
    if goes_through_nothing(argument) or is_empty(argument):
        return name == "all", CONSTANT
    if name == "all" and is_picked_so(argument):
        return True, EVERYTHING
    if not isinstance(argument, ast.Tuple | ast.List | ast.Set):
        return None
    parts = [truth(each) for each in argument.elts]
    decides = name == "any"
    for known in parts:
        if known is not None and known[0] == decides:
            return known
    return (not decides, CONSTANT) if all(known is not None for known in parts) else None


def _attribute(node: ast.Attribute) -> Known | None:
    return (True, NOT_CALLED) if is_mock_question(node.attr) else None


def _choice(node: ast.IfExp) -> Known | None:
    known = truth(node.test)
    if known is not None:
        return truth(node.body if known[0] else node.orelse)
    parts = truth(node.body), truth(node.orelse)
    return parts[0] if parts[0] is not None and parts[1] is not None and parts[0][0] == parts[1][0] else None


def _named(node: ast.NamedExpr) -> Known | None:
    return truth(node.value)


def _arithmetic_truth(node: ast.BinOp) -> Known | None:
    if isinstance(node.op, ast.BitOr) and any(value_of(each) is True for each in (node.left, node.right)):
        return True, CONSTANT
    value = value_of(node)
    return None if value is UNKNOWN else (bool(value), CONSTANT)


_READERS: Final[dict[type[ast.expr], Callable[[Any], Known | None]]] = {
    ast.Constant: _constant,
    ast.JoinedStr: _format,
    ast.Tuple: _display,
    ast.List: _display,
    ast.Set: _display,
    ast.Dict: _mapping,
    ast.Lambda: _lambda,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _comparison,
    ast.Call: _call,
    ast.Attribute: _attribute,
    ast.IfExp: _choice,
    ast.NamedExpr: _named,
    ast.BinOp: _arithmetic_truth,
}
