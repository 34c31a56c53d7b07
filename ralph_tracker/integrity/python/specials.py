"""Where Python source answers by constants: branches and tables on single values, returns of a literal."""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Final, NamedTuple

from ralph_tracker.integrity.python.meanings import Meaning, places_of
from ralph_tracker.integrity.python.nodes import Way, below, body_of, functions_of, returns_of, statements_of
from ralph_tracker.integrity.python.questions import (
    IN_EXPRESSION,
    asked_in,
    is_fixed,
    named_values,
    question_of,
    values_in,
)
from ralph_tracker.integrity.python.syntax import (
    FUNCTIONS,
    Function,
    blocks_below,
    children_of,
    dotted,
    lines_of,
    nodes_below,
    tree_of,
)
from ralph_tracker.integrity.python.tables import pairs_in, table_of

BRANCH: Final = "a branch answers for single values"
TABLE: Final = "a table answers for single values"
ANSWER: Final = "a literal is returned where an expression stood"
_COMMON_NUMBERS: Final = frozenset(
    {12, 15, 16, 20, 24, 25, 30, 31, 32, 50, 60, 64, 80, 90, 99, 100, 127, 128, 180, 200, 255, 256, 360, 365, 400, 401}
    | {403, 404, 443, 500, 502, 503, 512, 999, 1000, 1023, 1024, 2048, 3600, 4096, 8080, 65535, 65536, 86400}
)
_SMALL: Final = 10
_WORD: Final = 3
_STRING: Final = re.compile(
    r"""#[^\n]*"""
    r"""|\"{3}[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*+\"{3}|'{3}[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*+'{3}"""
    r"""|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'""",
    re.DOTALL,
)
# The nodes that may ask a question or hold a table: of the others there are many more.
_TELLING: Final = frozenset(
    {
        *(ast.If, ast.IfExp, ast.While, ast.match_case, ast.BoolOp, ast.BinOp, ast.Subscript),
        *(ast.Dict, ast.List, ast.Tuple, ast.Assign, ast.Call),
    }
)
_ALL_ERRORS: Final = frozenset({"Exception", "BaseException"})


class Special(NamedTuple):
    """Hold an answer for single values: those that are asked for, those that are answered, the function around it.

    `parts` are texts that are looked for in what is given; `measured`: its length, its digest or so is asked for;
    `near` are the functions that it stands in, and the name of its table.
    """

    what: str
    line: int
    text: str
    asked: frozenset[object]
    answered: frozenset[object]
    function: str
    parts: frozenset[str] = frozenset()
    measured: bool = False
    near: frozenset[str] = frozenset()

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

    Statements that the other text has as well are passed over, but for tables: who looks into them may be new. The
    other text is read only where that decides, and may raise Unparsable then.
    """
    seen: Counter[str] = Counter()
    flat = _strings_on_one_line(other or "")
    # Where the other text has no string over several lines, nothing that stands in it has one.
    flattened = str if flat == other else _strings_on_one_line
    before = f"\n{flat}\n"
    for statement, above, own in statements_of(text):
        seen[own] += 1
        if other and seen[own] == 1 and "{" not in own and f"\n{flattened(own)}\n" in before:
            continue  # most of a file stands as it did, and what is under it need not be looked at
        found = list(_specials_below(statement, above, text, own))
        if found and (_holds_table(statement, own) or other is None or seen[own] > _times(own, other)):
            yield from found


def _strings_on_one_line(text: str) -> str:
    """Take the line ends out of the strings of a text: what stands on lines of its own is code then."""
    if '"""' not in text and "'''" not in text:
        return text
    if "\n" not in "".join(_STRING.findall(text)):  # most docstrings have one line: nothing is to be put in its place
        return text
    return _STRING.sub(lambda found: found[0].replace("\n", "\0"), text)


def _times(own: str, other: str) -> int:
    """Return how often a statement stands in the other text, which is parsed only where its lines occur there."""
    return sum(each == own for _, _, each in statements_of(other)) if own in other or "\r" in other else 0


def _holds_table(statement: ast.stmt, own: str) -> bool:
    return "{" in own and any(isinstance(each, ast.Dict) for each in nodes_below(statement))


def _specials_below(statement: ast.stmt, above: Way, text: str, own: str) -> Iterator[Special]:
    # Expressions hold tables and choices.
    within = "{" in own or "else" in own or IN_EXPRESSION.search(own) is not None
    for node, way in chain([(statement, above)], below(statement, above, children_of if within else blocks_below)):
        if type(node) not in _TELLING:
            continue
        for question, answers in asked_in(node, _after(node, way), Meaning(text, way).of):
            yield from _branch(node, question, answers, way, text)
        for key, value in pairs_in(node, way, text):
            yield _pair(key, value, way)


def _after(node: ast.AST, way: Way) -> list[ast.stmt]:
    """Return what follows a branch that leaves its function: the answer to what it does not ask."""
    if not isinstance(node, ast.If) or not way or not isinstance(node.body[-1], ast.Return):
        return []
    body = getattr(way[-1], "body", [])
    return body[body.index(node) + 1 :] if isinstance(body, list) and node in body else []


def _branch(at: ast.AST, question: ast.AST, answers: list[ast.expr], way: Way, text: str) -> Iterator[Special]:
    answered = frozenset(value for each in answers for value in values_in(each))
    if not answered:
        return
    found = question_of(question, Meaning(text, way).of)
    if found.asked or found.parts or found.measured:
        shown = f"{ast.unparse(question)} → {', '.join(map(ast.unparse, answers))}"
        line = at.lineno if isinstance(at, ast.stmt | ast.expr) else answers[0].lineno
        yield Special(
            BRANCH, line, shown, found.asked, answered, _around(way), found.parts, found.measured, places_of(way)
        )


def _pair(key: ast.expr, value: ast.expr, way: Way) -> Special:
    shown = f"{ast.unparse(key)}: {ast.unparse(value)}"
    near = places_of(way) | {table_of(way)}
    return Special(
        TABLE, key.lineno, shown, frozenset(values_in(key)), frozenset(values_in(value)), _around(way), near=near
    )


def _around(way: Way) -> str:
    return next((step.name for step in reversed(way) if isinstance(step, FUNCTIONS)), "")


def answers_in(old: str, new: str) -> Iterator[Special]:
    """Yield the functions that return a literal where they returned an expression before. Raises Unparsable."""
    constants = named_values(tree_of(new).body) if "return " in new else {}
    literals = {name: (each, _literals(each, constants)) for name, each in _named(new).items() if name in old}
    before = _named(old) if any(found for _, found in literals.values()) or "lambda" in new else {}
    lines, olds = lines_of(new), lines_of(old)
    yield from _lambdas(new, before)
    for name, (function, literal) in literals.items():
        was = before.get(name)
        if was is None or _own_lines(was, olds) == _own_lines(function, lines) or not _computes(was):
            continue
        known = {ast.dump(each.value) for each in returns_of(was) if each.value is not None}
        computed = _computed(function, constants)
        fewer = len(computed) < len(_computed(was, {}))
        for each, value in literal:
            if (fewer or _is_last_resort(each, function)) and ast.dump(value) not in known:
                held = frozenset(values_in(value))
                if (fewer and not computed) or any(map(is_rare, held)):
                    yield Special(ANSWER, each.lineno, ast.unparse(each), frozenset(), held, name)


def _lambdas(text: str, before: Mapping[str, Function]) -> Iterator[Special]:
    """Yield the functions that became a lambda which answers by a literal."""
    for put in tree_of(text).body if "lambda" in text else ():
        if isinstance(put, ast.Assign) and isinstance(put.value, ast.Lambda) and is_fixed(put.value.body):
            name = dotted(put.targets[0])
            if name in before and _computes(before[name]):
                held = frozenset(values_in(put.value.body))
                yield Special(ANSWER, put.lineno, ast.unparse(put), frozenset(), held, name)


def _is_last_resort(answer: ast.Return, function: Function) -> bool:
    """Tell whether an answer stands where every error leads, or where all ways lead."""
    for each in ast.walk(function):
        if isinstance(each, ast.Try):
            broad = [one.body for one in each.handlers if one.type is None or dotted(one.type) in _ALL_ERRORS]
            if any(answer in body for body in (*broad, each.finalbody)):
                return True
    return False


def _literals(function: Function, constants: Mapping[str, ast.expr]) -> list[tuple[ast.Return, ast.expr]]:
    found = [(each, _value(each.value, function, constants)) for each in returns_of(function) if each.value is not None]
    return [(each, value) for each, value in found if is_fixed(value)]


def _value(node: ast.expr, function: Function, constants: Mapping[str, ast.expr]) -> ast.expr:
    """Return what a returned name always stands for, the node itself where that may vary."""
    if not isinstance(node, ast.Name):
        return node
    return named_values(function.body).get(node.id) or constants.get(node.id) or node


def _named(text: str) -> Mapping[str, Function]:
    return {each.name: each for each in functions_of(text)}


def _own_lines(function: Function, lines: list[str]) -> list[str]:
    return lines[function.lineno - 1 : function.end_lineno]


def _computed(function: Function, constants: Mapping[str, ast.expr]) -> list[ast.expr]:
    """Return what a function returns that may vary, so far as a way leads there."""
    end = next((each.lineno for each in function.body if isinstance(each, ast.Return)), None)
    values = [
        _value(each.value, function, constants)
        for each in returns_of(function)
        if each.value is not None and (end is None or each.lineno <= end)
    ]
    return [each for each in values if not is_fixed(each)]


def _computes(function: Function) -> bool:
    """Tell whether a function makes its answer of what it is given."""
    given = {each.arg for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)}
    used = {each.id for each in ast.walk(ast.Module(body_of(function), [])) if isinstance(each, ast.Name)}
    return bool(given & used) and bool(_computed(function, {}))
