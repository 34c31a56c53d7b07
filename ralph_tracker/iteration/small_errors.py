"""Small errors that tests should notice, made on purpose: each is another text for one place of a source file.

Python's places come from its syntax tree, those of other languages from a table of patterns of a line.
"""

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise
from typing import Final, NamedTuple

from ralph_tracker.integrity.inline_tests import parted

_SWAPS: Final[Mapping[type[ast.AST], tuple[str, str]]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "/"),
    ast.Mod: ("%", "/"),
    ast.Pow: ("**", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
}
# A line of another language, without its strings and comments: what is replaced, and by what.
_TABLE: Final = tuple(
    (re.compile(pattern), new)
    for pattern, new in (
        (r"===", "!=="),
        (r"!==", "==="),
        (r"(?<![=!<>])==(?!=)", "!="),
        (r"!=(?!=)", "=="),
        (r"<=", "<"),
        (r">=", ">"),
        (r"(?<= )<(?= )", "<="),
        (r"(?<= )>(?= )", ">="),
        (r"&&|\band\b", "||"),
        (r"\|\||\bor\b", "&&"),
        (r"(?<= )\+(?= )", "-"),
        (r"(?<= )-(?= )", "+"),
        (r"(?<= )\*(?= )", "/"),
        (r"(?<= )/(?= )", "*"),
        (r"(?<=\w)\+\+|\+\+(?=\w)", "--"),
        (r"(?<=[ \w])\+=", "-="),
        (r"(?<= )-=", "+="),
        (r"\btrue\b", "false"),
        (r"\bfalse\b", "true"),
        (r"(?<=[( &|])!(?=[\w(])", ""),
        (r"(?<![\w.#$@])\d+(?![\w.])", "+1"),
        (r"(?<=\bif \().+(?=\)\s*\{?\s*$)", "!({})"),
        (r"(?<=\bif )(?![(]).+(?= \{$)", "!({})"),
        (r"^\s*(?!return\b|throw\b|else\b|if\b|for\b|while\b|func\b|fn\b|def\b)[\w.:]+(?:\([^()]*\))+;?$", ""),
    )
)
_WORDS: Final = {"and": "or", "or": "and"}
_UNSEEN: Final = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`[^`]*`|//.*|(?<!\S)#.*|/\*.*?\*/")


class SmallError(NamedTuple):
    """One error: `text` is the whole file with it; `old` and `new` are its line before and after."""

    path: str
    line: int
    old: str
    new: str
    text: str


def small_errors(path: str, text: str, lines: Collection[int]) -> tuple[SmallError, ...]:
    """Return the errors for some lines of a source file (numbered from 1), in their order; none in tests within it."""
    found = []
    for start, end, new in sorted(_places(path, text)):
        line = text.count("\n", 0, start) + 1
        changed = text[:start] + new + text[end:]
        if line in lines and changed != text and (not path.endswith(".py") or _parses(changed)):
            old_line, new_line = text.split("\n")[line - 1], changed.split("\n")[line - 1]
            found.append(SmallError(path, line, old_line.strip(), new_line.strip(), changed))
    return tuple(dict.fromkeys(found))


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


def _places(path: str, text: str) -> Iterator[tuple[int, int, str]]:
    """Yield where an error can be, as offsets, and what is put there."""
    if not path.endswith(".py"):
        yield from _by_line(path, text)
        return
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    source = _Source(text)
    names = ("annotation", "returns")  # nothing runs there
    types = {each for node in ast.walk(tree) for name in names for each in _below(getattr(node, name, None))}
    for node in ast.walk(tree):
        if node not in types:
            yield from source.places(node)


def _below(node: ast.AST | None) -> Iterator[ast.AST]:
    return iter(()) if node is None else ast.walk(node)


def _by_line(path: str, text: str) -> Iterator[tuple[int, int, str]]:
    tests = parted(path, text)[1]
    inside = range(text.index(tests), text.index(tests) + len(tests)) if tests else range(0)
    at = 0
    for line in text.split("\n"):
        if at not in inside and not line.strip().startswith(("//", "#", "*", "/*", "--")):
            shown = _UNSEEN.sub(lambda hidden: "\0" * len(hidden[0]), line)
            for pattern, new in _TABLE:
                for match in pattern.finditer(shown):
                    found = line[match.start() : match.end()]
                    put = str(int(found) + 1) if new == "+1" else _WORDS.get(found, new.replace("{}", found))
                    yield at + match.start(), at + match.end(), put
        at += len(line) + 1


class _Source:
    """The text of a Python file, with the places of its nodes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines = text.split("\n")
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def _at(self, line: int, column: int) -> int:
        """Return the offset of a place whose column counts bytes."""
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode("utf-8", "ignore"))

    def _start(self, node: ast.expr | ast.stmt) -> int:
        return self._at(node.lineno, node.col_offset)

    def _end(self, node: ast.expr | ast.stmt) -> int:
        return self._at(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def places(self, node: ast.AST) -> Iterator[tuple[int, int, str]]:
        match node:
            case ast.Compare():
                for (left, right), operator in zip(pairwise([node.left, *node.comparators]), node.ops, strict=True):
                    yield from self._operator(left, right, operator)
            case ast.BoolOp():
                for left, right in pairwise(node.values):
                    yield from self._operator(left, right, node.op)
            case ast.BinOp():
                yield from self._operator(node.left, node.right, node.op)
            case ast.AugAssign():
                yield from self._operator(node.target, node.value, node.op)
            case ast.UnaryOp(op=ast.Not() | ast.USub()):
                yield self._start(node), self._start(node.operand), ""
            case ast.Constant(value=bool() as value):
                yield self._start(node), self._end(node), str(not value)
            case ast.Constant(value=int() | float() as value):
                yield self._start(node), self._end(node), repr(value + 1)
            case ast.If() | ast.While() | ast.IfExp():
                test = self.text[self._start(node.test) : self._end(node.test)]
                yield self._start(node.test), self._end(node.test), f"not ({test})"
            case ast.Return(value=ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
                yield self._start(value), self._end(value), "None"
            case ast.Expr(value=ast.Call()) | ast.Raise() | ast.Delete():
                yield self._start(node), self._end(node), "pass"
            case ast.Assign(value=value) if not (isinstance(value, ast.Constant) and value.value is None):
                yield self._start(value), self._end(value), "None"
            case ast.Break() | ast.Continue():
                yield self._start(node), self._end(node), "continue" if isinstance(node, ast.Break) else "break"
            case _:
                return

    def _operator(self, left: ast.expr, right: ast.expr, operator: ast.AST) -> Iterator[tuple[int, int, str]]:
        """Yield the operator between two operands, which the tree has no place of."""
        old, new = _SWAPS.get(type(operator), ("", ""))
        start = self._end(left)
        between = re.sub(r"#.*", lambda comment: " " * len(comment[0]), self.text[start : self._start(right)])
        at = between.find(old) if old else -1
        if at >= 0:
            yield start + at, start + at + len(old), new
