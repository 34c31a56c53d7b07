"""What a Python test compares with, or asks, that cannot differ: mocked subjects, objects equal to everything."""

import ast
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.constants import UNKNOWN
from ralph_tracker.integrity.python.expectations import asserted, local_values, module_values, sides_of
from ralph_tracker.integrity.python.nodes import constant_of, full_name, imports_of, nodes_of
from ralph_tracker.integrity.python.replacing import (
    ITSELF,
    MOCKS,
    functions_in,
    replaced_around,
    replaced_for_all,
    replaced_in,
)
from ralph_tracker.integrity.python.syntax import FUNCTIONS, Function, dotted, nodes_below, nodes_in, tree_of

_ANYTHING: Final = Pattern(r"(^|\.)(mock\.ANY|dirty_equals\.(AnyThing|IsAnything)|matchers?\.anything)$|^ANY$")
_CLOCKS: Final = Pattern(r"(^|\.)time\.(time|perf_counter|monotonic|process_time)(_ns)?$")
_STRAIGHT: Final = frozenset({"len", "list", "sorted", "set", "tuple", "dict", "str", "int", "float", "round", "bool"})
EQUAL: Final = "compared with an object that is equal to everything"
MOCKED: Final = "what is asserted about was replaced in the test"
CLOCK: Final = "the clock that a duration is taken by stands still"
BUILTIN: Final = "the builtin that it is asked by was replaced in the test"
OWN: Final = "what is asserted about is defined by the tests"
SET: Final = "what is asserted about was assigned in the test"
_BUILTINS: Final = frozenset(
    {
        "len",
        "sorted",
        "list",
        "set",
        "str",
        "int",
        "isinstance",
        "type",
        "repr",
        "any",
        "all",
        "sum",
        "min",
        "max",
        "abs",
    }
    | {"round", "bool", "tuple", "dict", "hash", "getattr", "hasattr", "float", "callable"}
)
_OF_CALLS: Final = Pattern(r"\.assert_(any_|has_|not_)?(call|await)\w*$")
_FROZEN: Final = Pattern(r"(^|\.)(freeze_time|travel|frozen_time)$")
_COPIES: Final = Pattern(r"(^|[._])(tests?|copy|copies|stubs?|fakes?|mocks?|doubles?)([._]|$)|^\.")


class Claim(NamedTuple):
    """Hold one assertion: its text, the name of what it is about, and why it can only come out one way."""

    text: str
    line: int
    subject: str
    rigged: str | None


def claims_of(
    test: Function, text: str, equal: frozenset[str], path: str = "", before: Mapping[str, str] | None = None
) -> list[Claim]:
    """Return what a test of a file asserts; `equal` are the classes that are equal to everything.

    `before` are the imports that the file had. Raises Unparsable.
    """
    return _Reading(test, text, equal, path, before or {}).claims()


def hidden_in(text: str, before: Mapping[str, str]) -> frozenset[str]:
    """Return the imports that a test file had and defines itself now, or takes from tests. Raises Unparsable."""
    now = imports_of(text)
    own = {each.name for each in tree_of(text).body if isinstance(each, (*FUNCTIONS, ast.ClassDef))}
    return frozenset(
        name
        for name, full in before.items()
        if not _COPIES.search(full)
        and (name in own or (now.get(name, full) != full and bool(_COPIES.search(now[name].rpartition(".")[0]))))
    )


class _Reading:
    """Follow the names of one test to what they stand for."""

    def __init__(self, test: Function, text: str, equal: frozenset[str], path: str, before: Mapping[str, str]) -> None:
        self.test = test
        self.text = text
        self.equal = equal
        self.imports = imports_of(text)
        self.known = {**_fixed(text, test), **local_values(test)}
        own = functions_in(text)
        self.replaced = {
            **replaced_for_all(text),
            **replaced_around(test, text),
            **replaced_in(test, self.imports, own),
            **dict.fromkeys(hidden_in(text, before), True),
        }
        self.replaced.update((each, True) for each in _own_builtins(test, text))
        self.frozen = any(_FROZEN.search(dotted(each)) for each in _around(test))
        self.set = dict(_set_in(test))
        module = path.rpartition("/")[2].removesuffix(".py")
        for target in list(self.replaced):
            owner, _, name = target.rpartition(".")
            if name and owner.rpartition(".")[2] in {module, ITSELF}:
                self.replaced[name] = self.replaced[self.imports.get(name, name)] = self.replaced[target]

    def claims(self) -> list[Claim]:
        return [self._claim(each) for each in asserted(self.test)]

    def _claim(self, claim: ast.expr) -> Claim:
        sides = sides_of(claim)
        asked = [each for each in sides if not self._is_equal_to_all(each)]
        subject = next((name for name in map(self._subject, asked) if name), "")
        return Claim(ast.unparse(claim), claim.lineno, subject, self._rigged(claim, sides))

    def _rigged(self, claim: ast.expr, sides: list[ast.expr]) -> str | None:
        if self._by_equality(claim, sides):
            return EQUAL
        if self._by_builtin(claim):
            return BUILTIN
        if any(self._is_mocked(each) for each in sides):
            return MOCKED
        if self._takes_time(claim):
            return CLOCK
        if any(self._is_own(each) for each in sides):
            return OWN
        return SET if any(isinstance(each, ast.Attribute) and dotted(each) in self.set for each in sides) else None

    def _by_equality(self, claim: ast.expr, sides: list[ast.expr]) -> bool:
        """Tell whether a side, or what it is looked for among, is equal to everything; calls of mocks may hold such."""
        if isinstance(claim, ast.Compare) and isinstance(claim.ops[0], ast.In):
            return isinstance(sides[-1], ast.List | ast.Tuple) and any(map(self._is_equal_to_all, sides[-1].elts))
        if isinstance(claim, ast.Compare):
            compares = isinstance(claim.ops[0], ast.Eq | ast.Is)
        else:
            compares = not (isinstance(claim, ast.Call) and _OF_CALLS.search(dotted(claim.func)) is not None)
        return compares and len(sides) > 1 and any(map(self._is_equal_to_all, sides))

    def _by_builtin(self, claim: ast.expr) -> bool:
        """Tell whether a claim is made by a builtin that was replaced."""
        called = {dotted(each.func) for each in nodes_below(claim) if isinstance(each, ast.Call)} & _BUILTINS
        return any(each in self.replaced or f"builtins.{each}" in self.replaced for each in called)

    def _is_own(self, side: ast.expr) -> bool:
        """Tell whether a side calls a method that the tests' own class defines, and does not leave to another."""
        kind, _, method = self._subject(side).rpartition(".")
        return bool(kind) and (self._is_defined(kind, method) or self._is_of_type(kind, method))

    def _is_defined(self, kind: str, method: str) -> bool:
        bodies = [each.body for each in nodes_of(self.text, ast.ClassDef) if each.name == kind]
        methods = [each for body in bodies for each in body if isinstance(each, FUNCTIONS) and each.name == method]
        return any(not _leaves(each) for each in methods)

    def _is_of_type(self, kind: str, method: str) -> bool:
        """Tell whether a class that `type` made has a method of that name."""
        made = self.known.get(kind)
        given = made.args[-1:] if isinstance(made, ast.Call) and dotted(made.func) == "type" else []
        return any(isinstance(each, ast.Dict) and method in map(constant_of, each.keys) for each in given)

    def _is_equal_to_all(self, side: ast.expr) -> bool:
        value = self._value(side)
        if isinstance(value, ast.List | ast.Tuple):
            return bool(value.elts) and all(map(self._is_equal_to_all, value.elts))
        if isinstance(value, ast.Call) and dotted(value.func) == "getattr":
            return any(constant_of(each) == "ANY" for each in value.args)
        if isinstance(side, ast.Name) and side.id in self.equal:
            return True
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
        if not isinstance(value, ast.Call | ast.Attribute):
            return ""
        value = value.func if isinstance(value, ast.Call) else value
        name = dotted(value)
        first, dot, rest = name.partition(".")
        made = self.known.get(first)
        if dot and isinstance(made, ast.Call) and dotted(made.func) != "type":
            return f"{full_name(made.func, self.imports)}.{rest}"
        return full_name(value, self.imports)

    def _is_mocked(self, side: ast.expr) -> bool:
        value = self._value(side)
        subject = self._subject(side)
        if not isinstance(value, ast.Call):
            # An attribute is a subject where it was replaced as such: by a property.
            return "." in subject and any(_is_same(subject, each) and not each.endswith("__") for each in self.replaced)
        root = dotted(value.func).partition(".")[0]
        made = self.known.get(root)
        if isinstance(made, ast.Call):
            kind = dotted(made.func)
            if MOCKS.search(full_name(made.func, self.imports)) or (kind in self.replaced and root not in self.imports):
                return True
        if root in self.replaced or dotted(value.func) in self.replaced or self._is_of_module(root):
            return True
        return any(_is_same(subject, each) for each in self.replaced)

    def _is_of_module(self, root: str) -> bool:
        """Tell whether a name was imported from a module that was replaced."""
        full = self.imports.get(root, "")
        return any(full.startswith(f"{each}.") for each in self.replaced if each and each[0] != "_")

    def _takes_time(self, claim: ast.expr) -> bool:
        still = any(_CLOCKS.search(name) and frozen for name, frozen in self.replaced.items())
        if not (still or self.frozen):
            return False
        parts = nodes_below(claim)
        parts += [sub for each in parts if isinstance(each, ast.Name) for sub in nodes_below(self._value(each))]
        asked = still or any(
            isinstance(each, ast.Call) and _CLOCKS.search(full_name(each.func, self.imports)) for each in parts
        )
        return asked and any(isinstance(each, ast.BinOp) and isinstance(each.op, ast.Sub) for each in parts)


def _is_same(subject: str, target: str) -> bool:
    """Tell whether two full names mean one thing: a package often hands the classes of its modules on."""
    if subject == target:
        return True
    *owners, kind, name = ("", "", *subject.split("."))
    *others, other, attribute = ("", "", *target.split("."))
    return name == attribute and kind == other and kind[:1].isupper() and owners[2:3] == others[2:3]


def _fixed(text: str, test: Function) -> dict[str, ast.expr]:
    """Return what the names of a module stand for, those of fixtures by what they made before they returned it."""
    found = dict(module_values(text))
    for name, fixture in functions_in(text).items():
        value = found.get(name)
        if isinstance(value, ast.Name) and fixture is not test:
            found[name] = local_values(fixture).get(value.id, value)
    return found


def _leaves(method: Function) -> bool:
    """Tell whether a method leaves the work to the class above."""
    return any(isinstance(each, ast.Name) and each.id == "super" for each in nodes_below(method))


def _around(test: Function) -> Iterator[ast.expr]:
    """Yield what a test is decorated with and what it opens."""
    yield from test.decorator_list
    for each in nodes_in(test):
        if isinstance(each, ast.withitem):
            yield each.context_expr


def _own_builtins(test: Function, text: str) -> Iterator[str]:
    """Yield the builtins that a test or its module defines anew."""
    for each in (*tree_of(text).body, *nodes_in(test)):
        if isinstance(each, FUNCTIONS) and each.name in _BUILTINS:
            yield each.name
        elif isinstance(each, ast.Assign) and isinstance(each.value, ast.Lambda):
            yield from (name for target in each.targets if (name := dotted(target)) in _BUILTINS)


def _set_in(test: Function) -> Iterator[tuple[str, int]]:
    """Yield the attributes that a test assigns a constant to, with the line."""
    for each in nodes_in(test):
        if isinstance(each, ast.Assign) and constant_of(each.value) is not UNKNOWN:
            yield from ((dotted(target), each.lineno) for target in each.targets if isinstance(target, ast.Attribute))
