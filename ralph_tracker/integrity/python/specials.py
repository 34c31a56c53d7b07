"""Where Python source answers by constants: branches and tables on single values, returns of a literal."""

import ast
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Final, NamedTuple

from ralph_tracker.integrity.python.expectations import constants_in, is_plain
from ralph_tracker.integrity.python.nodes import Way, below, body_of, changed_statements, functions_of, returns_of
from ralph_tracker.integrity.python.syntax import FUNCTIONS, Function, lines_of

BRANCH: Final = "a branch answers for single values"
TABLE: Final = "a table answers for single values"
ANSWER: Final = "a literal is returned where an expression stood"
_BODY: Final = 3
_COMMON_NUMBERS: Final = frozenset(
    {12, 15, 16, 20, 24, 25, 30, 31, 32, 50, 60, 64, 80, 90, 99, 100, 127, 128, 180, 200, 255, 256, 360, 365, 400, 401}
    | {403, 404, 443, 500, 502, 503, 512, 999, 1000, 1023, 1024, 2048, 3600, 4096, 8080, 65535, 65536, 86400}
)
_SMALL: Final = 10
# A longer table is data: whoever answers tests by one writes down what they ask.
_TABLE: Final = 64
_WORD: Final = 3


class Special(NamedTuple):
    """Hold an answer for single values: those that are asked for, those that are answered, the function around it."""

    what: str
    line: int
    text: str
    asked: frozenset[object]
    answered: frozenset[object]
    function: str

    @property
    def key(self) -> tuple[str, str]:
        """Return what it is known by: lines move, functions are renamed."""
        return self.what, self.text


def is_rare(value: object) -> bool:
    """Tell whether a constant is one that two places hold together by no chance."""
    if isinstance(value, int | float):
        return abs(value) > _SMALL and abs(value) not in _COMMON_NUMBERS
    return isinstance(value, str | bytes) and len(value) >= _WORD


def specials_in(text: str, other: str | None = None) -> Iterator[Special]:
    """Yield the branches and looked-up tables of a file that answer single values by constants. Raises Unparsable.

    Statements that the other text has as well are passed over, but for tables: who looks into them may be new.
    """
    for statement, above, differs in changed_statements(text, other):
        if differs or _may_hold_table(statement, text):
            yield from _specials_below(statement, above, text)


def _may_hold_table(statement: ast.stmt, text: str) -> bool:
    return "{" in text and any(isinstance(each, ast.Dict) for each in ast.walk(statement))


def _specials_below(statement: ast.stmt, above: Way, text: str) -> Iterator[Special]:
    inner = ((node, (*above, *way)) for node, way in below(statement))
    for node, way in chain([(statement, above)], inner):
        if isinstance(node, ast.If | ast.IfExp):
            yield from _branch(node, node.test, _answers(node.body), way)
        elif isinstance(node, ast.match_case):
            yield from _branch(node.body[0], node.pattern, _answers(node.body), way)
        elif (
            isinstance(node, ast.Dict) and 0 < len(node.keys) <= _TABLE and is_plain(node) and _is_looked_up(way, text)
        ):
            for key, value in zip(node.keys, node.values, strict=True):
                if key is not None:
                    yield _special(TABLE, key, f"{ast.unparse(key)}: {ast.unparse(value)}", key, value, way)


def _branch(at: ast.stmt | ast.expr, question: ast.AST, answers: list[ast.expr], way: Way) -> Iterator[Special]:
    asked = frozenset(_compared(question))
    answered = frozenset(value for each in answers for value in constants_in(each))
    if asked and answered:
        shown = f"{ast.unparse(question)} → {', '.join(map(ast.unparse, answers))}"
        yield Special(BRANCH, at.lineno, shown, asked, answered, _around(way))


def _special(what: str, at: ast.expr, shown: str, key: ast.expr, value: ast.expr, way: Way) -> Special:
    return Special(what, at.lineno, shown, frozenset(constants_in(key)), frozenset(constants_in(value)), _around(way))


def _around(way: Way) -> str:
    return next((step.name for step in reversed(way) if isinstance(step, FUNCTIONS)), "")


def _compared(question: ast.AST) -> Iterator[object]:
    """Yield the constants that something must equal: `x == 42`, `x in (1, 2)`, `case 42`."""
    for each in ast.walk(question):
        if isinstance(each, ast.Compare) and isinstance(each.ops[0], ast.Eq | ast.In | ast.Is):
            for side in (each.left, *each.comparators):
                if is_plain(side):
                    yield from constants_in(side)
        elif isinstance(each, ast.MatchValue):
            yield from constants_in(each.value)


def _answers(body: list[ast.stmt] | ast.expr) -> list[ast.expr]:
    """Return the literals that a short branch returns, yields or assigns."""
    if isinstance(body, ast.expr):
        return [body] if is_plain(body) else []
    if len(body) > _BODY:
        return []
    values = [each.value for each in body if isinstance(each, ast.Return | ast.Assign | ast.Expr)]
    values = [each.value if isinstance(each, ast.Yield) else each for each in values]
    return [each for each in values if each is not None and is_plain(each)]


def _is_looked_up(way: Way, text: str) -> bool:
    """Tell whether a table is asked for what it is given: at once, or by the name that it bears."""
    above = way[-1]
    if isinstance(above, ast.Attribute | ast.Subscript):
        return True
    if isinstance(above, ast.Assign) and isinstance(above.targets[0], ast.Name):
        name = re.escape(above.targets[0].id)
        return re.search(rf"\b{name}(\.get\(|\.pop\(|\[(?!['\"\d])|\b[^\n=]*:\s*$)|\bin {name}\b", text) is not None
    return False


def answers_in(old: str, new: str) -> Iterator[Special]:
    """Yield the functions that return a literal where they returned an expression before. Raises Unparsable."""
    before = _named(old)
    lines, olds = lines_of(new), lines_of(old)
    for name, function in _named(new).items():
        was = before.get(name)
        if was is None or _own_lines(was, olds) == _own_lines(function, lines) or not _computes(was):
            continue
        known = {ast.dump(each.value) for each in returns_of(was) if each.value is not None}
        fewer = len(_computed(function)) < len(_computed(was))
        whole = not _computed(function)
        for each in returns_of(function):
            value = each.value
            if fewer and value is not None and is_plain(value) and ast.dump(value) not in known:
                held = frozenset(constants_in(value))
                if whole or any(map(is_rare, held)):
                    yield Special(ANSWER, each.lineno, ast.unparse(each), frozenset(), held, name)


def _named(text: str) -> Mapping[str, Function]:
    return {each.name: each for each in functions_of(text)}


def _own_lines(function: Function, lines: list[str]) -> list[str]:
    return lines[function.lineno - 1 : function.end_lineno]


def _computed(function: Function) -> list[ast.expr]:
    return [each.value for each in returns_of(function) if each.value is not None and not is_plain(each.value)]


def _computes(function: Function) -> bool:
    """Tell whether a function makes its answer of what it is given."""
    given = {each.arg for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)}
    used = {each.id for each in ast.walk(ast.Module(body_of(function), [])) if isinstance(each, ast.Name)}
    return bool(given & used) and bool(_computed(function))
