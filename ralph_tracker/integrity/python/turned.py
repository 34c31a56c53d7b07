"""Assertions that ask the same question and demand another answer: the contrary, or another exception."""

import ast
from collections.abc import Iterator
from typing import Final

from ralph_tracker.integrity.python.expectations import is_plain, sides_of, skeleton
from ralph_tracker.integrity.python.syntax import Function, dotted, statements_below

_RAISES: Final = frozenset({"raises", "assertRaises", "assertRaisesRegex", "warns", "assertWarns", "assertWarnsRegex"})
_BROAD: Final = frozenset({"Exception", "BaseException"})
_EXCEPTIONS: Final = "an exception"
_OPERATORS: Final[dict[str, str]] = {
    "NotIn": "In",
    "NotEq": "Eq",
    "IsNot": "Is",
    "LtE": "Lt",
    "Gt": "Lt",
    "GtE": "Lt",
}
_UNIT: Final[dict[str, str]] = {
    "assertFalse": "assertTrue",
    "assertNotIn": "assertIn",
    "assertNotEqual": "assertEqual",
    "assertIsNotNone": "assertIsNone",
    "assertIsNot": "assertIs",
    "assertNotIsInstance": "assertIsInstance",
    "assertNotRegex": "assertRegex",
    "assertGreaterEqual": "assertLess",
    "assertGreater": "assertLess",
    "assertLessEqual": "assertLess",
    "assert_not_called": "assert_called",
}


def question_of(claim: ast.expr) -> object:
    """Return what an assertion asks, whatever it demands: equal where only the demanded answer differs."""
    if isinstance(claim, ast.UnaryOp) and isinstance(claim.op, ast.Not):
        return question_of(claim.operand)
    if isinstance(claim, ast.Compare) and len(claim.ops) == 1:
        name = type(claim.ops[0]).__name__
        return "compare", _OPERATORS.get(name, name), skeleton(claim.left), skeleton(claim.comparators)
    if isinstance(claim, ast.Call):
        name = dotted(claim.func).rpartition(".")[2]
        if name in _RAISES and claim.args:
            return _EXCEPTIONS, name, len(claim.args), tuple(each.arg for each in claim.keywords)
        if isinstance(claim.func, ast.Attribute) and name.startswith("assert"):
            return "call", skeleton(claim.func.value), _UNIT.get(name, name), skeleton(claim.args)
    return skeleton(claim)


def expected_exceptions(test: Function) -> Iterator[ast.expr]:
    """Yield the calls that demand an exception or a warning of what a test runs within them."""
    for statement in statements_below(test):
        if isinstance(statement, ast.With | ast.AsyncWith):
            calls = [item.context_expr for item in statement.items]
        else:
            calls = [statement.value] if isinstance(statement, ast.Expr) else []
        for call in calls:
            if isinstance(call, ast.Call) and call.args and dotted(call.func).rpartition(".")[2] in _RAISES:
                yield call


def is_broader(new: ast.expr) -> bool:
    """Tell whether an assertion demands just any exception, which is no other answer."""
    is_call = isinstance(new, ast.Call) and new.args and dotted(new.func).rpartition(".")[2] in _RAISES
    return bool(is_call) and isinstance(new, ast.Call) and dotted(new.args[0]).rpartition(".")[2] in _BROAD


def asks_of_the_same(old: ast.expr, new: ast.expr) -> bool:
    """Tell whether both compare one and the same thing that is worked out, each with something else."""
    if not isinstance(old, ast.Compare | ast.Call) or not isinstance(new, ast.Compare | ast.Call):
        return False
    before, now = ([each for each in sides_of(claim) if not is_plain(each)] for claim in (old, new))
    known = {ast.dump(each) for each in before if not isinstance(each, ast.Name)}
    return len(sides_of(new)) > 1 and len(sides_of(old)) > 1 and any(ast.dump(each) in known for each in now)
