"""Which expressions say that all went well, however they are written: 0, `ExitCode.OK`, a name that stands for it."""

import ast
from collections.abc import Mapping
from typing import Final

from ralph_tracker.integrity.python.constants import UNKNOWN
from ralph_tracker.integrity.python.nodes import constant_of
from ralph_tracker.integrity.python.syntax import dotted

Values = Mapping[str, ast.expr]
NO_VALUES: Final[Values] = {}
_NAMES: Final = ("ExitCode.OK", "ExitCode.OK.value", "os.EX_OK")
_KEEPING: Final = frozenset({"int", "bool", "abs", "ExitCode", "min"})
_DEPTH: Final = 3


def is_success(node: ast.AST | None, values: Values = NO_VALUES, depth: int = _DEPTH) -> bool:
    """Tell whether an expression comes to the exit status of success, whatever happened; `values` are the module's."""
    value = constant_of(node)
    if value is not UNKNOWN and value is not None:
        return value == 0
    if node is None or not depth:
        return False
    if isinstance(node, ast.Name) and node.id in values:
        return is_success(values[node.id], values, depth - 1)
    if isinstance(node, ast.Call):
        named = dotted(node.func).rpartition(".")[2] in _KEEPING
        return named and any(is_success(each, values, depth - 1) for each in node.args)
    if isinstance(node, ast.BinOp):
        absorbs = isinstance(node.op, ast.Mult | ast.BitAnd)
        return absorbs and any(is_success(each, values, depth - 1) for each in (node.left, node.right))
    return dotted(node).endswith(_NAMES)


def may_succeed(node: ast.AST | None, values: Values = NO_VALUES) -> bool:
    """Tell whether one way through a choice comes to success: `0 if status == 1 else status`."""
    if isinstance(node, ast.IfExp):
        return may_succeed(node.body, values) or may_succeed(node.orelse, values)
    return is_success(node, values)
