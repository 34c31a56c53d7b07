"""What a comparison of a Python test is worth where one side of it is equal to everything."""

import ast
from collections.abc import Iterator, Mapping
from typing import Final

from ralph_tracker.integrity.python.equal_kinds import ANYTHING, LOOSELY, method_of, says_equal
from ralph_tracker.integrity.python.nodes import constant_of, full_name, nodes_of
from ralph_tracker.integrity.python.origins import HANDING_ON, Origins
from ralph_tracker.integrity.python.syntax import Function, dotted, same

_SIDE: Final[Mapping[type[ast.cmpop], str]] = {
    ast.In: "__contains__",
    ast.Lt: "__gt__",
    ast.LtE: "__ge__",
    ast.Gt: "__lt__",
    ast.GtE: "__le__",
}
_ROWS: Final = (ast.List, ast.Tuple)
_DEPTH: Final = 3
_NOBODY: Final[Mapping[str, Function]] = {}


class Equals:
    """Tell of the expressions of one test whether they are equal to everything."""

    def __init__(self, text: str, imports: Mapping[str, str], equal: frozenset[str], origins: Origins) -> None:
        self._text = text
        self._imports = imports
        self._equal = equal
        self._origins = origins

    def holds(self, claim: ast.expr, sides: list[ast.expr]) -> bool:
        """Tell whether a claim holds whatever is under test, as one side of it is equal to everything."""
        if isinstance(claim, ast.UnaryOp) and isinstance(claim.op, ast.Not) and isinstance(claim.operand, ast.Compare):
            inside = claim.operand
            return isinstance(inside.ops[0], ast.NotEq) and any(
                map(self.everything, (inside.left, *inside.comparators))
            )
        if isinstance(claim, ast.Compare):
            return self._compares(claim, sides)
        if isinstance(claim, ast.Call) and dotted(claim.func).endswith(".__eq__"):
            return isinstance(claim.func, ast.Attribute) and any(map(self.everything, (claim.func.value, *claim.args)))
        if isinstance(claim, ast.Call) and dotted(claim.func) == "isinstance":
            return bool(claim.args) and dotted(claim.args[-1]) in self._of_kinds("__instancecheck__")
        return len(sides) > 1 and any(map(self.everything, sides))

    def _compares(self, claim: ast.Compare, sides: list[ast.expr]) -> bool:
        operator = claim.ops[0]
        if isinstance(operator, ast.In) and isinstance(sides[-1], _ROWS):
            return any(map(self.everything, sides[-1].elts))
        if isinstance(operator, ast.Eq | ast.Is):
            return any(map(self.everything, sides)) or self._part_by_part(*sides[:2])
        method = _SIDE.get(type(operator))
        made = self._origins.of(sides[-1]) if method is not None else []
        return method is not None and any(
            isinstance(each, ast.Call) and dotted(each.func) in self._of_kinds(method) for each in made
        )

    def _part_by_part(self, left: ast.expr, right: ast.expr) -> bool:
        """Tell whether two displays hold the same, or something equal to everything, at each place."""
        if isinstance(left, ast.Dict) and isinstance(right, ast.Dict) and len(left.keys) == len(right.keys):
            pairs = [*zip(left.values, right.values, strict=True)]
        elif isinstance(left, _ROWS) and isinstance(right, _ROWS) and len(left.elts) == len(right.elts):
            pairs = [*zip(left.elts, right.elts, strict=True)]
        else:
            return False
        equal = [any(map(self.everything, pair)) for pair in pairs]
        return any(equal) and all(known or same(*pair) for known, pair in zip(equal, pairs, strict=True))

    def everything(self, side: ast.expr, depth: int = _DEPTH) -> bool:
        """Tell whether an expression is equal to everything, or is wrapped in what is."""
        if isinstance(side, ast.Name) and side.id in self._equal:
            return True
        return depth > 0 and any(self._is_equal(each, depth) for each in self._values(side))

    def _values(self, side: ast.expr) -> Iterator[ast.expr]:
        side = side.value if isinstance(side, ast.Await | ast.NamedExpr) else side
        if isinstance(side, ast.Name | ast.Attribute):
            found = self._origins.value_of(dotted(side), side.lineno)
            yield from found or [side]
            if isinstance(side, ast.Attribute):
                yield side
        else:
            yield side

    def _is_equal(self, value: ast.expr, depth: int) -> bool:
        if isinstance(value, _ROWS):
            return bool(value.elts) and all(self.everything(each, depth - 1) for each in value.elts)
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr):
            return self.everything(value.left, depth - 1) or self.everything(value.right, depth - 1)
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
            return self.everything(value.left, depth - 1)
        if isinstance(value, ast.IfExp):
            return self.everything(value.body, depth - 1) or self.everything(value.orelse, depth - 1)
        if isinstance(value, ast.Call):
            return self._is_made(value, depth)
        named = isinstance(value, ast.Name) and value.id in self._equal
        return named or (
            isinstance(value, ast.Name | ast.Attribute) and bool(ANYTHING.search(full_name(value, self._imports)))
        )

    def _is_made(self, call: ast.Call, depth: int) -> bool:
        name = dotted(call.func)
        if isinstance(call.func, ast.Call) and name == "type" and call.func.args:
            return says_equal(call.func.args[-1:], _NOBODY) in {True, LOOSELY}
        if name == "getattr":
            return any(constant_of(each) == "ANY" for each in call.args)
        if name.rpartition(".")[2] in self._equal or ANYTHING.search(full_name(call.func, self._imports)):
            return True
        if name in HANDING_ON and len(call.args) == 1:
            return self.everything(call.args[0], depth - 1)
        return any(self.everything(each, depth - 1) for each in self._origins.returned(name))

    def _of_kinds(self, method: str) -> frozenset[str]:
        """Return the classes of the file that answer yes to a question whatever they are asked, or whose kind does."""
        kinds = nodes_of(self._text, ast.ClassDef)
        told = ((kind.name, method_of(each, kind)) for kind in kinds for each in kind.body)
        found = frozenset(
            kind for kind, (name, answer) in told if name == method and (answer is True or answer is LOOSELY)
        )
        if method != "__instancecheck__":
            return found
        made = ((kind.name, each.value) for kind in kinds for each in kind.keywords if each.arg == "metaclass")
        return frozenset(name for name, value in made if dotted(value) in found)
