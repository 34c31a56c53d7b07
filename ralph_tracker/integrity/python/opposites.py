"""Which Python expressions are the opposite of each other, so that one of the two always holds."""

import ast
from typing import Final

from ralph_tracker.integrity.python.certainties import compares, is_pure
from ralph_tracker.integrity.python.syntax import same

_OPPOSITES: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq,
    ast.Is: ast.IsNot,
    ast.In: ast.NotIn,
    ast.Lt: ast.GtE,
    ast.Gt: ast.LtE,
}


def deny_each_other(values: list[ast.expr]) -> bool:
    """Tell whether one of several expressions is the opposite of another."""
    for index, left in enumerate(values):
        for right in values[index + 1 :]:
            if _opposite(left, right) or _opposite(right, left):
                return is_pure(left) or compares(left) or _is_denied(left, right)
    return False


def _is_denied(left: ast.expr, right: ast.expr) -> bool:
    """Tell whether one is the other behind a `not`: nobody asks that of two calls to call something twice."""
    return any(isinstance(each, ast.UnaryOp) and isinstance(each.op, ast.Not) for each in (left, right))


def _opposite(left: ast.expr, right: ast.expr) -> bool:
    if isinstance(right, ast.UnaryOp) and isinstance(right.op, ast.Not):
        return same(left, right.operand)
    if not (isinstance(left, ast.Compare) and isinstance(right, ast.Compare)):
        return False
    if len(left.ops) != 1 or len(right.ops) != 1 or _OPPOSITES.get(type(left.ops[0])) is not type(right.ops[0]):
        return False
    return same(left.left, right.left) and same(left.comparators[0], right.comparators[0])
