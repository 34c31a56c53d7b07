"""Which classes and objects of a Python file are equal to everything, or to all of a kind."""

import ast
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.constants import UNKNOWN
from ralph_tracker.integrity.python.fields import compares_no_field
from ralph_tracker.integrity.python.looseness import answers, says_yes_loosely
from ralph_tracker.integrity.python.nodes import constant_of, nodes_of, returns_of
from ralph_tracker.integrity.python.replacing import functions_in
from ralph_tracker.integrity.python.stand_ins import MOCKS, answer_of, worth_of
from ralph_tracker.integrity.python.syntax import FUNCTIONS, Function, dotted, nodes_below

ANYTHING: Final = Pattern(
    r"(^|\.)(mock\.ANY|dirty_equals\.(AnyThing|IsAnything)|(matchers?|hamcrest)\.anything)$|^ANY$"
)
# What a comparison answers that asks both sides for their kind at most.
LOOSELY: Final = object()
_YES: Final = (True, LOOSELY)
_OF_MOCKS: Final = (".__eq__.return_value", ".__eq__.side_effect")
_DENYING: Final = "__ne__"
_COMPARING: Final = frozenset({"__eq__", _DENYING, "__lt__", "__le__", "__gt__", "__ge__", "__contains__"})
_MAKERS: Final = frozenset({"type", "make_dataclass", "dataclasses.make_dataclass"})
_ALIKE: Final = ("object.__ne__", "str.__ne__", "int.__ne__", "dict.__ne__", "list.__ne__")
_NOBODY: Final[Mapping[str, Function]] = {}


class Equal(NamedTuple):
    """Hold what is equal to everything: its name, and what says so; `strictly`: nothing at all is asked."""

    name: str
    node: ast.stmt | ast.expr
    strictly: bool


def equal_to_everything(text: str) -> Iterator[tuple[str, ast.stmt | ast.expr]]:
    """Yield the classes of a file that say they are equal whatever they are compared with. Raises Unparsable."""
    yield from ((each.name, each.node) for each in equals_in(text) if each.strictly)


def loosely_equal(text: str) -> frozenset[str]:
    """Return the classes of a file that ask nothing, or no more than a kind, of what they are compared with.

    Raises Unparsable.
    """
    return frozenset(each.name for each in equals_in(text))


@lru_cache(maxsize=64)
def equals_in(text: str) -> tuple[Equal, ...]:
    """Return what of a file is equal to everything, or to all of a kind. Raises Unparsable."""
    return (*_classes(text), *_assigned(text), *_called(text))


def _assigned(text: str) -> Iterator[Equal]:
    functions = functions_in(text)
    for put in nodes_of(text, ast.Assign):
        target = put.targets[0]
        name, answer = method_of(put, None, functions)
        if isinstance(target, ast.Attribute) and _always(name, answer):
            yield Equal(dotted(target.value), put, answer is not LOOSELY)
        elif dotted(target).endswith(_OF_MOCKS) and _is_yes(put.value, functions):
            yield Equal(dotted(target).rpartition(".__eq__")[0], put, _is_strict(put.value, functions))
        elif isinstance(put.value, ast.Call):
            given = next((each.value for each in put.value.keywords if each.arg == "__eq__"), None)
            if given is not None and _is_yes_of_mock(given, functions):
                yield Equal(dotted(target), put, _is_strict(given, functions))
            elif any(each.arg is None and _says_mock_equal(each.value) for each in put.value.keywords):
                yield Equal(dotted(target), put, strictly=True)


def _called(text: str) -> Iterator[Equal]:
    functions = functions_in(text)
    for call in nodes_of(text, ast.Call):
        name = dotted(call.func)
        if name in _MAKERS and call.args:
            answer = says_equal([call.args[-1], *(each.value for each in call.keywords)], functions)
            if answer in _YES:
                yield Equal(str(constant_of(call.args[0])), call, answer is True)
        elif len(call.args) > 1:
            yield from _by_patch(call, functions)
        elif name.endswith(".configure_mock") and any(_says_mock_equal(each.value) for each in call.keywords):
            yield Equal(name.removesuffix(".configure_mock"), call, strictly=True)


def _classes(text: str) -> Iterator[Equal]:
    found: dict[str, bool] = {}
    functions = functions_in(text)
    for kind in nodes_of(text, ast.ClassDef):
        told = ((each, *method_of(each, kind, functions)) for each in kind.body)
        methods = [(each, answer) for each, name, answer in told if _always(name, answer)]
        if _has_no_state(kind):
            methods = [each for each in methods if each[1] is not LOOSELY or not _asks_for(kind.name, each[0])]
        if not methods and not _compares(kind):
            above = LOOSELY if compares_no_field(kind) else _above(kind, found)
            methods = [] if above is None else [(kind.body[0], above)]
        for each, answer in methods:
            found[kind.name] = answer is not LOOSELY
            yield Equal(kind.name, each, answer is not LOOSELY)


def _has_no_state(kind: ast.ClassDef) -> bool:
    """Tell whether all objects of a class are alike: they hold nothing that a comparison could ask for."""
    bases = {dotted(each) for each in kind.bases} - {"object"}
    held = any(isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store) for each in nodes_below(kind))
    return not (bases or held or kind.decorator_list) and not any(isinstance(each, ast.AnnAssign) for each in kind.body)


def _asks_for(name: str, method: ast.stmt) -> bool:
    """Tell whether a comparison asks if the other one is of the class itself."""
    below = nodes_below(method)
    given = next((each.arg for each in below if isinstance(each, ast.arg)), "")
    classes = {f"{given}.__class__", "__class__", name}
    made = (
        dotted(each.args[0])
        for each in below
        if isinstance(each, ast.Call) and dotted(each.func) == "type" and each.args
    )
    return given in made or any(dotted(each) in classes for each in below if isinstance(each, ast.Name | ast.Attribute))


def _compares(kind: ast.ClassDef) -> bool:
    return any(method_of(each)[0] == "__eq__" for each in kind.body)


def _above(kind: ast.ClassDef, found: Mapping[str, bool]) -> object:
    """Return what a class answers that is made of one equal to everything, or of the class of `ANY`; else None."""
    of = [*kind.bases, *(each.value for each in kind.keywords if each.arg == "metaclass")]
    for base in of:
        name = dotted(base).rpartition(".")[2]
        if name in found:
            return True if found[name] else LOOSELY
    kinds = (base.args[0] for base in of if isinstance(base, ast.Call) and dotted(base.func) == "type" and base.args)
    return True if any(ANYTHING.search(dotted(each)) for each in kinds) else None


def _is_yes(node: ast.expr, functions: Mapping[str, Function]) -> bool:
    return constant_of(node) is True or answer_by("__eq__", node, functions) in _YES


def _is_strict(node: ast.expr, functions: Mapping[str, Function]) -> bool:
    return answer_by("__eq__", node, functions) is not LOOSELY


def _is_yes_of_mock(node: ast.expr, functions: Mapping[str, Function]) -> bool:
    return _is_yes(node, functions) or any(constant_of(each) is True for each in nodes_below(node))


def _says_mock_equal(node: ast.expr) -> bool:
    return isinstance(node, ast.Dict) and any(
        constant_of(key) == "__eq__.return_value" and constant_of(value) is True
        for key, value in zip(node.keys, node.values, strict=True)
    )


def _by_patch(call: ast.Call, functions: Mapping[str, Function]) -> Iterator[Equal]:
    """Read `patch.object(Box, "__eq__", lambda self, other: True)` and `patch("box.Box.__eq__", …)`."""
    path = constant_of(call.args[0])
    whole = isinstance(path, str) and path.endswith(".__eq__")
    if not whole and constant_of(call.args[1]) != "__eq__":
        return
    given = [call.args[-1], *(each.value for each in call.keywords if each.arg in {"new", "return_value"})]
    said = next((each for each in given if _is_yes(each, functions)), None)
    if said is not None:
        name = str(path).split(".")[-2] if whole else dotted(call.args[0]).rpartition(".")[2]
        yield Equal(name, call, _is_strict(said, functions))


def method_of(
    node: ast.stmt, kind: ast.ClassDef | None = None, functions: Mapping[str, Function] = _NOBODY
) -> tuple[str, object]:
    """Return the name of a method that a statement makes, and what it answers whatever it is given."""
    if isinstance(node, FUNCTIONS):
        answer = answer_of(node)
        if answer is True and len(node.args.args) > 1 and not says_yes_loosely(node, functions):
            answer = UNKNOWN  # an assertion says no in its own way
        answer = _through(node, kind, functions) if answer is UNKNOWN else answer
        return node.name, _or_loosely(node.name, answer, node, _methods(kind, functions))
    if isinstance(node, ast.Assign):
        target = node.targets[0]
        name = target.attr if isinstance(target, ast.Attribute) else dotted(target)
        return name, answer_by(name, node.value, _methods(kind, functions))
    return "", UNKNOWN


def _methods(kind: ast.ClassDef | None, functions: Mapping[str, Function]) -> Mapping[str, Function]:
    inside = {each.name: each for each in kind.body if isinstance(each, FUNCTIONS)} if kind is not None else _NOBODY
    return {**functions, **{name: each for name, each in inside.items() if not name.startswith("__")}}


def answer_by(name: str, value: ast.expr, functions: Mapping[str, Function]) -> object:
    """Return what a lambda, a function by its name, or a mock, answers as that method whatever it is given."""
    made = answers(value, functions)
    if made is not None:
        answer = worth_of(made.body) if isinstance(made, ast.Lambda) else answer_of(made)
        return _or_loosely(name, answer, made, functions)
    if isinstance(value, ast.Call) and MOCKS.search(dotted(value.func)):
        return next((constant_of(each.value) for each in value.keywords if each.arg == "return_value"), UNKNOWN)
    return LOOSELY if dotted(value) in _ALIKE else UNKNOWN


def _or_loosely(name: str, answer: object, made: Function | ast.Lambda, own: Mapping[str, Function]) -> object:
    if answer is not UNKNOWN or name not in _COMPARING:
        return answer
    return LOOSELY if says_yes_loosely(made, own, denied=name == _DENYING) else UNKNOWN


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


def says_equal(given: list[ast.expr], functions: Mapping[str, Function]) -> object:
    """Return what the `__eq__` of a class answers that is made of a dictionary of methods."""
    for node in given:
        for key, value in zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ():
            if constant_of(key) == "__eq__":
                return answer_by("__eq__", value, functions)
    return UNKNOWN


def _always(name: str, answer: object) -> bool:
    return (name == "__eq__" and answer in _YES) or (name == _DENYING and (answer is False or answer is LOOSELY))
