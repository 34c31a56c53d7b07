"""Where a value of a Python test comes from: through names, parts, operators, and what only hands on."""

import ast
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from ralph_tracker.integrity.python.constants import UNKNOWN
from ralph_tracker.integrity.python.expectations import cells_of, rows_in
from ralph_tracker.integrity.python.nodes import constant_of, returns_of
from ralph_tracker.integrity.python.syntax import Function, dotted, nodes_in

Bindings = Mapping[str, tuple[ast.expr, ...]]
# Builtins, and functions that are used like them, whose result says nothing but what they were given.
HANDING_ON: Final = frozenset(
    {
        "len",
        "list",
        "sorted",
        "set",
        "tuple",
        "dict",
        "str",
        "int",
        "float",
        "round",
        "bool",
        "repr",
        "sum",
        "min",
        "max",
    }
    | {"abs", "any", "all", "next", "iter", "reversed", "enumerate", "zip", "frozenset", "bytes", "type", "isinstance"}
    | {"issubclass", "hasattr", "getattr", "format", "ascii", "hash", "id", "callable", "hex", "vars", "divmod", "pow"}
    | {
        "map",
        "filter",
        "dumps",
        "json.dumps",
        "deepcopy",
        "copy.deepcopy",
        "copy.copy",
        "approx",
        "pytest.approx",
        "math.isclose",
        "bytearray",
        "Counter",
    }
)
_CALLING: Final = frozenset({"map", "filter"})
# What a mock tells of its calls: it was filled by what is under test.
COUNTS: Final = frozenset(
    {"call_args", "call_args_list", "mock_calls", "method_calls", "call_count", "called"}
    | {"await_args", "await_args_list", "await_count", "awaited"}
)
FILLING: Final = frozenset({"append", "appendleft", "add", "extend", "update", "insert"})
_PARTS: Final[Mapping[type[ast.AST], tuple[str, ...]]] = {
    ast.Await: ("value",),
    ast.Starred: ("value",),
    ast.NamedExpr: ("value",),
    ast.Subscript: ("value",),
    ast.FormattedValue: ("value",),
    ast.UnaryOp: ("operand",),
    ast.BinOp: ("left", "right"),
    ast.IfExp: ("body", "orelse"),
    ast.ListComp: ("elt",),
    ast.SetComp: ("elt",),
    ast.GeneratorExp: ("elt",),
    ast.DictComp: ("key", "value"),
}
_LISTS: Final[Mapping[type[ast.AST], tuple[str, ...]]] = {
    ast.JoinedStr: ("values",),
    ast.BoolOp: ("values",),
    ast.Tuple: ("elts",),
    ast.List: ("elts",),
    ast.Set: ("elts",),
    ast.Dict: ("values",),
}
_MOST: Final = 60
_NOBODY: Final[Mapping[str, Function]] = {}
_NOTHING: Final[Bindings] = {}


class Origins:
    """Follow the expressions of one test; `known` is what names stand for that the test itself does not bind."""

    def __init__(
        self,
        test: Function,
        known: Mapping[str, ast.expr],
        own: Mapping[str, Function] = _NOBODY,
        around: Bindings = _NOTHING,
    ) -> None:
        self._bound = {**around, **bindings_of(test)}
        self._known = known
        self._own = {name: each for name, each in own.items() if each is not test}

    def of(self, side: ast.expr) -> list[ast.expr]:
        """Return an expression, and all that its value was made from, the nearest first."""
        found = [side]
        seen: set[int] = {id(side)}
        for each in found:
            for part in self._made_from(each, side.lineno):
                if id(part) not in seen and len(found) < _MOST:
                    seen.add(id(part))
                    found.append(part)
        return found

    def value_of(self, name: str, line: int) -> list[ast.expr]:
        """Return what a name was bound to last before a line, and what it was filled with; constants last."""
        bound = self._bound.get(name, ())
        before = [each for each in bound if each.lineno < line] or bound
        varying = [each for each in before if constant_of(each) is UNKNOWN]
        if not before:
            return [self._known[name]] if name in self._known else []
        return varying[-1:] or list(before[-1:])

    def _made_from(self, node: ast.expr, line: int) -> Iterator[ast.expr]:
        kind = type(node)
        if isinstance(node, ast.Name | ast.Attribute):
            yield from self._of_name(node, min(line, node.lineno))
        elif isinstance(node, ast.Call):
            yield from self._of_call(node)
        elif isinstance(node, ast.Compare):
            yield from (node.left, *node.comparators)
        for name in _PARTS.get(kind, ()):
            yield getattr(node, name)
        for name in _LISTS.get(kind, ()):
            yield from filter(None, getattr(node, name))

    def _of_name(self, node: ast.Name | ast.Attribute, line: int) -> Iterator[ast.expr]:
        """Yield what a name, or what it is an attribute of, was made from; what lies between is not looked at."""
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            if inner.attr in COUNTS:
                return
            yield from self.value_of(dotted(inner), line)
            inner = inner.value
        if isinstance(inner, ast.Name):
            yield from self.value_of(inner.id, line)
        else:
            yield inner

    def _of_call(self, call: ast.Call) -> Iterator[ast.expr]:
        name = dotted(call.func)
        if name in HANDING_ON:
            first, *rest = call.args or [call]
            yield from [ast.copy_location(ast.Call(first, [], []), call), *rest] if name in _CALLING else call.args
        elif isinstance(call.func, ast.Attribute):
            yield from self._of_name(call.func, call.lineno)
            if isinstance(call.func.value, ast.Constant):
                yield from call.args
        yield from self.returned(name)

    def returned(self, name: str) -> list[ast.expr]:
        """Return what a function of the tests' own returns, [] where it is none."""
        returns = returns_of(self._own[name]) if name in self._own else ()
        return [each.value for each in returns if each.value is not None]

    def handed_out(self, call: ast.Call) -> Iterator[ast.expr]:
        """Yield the arguments of a call that a function of the tests' own may return as they are."""
        made = self._own.get(dotted(call.func))
        names = [each.arg for each in (*made.args.posonlyargs, *made.args.args)] if made is not None else []
        names = names[1:] if dotted(call.func).startswith("self.") else names
        given = dict(zip(names, call.args, strict=False))
        given.update((each.arg, each.value) for each in call.keywords if each.arg is not None)
        for value in self.returned(dotted(call.func)) if given else ():
            for each in (value, *_parts_of_choice(value)):
                if isinstance(each, ast.Name) and each.id in given:
                    yield given[each.id]

    def asks_nothing(self, call: ast.Call) -> bool:
        """Tell whether a call is one of a function of the tests' own that takes nothing: it stands for what it does."""
        made = self._own.get(dotted(call.func))
        return made is not None and not (call.args or call.keywords or made.decorator_list)


def _parts_of_choice(value: ast.expr) -> list[ast.expr]:
    if isinstance(value, ast.IfExp):
        return [value.body, value.orelse]
    return value.values if isinstance(value, ast.BoolOp) else []


@lru_cache(maxsize=256)
def bindings_of(test: Function) -> Bindings:
    """Return what each name and attribute of a test is bound to or filled with, in the order of the source."""
    found: dict[str, list[ast.expr]] = {}
    for name, value in _bound_in(test):
        found.setdefault(name, []).append(value)
    return {name: tuple(sorted(values, key=lambda each: each.lineno)) for name, values in found.items()}


def _bound_in(test: Function) -> Iterator[tuple[str, ast.expr]]:
    yield from given_to(test)
    for node in nodes_in(test):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from bound(target, node.value)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr | ast.AugAssign) and node.value is not None:
            yield from bound(node.target, node.value)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            yield from bound_in_turn(node.target, node.iter)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            yield from bound(node.optional_vars, node.context_expr)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in FILLING:
            yield from ((dotted(node.func.value), each) for each in node.args)


def given_to(test: Function) -> Iterator[tuple[str, ast.expr]]:
    """Yield what the parameters of a test are given: defaults, and the columns of its tables."""
    named = [*test.args.posonlyargs, *test.args.args]
    given = test.args.defaults
    yield from ((each.arg, value) for each, value in zip(named[len(named) - len(given) :], given, strict=True))
    for marker in test.decorator_list:
        names = constant_of(marker.args[0]) if isinstance(marker, ast.Call) and marker.args else None
        if isinstance(names, str):
            columns = [name.strip() for name in names.split(",")]
            for row in rows_in(marker):
                cells = cells_of(row) if len(columns) > 1 else [row]
                yield from (each for each in zip(columns, cells, strict=False) if constant_of(each[1]) is UNKNOWN)


def bound_in_turn(target: ast.expr, rows: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield what the names of a loop are bound to: the rows that stand there, else all of them."""
    if isinstance(rows, ast.Tuple | ast.List) and rows.elts:
        for row in rows.elts:
            yield from bound(target, row)
    else:
        yield from bound(target, rows)


def bound(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield what each name of a target is bound to: the part of a display that stands in its place, else the whole."""
    if isinstance(target, ast.Starred):
        yield from bound(target.value, value)
    elif isinstance(target, ast.Tuple | ast.List):
        parts = value.elts if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts) else None
        for place, each in enumerate(target.elts):
            yield from bound(each, value if parts is None else parts[place])
    elif isinstance(target, ast.Subscript):
        yield from bound(target.value, value)
    elif dotted(target):
        yield dotted(target), value
