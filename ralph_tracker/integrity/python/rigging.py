"""What a Python test compares with, or asks, that cannot differ: mocked subjects, objects equal to everything."""

import ast
from collections.abc import Iterator
from typing import Final, NamedTuple

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.constants import UNKNOWN
from ralph_tracker.integrity.python.expectations import asserted, local_values, module_values, sides_of
from ralph_tracker.integrity.python.nodes import constant_of, full_name, imports_of, nodes_of
from ralph_tracker.integrity.python.replacing import ITSELF, MOCKS, answer_of, replaced_for_all, replaced_in, worth_of
from ralph_tracker.integrity.python.syntax import FUNCTIONS, Function, dotted

_ANYTHING: Final = Pattern(r"(^|\.)(mock\.ANY|dirty_equals\.(AnyThing|IsAnything)|matchers?\.anything)$|^ANY$")
_CLOCKS: Final = Pattern(r"(^|\.)time\.(time|perf_counter|monotonic|process_time)(_ns)?$")
_STRAIGHT: Final = frozenset({"len", "list", "sorted", "set", "tuple", "dict", "str", "int", "float", "round", "bool"})
EQUAL: Final = "compared with an object that is equal to everything"
MOCKED: Final = "what is asserted about was replaced in the test"
CLOCK: Final = "the clock that a duration is taken by stands still"


class Claim(NamedTuple):
    """Hold one assertion: its text, the name of what it is about, and why it can only come out one way."""

    text: str
    line: int
    subject: str
    rigged: str | None


def equal_to_everything(text: str) -> Iterator[tuple[str, ast.stmt | ast.expr]]:
    """Yield the classes of a file that say they are equal whatever they are compared with. Raises Unparsable."""
    for kind in nodes_of(text, ast.ClassDef):
        for each in kind.body:
            if _always(*_method(each)):
                yield kind.name, each
    for put in nodes_of(text, ast.Assign):
        target = put.targets[0]
        if isinstance(target, ast.Attribute) and _always(*_method(put)):
            yield dotted(target.value), put
    for call in nodes_of(text, ast.Call):
        if dotted(call.func) == "type" and call.args and _says_equal(call.args[-1]):
            yield str(constant_of(call.args[0])), call


def _method(node: ast.stmt) -> tuple[str, object]:
    """Return the name of a method that a statement makes, and what it answers whatever it is given."""
    if isinstance(node, FUNCTIONS):
        return node.name, answer_of(node)
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
        target = node.targets[0]
        name = target.attr if isinstance(target, ast.Attribute) else dotted(target)
        return name, worth_of(node.value.body)
    return "", UNKNOWN


def _says_equal(node: ast.expr) -> bool:
    return isinstance(node, ast.Dict) and any(
        constant_of(key) == "__eq__" and isinstance(value, ast.Lambda) and constant_of(value.body) is True
        for key, value in zip(node.keys, node.values, strict=True)
    )


def _always(name: str, answer: object) -> bool:
    return (name == "__eq__" and answer is True) or (name == "__ne__" and answer is False)


def claims_of(test: Function, text: str, equal: frozenset[str], path: str = "") -> list[Claim]:
    """Return what a test of a file asserts; `equal` are the classes that are equal to everything. Raises Unparsable."""
    return _Reading(test, text, equal, path).claims()


class _Reading:
    """Follow the names of one test to what they stand for."""

    def __init__(self, test: Function, text: str, equal: frozenset[str], path: str) -> None:
        self.test = test
        self.equal = equal
        self.imports = imports_of(text)
        self.known = {**module_values(text), **local_values(test)}
        self.replaced = {**replaced_for_all(text), **replaced_in(test, self.imports)}
        module = path.rpartition("/")[2].removesuffix(".py")
        for target in list(self.replaced):
            owner, _, name = target.rpartition(".")
            if name and owner.rpartition(".")[2] in {module, ITSELF}:
                self.replaced[name] = self.replaced[self.imports.get(name, name)] = self.replaced[target]

    def claims(self) -> list[Claim]:
        return [self._claim(each) for each in asserted(self.test)]

    def _claim(self, claim: ast.expr) -> Claim:
        sides = sides_of(claim)
        subject = next((name for name in map(self._subject, sides) if name), "")
        return Claim(ast.unparse(claim), claim.lineno, subject, self._rigged(claim, sides))

    def _rigged(self, claim: ast.expr, sides: list[ast.expr]) -> str | None:
        compares = not isinstance(claim, ast.Compare) or isinstance(claim.ops[0], ast.Eq | ast.Is)
        if compares and len(sides) > 1 and any(self._is_equal_to_all(each) for each in sides):
            return EQUAL
        if any(self._is_mocked(each) for each in sides):
            return MOCKED
        if self._takes_time(claim):
            return CLOCK
        return None

    def _is_equal_to_all(self, side: ast.expr) -> bool:
        value = self._value(side)
        if isinstance(value, ast.Call):
            return dotted(value.func).rpartition(".")[2] in self.equal
        return isinstance(value, ast.Name | ast.Attribute) and bool(_ANYTHING.search(full_name(value, self.imports)))

    def _value(self, side: ast.expr) -> ast.expr:
        side = side.value if isinstance(side, ast.Await) else side
        if isinstance(side, ast.Name) and side.id in self.known:
            side = self.known[side.id]
            side = side.value if isinstance(side, ast.Await) else side
        straight = isinstance(side, ast.Call) and dotted(side.func) in _STRAIGHT and len(side.args) == 1
        return side.args[0] if straight and isinstance(side, ast.Call) else side

    def _subject(self, side: ast.expr) -> str:
        """Return the full name of what a side calls, methods by the class of what they are called on."""
        value = self._value(side)
        if not isinstance(value, ast.Call):
            return ""
        name = dotted(value.func)
        first, dot, rest = name.partition(".")
        made = self.known.get(first)
        if dot and isinstance(made, ast.Call):
            return f"{full_name(made.func, self.imports)}.{rest}"
        return full_name(value.func, self.imports)

    def _is_mocked(self, side: ast.expr) -> bool:
        value = self._value(side)
        if not isinstance(value, ast.Call):
            return False
        root = dotted(value.func).partition(".")[0]
        made = self.known.get(root)
        if isinstance(made, ast.Call) and MOCKS.search(full_name(made.func, self.imports)):
            return True
        subject = self._subject(side)
        return root in self.replaced or any(_is_same(subject, each) for each in self.replaced)

    def _takes_time(self, claim: ast.expr) -> bool:
        still = any(_CLOCKS.search(name) and frozen for name, frozen in self.replaced.items())
        if not still:
            return False
        parts = [*ast.walk(claim)]
        parts += [sub for each in parts if isinstance(each, ast.Name) for sub in ast.walk(self._value(each))]
        return any(isinstance(each, ast.BinOp) and isinstance(each.op, ast.Sub) for each in parts)


def _is_same(subject: str, target: str) -> bool:
    """Tell whether two full names mean one thing: a package often hands the classes of its modules on."""
    if subject == target:
        return True
    *owners, kind, name = ("", "", *subject.split("."))
    *others, other, attribute = ("", "", *target.split("."))
    return name == attribute and kind == other and kind[:1].isupper() and owners[2:3] == others[2:3]
