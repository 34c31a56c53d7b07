"""How a comparison of Python gets what it compares with, and what lets it go on where it should say no."""

import ast
from collections.abc import Iterable, Iterator
from typing import Final

from ralph_tracker.integrity.python.constants import UNKNOWN, value_of
from ralph_tracker.integrity.python.nodes import Way, constant_of
from ralph_tracker.integrity.python.syntax import dotted, nodes_below

_FILLING: Final = frozenset({"append", "add", "insert", "extend", "update"})
SETTING: Final = frozenset({"setattr", "object.__setattr__"})
_DEFAULTING: Final = frozenset({"getattr", "get", "setdefault", "pop"})
_ALL_ERRORS: Final = frozenset({"", "Exception", "BaseException", "AssertionError"})
# Nobody calls numbers equal that are so far apart.
_FAR: Final = 100_000
_VALUE: Final = 2


def adopted_in(nodes: Iterable[ast.AST], one: str, other: str) -> frozenset[str]:
    """Return the attributes of one object that a comparison gives the other, or fills with it."""
    return frozenset(name for each in nodes for name in _adopted_by(each, other) if name.startswith(f"{one}."))


def _adopted_by(node: ast.AST, other: str) -> Iterator[str]:
    if isinstance(node, ast.Assign) and _holds(node.value, other):
        yield from (dotted(each.value if isinstance(each, ast.Subscript) else each) for each in node.targets)
    elif isinstance(node, ast.Call) and any(_holds(each, other) for each in node.args):
        if isinstance(node.func, ast.Attribute) and node.func.attr in _FILLING:
            yield dotted(node.func.value)
        elif dotted(node.func) in SETTING and len(node.args) > _VALUE:
            yield f"{dotted(node.args[0])}.{constant_of(node.args[1])}"


def _holds(node: ast.expr, name: str) -> bool:
    """Tell whether an expression may come to a name: as it is, in a display, or as one of several."""
    parts = [node, *(getattr(node, "elts", None) or getattr(node, "values", None) or ())]
    parts += [node.body, node.orelse] if isinstance(node, ast.IfExp) else []
    return any(isinstance(each, ast.Name) and each.id == name for each in parts)


def takes_over(node: ast.expr, other: str) -> bool:
    """Tell whether an expression comes to the other one by default: `getattr(self, "x", other)`."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        return _holds(node, other)
    name = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
    name = dotted(node.func) if isinstance(node, ast.Call) and not name else name
    last = node.args[-1] if isinstance(node, ast.Call) and node.args else None
    return name in _DEFAULTING and isinstance(last, ast.Name) and last.id == other


def is_caught(way: Way) -> bool:
    """Tell whether what fails there is caught, and nothing is said about it."""
    return any(isinstance(step, ast.Try) and any(map(_passes_over, step.handlers)) for step in way[1:])


def _passes_over(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    broad = any(each is None or dotted(each) in _ALL_ERRORS for each in kinds)
    return broad and not any(isinstance(each, ast.Raise | ast.Return) for each in nodes_below(handler))


def is_far(limit: ast.expr) -> bool:
    """Tell whether a limit is one that no difference exceeds."""
    if isinstance(limit, ast.Call):
        return dotted(limit.func) == "float" and bool(limit.args) and constant_of(limit.args[0]) in {"inf", "infinity"}
    value = value_of(limit) if dotted(limit) not in {"math.inf", "inf", "np.inf"} else _FAR
    return value is not UNKNOWN and isinstance(value, int | float) and value >= _FAR
