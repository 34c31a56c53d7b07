"""The syntax tree of a Python file, made once for each text, and small questions to it."""

import ast
import warnings
from collections import deque
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final, Protocol

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.source_tests import NoProgram, Unparsable

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES: Final = (*FUNCTIONS, ast.ClassDef, ast.Lambda)
_KEPT: Final = 64
# The fields of a node in which no other stands that anybody asks for, and those of a node that hold statements.
_HOLD_NO_NODE: Final = frozenset(
    {
        "ctx",
        "id",
        "attr",
        "arg",
        "module",
        "level",
        "kind",
        "type_comment",
        "asname",
        "simple",
        "is_async",
        "conversion",
    }
)
_FIELDS: Final[Mapping[type[ast.AST], tuple[str, ...]]] = {
    kind: tuple(name for name in kind._fields if name not in _HOLD_NO_NODE)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
_BLOCKS: Final[Mapping[type[ast.AST], tuple[str, ...]]] = {
    kind: blocks
    for kind, fields in _FIELDS.items()
    if issubclass(kind, (ast.Module, ast.stmt, ast.ExceptHandler, ast.match_case))
    and (blocks := tuple(name for name in fields if name in {"body", "orelse", "handlers", "cases", "finalbody"}))
}
# The nodes that hold statements; most statements are none of them.
HOLDING: Final = frozenset(_BLOCKS)
_LINE_END: Final = Pattern(r"\r\n?|\n")


@lru_cache(maxsize=_KEPT)
def tree_of(text: str) -> ast.Module:
    """Return the syntax tree of a text; nobody may change it. Raises Unparsable, with the line where there is one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        raise NoProgram(f"line {error.lineno}: {error.msg}" if error.lineno else str(error.msg)) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise Unparsable(str(error) or "is nested too deeply") from None


class Written(Protocol):
    """Be one version of a file."""

    @property
    def text(self) -> str:
        """Return what it holds."""


def program(side: Written | None) -> str:
    """Return the text of a side that is a program, else "": whoever repairs a file begins with nothing."""
    try:
        return side.text if side is not None and tree_of(side.text).body else ""
    except Unparsable:
        return ""


def dotted(node: ast.AST) -> str:
    """Return `a.b.c` for names and attributes, "" for anything else; calls are passed over: `a().b` is `a.b`."""
    if isinstance(node, ast.Name):  # what is asked about most
        return node.id
    parts: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, ast.Name):
            return ".".join(reversed([*parts, node.id]))
        else:
            return ""


def children_of(node: ast.AST) -> list[ast.AST]:
    """Return the nodes right under one in the order of its fields, without the contexts of names."""
    found: list[ast.AST] = []
    for name in _FIELDS[type(node)]:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found.extend([each for each in value if isinstance(each, ast.AST)])
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def nodes_below(node: ast.AST) -> list[ast.AST]:
    """Return a node and all below it, the outer ones first, without the contexts of names."""
    found = [node]
    for each in found:
        found.extend(children_of(each))
    return found


@lru_cache(maxsize=_KEPT)
def nodes_in(function: Function) -> tuple[ast.AST, ...]:
    """Return a function and all below it as `nodes_below` does; kept, as all that ask it ask much of it."""
    return tuple(nodes_below(function))


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all below it, but not what stands in functions and classes defined inside."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(child for child in children_of(current) if not isinstance(child, _SCOPES))


def statements_below(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements under a node, the outer ones first: few of its nodes, as expressions hold none."""
    waiting = deque([node])
    while waiting:
        for each in blocks_below(waiting.popleft()):
            if isinstance(each, ast.stmt):
                yield each
            if type(each) in _BLOCKS:
                waiting.append(each)


def blocks_below(node: ast.AST) -> list[ast.AST]:
    """Return the statements, handlers and cases right under a node in their order."""
    return [each for name in _BLOCKS.get(type(node), ()) for each in getattr(node, name)]


def same(left: ast.AST, right: ast.AST) -> bool:
    """Tell whether two trees are alike, wherever they stand."""
    waiting: list[tuple[object, object]] = [(left, right)]
    while waiting:
        one, other = waiting.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, ast.AST):
            waiting.extend((getattr(one, name, None), getattr(other, name, None)) for name in one._fields)
        elif isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            waiting.extend(zip(one, other, strict=True))
        elif one != other:
            return False
    return True


def lines_of(text: str) -> list[str]:
    """Return the lines as the parser counts them: form feeds and their like end none."""
    return _LINE_END.split(text) if "\r" in text else text.split("\n")
