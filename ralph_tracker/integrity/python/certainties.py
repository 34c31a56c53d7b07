"""Which Python expressions can come to one thing only, or to none beyond some bounds, whatever they hold."""

import ast
from typing import Final

from ralph_tracker.integrity.python.syntax import dotted, nodes_below, same

TRUTHS: Final = frozenset({"bool", "isinstance", "issubclass", "callable", "hasattr", "any", "all"})
_PURE_CALLS: Final = frozenset(
    {"abs", "bool", "bytes", "dict", "float", "frozenset", "hash", "id", "int", "len", "list", "repr", "set", "str"}
    | {"max", "min", "sorted", "sum", "tuple", "type", "vars"}
)
_NEVER_NONE: Final = _PURE_CALLS | {"isinstance", "callable", "hasattr", "dir", "any", "all"}
_ACTS: Final = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
_MOCK_QUESTIONS: Final = frozenset({"called_once_with", "called_with", "called_once", "not_called", "has_calls"})
_DISPLAYS: Final = (ast.Tuple, ast.List)
_TEXTS: Final = frozenset({"str", "repr", "ascii", "format"})
_OBJECTS: Final = frozenset({"functools.partial", "partial", "object"})
_NAMES: Final = frozenset({"__name__", "__file__"})
_EITHER: Final = (ast.Is, ast.IsNot, ast.In, ast.NotIn, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_ENDLESS: Final = float("inf")
Bounds = tuple[float, float]


def is_truth(node: ast.expr) -> bool:
    """Tell whether an expression can be nothing but true or false."""
    if isinstance(node, ast.Compare):
        return all(isinstance(each, _EITHER) for each in node.ops)
    is_not = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    return is_not or (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in TRUTHS)


def is_object(node: ast.expr) -> bool:
    """Tell whether an expression is something that is always true: a generator, a partial call, the text of a truth."""
    if isinstance(node, ast.GeneratorExp):
        return True
    if isinstance(node, ast.Name):
        return node.id in _NAMES
    if isinstance(node, ast.JoinedStr):
        return any(isinstance(each, ast.FormattedValue) and is_truth(each.value) for each in node.values)
    if not isinstance(node, ast.Call):
        return False
    name = dotted(node.func)
    return name in _OBJECTS or (name in _TEXTS and len(node.args) == 1 and is_truth(node.args[0]))


def bounds_of(node: ast.expr) -> Bounds | None:
    """Return the lowest and the highest number that an expression can come to, None where that is not known."""
    if is_truth(node):
        return 0, 1
    if not isinstance(node, ast.Call) or not node.args:
        return None
    name, first = dotted(node.func), node.args[0]
    if name == "len":
        known = isinstance(first, _DISPLAYS) and not any(isinstance(each, ast.Starred) for each in first.elts)
        return (len(first.elts), len(first.elts)) if known and isinstance(first, _DISPLAYS) else (0, _ENDLESS)
    if name in {"int", "float"} and is_truth(first):
        return 0, 1
    if name == "sum" and _is_of_truths(first):
        return 0, _ENDLESS
    return (0, _ENDLESS) if isinstance(node.func, ast.Attribute) and node.func.attr == "count" else None


def _is_of_truths(node: ast.expr) -> bool:
    if isinstance(node, ast.ListComp | ast.GeneratorExp):
        return is_truth(node.elt)
    return isinstance(node, _DISPLAYS) and all(map(is_truth, node.elts))


def within(bounds: Bounds, operator: type[ast.cmpop], bound: float) -> bool | None:
    """Return how a comparison with a number comes out by the bounds alone, None where that is open."""
    low, high = bounds
    if operator in {ast.Eq, ast.NotEq}:
        answer = True if low == high == bound else None if low <= bound <= high else False
        return answer if answer is None or operator is ast.Eq else not answer
    sure, never = {
        ast.GtE: (low >= bound, high < bound),
        ast.Gt: (low > bound, high <= bound),
        ast.LtE: (high <= bound, low > bound),
        ast.Lt: (high < bound, low >= bound),
    }.get(operator, (False, False))
    return True if sure else False if never else None


def goes_through_nothing(node: ast.expr) -> bool:
    """Tell whether a comprehension goes through something that is empty."""
    return isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp) and any(
        _is_empty(each.iter) for each in node.generators
    )


def _is_empty(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return not node.elts
    if isinstance(node, ast.Dict):
        return not node.keys
    if isinstance(node, ast.Constant):
        return node.value in ("", b"")
    return isinstance(node, ast.Call) and _gives_nothing(node)


def _gives_nothing(node: ast.Call) -> bool:
    name = dotted(node.func)
    if name == "range":
        return len(node.args) == 1 and isinstance(node.args[0], ast.Constant) and node.args[0].value == 0
    if name == "zip":
        return any(map(_is_empty, node.args)) and not any(each.arg == "strict" for each in node.keywords)
    return name in {"iter", "list", "tuple", "set", "dict", "enumerate", "reversed"} and all(map(_is_empty, node.args))


def is_of_its_own_kind(node: ast.expr, kind: ast.expr) -> bool:
    """Tell whether it is asked if something is of its own class: `isinstance(x, type(x))`."""
    if isinstance(kind, ast.Call) and dotted(kind.func) == "type" and len(kind.args) == 1:
        return same(node, kind.args[0])
    if isinstance(kind, ast.Attribute) and kind.attr == "__class__":
        return same(node, kind.value)
    return False


def is_kind_of_truth(node: ast.expr, kind: ast.expr) -> bool:
    """Tell whether it is asked if what is true or false is a truth value."""
    return is_truth(node) and dotted(kind) in {"bool", "int"}


def holds_nothing(node: ast.expr) -> bool:
    """Tell whether an expression asks for no more than an empty beginning or end: `text.startswith("")`."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"startswith", "endswith"}
        and len(node.args) == 1
        and isinstance(node.args[0], ast.Constant)
        and node.args[0].value in {"", b""}
    )


def is_part_of_any(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> bool:
    """Tell whether nothing is looked for in something: `"" in str(x)`, `set() <= x`."""
    if isinstance(operator, ast.In):
        text = isinstance(right, ast.JoinedStr) or (isinstance(right, ast.Call) and dotted(right.func) in _TEXTS)
        return text and isinstance(left, ast.Constant) and left.value == ""
    empty = isinstance(left, ast.Call) and dotted(left.func) in {"set", "frozenset"} and not left.args
    return empty and isinstance(operator, ast.LtE)


def never_none(node: ast.expr) -> bool:
    """Tell whether an expression is something, whatever it holds."""
    if is_truth(node):
        return True
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in _NEVER_NONE - {"max", "min", "sum"}
    return isinstance(node, ast.JoinedStr | ast.Dict | ast.Set | ast.List | ast.Tuple | ast.ListComp | ast.Lambda)


def is_pure(node: ast.expr) -> bool:
    """Tell whether an expression comes to the same twice: what it calls are plain builtins at most."""
    return all(_comes_to_the_same(each) for each in nodes_below(node))


def _comes_to_the_same(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in _PURE_CALLS
    return not isinstance(node, _ACTS)


def compares(node: ast.expr) -> bool:
    """Tell whether it is a comparison or its denial: nobody writes one beside its opposite to call something twice."""
    return isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Compare)


def makes_mock(node: ast.Call) -> bool:
    """Find `mock.called_once_with(…)`, which makes a mock, and mocks are true."""
    return isinstance(node.func, ast.Attribute) and node.func.attr in _MOCK_QUESTIONS
