"""What a piece of Python source asks for by constants, and what it answers by them, however either is written."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.constants import UNKNOWN, value_of
from ralph_tracker.integrity.python.expectations import constants_in, is_plain
from ralph_tracker.integrity.python.syntax import dotted, nodes_below

_BODY: Final = 3
_DIGITS: Final = 18
_ORDERS: Final = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_MADE: Final = frozenset(
    {
        "int",
        "float",
        "str",
        "bytes",
        "bool",
        "list",
        "tuple",
        "set",
        "frozenset",
        "dict",
        "Decimal",
        "Fraction",
        "complex",
    }
)
_MEASURES: Final = Pattern(r"(^|\.)(len|hash|id|sum|ord|hexdigest|digest|crc32|adler32|md5|sha\w*)$")
_OF_PARTS: Final = frozenset({"startswith", "endswith", "match", "search", "fullmatch", "find", "index", "count"})
_OPPOSITE: Final = (ast.NotEq, ast.NotIn, ast.IsNot)
# What stands for a branch within one expression; without it expressions need not be looked into.
IN_EXPRESSION: Final = Pattern(
    r"\band\b|\]\[|==.*\)\s*\*|\bfor\b.*[\[(]|[dD]ict\(|[\[(]\s*[\[(]|\[\s*\w+\(|\.index\(|^\s*@\w+\(",
    re.MULTILINE,
    words=("and", "][", "*", "for ", "ict(", "[", "((", "(\n", ".index(", "@"),
)


# Returns the fixed expression that one always comes to, None where it may vary.
Means = Callable[[ast.AST], ast.expr | None]


class Question(NamedTuple):
    """Hold a question by constants: those it names, whether it is about a part of a text, or measures what is given."""

    asked: frozenset[object]
    parts: frozenset[str]
    measured: bool


def fixed(node: ast.AST) -> ast.expr | None:
    """Return an expression that always comes to the same as it is, None for any other."""
    return node if isinstance(node, ast.expr) and is_fixed(node) else None


def question_of(node: ast.AST, meaning: Means = fixed) -> Question:
    """Return what a condition, or a pattern, asks for; limits that something is above or below ask for nothing."""
    limits = {
        id(side)
        for each in nodes_below(node)
        if isinstance(each, ast.Compare) and isinstance(each.ops[0], _ORDERS)
        for side in (each.left, *each.comparators)
    }
    asked: set[object] = set()
    parts: set[str] = set()
    measured = False
    waiting: list[ast.AST] = [node]
    while waiting:
        each = waiting.pop()
        if id(each) in limits and isinstance(each, ast.Constant | ast.Name | ast.Attribute):
            continue
        known = meaning(each)
        if known is not None:
            asked.update(values_in(known))
            continue
        if isinstance(each, ast.Call):
            name = each.func.attr if isinstance(each.func, ast.Attribute) else dotted(each.func)
            measured = measured or _MEASURES.search(name) is not None
            if name in _OF_PARTS:
                parts.update(value for part in each.args for value in constants_in(part) if isinstance(value, str))
        if (
            isinstance(each, ast.Compare)
            and isinstance(each.ops[0], ast.In)
            and isinstance(value := value_of(each.left), str)
        ):
            parts.add(value)
        waiting.extend(ast.iter_child_nodes(each))
    return Question(frozenset(asked), frozenset(parts), measured)


def is_fixed(node: ast.AST) -> bool:
    """Tell whether an expression always comes to the same: literals, arithmetic on them, kinds made of them."""
    if is_plain(node):
        return True
    if isinstance(node, ast.BinOp):
        return is_fixed(node.left) and is_fixed(node.right)
    if isinstance(node, ast.JoinedStr):
        return all(isinstance(each, ast.Constant) for each in node.values)
    if isinstance(node, ast.Call):
        return dotted(node.func) in _MADE and bool(node.args) and not node.keywords and all(map(is_fixed, node.args))
    return False


def values_in(node: ast.AST) -> Iterator[object]:
    """Yield the constants that a fixed expression comes to, texts that read as numbers as those too."""
    if isinstance(node, ast.JoinedStr):
        yield "".join(str(each.value) for each in node.values if isinstance(each, ast.Constant))
        return
    if isinstance(node, ast.BinOp) and value_of(node) is UNKNOWN:
        sides = [list(values_in(each)) for each in (node.left, node.right)]
        if all(len(each) == 1 and isinstance(each[0], str) for each in sides) and isinstance(node.op, ast.Add):
            yield f"{sides[0][0]}{sides[1][0]}"
        return
    number = isinstance(node, ast.Call) and dotted(node.func) in {"int", "float", "Decimal"}
    for value in constants_in(node):
        if not (number and isinstance(value, str)):
            yield value
        if isinstance(value, str) and value.lstrip("-").isdecimal() and len(value) < _DIGITS:
            yield int(value)


def answers_of(body: Sequence[ast.stmt] | ast.expr, meaning: Means = fixed) -> list[ast.expr]:
    """Return the fixed values that a branch returns, a short one also yields or assigns, and branches inside too."""
    if isinstance(body, ast.expr):
        return list(filter(None, [meaning(body)]))
    if len(body) > _BODY and sum(not _only_binds(each) for each in body) > _BODY:
        return []
    values = [each.value for each in body if isinstance(each, ast.Return | ast.Assign | ast.Expr)]
    values = [each.value if isinstance(each, ast.Yield) else each for each in values]
    inner = [answer for each in body if isinstance(each, ast.If) for answer in answers_of(each.body, meaning)]
    return [*filter(None, (meaning(each) for each in values if each is not None)), *inner]


def _only_binds(statement: ast.stmt) -> bool:
    """Tell whether a statement only gives a fixed value a name, or imports something."""
    return isinstance(statement, ast.Import | ast.ImportFrom) or (
        isinstance(statement, ast.Assign) and is_fixed(statement.value)
    )


Asked = tuple[ast.AST, list[ast.expr]]


def asked_in(node: ast.AST, after: Sequence[ast.stmt] = (), meaning: Means = fixed) -> Iterator[Asked]:
    """Yield each question of a node itself with what is answered to it; `after` is what follows in its block."""
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        yield node.test, answers_of(node.body, meaning)
        if _denies(node.test):
            rest: Sequence[ast.stmt] | ast.expr = node.orelse or after[:1]
            yield node.test, answers_of(rest, meaning) if not isinstance(node, ast.While) else []
        if isinstance(node, ast.If):
            yield from _nested(node, meaning)
    elif isinstance(node, ast.match_case):
        question = ast.Tuple([*_patterns(node.pattern), *([node.guard] if node.guard is not None else [])], ast.Load())
        yield question, answers_of(node.body, meaning)
    elif isinstance(node, ast.expr):
        yield from _asked_by(node, meaning)


def _asked_by(node: ast.expr, meaning: Means) -> Iterator[Asked]:
    """Yield the questions of expressions that stand for a branch: `x == 42 and 1764`, `[0, 1764][x == 42]`."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        yield ast.Tuple(node.values[:-1], ast.Load()), answers_of(node.values[-1], meaning)
    elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.List | ast.Tuple):
        if isinstance(node.slice, ast.Compare):
            yield node.slice, [each for each in node.value.elts if is_fixed(each)]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(one, ast.Compare):
                yield one, answers_of(other, meaning)


def _nested(node: ast.If, meaning: Means) -> Iterator[Asked]:
    """Yield two questions, one in the other, as one: `if a == 2: if b == 3: return 5`."""
    for each in node.body[:1]:
        if isinstance(each, ast.If):
            yield ast.Tuple([node.test, each.test], ast.Load()), answers_of(each.body, meaning)


def _denies(test: ast.expr) -> bool:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return True
    return (isinstance(test, ast.Compare) and isinstance(test.ops[0], _OPPOSITE)) or isinstance(test, ast.BinOp)


def _patterns(pattern: ast.pattern) -> Iterator[ast.expr]:
    return (each.value for each in ast.walk(pattern) if isinstance(each, ast.MatchValue))


def named_values(body: Sequence[ast.stmt]) -> Mapping[str, ast.expr]:
    """Return the fixed values that statements give to names, each given once."""
    found: dict[str, ast.expr] = {}
    twice: set[str] = set()
    for each in body:
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name):
            name = each.targets[0].id
            twice |= {name} & found.keys()
            found[name] = each.value
        elif isinstance(each, ast.AugAssign | ast.For | ast.If | ast.While | ast.With | ast.Try):
            twice |= {
                part.id for part in ast.walk(each) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
            }
    return {name: value for name, value in found.items() if name not in twice and is_fixed(value)}
