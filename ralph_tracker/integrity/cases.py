"""Which parameters of a test stand for those it had: `[3-4]` by the same text, by the values that occur, in order."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from ralph_tracker.integrity.fingerprints import Fingerprint
from ralph_tracker.integrity.moves import Moves
from ralph_tracker.integrity.naming import split_id
from ralph_tracker.integrity.python.syntax import dotted
from ralph_tracker.integrity.source_tests import SourceTest

StandIns = dict[str, tuple[str, ...]]
_PIECES: Final = re.compile(r"[^\-\[\](),/\s]+")
_NUMBERED: Final = re.compile(r"([^\W\d]\w*?)(\d+)")  # `value0`: what pytest calls a value without a name
_COMMON: Final = 50  # parameters that hold a value: beyond, it does not tell which
_PARAMETRIZE: Final = 2  # arguments: the names and the values


def in_turn(gone: Iterable[str], new: Iterable[str]) -> StandIns:
    """Match the parameters of one test each with one of now, up to the smaller number."""
    moves = Moves(gone, new)
    moves.by_unique(lambda test: split_id(test).parameters)
    moves.match(_sharing(moves))
    moves.in_order(lambda _: "")
    return {old: (each,) for old, each in moves.found.items()}


def holding(old: SourceTest, new: SourceTest, gone: Iterable[str], cases: Iterable[str]) -> StandIns:
    """Match the ids of a test with the cases that hold its literals, with all of them where none does."""
    gone, cases = tuple(gone), tuple(cases)
    values = _values_by_case(new)
    held = {case: _pieces(case) | _listed(case, values) for case in cases}
    literals = frozenset(each.strip("'") for each in Fingerprint(old).literals)
    return {test: _best(_pieces(test) or literals, held) or cases for test in gone}


def holds_all(old: SourceTest, new: SourceTest) -> bool:
    """Tell whether a test without parameters uses every value of one that has some."""
    literals = Fingerprint(old).literals
    return bool(literals) and literals <= Fingerprint(new).literals


def _best(wanted: frozenset[str], held: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    shared = {case: len(wanted & values) for case, values in held.items()}
    most = max(shared.values(), default=0)
    return tuple(case for case, number in shared.items() if number == most) if most else ()


def _sharing(moves: Moves[str]) -> list[tuple[str, str]]:
    """Return what shares values, those that share most first, where there is one that shares most."""
    holders: dict[str, list[str]] = {}
    for test in moves.new:
        for piece in _pieces(test):
            holders.setdefault(piece, []).append(test)
    telling = {piece: tests for piece, tests in holders.items() if len(tests) <= _COMMON}
    scored = []
    for old in moves.gone:
        shared = Counter(test for piece in sorted(_pieces(old)) for test in telling.get(piece, ()))
        [*first], second = shared.most_common(1), shared.most_common(2)[1:]
        if first and not (second and second[0][1] == first[0][1]):
            scored.append((first[0][1], old, first[0][0]))
    scored.sort(key=lambda each: -each[0])
    return [(old, new) for _, old, new in scored]


def _pieces(test: str) -> frozenset[str]:
    return frozenset(_PIECES.findall(split_id(test).parameters))


def _listed(case: str, values: Mapping[str, list[frozenset[str]]]) -> frozenset[str]:
    """Return the values that a case has by its number."""
    found: set[str] = set()
    for piece in _pieces(case):
        numbered = _NUMBERED.fullmatch(piece)
        rows = values.get(numbered[1], []) if numbered is not None else []
        if numbered is not None and int(numbered[2]) < len(rows):
            found |= rows[int(numbered[2])]
    return frozenset(found)


def _values_by_case(test: SourceTest) -> dict[str, list[frozenset[str]]]:
    """Return the constants of each row of `parametrize`, by the name of each of its parameters."""
    found: dict[str, list[frozenset[str]]] = {}
    for call in test.node.decorator_list if test.node is not None else ():
        if not isinstance(call, ast.Call) or len(call.args) < _PARAMETRIZE or not dotted(call).endswith("parametrize"):
            continue
        names, rows = call.args[:_PARAMETRIZE]
        if isinstance(rows, (ast.List, ast.Tuple)):
            values = [frozenset(_constants(row)) for row in rows.elts]
            found.update((name, values) for text in _constants(names) for name in re.split(r"\W+", text) if name)
    return found


def _constants(node: ast.AST) -> Iterator[str]:
    return (str(each.value) for each in ast.walk(node) if isinstance(each, ast.Constant))
