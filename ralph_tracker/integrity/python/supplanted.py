"""Which tests of a Python file something else was put in the place of: they are run by name and do nothing."""

import ast
from collections.abc import Iterator, Mapping
from typing import Final

from ralph_tracker.integrity.python.nodes import full_name, imports_of, returns_of
from ralph_tracker.integrity.python.stand_ins import MOCKS
from ralph_tracker.integrity.python.syntax import FUNCTIONS, Function, dotted, nodes_below, tree_of

_DESCRIBING: Final = frozenset({"__name__", "__doc__", "__qualname__", "__module__", "__dict__", "__wrapped__"})
_COPYING: Final = frozenset({"wraps", "update_wrapper"})


def supplanted_in(text: str) -> Iterator[tuple[str, ast.stmt | ast.expr]]:
    """Yield the tests that are bound to something else after they were defined, or whose decorator drops them.

    Each comes with what does it. Raises Unparsable.
    """
    tree = tree_of(text)
    own = {each.name: each for each in tree.body if isinstance(each, FUNCTIONS)}
    imports = imports_of(text)
    for body in (tree.body, *(each.body for each in tree.body if isinstance(each, ast.ClassDef))):
        seen: set[str] = set()
        for each in body:
            if isinstance(each, FUNCTIONS) and each.name.startswith("test"):
                seen.add(each.name)
                yield from ((each.name, marker) for marker in each.decorator_list if _drops(marker, own, imports))
            elif isinstance(each, ast.Assign):
                yield from ((name, each) for name in _bound_anew(each) if name in seen)


def _bound_anew(node: ast.Assign) -> Iterator[str]:
    """Yield the names that get another value or another code, unless it is made of the old one."""
    used = {each.id for each in nodes_below(node.value) if isinstance(each, ast.Name)}
    for target in node.targets:
        name = dotted(target).removesuffix(".__code__")
        if name not in used:
            yield name


def _drops(marker: ast.expr, own: Mapping[str, Function], imports: Mapping[str, str]) -> bool:
    """Tell whether a decorator is a mock, or a function of the file that uses what it decorates for nothing."""
    if not isinstance(marker, ast.Name | ast.Attribute):
        return False
    made = own.get(dotted(marker))
    if made is None:
        return MOCKS.search(full_name(marker, imports)) is not None
    given = {each.arg for each in (*made.args.posonlyargs, *made.args.args)}
    markers = {
        id(part)
        for each in nodes_below(made)
        if isinstance(each, FUNCTIONS)
        for marked in each.decorator_list
        for part in nodes_below(marked)
    }
    markers |= {id(part) for each in nodes_below(made) for part in _looked_at(each)}
    used = (each for each in nodes_below(made) if isinstance(each, ast.Name) and id(each) not in markers)
    return bool(given) and bool(returns_of(made)) and not any(each.id in given for each in used)


def _looked_at(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what only hands on what a function is called and what is said about it."""
    if isinstance(node, ast.Attribute) and node.attr in _DESCRIBING:
        yield node.value
    elif isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in _COPYING:
        yield from node.args
