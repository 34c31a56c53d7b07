"""What an expression demands when it has to be true: of what, how much, and whether anything can fail it."""

import ast
import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, Final, NamedTuple

from ralph_tracker.integrity.python.constants import ANY_TEXT, always_true, is_literal, value_of
from ralph_tracker.integrity.python.syntax import dotted, same
from ralph_tracker.integrity.source_tests import REPEATED

# The order is what counts: of two demands on one subject, the lower lets more pass.
NOT_NONE: Final = 500
TRUTH: Final = 1000
NOT_THAT: Final = 1500
CALLED: Final = 1800
KIND: Final = 2000
MEMBER: Final = 3000
ORDER: Final = 4000
APPROXIMATE: Final = 5000
EQUAL: Final = 6000
RAISED: Final = "raises "
_DECADE: Final = 90
_NEGATED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
}
_KINDS: Final = frozenset({"isinstance", "issubclass", "callable", "hasattr"})
_PARTIAL: Final = frozenset({"startswith", "endswith", "match", "search", "fullmatch", "issubset", "issuperset"})
_REGEXES: Final = frozenset({"match", "search", "fullmatch"})
_OVER: Final = {"all": ORDER + 200, "alltrue": ORDER + 200, "any": MEMBER - 100, "sometrue": MEMBER - 100}
_ANYTHING: Final = frozenset({"", ".*", ".", ".+", "^", "^.*$", r"[\s\S]*"})
_EQUALITIES: Final = frozenset({"array_equal", "equals", "array_equiv"})
_CLOSE: Final[dict[str, tuple[float, ...]]] = {"isclose": (1e-9,), "allclose": (1e-5,), "approx": (1e-6,)}
_TOLERANCES: Final = ("rel", "abs", "rel_tol", "abs_tol", "rtol", "atol", "delta")
_MOCK_STATES: Final = {
    "called": CALLED,
    "call_count": CALLED + 100,
    "call_args": EQUAL,
    "call_args_list": EQUAL,
    "mock_calls": EQUAL,
}


class Demand(NamedTuple):
    """Hold one demand; see Assertion for its parts. `text` is its expression, "" where the statement says it best."""

    subject: str = ""
    strength: int | None = None
    vacuous: str | None = None
    text: str = ""


def demands_of(node: ast.expr) -> tuple[Demand, ...]:
    """Return what an expression demands, one for each part of `and`, of a chain and of tuples compared."""
    vacuous = always_true(node)
    if vacuous is not None:
        return (_demand(node)._replace(vacuous=vacuous) if vacuous == ANY_TEXT else Demand(vacuous=vacuous),)
    parts = [each for each in _parts(node) if each is node or always_true(each) is None]
    if len(parts) == 1:
        return (_demand(parts[0]),)
    return tuple(
        Demand(each.subject, each.strength, text=ast.unparse(part)) for part in parts for each in (_demand(part),)
    )


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        for value in node.values:
            yield from _parts(value)
    elif isinstance(node, ast.Compare) and _equates(node):
        for left, right in pairwise([node.left, *node.comparators]):
            yield from _equalities(left, right)
    else:
        yield node


def _equates(node: ast.Compare) -> bool:
    """Tell whether a comparison says in one that several things are equal."""
    several = len(node.ops) > 1 or isinstance(node.left, ast.Tuple)
    return several and all(isinstance(each, ast.Eq) for each in node.ops)


def _equalities(left: ast.expr, right: ast.expr) -> Iterator[ast.expr]:
    """Yield `a == 1` and `b == 2` for `(a, b) == (1, 2)`."""
    if isinstance(left, ast.Tuple) and isinstance(right, ast.Tuple) and len(left.elts) == len(right.elts) > 1:
        for one, other in zip(left.elts, right.elts, strict=True):
            yield compared(one, ast.Eq(), other)
    else:
        yield compared(left, ast.Eq(), right)


def compared(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> ast.Compare:
    """Make a comparison of two expressions."""
    return ast.Compare(left, [operator], [right])


def subject_of(left: ast.expr, right: ast.expr | None = None) -> str:
    """Return the text of what is asked about: the side that is no literal, the left one where neither is."""
    node = right if right is not None and is_literal(left) and not is_literal(right) else left
    return node.id if isinstance(node, ast.Name) else _without_questions(node)


def _without_questions(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute) and node.attr in _MOCK_STATES:
        node = node.value
    return ast.unparse(node)


def _demand(node: ast.expr) -> Demand:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _denied(node.operand)
    reader = _READERS.get(type(node))
    return reader(node) if reader is not None else Demand(_without_questions(node), TRUTH)


def _denied(node: ast.expr) -> Demand:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _demand(node.operand)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return _compare(compared(node.left, _NEGATED[type(node.ops[0])](), node.comparators[0]))
    inner = _demand(node)
    # Of all that could stand there, few things are false: `not x` asks nearly as much as `x == []`.
    return Demand(inner.subject, EQUAL if inner.strength == TRUTH else inner.strength)


def _compare(node: ast.Compare) -> Demand:
    if len(node.ops) > 1:
        middle = node.comparators[0] if is_literal(node.left) else node.left
        return Demand(subject_of(middle), ORDER + 500)
    left, operator, right = node.left, node.ops[0], node.comparators[0]
    if all(isinstance(each, ast.Call) and dotted(each) == "repr" and each.args for each in (left, right)):
        left, right = left.args[0], right.args[0]  # type: ignore[attr-defined]  # written out in full
    return _COMPARERS[type(operator)](left, operator, right)


def _equal(left: ast.expr, _: ast.cmpop, right: ast.expr) -> Demand:
    if same(left, right):
        return Demand(subject_of(left), REPEATED)
    for one, other in ((left, right), (right, left)):
        if isinstance(other, ast.Call) and dotted(other).rpartition(".")[2] == "approx":
            if other.args and same(one, other.args[0]):
                return Demand(subject_of(one), REPEATED)
            return Demand(subject_of(one), CALLED if _state(one) else approximate(other, _CLOSE["approx"]))
    subject = subject_of(left, right)
    if isinstance(left, ast.Call) and dotted(left.func) == "type":
        return Demand(ast.unparse(left.args[0]) if left.args else subject, KIND)
    true = value_of(right) is True or value_of(left) is True
    return Demand(subject, TRUTH if true else _state(left) or EQUAL)


def _state(node: ast.expr) -> int | None:
    return _MOCK_STATES.get(node.attr) if isinstance(node, ast.Attribute) else None


def _unequal(left: ast.expr, _: ast.cmpop, right: ast.expr) -> Demand:
    return Demand(subject_of(left, right), NOT_NONE if value_of(right) is None else NOT_THAT)


def _member(left: ast.expr, _: ast.cmpop, right: ast.expr) -> Demand:
    elements = right.elts if isinstance(right, ast.List | ast.Tuple | ast.Set) else []
    again = any(same(left, each) for each in elements)
    asked = next((each for each in elements if not is_literal(each)), right)
    right = asked if is_literal(left) else right
    return Demand(subject_of(left, right), REPEATED if again else MEMBER)


def _ordered(left: ast.expr, operator: ast.cmpop, right: ast.expr) -> Demand:
    if same(left, right) and isinstance(operator, ast.LtE | ast.GtE):
        return Demand(subject_of(left), REPEATED)
    distance = _distance(left, right) if isinstance(operator, ast.Lt | ast.LtE) else _distance(right, left)
    if distance is not None:
        return distance
    sized = left if isinstance(left, ast.Call) and dotted(left.func) == "len" and len(left.args) == 1 else None
    if isinstance(sized, ast.Call) and isinstance(operator, ast.Gt | ast.GtE) and value_of(right) in {0, 1}:
        return Demand(ast.unparse(sized), TRUTH)
    return Demand(subject_of(left, right), CALLED if _state(left) or _state(right) else ORDER)


def _distance(left: ast.expr, right: ast.expr) -> Demand | None:
    """Read `abs(a - b) < tolerance`."""
    tolerance = value_of(right)
    if not (isinstance(left, ast.Call) and dotted(left.func).rpartition(".")[2] in {"abs", "fabs"} and left.args):
        return None
    if not isinstance(tolerance, int | float) or not isinstance(left.args[0], ast.BinOp):
        return None
    return Demand(subject_of(left.args[0].left, left.args[0].right), strength_within(tolerance))


def _called(node: ast.Call) -> Demand:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else dotted(node.func)
    if name in _KINDS:
        return Demand(_of_kind(node.args), KIND)
    if name in _CLOSE and node.args:
        return Demand(subject_of(*node.args[:2]), approximate(node, _CLOSE[name]))
    if name in _EQUALITIES and node.args:
        return Demand(subject_of(*node.args[:2]), EQUAL)
    if name in _OVER and (node.args or isinstance(node.func, ast.Attribute)):
        return _over(node, _OVER[name])
    if name in _PARTIAL:
        owner = node.func.value if isinstance(node.func, ast.Attribute) else node
        subject = node.args[-1] if name in _REGEXES and node.args else owner
        anything = name in _REGEXES and bool(node.args) and value_of(node.args[0]) in _ANYTHING
        return Demand(ast.unparse(subject), TRUTH if anything else MEMBER + 200)
    return Demand(ast.unparse(node), TRUTH)


def _of_kind(given: list[ast.expr]) -> str:
    """Return what `isinstance(x, int)` is about, and `isinstance(3, type(x))`."""
    if len(given) > 1 and is_literal(given[0]) and isinstance(given[1], ast.Call) and dotted(given[1]) == "type":
        given = given[1].args
    return ast.unparse(given[0]) if given else ""


def _over(node: ast.Call, strength: int) -> Demand:
    """Read `all(…)` and `any(…)` of a generator, of a list, and of a comparison of arrays: `(x == y).all()`."""
    inner = node.args[0] if node.args else node.func.value if isinstance(node.func, ast.Attribute) else node
    if isinstance(inner, ast.GeneratorExp | ast.ListComp):
        if is_literal(inner.generators[0].iter):
            return _demand(inner.elt)._replace(strength=strength)
        return Demand(ast.unparse(inner.generators[0].iter), strength)
    if isinstance(inner, ast.List | ast.Tuple) and inner.elts:
        return Demand(_demand(inner.elts[0]).subject, strength)
    if isinstance(inner, ast.Compare):
        return Demand(subject_of(inner.left, inner.comparators[0]), strength + (EQUAL - ORDER) * (strength > ORDER))
    return Demand(ast.unparse(inner), strength)


def _either(node: ast.BoolOp) -> Demand:
    parts = [_demand(each) for each in node.values]
    best = max(parts, key=lambda each: each.strength or 0)
    return Demand(best.subject, MEMBER - 200 if best.strength is None else min(MEMBER - 200, best.strength))


def _chosen(node: ast.IfExp) -> Demand:
    one, other = _demand(node.body), _demand(node.orelse)
    if one.strength is None or other.strength is None:
        return Demand(one.subject)
    return Demand(one.subject, min(one.strength, other.strength))


def _named(node: ast.NamedExpr) -> Demand:
    return _demand(node.value)


def _questioned(node: ast.Attribute) -> Demand:
    return Demand(_without_questions(node), _MOCK_STATES.get(node.attr, TRUTH) if node.attr == "called" else TRUTH)


def strength_within(tolerance: float) -> int:
    """Return the strength of being that close, the closer the stronger."""
    if not tolerance > 0:
        return EQUAL
    return APPROXIMATE + round(max(-_DECADE * 10.0, min(_DECADE * 10.0, -_DECADE * math.log10(tolerance))))


def approximate(node: ast.Call, usual: tuple[float, ...]) -> int | None:
    """Return the strength of a call that compares within a tolerance, the `usual` one where it gives none.

    None where it gives one that is not a literal.
    """
    given = [each.value for each in node.keywords if each.arg in _TOLERANCES]
    given += node.args[1:] if dotted(node).endswith("approx") else []
    values = [value_of(each) for each in given]
    numbers = [float(each) for each in values if isinstance(each, int | float)]
    if len(numbers) != len(values):
        return None
    within = [strength_within(each) for each in numbers if each > 0] or [strength_within(each) for each in usual]
    return sum(within) // len(within)


_COMPARERS: Final[dict[type[ast.cmpop], Callable[[ast.expr, ast.cmpop, ast.expr], Demand]]] = {
    ast.Eq: _equal,
    ast.Is: _equal,
    ast.NotEq: _unequal,
    ast.IsNot: _unequal,
    ast.In: _member,
    ast.NotIn: _member,
    ast.Lt: _ordered,
    ast.LtE: _ordered,
    ast.Gt: _ordered,
    ast.GtE: _ordered,
}
_READERS: Final[dict[type[ast.expr], Callable[[Any], Demand]]] = {
    ast.Compare: _compare,
    ast.Call: _called,
    ast.BoolOp: _either,
    ast.Attribute: _questioned,
    ast.IfExp: _chosen,
    ast.NamedExpr: _named,
}
