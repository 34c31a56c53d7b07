"""The nodes of a Python file by their kind, and where each stands: walked once for all rules that ask."""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final, TypeVar

from ralph_tracker.integrity.python.constants import UNKNOWN, value_of
from ralph_tracker.integrity.python.syntax import (
    FUNCTIONS,
    Function,
    blocks_below,
    children_of,
    dotted,
    lines_of,
    nodes_below,
    statements_below,
    tree_of,
)

_KEPT: Final = 64
Node = TypeVar("Node", bound=ast.AST)
Way = tuple[ast.AST, ...]


@lru_cache(maxsize=_KEPT)
def _by_kind(text: str) -> Mapping[type[ast.AST], list[ast.AST]]:
    return _filed(nodes_below(tree_of(text)))


@lru_cache(maxsize=_KEPT)
def _statements_by_kind(text: str) -> Mapping[type[ast.AST], list[ast.AST]]:
    return _filed(statements_below(tree_of(text)))


def _filed(nodes: Iterable[ast.AST]) -> Mapping[type[ast.AST], list[ast.AST]]:
    found: dict[type[ast.AST], list[ast.AST]] = {}
    for node in nodes:
        found.setdefault(type(node), []).append(node)
    return found


def nodes_of(text: str, kind: type[Node]) -> list[Node]:
    """Return the nodes of one kind, the outer ones first. Raises Unparsable."""
    found = _statements_by_kind(text) if issubclass(kind, ast.stmt) else _by_kind(text)
    return found.get(kind, [])  # type: ignore[return-value]  # filed by their type


def functions_of(text: str) -> tuple[Function, ...]:
    """Return all functions, methods and nested ones included, asynchronous ones last. Raises Unparsable."""
    return (*nodes_of(text, ast.FunctionDef), *nodes_of(text, ast.AsyncFunctionDef))


@lru_cache(maxsize=_KEPT)
def statements_of(text: str) -> tuple[tuple[ast.stmt, Way, str], ...]:
    """Return the statements of a file and of its classes, where they stand, and their lines. Raises Unparsable."""
    tree, lines = tree_of(text), lines_of(text)
    waiting: list[tuple[ast.stmt, Way]] = [(each, (tree,)) for each in reversed(tree.body)]
    found = []
    while waiting:
        statement, way = waiting.pop()
        if isinstance(statement, ast.ClassDef) and _is_plain_class(statement):
            waiting.extend((each, (*way, statement)) for each in reversed(statement.body))
            continue
        first = min([statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", ()))])
        found.append((statement, way, "\n".join(lines[first - 1 : statement.end_lineno])))
    return tuple(found)


def _is_plain_class(node: ast.ClassDef) -> bool:
    header = (*node.decorator_list, *node.bases, *(each.value for each in node.keywords))
    return all(isinstance(each, ast.Name | ast.Attribute) for each in header)


def below(
    node: ast.AST, above: Way = (), inside: Callable[[ast.AST], list[ast.AST]] = children_of
) -> Iterator[tuple[ast.AST, Way]]:
    """Yield all nodes under one in the order of the source, each with those that it stands in, the outermost first.

    `above` are those that the first one stands in; `inside` tells what is looked at right under a node.
    """
    waiting: list[tuple[ast.AST, Way]] = [(node, above)]
    while waiting:
        current, way = waiting.pop()
        if current is not node:
            yield current, way
        children = inside(current)
        if children:
            inner = (*way, current)
            waiting.extend([(child, inner) for child in reversed(children)])


def in_function(way: Way) -> bool:
    """Tell whether a way leads through the body of a function, so that importing the file does not run it."""
    return any(isinstance(step, (*FUNCTIONS, ast.Lambda)) for step in way)


def conditions(way: Way) -> str:
    """Return what is asked on the way, as text; "" where nothing is."""
    asked = [step.test for step in way if isinstance(step, ast.If | ast.IfExp | ast.While)]
    asked += [step.subject for step in way if isinstance(step, ast.Match)]
    return " ; ".join(ast.unparse(each) for each in asked)


@lru_cache(maxsize=_KEPT)
def imports_of(text: str) -> Mapping[str, str]:
    """Return the full name that each imported name stands for, wherever it is imported. Raises Unparsable."""
    found: dict[str, str] = {}
    for plain in nodes_of(text, ast.Import):
        for alias in plain.names:
            found[alias.asname or alias.name.partition(".")[0]] = (
                alias.name if alias.asname else alias.name.split(".")[0]
            )
    for each in nodes_of(text, ast.ImportFrom):
        start = "." * each.level + (each.module or "")
        joint = "" if start.endswith(".") or not start else "."
        found.update((alias.asname or alias.name, f"{start}{joint}{alias.name}") for alias in each.names)
    return found


def full_name(node: ast.AST, imports: Mapping[str, str]) -> str:
    """Return the dotted name of a node with its import told in full, "" for what has no name."""
    first, dot, rest = dotted(node).partition(".")
    return imports.get(first, first) + dot + rest


def constant_of(node: ast.AST | None) -> object:
    """Return what a literal comes to, UNKNOWN for anything else, None for nothing and for None itself."""
    if node is None:
        return None
    return value_of(node) if isinstance(node, ast.expr) else UNKNOWN


def body_of(node: Function | ast.ClassDef) -> list[ast.stmt]:
    """Return the statements of a function or class without its docstring."""
    body = node.body
    first = body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return body[1:]
    return body


def reached(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements of a body up to the first that leaves it for certain."""
    end = next((at for at, each in enumerate(body, 1) if isinstance(each, ast.Return | ast.Raise)), len(body))
    return body[:end]


def returns_of(node: Function) -> list[ast.Return]:
    """Return the returns of a function itself that may be reached, not those of functions inside it."""
    found: list[ast.Return] = []
    waiting: list[ast.AST] = [*reversed(reached(node.body))]
    while waiting:
        current = waiting.pop()
        if isinstance(current, ast.Return):
            found.append(current)
        elif not isinstance(current, FUNCTIONS):
            waiting.extend(reversed(blocks_below(current)))
    return found
