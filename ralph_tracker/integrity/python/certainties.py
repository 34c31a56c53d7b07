"""Which Python expressions can come to one thing only, or to none beyond some bounds, whatever they hold."""

import ast
from typing import Final

from ralph_tracker.integrity.python.syntax import dotted, nodes_below, same

TRUTHS: Final = frozenset({"bool", "isinstance", "issubclass", "callable", "hasattr", "any", "all"})
PURE_CALLS: Final = frozenset(
    {"abs", "bool", "bytes", "dict", "float", "frozenset", "hash", "id", "int", "len", "list", "repr", "set", "str"}
    | {"max", "min", "sorted", "sum", "tuple", "type", "vars"}
)
_NEVER_NONE: Final = PURE_CALLS | {"isinstance", "callable", "hasattr", "dir", "any", "all"}
ACTS: Final = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
_MOCK_ASSERTIONS: Final = frozenset(
    {"assert_called", "assert_called_once", "assert_called_with", "assert_called_once_with", "assert_any_call"}
    | {"assert_has_calls", "assert_not_called", "called_once", "called_with", "called_once_with", "not_called"}
)
_MOCK_QUESTIONS: Final = frozenset({"called_once_with", "called_with", "called_once", "not_called", "has_calls"})
_DISPLAYS: Final = (ast.Tuple, ast.List)
_TEXTS: Final = frozenset({"str", "repr", "ascii", "format"})
_OBJECTS: Final = frozenset(
    {"functools.partial", "partial", "object", "Mock", "MagicMock", "mock.Mock", "mock.MagicMock"}
)
_NAMES: Final = frozenset({"__name__", "__file__", "__debug__"})
_EITHER: Final = (ast.Is, ast.IsNot, ast.In, ast.NotIn, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_COUNTS: Final = frozenset({"call_count", "await_count"})
_SQUARE: Final = 2
_VIEWS: Final = frozenset({"keys", "values", "items", "copy"})
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
    if isinstance(node, ast.BinOp):
        return _bounds_of_arithmetic(node)
    if isinstance(node, ast.Attribute):
        return (0, _ENDLESS) if node.attr in _COUNTS else None
    return _bounds_of_call(node, node.args[0]) if isinstance(node, ast.Call) and node.args else None


def _bounds_of_call(node: ast.Call, first: ast.expr) -> Bounds | None:
    name = dotted(node.func)
    if name == "len":
        return _length(first)
    if name in {"int", "float"} and is_truth(first):
        return 0, 1
    if name in {"abs", "math.fabs"} or (name == "sum" and _is_of_truths(first)):
        return 0, _ENDLESS
    if isinstance(node.func, ast.Attribute) and node.func.attr in {"find", "rfind"}:
        return -1, _ENDLESS
    return (0, _ENDLESS) if isinstance(node.func, ast.Attribute) and node.func.attr == "count" else None


def _length(node: ast.expr) -> Bounds:
    if isinstance(node, _DISPLAYS) and not any(isinstance(each, ast.Starred) for each in node.elts):
        return len(node.elts), len(node.elts)
    return (1 if isinstance(node, ast.Call) and dotted(node.func) == "repr" else 0), _ENDLESS


def _bounds_of_arithmetic(node: ast.BinOp) -> Bounds | None:
    """Read `x * 0`, `x - x` and `x ** 2`."""
    numbers = [each.value if isinstance(each, ast.Constant) else None for each in (node.left, node.right)]
    if isinstance(node.op, ast.Mult) and 0 in numbers:
        return 0, 0
    if isinstance(node.op, ast.Sub) and same(node.left, node.right) and is_pure(node.left):
        return 0, 0
    return (0, _ENDLESS) if isinstance(node.op, ast.Pow) and numbers[1] == _SQUARE else None


def is_endless(node: ast.Call | ast.Attribute) -> bool:
    """Tell whether an expression is the infinite number: `float("inf")`, `math.inf`."""
    if isinstance(node, ast.Attribute):
        return node.attr == "inf" and dotted(node.value) in {"math", "np", "numpy"}
    given = node.args[0] if dotted(node.func) == "float" and node.args else None
    return isinstance(given, ast.Constant) and given.value in {"inf", "+inf", "Infinity", "infinity"}


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
        is_empty(each.iter) for each in node.generators
    )


def is_empty(node: ast.expr) -> bool:
    """Tell whether an expression is something that holds nothing: `[]`, `dict()`, `range(0)`, `{}.items()`."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return not node.elts
    if isinstance(node, ast.Dict):
        return not node.keys
    if isinstance(node, ast.Constant):
        return node.value in ("", b"")
    return isinstance(node, ast.Call) and _gives_nothing(node)


def _gives_nothing(node: ast.Call) -> bool:
    if isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS and not node.args:
        return is_empty(node.func.value)
    name = dotted(node.func)
    if name == "range":
        return len(node.args) == 1 and isinstance(node.args[0], ast.Constant) and node.args[0].value == 0
    if name == "zip":
        return any(map(is_empty, node.args)) and not any(each.arg == "strict" for each in node.keywords)
    return name in {"iter", "list", "tuple", "set", "dict", "enumerate", "reversed"} and all(map(is_empty, node.args))


def is_text(node: ast.expr) -> bool:
    """Tell whether an expression can be nothing but a text."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in _TEXTS and len(node.args) == 1
    return isinstance(node, ast.JoinedStr)


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
        return isinstance(node.func, ast.Name) and node.func.id in PURE_CALLS
    return not isinstance(node, ACTS)


def compares(node: ast.expr) -> bool:
    """Tell whether it is a comparison or its denial: nobody writes one beside its opposite to call something twice."""
    return isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Compare)


def is_mock_question(name: str) -> bool:
    """Tell whether an attribute is a method by which mocks assert, or is taken for one: as it stands it is true."""
    return name in _MOCK_ASSERTIONS


def makes_mock(node: ast.Call) -> bool:
    """Find `mock.called_once_with(…)`, which makes a mock, and mocks are true."""
    return isinstance(node.func, ast.Attribute) and node.func.attr in _MOCK_QUESTIONS
