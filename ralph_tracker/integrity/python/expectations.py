"""What a Python test expects: its assertions, the values that they compare with, the rows of its parameters."""

import ast
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from ralph_tracker.integrity.python.calls import is_assertion_name
from ralph_tracker.integrity.python.constants import UNKNOWN, value_of
from ralph_tracker.integrity.python.nodes import returns_of
from ralph_tracker.integrity.python.syntax import FUNCTIONS, Function, dotted, nodes_below, statements_below, tree_of

Values = Mapping[str, ast.expr]
_NONE: Final[Values] = {}
_PARAMETRIZE: Final = "parametrize"
_FIXTURE: Final = "fixture"
_ROWS: Final = 1
_MASK: Final = "_"
_LITERAL: Final = (ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.UnaryOp, ast.unaryop, ast.expr_context)


class Truth(NamedTuple):
    """Hold a truth value, which Python takes for a number."""

    value: bool


class Case(NamedTuple):
    """Hold the constants that stand together in one assertion or row, and the names of what is called there."""

    values: frozenset[object]
    names: frozenset[str]


@lru_cache(maxsize=256)
def module_values(text: str) -> Values:
    """Return what the names of a module stand for: tables, constants and what fixtures return. Raises Unparsable."""
    found: dict[str, ast.expr] = {}
    for node in tree_of(text).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            found.update((name, node.value) for name in _targets(node))
        elif isinstance(node, FUNCTIONS) and any(dotted(each).endswith(_FIXTURE) for each in node.decorator_list):
            returned = [each.value for each in returns_of(node) if each.value is not None]
            found.update((node.name, each) for each in returned[:1])
    return found


def local_values(node: Function) -> Values:
    """Return what the names of a test stand for that it assigns once."""
    found: dict[str, ast.expr] = {}
    twice: set[str] = set()
    for each in statements_below(node):
        if isinstance(each, ast.Assign | ast.AnnAssign) and each.value is not None:
            for name in _targets(each):
                twice |= {name} & found.keys()
                found[name] = each.value
    return {name: value for name, value in found.items() if name not in twice}


def _targets(node: ast.Assign | ast.AnnAssign) -> Iterator[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    yield from (each.id for each in targets if isinstance(each, ast.Name))


def asserted(node: Function) -> Iterator[ast.expr]:
    """Yield what a test asserts, without the messages: the condition of each `assert`, the calls that assert."""
    for each in statements_below(node):
        if isinstance(each, ast.Assert):
            yield each.test
        elif isinstance(each, ast.Expr) and isinstance(each.value, ast.Call | ast.Await):
            call = each.value.value if isinstance(each.value, ast.Await) else each.value
            if isinstance(call, ast.Call) and is_assertion_name(dotted(call.func).rpartition(".")[2]):
                yield call


def sides_of(expression: ast.expr) -> list[ast.expr]:
    """Return what an assertion compares: the sides of a comparison, the arguments of a call that asserts."""
    if isinstance(expression, ast.Compare):
        return [expression.left, *expression.comparators]
    if isinstance(expression, ast.BoolOp):
        return [side for value in expression.values for side in sides_of(value)]
    if isinstance(expression, ast.Call) and is_assertion_name(dotted(expression.func).rpartition(".")[2]):
        return list(expression.args[:2])
    return [expression.operand if isinstance(expression, ast.UnaryOp) else expression]


def rows_of(node: Function, known: Values) -> list[ast.expr]:
    """Return the rows that a test is parametrized with, those of tables of the module too."""
    return [row for marker in node.decorator_list for row in rows_in(marker, known)]


def rows_in(marker: ast.expr, known: Values = _NONE) -> list[ast.expr]:
    """Return the rows of one decorator, none where it does not parametrize."""
    if not isinstance(marker, ast.Call) or not dotted(marker.func).endswith(_PARAMETRIZE) or len(marker.args) <= _ROWS:
        return []
    table = marker.args[_ROWS]
    table = known.get(table.id, table) if isinstance(table, ast.Name) else table
    return list(table.elts) if isinstance(table, ast.List | ast.Tuple | ast.Set) else []


def cells_of(row: ast.expr) -> list[ast.expr]:
    """Return the values of a row, `pytest.param(…)` or a tuple; a single value is a row of one."""
    if isinstance(row, ast.Call) and dotted(row.func).endswith("param"):
        return list(row.args)
    return list(row.elts) if isinstance(row, ast.Tuple | ast.List) else [row]


def is_plain(node: ast.AST) -> bool:
    """Tell whether an expression is made of constants alone."""
    return isinstance(node, _LITERAL) and all(isinstance(each, _LITERAL) for each in nodes_below(node))


def skeleton(node: object) -> object:
    """Return a tree as nested tuples with every literal masked: equal where only literals differ."""
    if isinstance(node, list):
        return tuple(skeleton(each) for each in node)
    if not isinstance(node, ast.AST):
        return node
    if isinstance(node, ast.expr) and is_plain(node):
        return _MASK
    return (type(node).__name__, *(skeleton(getattr(node, name, None)) for name in node._fields if name != "kind"))


def constants_in(node: ast.AST, known: Values | None = None) -> Iterator[object]:
    """Yield the constants of an expression, those that its names stand for included, one step far."""
    waiting: list[tuple[ast.AST, bool]] = [(node, known is not None)]
    while waiting:
        current, follows = waiting.pop()
        value = value_of(current) if isinstance(current, ast.expr) else UNKNOWN
        if isinstance(current, ast.Name) and follows and known is not None and current.id in known:
            waiting.append((known[current.id], False))
        elif value is not UNKNOWN and not isinstance(value, tuple):
            yield Truth(value=value) if isinstance(value, bool) else value
        else:
            waiting.extend((child, follows) for child in ast.iter_child_nodes(current))


@lru_cache(maxsize=2048)
def cases_of(node: Function, text: str) -> tuple[Case, ...]:
    """Return the constants that stand together in a test, of the module whose text is given. Raises Unparsable."""
    known = {**module_values(text), **local_values(node)}
    claims = list(asserted(node))
    names = [_called(each, known) for each in claims]
    values = [frozenset((*constants_in(each, known), *_truths(each))) for each in claims]
    found = [Case(held, named) for held, named in zip(values, names, strict=True)]
    together = frozenset[str]().union(*names)
    rows = [*rows_of(node, known), *loop_rows(node, known)]
    return (*found, *(Case(frozenset(constants_in(row)), together) for row in rows))


def loop_rows(node: Function, known: Values) -> Iterator[ast.expr]:
    """Yield the items of the tables that a test goes through."""
    for each in statements_below(node):
        if isinstance(each, ast.For):
            table = known.get(each.iter.id) if isinstance(each.iter, ast.Name) else each.iter
            if isinstance(table, ast.List | ast.Tuple):
                yield from table.elts


def _truths(claim: ast.expr) -> Iterator[Truth]:
    """Yield what an assertion expects that compares nothing: `assert f(x)`, `assert not f(x)`, `assertTrue(f(x))`."""
    if isinstance(claim, ast.Call):
        yield Truth(value="False" not in dotted(claim.func))
    elif isinstance(claim, ast.UnaryOp) and isinstance(claim.op, ast.Not):
        yield Truth(value=False)


def _called(expression: ast.expr, known: Values) -> frozenset[str]:
    parts = [*ast.walk(expression)]
    values = [known[each.id] for each in parts if isinstance(each, ast.Name) and each.id in known]
    parts += [part for value in values for part in ast.walk(value)]
    return frozenset(dotted(each.func).rpartition(".")[2] for each in parts if isinstance(each, ast.Call))
