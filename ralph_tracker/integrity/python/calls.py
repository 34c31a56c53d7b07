"""The calls that demand something: unittest's methods, pytest.raises, numpy.testing, mocks, helpers by name."""

import ast
import builtins
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.constants import ANY_TEXT, truth, value_of
from ralph_tracker.integrity.python.demands import (
    CALLED,
    EQUAL,
    KIND,
    MEMBER,
    RAISED,
    TRUTH,
    Demand,
    compared,
    demands_of,
    strength_within,
    subject_of,
)
from ralph_tracker.integrity.python.syntax import dotted, nodes_below
from ralph_tracker.integrity.python.trivial import is_pattern_of_any
from ralph_tracker.integrity.source_tests import REPEATED

_HELPER: Final = Pattern(r"_*(assert|check|expect|verify)(_\w|[A-Z]|s?$)")
RAISES: Final = frozenset(
    {"raises", "warns", "deprecated_call", "assertRaises", "assertRaisesRegex", "assertWarns", "assertWarnsRegex"}
    | {
        "assertRaisesRegexp",
        "assertRaisesMessage",
        "assert_raises",
        "assert_warns",
        "assert_raises_regex",
        "RaisesGroup",
    }
)
BY_ITSELF: Final = "what has to be raised is raised there"
_OF_PYTHON: Final = frozenset(name for name in dir(builtins) if name.endswith(("Error", "Exception")))
_MATCHERS: Final = ("match", "expected_regex", "expected_message")
_COMPARISONS: Final[dict[str, type[ast.cmpop]]] = {
    "equal": ast.Eq,
    "equals": ast.Eq,
    "listequal": ast.Eq,
    "dictequal": ast.Eq,
    "setequal": ast.Eq,
    "tupleequal": ast.Eq,
    "sequenceequal": ast.Eq,
    "multilineequal": ast.Eq,
    "arrayequal": ast.Eq,
    "stringequal": ast.Eq,
    "notequal": ast.NotEq,
    "is": ast.Is,
    "isnot": ast.IsNot,
    "in": ast.In,
    "notin": ast.NotIn,
    "greater": ast.Gt,
    "greaterequal": ast.GtE,
    "less": ast.Lt,
    "lessequal": ast.LtE,
    "arrayless": ast.Lt,
}
_MOCKS: Final = {
    "assert_called_once_with": EQUAL,
    "assert_called_with": EQUAL - 200,
    "assert_has_calls": EQUAL - 400,
    "assert_any_call": EQUAL - 600,
    "assert_called_once": CALLED + 100,
    "assert_called": CALLED,
    "assert_not_called": EQUAL,
}
_BROAD: Final = {"BaseException": 0, "Exception": 1, "Warning": 1, "LookupError": 2, "ArithmeticError": 2}
WILDCARDS: Final = frozenset({"", ".*", ".", ".+", "^", "(?s).*"})
_TRUTHS: Final = frozenset({"", "true"})
_REGEX_KEYS: Final = frozenset({"regex", "regexpmatches"})
_EQUALLY: Final = Pattern(r"(?<!almost)(?<!not)(equals?|same|identical)$")
_TWO, _THREE, _MANY = 2, 3, 9


@lru_cache(maxsize=1024)  # a suite calls the same few over and over
def is_assertion_name(name: str) -> bool:
    """Tell whether a function bears the name of one that asserts: `assert_same`, `checkBox`, `_verify`."""
    return _HELPER.match(name) is not None


def demands_of_call(node: ast.Call, body: Sequence[ast.stmt] = ()) -> tuple[Demand, ...]:
    """Return what a call demands, () where it is none that does; `body` stands under it where it opens a block."""
    name = dotted(node.func).rpartition(".")[2] if not isinstance(node.func, ast.Name) else node.func.id
    if name in RAISES:
        return (_raises(node, body),)
    mock = _mock(node, name)
    if mock is not None:
        return (mock,)
    if not is_assertion_name(name):
        return ()
    key = _key_of(name)
    reader = _READERS.get(key)
    if reader is not None and node.args:
        return reader(node)
    operator = _operator_of(key)
    if operator is not None and len(node.args) >= _TWO:
        return demands_of(compared(node.args[0], operator(), node.args[1]))
    return (Demand(f"{name} {ast.unparse(node.args[0])}" if node.args else name),)


def uncalled(node: ast.expr) -> bool:
    """Tell whether a statement names an assertion of a mock or of unittest and does not call it."""
    return isinstance(node, ast.Attribute) and (
        node.attr in _MOCKS or (node.attr.startswith("assert") and node.attr[6:7].isupper())
    )


def _mock(node: ast.Call, name: str) -> Demand | None:
    plain = name.replace("await", "call") if "await" in name else name
    plain = plain.replace("any_callc", "any_c")
    strength = _MOCKS.get(plain)
    if strength is None or not isinstance(node.func, ast.Attribute):
        return None
    return Demand(ast.unparse(node.func.value), strength)


def _raises(node: ast.Call, body: Sequence[ast.stmt]) -> Demand:
    kinds = node.args[:1]
    kind = kinds[0] if kinds else next((each.value for each in node.keywords if each.arg == "expected_exception"), None)
    regex = _by_regex(node)
    match = matcher_of(node)
    says_something = match is not None and value_of(match) not in WILDCARDS
    under = "" if not body else _first_call(body)
    if not under and len(node.args) > 1 + regex:
        under = dotted(node.args[1 + regex])
    vacuous = BY_ITSELF if body and _is_raised_here(body[0]) else None
    return Demand(RAISED + under, KIND + 1000 * breadth(kind) + 500 * says_something, vacuous)


def _is_raised_here(statement: ast.stmt) -> bool:
    """Tell whether a statement raises what Python has itself: what the project raises may be what is asked about."""
    if isinstance(statement, ast.Assert):
        known = truth(statement.test)
        return known is not None and not known[0]
    raised = statement.exc if isinstance(statement, ast.Raise) else None
    name = "" if raised is None else dotted(raised)
    given = raised.args if isinstance(raised, ast.Call) else []
    return name in _OF_PYTHON and all(isinstance(each, ast.Constant) for each in given)


def _by_regex(node: ast.Call) -> bool:
    return dotted(node.func).lower().endswith(("regex", "regexp", "message"))


def matcher_of(node: ast.Call) -> ast.expr | None:
    """Return the pattern that the message of an expected exception must match, None where there is none."""
    match = next((each.value for each in node.keywords if each.arg in _MATCHERS), None)
    if match is None and _by_regex(node) and len(node.args) >= _TWO:
        return node.args[1]
    return match


def as_comparison(node: ast.Call) -> ast.expr:
    """Return the comparison that unittest's and numpy's methods stand for, the call itself where it is none."""
    key = _key_of(dotted(node.func).rpartition(".")[2])
    operator = _operator_of(key)
    if operator is not None and len(node.args) >= _TWO:
        return compared(node.args[0], operator(), node.args[1])
    if key in _TRUTHS and node.args:
        return node.args[0]
    if key in _REGEX_KEYS and len(node.args) >= _TWO:
        return ast.Call(ast.Attribute(ast.Name("re"), "search"), [node.args[1], node.args[0]], [])
    if key == "isinstance":
        return ast.Call(ast.Name("isinstance"), node.args, [])
    return node


def _key_of(name: str) -> str:
    return name.lower().lstrip("_").removeprefix("assert").replace("_", "")


def _operator_of(key: str) -> type[ast.cmpop] | None:
    """Return how an assertion of that name compares; helpers of many names end in `equal`."""
    operator = _COMPARISONS.get(key)
    if operator is None and _EQUALLY.search(key) and key not in _READERS:
        return ast.Eq
    return operator


def _first_call(body: Sequence[ast.stmt]) -> str:
    for statement in body:
        for each in nodes_below(statement):
            if isinstance(each, ast.Call):
                return dotted(each)
    return ""


def breadth(kind: ast.expr | None) -> int:
    """Return how narrow an exception is: 0 for BaseException, 1 for Exception, 3 for what is no family."""
    if kind is None:
        return 0
    if isinstance(kind, ast.Tuple):
        return min((breadth(each) for each in kind.elts), default=0)
    return _BROAD.get(dotted(kind).rpartition(".")[2], _THREE)


def _true(node: ast.Call) -> tuple[Demand, ...]:
    return demands_of(node.args[0])


def _false(node: ast.Call) -> tuple[Demand, ...]:
    return demands_of(ast.UnaryOp(ast.Not(), node.args[0]))


def _none(node: ast.Call) -> tuple[Demand, ...]:
    return demands_of(compared(node.args[0], ast.Is(), ast.Constant(None)))


def _not_none(node: ast.Call) -> tuple[Demand, ...]:
    return demands_of(compared(node.args[0], ast.IsNot(), ast.Constant(None)))


def _instance(node: ast.Call) -> tuple[Demand, ...]:
    return demands_of(ast.Call(ast.Name("isinstance"), node.args[:2], []))


def _regex(node: ast.Call) -> tuple[Demand, ...]:
    anything = len(node.args) >= _TWO and value_of(node.args[1]) in WILDCARDS
    vacuous = ANY_TEXT if len(node.args) >= _TWO and is_pattern_of_any(node.args[1]) else None
    return (Demand(ast.unparse(node.args[0]), TRUTH if anything else MEMBER + 200, vacuous),)


def _counted(node: ast.Call) -> tuple[Demand, ...]:
    """Read a comparison that leaves the order open."""
    exact = demands_of(compared(node.args[0], ast.Eq(), node.args[1])) if len(node.args) >= _TWO else ()
    return tuple(each._replace(strength=EQUAL - 120) if each.strength == EQUAL else each for each in exact)


def _subset(node: ast.Call) -> tuple[Demand, ...]:
    return (Demand(ast.unparse(node.args[1]), MEMBER),) if len(node.args) >= _TWO else ()


def _close(places: float) -> Callable[[ast.Call], tuple[Demand, ...]]:
    """Read a comparison within a tolerance, of so many places where it gives none."""

    def read(node: ast.Call) -> tuple[Demand, ...]:
        if len(node.args) < _TWO:
            return ()
        given = {each.arg: value_of(each.value) for each in node.keywords}
        third = node.args[2] if len(node.args) > _TWO else None
        for name, is_places in (("places", True), ("decimal", True), ("significant", True), ("delta", False)):
            given.setdefault(name, value_of(third) if third is not None and is_places else None)
        return demands_within(node, given, places)

    return read


def demands_within(node: ast.Call, given: dict[str | None, object], places: float) -> tuple[Demand, ...]:
    """Return what a comparison within what is `given` demands."""
    subject = subject_of(node.args[0], node.args[1])
    exact = demands_of(compared(node.args[0], ast.Eq(), node.args[1]))
    if exact[0].vacuous is not None or exact[0].strength == REPEATED:
        return exact
    digits = next((given[name] for name in ("places", "decimal", "significant") if given.get(name) is not None), None)
    close = [given[name] for name in ("delta", "rtol", "atol") if given.get(name) is not None]
    if close:
        numbers = [strength_within(float(each)) for each in close if isinstance(each, int | float) and each > 0]
        return (Demand(subject, sum(numbers) // len(numbers) if len(numbers) == len(close) else None),)
    if digits is None:
        return (Demand(subject, strength_within(10.0**-places)),)
    return (
        Demand(subject, strength_within(10.0**-digits) if isinstance(digits, int) and abs(digits) < _MANY**2 else None),
    )


_READERS: Final[dict[str, Callable[[ast.Call], tuple[Demand, ...]]]] = {
    "true": _true,
    "false": _false,
    "": _true,
    "none": _none,
    "isnone": _none,
    "isnotnone": _not_none,
    "notnone": _not_none,
    "isinstance": _instance,
    "countequal": _counted,
    "itemsequal": _counted,
    "dictcontainssubset": _subset,
    "regex": _regex,
    "regexpmatches": _regex,
    "almostequal": _close(7),
    "almostequals": _close(7),
    "arrayalmostequal": _close(6),
    "allclose": _close(7),
    "approxequal": _close(7),
}
