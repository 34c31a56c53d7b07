"""What a Python test asks, and what it asks of: the sides of its claims, the values of its module and fixtures."""

import ast
import sys
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.constants import UNKNOWN
from ralph_tracker.integrity.python.expectations import asserted, local_values, module_values, sides_of
from ralph_tracker.integrity.python.nodes import constant_of, full_name, functions_of, imports_of, nodes_of
from ralph_tracker.integrity.python.replacing import functions_in, own_of
from ralph_tracker.integrity.python.stand_ins import MOCKS, leaves_to_above, stands_in
from ralph_tracker.integrity.python.syntax import FUNCTIONS, Function, dotted, nodes_in, tree_of

_RAISING: Final = Pattern(r"(^|\.)(raises|assertRaises(Regexp?)?)$")
_SETTING: Final = Pattern(r"(^|\.)(patch|patch\.object|setattr)$")
_SIDES: Final = frozenset({"first", "second", "actual", "expected", "desired", "x", "y"})
BUILTINS: Final = frozenset(
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


def owner_of(name: str) -> tuple[str, str]:
    """Return what a dotted name begins with and the rest; `self.box` is one name."""
    first, _, rest = name.partition(".")
    if first in {"self", "cls"} and "." in rest:
        second, _, rest = rest.partition(".")
        first = f"{first}.{second}"
    return first, rest


def claimed_sides(claim: ast.expr) -> list[ast.expr]:
    """Return what a claim compares, `first=` and `second=` too; of what has to raise, the call that does."""
    if not isinstance(claim, ast.Call):
        return sides_of(claim)
    if _RAISING.search(dotted(claim.func)) and len(claim.args) > 1:
        return [ast.copy_location(ast.Call(claim.args[1], [], []), claim)]
    named = [each.value for each in claim.keywords if each.arg in _SIDES]
    return (sides_of(claim) + named)[:2]


def said_in(test: Function) -> Iterator[ast.expr]:
    """Yield what a test asserts; what `assertTrue` says of two things, an `assert` would say in its place."""
    yield from map(_plainly, asserted(test))


def _plainly(claim: ast.expr) -> ast.expr:
    given = claim.args[0] if isinstance(claim, ast.Call) and claim.args else None
    if not isinstance(given, ast.Compare) or not dotted(claim).endswith(".assertTrue"):
        return claim
    said = ast.copy_location(ast.Compare(given.left, given.ops, given.comparators), claim)
    said.col_offset += len("assert ")
    return said


def asked_by(claim: ast.expr) -> list[ast.Call]:
    """Return the calls that a claim is made by: its own, and that of what it says is true."""
    calls = [claim] if isinstance(claim, ast.Call) else []
    if calls and dotted(calls[0].func).endswith(".assertTrue"):
        calls += [each for each in calls[0].args[:1] if isinstance(each, ast.Call)]
    return calls


def given_to_own(sides: list[ast.expr], own: Collection[str]) -> Iterator[ast.expr]:
    """Yield what functions of the tests' own are given to make a side of a claim."""
    for each in sides:
        if isinstance(each, ast.Call) and dotted(each.func) in own:
            yield from each.args


def kinds_named(name: str, test: Function, text: str) -> list[ast.ClassDef]:
    """Return the classes of a name that a test sees: its own, else those of its file that stand in no other test."""
    own = [each for each in nodes_in(test) if isinstance(each, ast.ClassDef) and each.name == name]
    if own:
        return own
    return [each for each in _kinds_in_sight(text) if each.name == name]


@lru_cache(maxsize=32)
def _kinds_in_sight(text: str) -> list[ast.ClassDef]:
    """Return the classes of a file that stand in no test. Raises Unparsable."""
    inner = {id(each) for other in functions_of(text) if other.name.startswith("test") for each in nodes_in(other)}
    return [each for each in nodes_of(text, ast.ClassDef) if id(each) not in inner]


def answers_itself(kind: ast.ClassDef, name: str, imports: Mapping[str, str]) -> bool:
    """Tell whether a class of the tests answers by a name, and leaves that to no other class."""
    for each in kind.body:
        if isinstance(each, FUNCTIONS) and each.name == name and not leaves_to_above(each):
            return True
        if isinstance(each, ast.Assign) and name in map(dotted, each.targets):
            return not _is_made_by_import(each.value, imports)
    return False


def _is_made_by_import(value: ast.expr, imports: Mapping[str, str]) -> bool:
    if not isinstance(value, ast.Call) or dotted(value.func).partition(".")[0] not in imports:
        return False
    return MOCKS.search(full_name(value.func, imports)) is None and not stands_in(value, imports)


def raising_in(test: Function) -> Iterator[ast.With | ast.AsyncWith]:
    """Yield the blocks in which something has to raise."""
    for each in nodes_in(test):
        if isinstance(each, ast.With | ast.AsyncWith):
            asked = (item.context_expr for item in each.items)
            if any(isinstance(call, ast.Call) and _RAISING.search(dotted(call.func)) for call in asked):
                yield each


def is_same(subject: str, target: str) -> bool:
    """Tell whether two full names mean one thing: a package often hands the classes of its modules on."""
    if subject == target:
        return True
    if subject.startswith("."):
        # From within its package, `..lid` is `box.lid`.
        return target.endswith(f".{subject.lstrip('.')}") and target.partition(".")[0] not in sys.stdlib_module_names
    *owners, kind, name = ("", "", *subject.split("."))
    *others, other, attribute = ("", "", *target.split("."))
    return name == attribute and kind == other and kind[:1].isupper() and owners[2:3] == others[2:3]


def fixed_values(text: str, test: Function | None = None) -> dict[str, ast.expr]:
    """Return what the names of a module stand for, those of fixtures by what they made before they returned it."""
    found = dict(module_values(text))
    for name, fixture in functions_in(text).items():
        value = found.setdefault(name, handed) if (handed := _handed(fixture)) is not None else found.get(name)
        if isinstance(value, ast.Name) and fixture is not test:
            found[name] = local_values(fixture).get(value.id, value)
    return found


def doubles_in(text: str) -> frozenset[str]:
    """Return the fixtures of a file that hand out what can stand in for a function or an object. Raises Unparsable."""
    imports, own = imports_of(text), own_of(text)
    found = fixed_values(text)
    fixtures = (name for name, each in functions_in(text).items() if any(map(is_fixture, each.decorator_list)))
    return frozenset(name for name in fixtures if name in found and stands_in(found[name], imports, own))


def is_fixture(marker: ast.expr) -> bool:
    """Tell whether a decorator makes a fixture."""
    return dotted(marker).endswith("fixture")


def _handed(fixture: Function) -> ast.expr | None:
    """Return what a fixture yields, None where it does not."""
    if not any(map(is_fixture, fixture.decorator_list)):
        return None
    return next((each.value for each in nodes_in(fixture) if isinstance(each, ast.Yield)), None)


def opened_around(test: Function) -> Iterator[ast.expr]:
    """Yield what a test is decorated with and what it opens."""
    yield from test.decorator_list
    for each in nodes_in(test):
        if isinstance(each, ast.withitem):
            yield each.context_expr


def own_builtins(test: Function, text: str) -> Iterator[str]:
    """Yield the builtins that a test or its module defines anew."""
    for each in (*tree_of(text).body, *nodes_in(test)):
        if isinstance(each, FUNCTIONS) and each.name in BUILTINS:
            yield each.name
        elif isinstance(each, ast.Assign) and isinstance(each.value, ast.Lambda):
            yield from (name for target in each.targets if (name := dotted(target)) in BUILTINS)


def set_in(test: Function) -> Iterator[tuple[str, int]]:
    """Yield the attributes that a test assigns a constant to, with the line; a path names one in a text."""
    for each in nodes_in(test):
        if isinstance(each, ast.Assign) and constant_of(each.value) is not UNKNOWN:
            yield from ((dotted(target), each.lineno) for target in each.targets if isinstance(target, ast.Attribute))
        elif isinstance(each, ast.Call) and len(each.args) > 1 and _SETTING.search(dotted(each.func)):
            *named, value = each.args
            texts = [text for text in map(constant_of, named) if isinstance(text, str)]
            if constant_of(value) is not UNKNOWN and texts:
                yield texts[0] if len(named) == 1 else f"{dotted(named[0])}.{texts[0]}", each.lineno
