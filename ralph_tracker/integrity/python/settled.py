"""What the names of a Python test come to whatever is under test: constants, truth values, lists that nobody fills."""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache, partial
from typing import Final, NamedTuple

from ralph_tracker.integrity.python.certainties import (
    PURE_CALLS,
    TRUTHS,
    bounds_of,
    is_empty,
    is_text,
    is_truth,
    never_none,
)
from ralph_tracker.integrity.python.constants import UNKNOWN, truth, value_of
from ralph_tracker.integrity.python.expectations import is_plain
from ralph_tracker.integrity.python.substituting import asked_by, substituted
from ralph_tracker.integrity.python.syntax import (
    FUNCTIONS,
    Function,
    blocks_below,
    dotted,
    nodes_below,
    nodes_in,
    statements_below,
    tree_of,
)

_BINDING: Final = (ast.Assign, ast.AnnAssign)
_LOOPS: Final = (ast.For, ast.AsyncFor, ast.While)
_CHOOSING: Final = (*_LOOPS, ast.If)
_SCOPES: Final = (*FUNCTIONS, ast.ClassDef)
_NAMING: Final = (*_SCOPES, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
_CHANGEABLE: Final = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.Call)
_DEEPEST: Final = 4
_OPEN: Final = object()
_NONE: Final[Mapping[str, ast.expr]] = {}


class _Bound(NamedTuple):
    """Hold where a name is bound: its line, the blocks that it stands in, and to what, None where that is open."""

    line: int
    way: tuple[int, ...]
    statement: ast.stmt | None = None


class Settled:
    """Know what the names of a test stand for where it asks by them; `text` is that of its file, "" unknown."""

    def __init__(self, test: Function, text: str = "") -> None:
        self._test = test
        self._text = text

    @cached_property
    def knows_nothing(self) -> bool:
        """Tell whether no name of the test comes to anything known, and no loop or condition stands in it."""
        return not self._outside and not any(
            isinstance(each, _CHOOSING) or (isinstance(each, _BINDING) and _binds_what_tells(each))
            for each in statements_below(self._test)
        )

    def filled_in(self, claim: ast.expr, statement: ast.stmt) -> ast.expr:
        """Return a claim with what its names come to in their places, the claim itself where nothing is known."""
        way = self._ways.get(id(statement)) if self._telling or self._outside else None
        return claim if way is None else substituted(claim, partial(self._value_of, statement=statement, way=way))

    def is_passed_over(self, statement: ast.stmt) -> bool:
        """Tell whether a statement stands in a loop over something empty."""
        return any(id(each) in self._idle for each in self._loops.get(id(statement), ()))

    def is_never_reached(self, statement: ast.stmt) -> bool:
        """Tell whether a statement stands under a condition that what its names stand for never fulfils."""
        return bool(self._closed) and any(each in self._closed for each in self._ways.get(id(statement), ()))

    @cached_property
    def _closed(self) -> frozenset[int]:
        """Return the blocks under conditions that nothing enters."""
        found = set()
        for each, way, _ in self._own if self._telling or self._outside else ():
            if isinstance(each, ast.If):
                filled = substituted(each.test, partial(self._value_of, statement=each, way=way))
                known = truth(filled) if filled is not each.test else None
                if known is not None:
                    found.add(-id(each) if known[0] else id(each))
        return frozenset(found)

    @cached_property
    def _own(self) -> tuple[tuple[ast.stmt, tuple[int, ...], tuple[ast.AST, ...]], ...]:
        """Return the statements of the test itself, with the blocks and the loops that they stand in."""
        found = []
        waiting: list[tuple[ast.AST, tuple[int, ...], tuple[ast.AST, ...]]] = [(self._test, (), ())]
        while waiting:
            node, way, loops = waiting.pop()
            inside = (*loops, node) if isinstance(node, _LOOPS) else loops
            later, always = getattr(node, "orelse", None) or (), _always_run(node)
            for each in blocks_below(node):
                inner = way if each in always else (*way, -id(node) if each in later else id(node))
                if isinstance(each, ast.stmt):
                    found.append((each, inner, inside))
                if not isinstance(each, _SCOPES):
                    waiting.append((each, inner, inside))
        return tuple(found)

    @cached_property
    def _ways(self) -> Mapping[int, tuple[int, ...]]:
        return {id(each): way for each, way, _ in self._own}

    @cached_property
    def _loops(self) -> Mapping[int, tuple[ast.AST, ...]]:
        return {id(each): loops for each, _, loops in self._own if loops}

    @cached_property
    def _idle(self) -> frozenset[int]:
        """Return the loops that go over nothing."""
        loops = {id(each): each for around in self._loops.values() for each in around}
        return frozenset(
            key
            for key, each in loops.items()
            if isinstance(each, ast.For) and is_empty(self.filled_in(each.iter, each))
        )

    @cached_property
    def _bound(self) -> Mapping[str, list[_Bound]]:
        """Return where the names are bound that may be known, in the order of the source."""
        plain = {id(target): _Bound(each.lineno, way, each) for each, way, _ in self._own for target in _plain(each)}
        found: dict[str, list[_Bound]] = {}
        for node in nodes_in(self._test):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                found.setdefault(node.id, []).append(plain.get(id(node), _Bound(node.lineno, ())))
            elif isinstance(node, _NAMING) and node.name:
                found.setdefault(node.name, []).append(_Bound(node.lineno, ()))
            elif isinstance(node, ast.alias):
                found.setdefault(node.asname or node.name, []).append(_Bound(node.lineno, ()))
        return {name: sorted(each, key=lambda one: one.line) for name, each in found.items()}

    @cached_property
    def _telling(self) -> frozenset[str]:
        """Return the names that are given something of which anything may be known: few are looked for."""
        return frozenset(
            target.id
            for each, *_ in self._own
            for target in _plain(each)
            if isinstance(target, ast.Name) and _may_tell(each.value)  # type: ignore[attr-defined]  # an assignment
        )

    @cached_property
    def _outside(self) -> Mapping[str, ast.expr]:
        found = constants_in(self._text) if self._text else _NONE
        given = {each.arg for each in nodes_below(self._test.args) if isinstance(each, ast.arg)} if found else set()
        return {name: value for name, value in found.items() if name not in given}

    def _value_of(self, name: str, statement: ast.stmt, way: tuple[int, ...], depth: int = _DEEPEST) -> ast.expr | None:
        if name not in self._telling and name not in self._outside:
            return None
        bound = self._bound.get(name, [])
        if not bound:
            value = self._outside.get(name)
            return value if value is not None and self._is_kept(name, value) else None
        last = next((each for each in reversed(bound) if each.line < statement.lineno), None)
        later = bound[-1].line >= statement.lineno and id(statement) in self._loops
        if last is None or last.statement is None or later or not depth:
            return None
        if way[: len(last.way)] != last.way and not _are_alike(bound, statement.lineno):
            return None
        value = last.statement.value  # type: ignore[attr-defined]  # a plain assignment
        if not self._is_kept(name, value):
            return None
        at, inside = last.statement, last.way
        value = substituted(value, partial(self._value_of, statement=at, way=inside, depth=depth - 1))
        return _worth(value, f"{name}:{last.line}")

    def _is_kept(self, name: str, value: ast.expr) -> bool:
        """Tell whether what a name holds stays as it is: who is given a list may fill it."""
        is_fixed = not isinstance(value, _CHANGEABLE) or is_text(value) or bounds_of(value) is not None
        return is_fixed or name not in self._given_away

    @cached_property
    def _given_away(self) -> frozenset[str]:
        """Return the names that are used for more than to ask what they hold."""
        asking = {id(each) for statement, *_ in self._own for each in asked_by(statement)}
        return frozenset(
            each.id
            for each in nodes_in(self._test)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and id(each) not in asking
        )


def _are_alike(bound: list[_Bound], line: int) -> bool:
    """Tell whether a name is given the same constant wherever it is bound before a line."""
    values = {getattr(getattr(each.statement, "value", None), "value", _OPEN) for each in bound if each.line < line}
    return len(values) == 1 and isinstance(values.pop(), bool | int | str | None)


def _may_tell(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        name = dotted(value.func)
        return name in TRUTHS or name in PURE_CALLS or name.endswith(("Mock", "object"))
    return not isinstance(value, ast.Attribute | ast.Subscript | ast.Await | ast.ListComp)


def _binds_what_tells(statement: ast.Assign | ast.AnnAssign) -> bool:
    value = statement.value
    return value is not None and _may_tell(value) and any(True for _ in _plain(statement))


def _always_run(node: ast.AST) -> list[ast.stmt]:
    """Return the statements under one that are run whenever it is left."""
    if isinstance(node, ast.With | ast.AsyncWith):
        return node.body
    return node.finalbody if isinstance(node, ast.Try) else []


def _plain(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield the names that an assignment gives its value to."""
    if isinstance(statement, _BINDING) and statement.value is not None:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        yield from (each for each in targets if isinstance(each, ast.Name))


def _worth(value: ast.expr, mark: str) -> ast.expr | None:
    """Return what stands for a value in a claim: itself where it is fixed, else something of which as much is known."""
    if value_of(value) is not UNKNOWN or is_empty(value) or is_plain(value):
        return value
    if isinstance(value, ast.List | ast.Tuple) and not any(isinstance(each, ast.Starred) for each in value.elts):
        names: list[ast.expr] = [ast.Name(f"{mark}:{at}", ast.Load()) for at in range(len(value.elts))]
        return type(value)(names, ast.Load())
    known = truth(value)
    if isinstance(value, ast.BoolOp) and known is not None and all(map(_is_boolean, value.values)):
        return ast.Constant(known[0])
    opaque = ast.Name(mark, ast.Load())
    if known is not None and known[0]:
        return ast.Lambda(_NO_ARGUMENTS, opaque)
    return ast.BoolOp(ast.And(), [opaque, ast.Constant(value=False)]) if known is not None else _like(value, opaque)


def _like(value: ast.expr, opaque: ast.expr) -> ast.expr | None:
    """Return something that can come to as much as a value whose truth is open, None where that is anything."""
    if is_truth(value):
        return ast.Call(ast.Name("bool", ast.Load()), [opaque], [])
    if (bounds := bounds_of(value)) is not None and bounds[0] >= 0:
        return ast.Call(ast.Name("len", ast.Load()), [opaque], [])
    if is_text(value):
        return ast.Call(ast.Name("str", ast.Load()), [opaque], [])
    return ast.ListComp(opaque, []) if never_none(value) else None


_NO_ARGUMENTS: Final = ast.arguments([], [], None, [], [], None, [])


def _is_boolean(node: ast.expr) -> bool:
    return is_truth(node) or (isinstance(node, ast.Constant) and isinstance(node.value, bool))


@lru_cache(maxsize=64)
def constants_in(text: str) -> Mapping[str, ast.expr]:
    """Return the names that a module binds once, to what always comes to the same. Raises Unparsable."""
    found: dict[str, ast.expr] = {}
    for statement in tree_of(text).body:
        if isinstance(statement, _BINDING) and statement.value is not None:
            value = statement.value
            if (value_of(value) is not UNKNOWN or is_empty(value)) and not isinstance(value, ast.Tuple):
                found.update((each.id, value) for each in _plain(statement) if isinstance(each, ast.Name))
    return {name: value for name, value in found.items() if _is_bound_once(name, value, text)}


def _is_bound_once(name: str, value: ast.expr, text: str) -> bool:
    """Tell whether a text says nowhere else what a name of its module is; a list may be filled by whoever names it."""
    if re.search(rf"\bglobal\b.*\b{name}\b|['\"]{name}['\"]|\bfor {name}\b", text):
        return False
    bound = len(re.findall(rf"(?<![\w.]){name}\b\s*(?::[^=\n]+)?[-+*/|&]?=(?!=)|\.{name}\s*=(?!=)", text))
    if isinstance(value, _CHANGEABLE):
        changed = rf"\b{name}\.(?!(keys|values|items)\()|\b{name}\["
        return bound == 1 and not re.search(changed, text)
    return bound == 1
