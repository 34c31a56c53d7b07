"""What a Python test puts in the place of an answer where that is not what it expects, or asks for twice."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ralph_tracker.integrity.python.claims import TRIVIAL
from ralph_tracker.integrity.python.constants import UNKNOWN
from ralph_tracker.integrity.python.expectations import is_plain
from ralph_tracker.integrity.python.nodes import constant_of
from ralph_tracker.integrity.python.origins import HANDING_ON, Origins, bindings_of
from ralph_tracker.integrity.python.syntax import Function, dotted, nodes_below, nodes_in, same

_NAMES: Final = 4
_PAIR: Final = 2
_ROWS: Final = (ast.Tuple, ast.List)
_DEFAULTS: Final = {"get": 1, "pop": 1, "setdefault": 1, "next": 1, "getattr": 2, "max": 0, "min": 0}


def is_chosen(claim: ast.expr, sides: list[ast.expr], test: Function, origins: Origins) -> bool:
    """Tell whether what is expected is one of the values that what is compared with it is chosen from."""
    if len(sides) < _PAIR or (isinstance(claim, ast.Compare) and not isinstance(claim.ops[0], ast.Eq | ast.Is)):
        return False
    for one, other in ((sides[0], sides[1]), (sides[1], sides[0])):
        named = origins.value_of(other.id, other.lineno) if isinstance(other, ast.Name) else []
        wanted = (other, *named)
        telling = [each for each in wanted if ast.unparse(each) not in TRIVIAL]
        if _any_same(_bound_after(one, test), wanted) or (
            telling and _any_same(_alternatives(one, test, origins), telling)
        ):
            return True
    return False


def _any_same(found: Iterable[ast.expr], wanted: Sequence[ast.expr]) -> bool:
    return any(same(each, value) for each in found for value in wanted)


def _bound_after(side: ast.expr, test: Function) -> list[ast.expr]:
    """Return what a name is bound to again after it was given its answer."""
    made = _bindings(side.id, side, test) if isinstance(side, ast.Name) else []
    return made[1:]


def _alternatives(side: ast.expr, test: Function, origins: Origins) -> Iterator[ast.expr]:
    names = {each.id for each in nodes_below(side) if isinstance(each, ast.Name)}
    for value in (side, *(each for name in names for each in _bindings(name, side, test)[:1])):
        for each in nodes_below(value):
            yield from _of_choice(each)
            if isinstance(each, ast.Call):
                yield from origins.handed_out(each)


def _bindings(name: str, side: ast.expr, test: Function) -> list[ast.expr]:
    """Return the last answer that a name was given before it is asked about, and the constants after that."""
    made = [each for each in bindings_of(test).get(name, ()) if each.lineno <= side.lineno]
    varying = [at for at, each in enumerate(made) if constant_of(each) is UNKNOWN and not is_plain(each)]
    return made[varying[-1] :] if varying else []


def _of_choice(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what an expression may come to instead of what it is about."""
    if isinstance(node, ast.BoolOp):
        yield from node.values[is_plain(node.values[0]) is not isinstance(node.op, ast.Or) :]
    elif isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    elif isinstance(node, ast.Subscript) and isinstance(node.value, _ROWS):
        yield from node.value.elts
    elif isinstance(node, ast.Call):
        name = dotted(node.func).rpartition(".")[2] or getattr(node.func, "attr", "")
        if name in _DEFAULTS:
            yield from node.args[_DEFAULTS[name] :]
            if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, _ROWS):
                yield from node.func.value.elts


def is_itself(claim: ast.expr, sides: list[ast.expr], origins: Origins) -> bool:
    """Tell whether both sides are one thing by two names."""
    if not isinstance(claim, ast.Compare) or not isinstance(claim.ops[0], ast.Eq | ast.Is):
        return False
    ends = [_end(each, origins) for each in sides]
    return len(ends) > 1 and isinstance(ends[0], ast.Name) and same(ends[0], ends[1]) and not same(*sides[:2])


def _end(side: ast.expr, origins: Origins) -> ast.expr:
    """Return what a name is another name for."""
    for _ in range(_NAMES):
        made = origins.value_of(side.id, side.lineno) if isinstance(side, ast.Name) else []
        if not made or not isinstance(made[0], ast.Name):
            break
        side = made[0]
    return side


def asks_again(claim: ast.expr, sides: list[ast.expr], origins: Origins) -> bool:
    """Tell whether both sides of a claim come from one and the same call, or from two that are alike."""
    if not isinstance(claim, ast.Compare | ast.Call) or len(sides) < _PAIR:
        return False
    if isinstance(claim, ast.Compare) and not isinstance(claim.ops[0], ast.Eq | ast.Is):
        return False
    asked = [next(_calls(each, origins), None) for each in sides[:2]]
    return asked[0] is not None and asked[1] is not None and same(asked[0], asked[1])


def _calls(side: ast.expr, origins: Origins) -> Iterator[ast.Call]:
    for each in origins.of(side):
        copies = isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr == "copy"
        if (
            isinstance(each, ast.Call)
            and not copies
            and dotted(each.func) not in HANDING_ON
            and not origins.asks_nothing(each)
        ):
            yield each


def is_emptied(sides: list[ast.expr], test: Function) -> bool:
    """Tell whether a test empties or fills anew what it asks about, after it was made."""
    return any(isinstance(each, ast.Name) and _is_emptied(each, test) for each in sides)


def _is_emptied(side: ast.Name, test: Function) -> bool:
    made = [each for each in bindings_of(test).get(side.id, ()) if each.lineno < side.lineno]
    if not any(isinstance(each, ast.Call) for each in made):
        return False
    first = min(each.lineno for each in made)
    return any(first <= at < side.lineno for at in _emptied_at(side.id, test))


def _emptied_at(name: str, test: Function) -> Iterator[int]:
    """Yield the lines of `got.clear()`, `del got[:]` and `got[:] = […]`."""
    for each in nodes_in(test):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute):
            if each.func.attr == "clear" and dotted(each.func.value) == name:
                yield each.lineno
        elif isinstance(each, ast.Subscript) and _is_emptied_by(each, name):
            yield each.lineno


def _is_emptied_by(part: ast.Subscript, name: str) -> bool:
    return isinstance(part.slice, ast.Slice) and not isinstance(part.ctx, ast.Load) and dotted(part.value) == name
