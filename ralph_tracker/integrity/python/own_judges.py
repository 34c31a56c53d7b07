"""Which classes of a Python test file judge their tests by methods of their own, and whether these can say no."""

import ast
import re
from collections.abc import Iterator
from typing import Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.facts import Fact, fact
from ralph_tracker.integrity.python.handlers import is_broad
from ralph_tracker.integrity.python.looseness import HARMLESS
from ralph_tracker.integrity.python.nodes import Way, below, constant_of, nodes_of
from ralph_tracker.integrity.python.stand_ins import MOCKS, may_fail
from ralph_tracker.integrity.python.syntax import FUNCTIONS, Function, dotted, nodes_below, nodes_in

_ASSERTS: Final = Pattern(
    r"assert(_?(Not)?(Almost)?Equals?|(Not)?In|Is(Not)?|(Dict|List|Set|Tuple|Sequence|Count|MultiLine|Items)Equal"
    r"|True|False|Is(Not)?None|(Not)?IsInstance|(Less|Greater)(Equal)?|(Not)?Regex|DictContainsSubset)$|_baseAssertEqual$"
)
_COMPARING: Final = Pattern(r"Equal|assertIs$|assertIn$|Less|Greater|Regex|Subset")
_WEAKER: Final = Pattern(r"\.assert(Is)?Not\w+$|\.assertTrue$|\.assertIsInstance$|\.assertIn$")
_SELECTING: Final = frozenset({"__getattribute__", "__getattr__"})
_FIRST: Final = 1
_PAIR: Final = 2


def hollow_judges(text: str) -> Iterator[Fact]:
    """Yield what a class of tests asserts by that says yes whatever it is given. Raises Unparsable."""
    for kind in nodes_of(text, ast.ClassDef):
        if any(dotted(base).endswith("Protocol") for base in kind.bases):
            continue  # it says what others have
        methods = {each.name: each for each in kind.body if isinstance(each, FUNCTIONS)}
        for name, each in methods.items():
            if _is_hollow(name, each):
                yield fact(f"{name} of the tests cannot fail as it should", each)
            yield from _set_in(each, methods)
        for put in kind.body:
            if isinstance(put, ast.Assign):
                yield from (fact(f"{name} of the tests replaced", put) for name in _hollow_names(put, methods))


def _set_in(method: Function, methods: dict[str, Function]) -> Iterator[Fact]:
    """Read `self.assertEqual = lambda *args: None` and `self.addTypeEqualityFunc(int, lambda *args: None)`."""
    for each in nodes_in(method):
        if isinstance(each, ast.Assign):
            yield from (fact(f"{name} of the tests replaced", each) for name in _hollow_names(each, methods))
        elif isinstance(each, ast.Call) and _compares_by_nothing(each, methods):
            yield fact("addTypeEqualityFunc of the tests cannot fail", each)


def _compares_by_nothing(call: ast.Call, methods: dict[str, Function]) -> bool:
    named = dotted(call.func) == "self.addTypeEqualityFunc"
    return named and any(_says_nothing(each, methods) for each in call.args[1:])


def _hollow_names(put: ast.Assign, methods: dict[str, Function]) -> Iterator[str]:
    for target in put.targets:
        name = dotted(target).removeprefix("self.")
        if name == "failureException" and dotted(put.value).endswith("SkipTest"):
            yield name
        elif _ASSERTS.match(name):
            weaker = _COMPARING.search(name) and "Not" not in name and _WEAKER.search(dotted(put.value))
            if weaker or _says_nothing(put.value, methods):
                yield name


def _says_nothing(value: ast.expr, methods: dict[str, Function]) -> bool:
    """Tell whether a function that is put in the place of an assertion never fails."""
    if isinstance(value, ast.Lambda):
        return not any(isinstance(each, ast.Call) for each in nodes_below(value.body))
    if isinstance(value, ast.Call):
        return MOCKS.search(dotted(value.func)) is not None
    method = methods.get(dotted(value).removeprefix("self."))
    return method is not None and not any(_demands(each) for each in nodes_in(method))


def _is_hollow(name: str, method: Function) -> bool:
    if name in _SELECTING:
        return _hides_assertions(method)
    if name == "_getAssertEqualityFunc":
        return any(_says_nothing(each, {}) for each in _returned(method))
    if name == "_callTestMethod":
        calls = [
            way for each, way in below(method) if isinstance(each, ast.Call) and dotted(each.func) == _last(method)
        ]
        handed = any(isinstance(each, ast.Call) and dotted(each.func).endswith(name) for each in nodes_in(method))
        return not handed and (not calls or all(map(_is_swallowed, calls)))
    if name == "fail":
        return not any(_demands(each) for each in nodes_in(method))
    return _ASSERTS.match(name) is not None and not _can_fail_by(method, _COMPARING.search(name) is not None)


def _last(method: Function) -> str:
    return method.args.args[-1].arg if method.args.args else ""


def _hides_assertions(method: Function) -> bool:
    """Tell whether an object answers for its assertions by a function that calls nothing."""
    asks = any(isinstance(each, ast.Constant) and str(each.value).startswith("assert") for each in nodes_in(method))
    return asks and any(_says_nothing(each, {}) for each in _returned(method))


def _returned(method: Function) -> list[ast.expr]:
    return [each.value for each in nodes_in(method) if isinstance(each, ast.Return) and each.value is not None]


def _can_fail_by(method: Function, pair: bool) -> bool:  # noqa: FBT001  what the name of the method says
    """Tell whether a method fails by what it is given: both of the two that it compares."""
    given = [each.arg for each in (*method.args.posonlyargs, *method.args.args)][_FIRST:]
    if method.args.vararg is not None:
        given = [*given, method.args.vararg.arg]
    needed = {*given[: _PAIR if pair else _FIRST]}
    for node, way in below(method):
        if _demands(node) and not _is_swallowed(way):
            asked = [step.test for step in way if isinstance(step, ast.If | ast.While)]
            asked += [step.iter for step in way if isinstance(step, ast.For)]
            if isinstance(node, ast.Raise) and not asked:
                return True
            used = set[str]().union(*(_contents(each) for each in (node, *asked)))
            if needed <= used or len(needed - used) < len(needed) < _PAIR or _has_locals(method, used):
                return True
    return not needed and may_fail(method)


def _has_locals(method: Function, used: set[str]) -> bool:
    """Tell whether something is asked that the method made itself: what went into it is not followed."""
    made = {each.id for each in nodes_in(method) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    return bool(made & used)


def _contents(node: ast.AST) -> set[str]:
    """Return the names that are used for what they hold, not for their kind alone."""
    kinds = {
        id(part)
        for each in nodes_below(node)
        if isinstance(each, ast.Call) and dotted(each.func) in {"type", "bool", "isinstance"}
        for part in nodes_below(each)
    }
    if isinstance(node, ast.Call) and len(node.args) >= _PAIR and ast.dump(node.args[0]) == ast.dump(node.args[1]):
        return set()
    return {each.id for each in nodes_below(node) if isinstance(each, ast.Name) and id(each) not in kinds}


def _demands(node: ast.AST) -> bool:
    """Tell whether a node may fail: what it calls may, unless it only tells something."""
    if isinstance(node, ast.Call):
        name = dotted(node.func)
        return not HARMLESS.search(name) and not (name.endswith(".assertTrue") and _is_true(node))
    return isinstance(node, ast.Raise | ast.Assert)


def _is_true(call: ast.Call) -> bool:
    return bool(call.args) and constant_of(call.args[0]) is True


def _is_swallowed(way: Way) -> bool:
    """Tell whether a failure on that way is caught, and not told again."""
    tries = [step for step in way if isinstance(step, ast.Try)]
    inside = [step for step in tries if any(each in way for each in step.body)] or [
        step for step in tries if not any(each in way for each in (*step.handlers, *step.orelse, *step.finalbody))
    ]
    return any(
        is_broad(each.type) and not re.search(r"\braise\b|\.fail\(|assert", "\n".join(map(ast.unparse, each.body)))
        for step in inside
        for each in step.handlers
    )
