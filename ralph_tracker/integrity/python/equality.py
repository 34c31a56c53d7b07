"""Which classes and objects of a Python file are equal to everything, and what a comparison with them is worth."""

import ast
from collections.abc import Iterator, Mapping
from typing import Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.constants import UNKNOWN
from ralph_tracker.integrity.python.nodes import constant_of, full_name, nodes_of, returns_of
from ralph_tracker.integrity.python.origins import HANDING_ON, Origins
from ralph_tracker.integrity.python.stand_ins import MOCKS, answer_of, worth_of
from ralph_tracker.integrity.python.syntax import FUNCTIONS, Function, dotted, same, tree_of

ANYTHING: Final = Pattern(
    r"(^|\.)(mock\.ANY|dirty_equals\.(AnyThing|IsAnything)|(matchers?|hamcrest)\.anything)$|^ANY$"
)
_SIDE: Final[Mapping[type[ast.cmpop], str]] = {
    ast.In: "__contains__",
    ast.Lt: "__gt__",
    ast.LtE: "__ge__",
    ast.Gt: "__lt__",
    ast.GtE: "__le__",
}
_ROWS: Final = (ast.List, ast.Tuple)
_DEPTH: Final = 3
_OF_MOCKS: Final = (".__eq__.return_value", ".__eq__.side_effect")
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
        if isinstance(call.func, ast.Call) and name == "type" and call.func.args and _says_equal(call.func.args[-1]):
            return True
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
        found = frozenset(kind.name for kind in kinds if (method, True) in map(_method, kind.body))
        if method != "__instancecheck__":
            return found
        made = ((kind.name, each.value) for kind in kinds for each in kind.keywords if each.arg == "metaclass")
        return frozenset(name for name, value in made if dotted(value) in found)


def equal_to_everything(text: str) -> Iterator[tuple[str, ast.stmt | ast.expr]]:
    """Yield the classes of a file that say they are equal whatever they are compared with. Raises Unparsable."""
    yield from _classes(text)
    for put in nodes_of(text, ast.Assign):
        target = put.targets[0]
        if isinstance(target, ast.Attribute) and _always(*_method(put)):
            yield dotted(target.value), put
        elif dotted(target).endswith(_OF_MOCKS) and (constant_of(put.value) is True or _is_yes(put.value)):
            yield dotted(target).rpartition(".__eq__")[0], put
        elif isinstance(put.value, ast.Call) and any(_is_equal_by(each) for each in put.value.keywords):
            yield dotted(target), put
    for call in nodes_of(text, ast.Call):
        if dotted(call.func) == "type" and call.args and _says_equal(call.args[-1]):
            yield str(constant_of(call.args[0])), call
        elif len(call.args) > 1:
            yield from _equal_by_patch(call)
        elif dotted(call.func).endswith(".configure_mock") and any(
            _says_mock_equal(each.value) for each in call.keywords
        ):
            yield dotted(call.func).removesuffix(".configure_mock"), call


def _classes(text: str) -> Iterator[tuple[str, ast.stmt]]:
    found: set[str] = set()
    functions = {each.name: each for each in tree_of(text).body if isinstance(each, FUNCTIONS)}
    for kind in nodes_of(text, ast.ClassDef):
        methods = [each for each in kind.body if _always(*_method(each, kind, functions))]
        if not methods and _is_of_equals(kind, found):
            methods = kind.body[:1]
        found.update(kind.name for _ in methods[:1])
        yield from ((kind.name, each) for each in methods)


def _is_of_equals(kind: ast.ClassDef, found: set[str]) -> bool:
    """Tell whether a class is made of one that is equal to everything, or of the class of `ANY`."""
    of = [*kind.bases, *(each.value for each in kind.keywords if each.arg == "metaclass")]
    if any(dotted(base).rpartition(".")[2] in found for base in of):
        return True
    kinds = (base.args[0] for base in of if isinstance(base, ast.Call) and dotted(base.func) == "type" and base.args)
    return any(ANYTHING.search(dotted(each)) for each in kinds)


def _is_yes(node: ast.expr) -> bool:
    return isinstance(node, ast.Lambda) and worth_of(node.body) is True


def _says_mock_equal(node: ast.expr) -> bool:
    return isinstance(node, ast.Dict) and any(
        constant_of(key) == "__eq__.return_value" and constant_of(value) is True
        for key, value in zip(node.keys, node.values, strict=True)
    )


def _is_equal_by(given: ast.keyword) -> bool:
    return given.arg == "__eq__" and (
        _is_yes(given.value) or any(constant_of(each) is True for each in ast.walk(given.value))
    )


def _equal_by_patch(call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """Read `patch.object(Box, "__eq__", lambda self, other: True)` and `patch("box.Box.__eq__", …)`."""
    path = constant_of(call.args[0])
    whole = isinstance(path, str) and path.endswith(".__eq__")
    if not whole and constant_of(call.args[1]) != "__eq__":
        return
    given = [call.args[-1], *(each.value for each in call.keywords if each.arg in {"new", "return_value"})]
    if any(_is_yes(each) or constant_of(each) is True for each in given):
        yield str(path).split(".")[-2] if whole else dotted(call.args[0]).rpartition(".")[2], call


def _method(
    node: ast.stmt, kind: ast.ClassDef | None = None, functions: Mapping[str, Function] = _NOBODY
) -> tuple[str, object]:
    """Return the name of a method that a statement makes, and what it answers whatever it is given."""
    if isinstance(node, FUNCTIONS):
        answer = answer_of(node)
        return node.name, _through(node, kind, functions) if answer is UNKNOWN else answer
    if isinstance(node, ast.Assign):
        target = node.targets[0]
        return target.attr if isinstance(target, ast.Attribute) else dotted(target), _answer(node.value, functions)
    return "", UNKNOWN


def _answer(value: ast.expr, functions: Mapping[str, Function]) -> object:
    """Return what a lambda, a function by its name, or a mock, answers whatever it is given."""
    if isinstance(value, ast.Call) and dotted(value.func) == "staticmethod" and value.args:
        value = value.args[0]
    if isinstance(value, ast.Lambda):
        return worth_of(value.body)
    if isinstance(value, ast.Call) and MOCKS.search(dotted(value.func)):
        return next((constant_of(each.value) for each in value.keywords if each.arg == "return_value"), UNKNOWN)
    return answer_of(functions[dotted(value)]) if dotted(value) in functions else UNKNOWN


def _through(method: Function, kind: ast.ClassDef | None, functions: Mapping[str, Function]) -> object:
    """Return what a method answers that hands out a constant of its class, or what a function always answers."""
    returned = [each.value for each in returns_of(method)]
    if len(returned) != 1 or returned[0] is None:
        return UNKNOWN
    name = dotted(returned[0])
    if isinstance(returned[0], ast.Call):
        return answer_of(functions[name]) if name in functions else UNKNOWN
    made = [each for each in kind.body if isinstance(each, ast.Assign)] if kind is not None else []
    held = {dotted(target): each.value for each in made for target in each.targets}
    return worth_of(held[name.partition(".")[2]]) if name.partition(".")[2] in held else UNKNOWN


def _says_equal(node: ast.expr) -> bool:
    return isinstance(node, ast.Dict) and any(
        constant_of(key) == "__eq__" and isinstance(value, ast.Lambda) and constant_of(value.body) is True
        for key, value in zip(node.keys, node.values, strict=True)
    )


def _always(name: str, answer: object) -> bool:
    return (name == "__eq__" and answer is True) or (name == "__ne__" and answer is False)
