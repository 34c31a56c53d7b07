"""Whether a condition asks what another one asked, in other words."""

import ast
from collections import Counter
from typing import Final

_NEGATED: Final = (ast.Not, ast.NotEq, ast.NotIn, ast.IsNot)
_ORDERED: Final = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def is_reworded(old: ast.expr | None, new: ast.expr | None) -> bool:
    """Tell whether two conditions ask the same of the same, whatever is called for that.

    `not a in b` is `a not in b`, and `a == b` may be `equal(a, b)`; another value, order, answer or `or` is not.
    """
    if old is None or new is None or _shape(old) != _shape(new):
        return False
    return _terms(old) == _terms(new)


def _shape(condition: ast.expr) -> tuple[bool, Counter[str]]:
    """Return whether it is turned round, and how often each way is there to join and to order."""
    nodes = list(ast.walk(condition))
    turned = sum(isinstance(each, _NEGATED) for each in nodes) % 2 == 1
    joined = Counter(type(each).__name__ for each in nodes if isinstance(each, (ast.And, ast.Or, ast.IfExp, *_ORDERED)))
    return turned, joined


def _terms(condition: ast.expr) -> Counter[str]:
    """Return the names and values of a condition, and how often each is there; what is called with them is none."""
    calls = {id(each.func) for each in ast.walk(condition) if isinstance(each, ast.Call) and each.args}
    found: Counter[str] = Counter()
    for each in ast.walk(condition):
        if id(each) in calls:
            continue
        if isinstance(each, ast.Name | ast.Attribute):
            found[each.id if isinstance(each, ast.Name) else f".{each.attr}"] += 1
        elif isinstance(each, ast.Constant):
            found[repr(each.value)] += 1
    return found
