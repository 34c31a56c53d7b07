"""What can take the place of a function, and what functions answer whatever they get."""

import ast
import re
from collections.abc import Mapping
from typing import Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.certainties import TRUTHS
from ralph_tracker.integrity.python.constants import UNKNOWN, always_true, truth
from ralph_tracker.integrity.python.expectations import is_plain, local_values
from ralph_tracker.integrity.python.nodes import body_of, constant_of, full_name, reached, returns_of
from ralph_tracker.integrity.python.syntax import FUNCTIONS, Function, dotted, nodes_below, nodes_in, statements_below

MOCKS: Final = Pattern(r"(^|\.)(Mock|MagicMock|AsyncMock|NonCallableMock|create_autospec|stub)$")
_STAND_INS: Final = Pattern(
    r"(^|\.)(PropertyMock|SimpleNamespace|ModuleType|MethodType|property|staticmethod|classmethod)$"
)
_ORIGINAL: Final = Pattern(r"(^|_)(orig|original|real|wrapped|super)", re.IGNORECASE)
_HANDING_ON: Final = frozenset({"partial", "functools.partial", "staticmethod", "classmethod", "property"})
_IN_TURN: Final = frozenset(
    {"iter", "cycle", "repeat", "count", "itertools.cycle", "itertools.repeat", "itertools.count"}
)
_FOLDED: Final = (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.IfExp)
_DEPTH: Final = 4
# What a file or a test calls its own: functions, classes, and values that are functions or make them.
Own = Mapping[str, ast.AST]
NOBODY: Final[Own] = {}


def answer_of(function: Function) -> object:
    """Return what a function answers whatever it is given, UNKNOWN where that depends."""
    known = local_values(function)
    values = (
        known.get(each.value.id, each.value) if isinstance(each.value, ast.Name) else each.value
        for each in returns_of(function)
    )
    returned = [worth_of(each) for each in values]
    ways = [part for each in reached(function.body) for part in (each, *statements_below(each))]
    raises = any(isinstance(each, ast.Raise) for each in ways)
    if raises or not returned or len({repr(each) for each in returned}) > 1 or not body_of(function):
        return UNKNOWN
    return returned[0]


def worth_of(node: ast.expr | None) -> object:
    """Return what an expression is worth where it cannot vary: a constant, `self is self`, `x or True`."""
    value = constant_of(node)
    if value is not UNKNOWN or node is None:
        return bool(value) if isinstance(value, int) else value
    asks = isinstance(node, _FOLDED) or (isinstance(node, ast.Call) and dotted(node.func) in TRUTHS)
    known = truth(node) if asks else None
    return UNKNOWN if known is None else known[0]


def stands_in(value: ast.AST | None, imports: Mapping[str, str], own: Own = NOBODY, depth: int = _DEPTH) -> bool:
    """Tell whether a value takes the place of a function: other values are settings."""
    if depth == 0:
        return False
    if isinstance(value, ast.Call):
        return _makes(value, imports, own, depth)
    if isinstance(value, ast.Name) and value.id in own:
        made = own[value.id]
        if isinstance(made, ast.ClassDef):
            return not made.bases and not made.decorator_list
        return (
            not acts(made) or answer_of(made) not in (UNKNOWN, None) or knows_answers(made)
            if isinstance(made, FUNCTIONS)
            else stands_in(made, imports, own, depth - 1)
        )
    if isinstance(value, ast.Attribute):
        return _is_of_literal(value) or _method_of(value, own) is not None
    return isinstance(value, ast.Lambda)


def _makes(call: ast.Call, imports: Mapping[str, str], own: Own, depth: int) -> bool:
    """Tell whether a call makes what can be called in the place of another: a mock, an object of the tests' class."""
    name = full_name(call.func, imports)
    if name in _HANDING_ON and call.args and stands_in(call.args[0], imports, own, depth - 1):
        return True
    if MOCKS.search(name) or _STAND_INS.search(name):
        return True
    made = own.get(name)
    if isinstance(made, ast.ClassDef):
        method = _in_class(made, "__call__")
        return method is not None and not acts(method)
    inside = (
        {each.name: each for each in nodes_in(made) if isinstance(each, FUNCTIONS)}
        if isinstance(made, FUNCTIONS)
        else {}
    )
    return isinstance(made, FUNCTIONS) and any(
        stands_in(each.value, imports, {**own, **inside}, depth - 1) for each in returns_of(made)
    )


def _is_of_literal(value: ast.AST | None) -> bool:
    """Tell whether a value is a method of a literal: `{3: 9}.get`, `iter([9]).__next__`."""
    if not isinstance(value, ast.Attribute):
        return False
    of = value.value
    return isinstance(of, ast.Dict | ast.Constant | ast.List) or (isinstance(of, ast.Call) and dotted(of) in _IN_TURN)


def _method_of(value: ast.Attribute, own: Own) -> Function | None:
    """Return the method of a class of the tests' own that a value names."""
    made = own.get(dotted(value.value))
    made = own.get(dotted(made)) if isinstance(made, ast.Call) else made
    method = _in_class(made, value.attr) if isinstance(made, ast.ClassDef) else None
    return None if method is None or acts(method) else method


def _in_class(kind: ast.ClassDef, name: str) -> Function | None:
    return next((each for each in kind.body if isinstance(each, FUNCTIONS) and each.name == name), None)


def acts(function: Function) -> bool:
    """Tell whether a function that is put in a place leaves the work to what stood there."""
    calls = [each.func for each in nodes_in(function) if isinstance(each, ast.Call)]
    return any(_ORIGINAL.search(dotted(each).rpartition(".")[2]) for each in calls)


def knows_answers(made: Function | ast.Lambda) -> bool:
    """Tell whether a function answers some questions by a constant, or a table, and leaves the rest to another."""
    given = {each.arg for each in nodes_below(made.args) if isinstance(each, ast.arg)}
    parts = nodes_below(made.body) if isinstance(made, ast.Lambda) else nodes_in(made)
    if not any(isinstance(each, ast.Call) and _passes_on(each, given) for each in parts):
        return False
    choices = ((each.test, each.body) for each in parts if isinstance(each, ast.If | ast.IfExp))
    if any(_asks_for_one(test, given) and _is_fixed_answer(body, given) for test, body in choices):
        return True
    handlers = (each for each in parts if isinstance(each, ast.ExceptHandler))
    return any(_answers_failure(each, given) for each in handlers) or any(_is_entry(each, given) for each in parts)


def _passes_on(call: ast.Call, given: set[str]) -> bool:
    """Tell whether a call hands on what a function is given: `_clean(*args, **kwargs)`, `real(x)`."""
    bare = (each.value if isinstance(each, ast.Starred) else each for each in call.args)
    return isinstance(call.func, ast.Name) and any(isinstance(each, ast.Name) and each.id in given for each in bare)


def _asks_for_one(test: ast.expr, given: set[str]) -> bool:
    compares = (each for each in nodes_below(test) if isinstance(each, ast.Compare))
    return any(isinstance(each.ops[0], ast.Eq | ast.In) and _names(each, given) for each in compares)


def _is_fixed_answer(body: list[ast.stmt] | ast.expr, given: set[str]) -> bool:
    values = [body] if isinstance(body, ast.expr) else [each.value for each in body if isinstance(each, ast.Return)]
    return any(each is not None and (is_plain(each) or _is_entry(each, given)) for each in values)


def _answers_failure(handler: ast.ExceptHandler, given: set[str]) -> bool:
    """Tell whether a handler answers something in the place of an error, and not just nothing."""
    values = (each for each in handler.body if isinstance(each, ast.Return) and constant_of(each.value) is not None)
    return _is_fixed_answer([*values], given)


def _is_entry(node: ast.AST, given: set[str]) -> bool:
    """Tell whether an expression looks up what a function is given: `_RECORDED[args]`, `_RECORDED.get(x, …)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        return isinstance(node.func.value, ast.Name | ast.Dict) and any(_names(each, given) for each in node.args[:1])
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name | ast.Dict) and _names(node.slice, given)


def _names(node: ast.AST, given: set[str]) -> bool:
    return any(isinstance(each, ast.Name) and each.id in given for each in nodes_below(node))


def _is_scaled(node: ast.AST | None) -> bool:
    """Tell whether a function makes of what another one answers a part, or a multiple, of it: a clock that crawls."""
    value = node.body if isinstance(node, ast.Lambda) else node
    if isinstance(node, FUNCTIONS):
        value = next((each.value for each in returns_of(node)), None)
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Mult | ast.Div | ast.FloorDiv):
        return False
    return any(isinstance(each, ast.Call) for each in (value.left, value.right)) and any(
        is_plain(each) for each in (value.left, value.right)
    )


def may_fail(function: Function, harmless: Pattern | None = None) -> bool:
    """Tell whether a function may raise: by itself, or by what it calls; what always holds fails nothing.

    `harmless` are names whose calls do not count; who keeps something may ask for it later.
    """
    idle = {
        id(inner)
        for each in nodes_in(function)
        if isinstance(each, ast.Assert) and always_true(each.test) is not None
        for inner in nodes_below(each)
    }
    return any(
        isinstance(each, ast.Raise | ast.Assert) or (isinstance(each, ast.Call) and not _is_harmless(each, harmless))
        for each in nodes_in(function)
        if id(each) not in idle
    )


def _is_harmless(call: ast.Call, harmless: Pattern | None) -> bool:
    name = dotted(call.func)
    return harmless is not None and harmless.search(name) is not None and not name.endswith(("append", "write"))


def leaves_to_above(method: Function) -> bool:
    """Tell whether a method leaves the work to the class above."""
    return any(isinstance(each, ast.Name) and each.id == "super" for each in nodes_in(method))


def is_still(node: ast.AST | None, own: Own = NOBODY, depth: int = _DEPTH) -> bool:
    """Tell whether a function, or a mock, returns the same whatever it is given, or one thing after the other."""
    if isinstance(node, (*FUNCTIONS, ast.Lambda)) and (_is_scaled(node) or knows_answers(node)):
        return True
    if isinstance(node, ast.Lambda):
        return constant_of(node.body) is not UNKNOWN or is_plain(node.body)
    if isinstance(node, ast.Name) and node.id in own and depth:
        return is_still(own[node.id], own, depth - 1)
    if isinstance(node, FUNCTIONS):
        return answer_of(node) is not UNKNOWN
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        node = node.left  # `[9] * 3`
    if isinstance(node, ast.List | ast.Tuple) or _is_of_literal(node):
        return True
    return isinstance(node, ast.Call) and (
        dotted(node.func) in _IN_TURN or any(each.arg == "return_value" for each in node.keywords)
    )
