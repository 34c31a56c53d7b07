"""Which imports of a Python test file are hidden: defined anew by the file itself, or taken from other tests."""

import ast
import sys
from collections.abc import Iterator, Mapping
from typing import Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.nodes import imports_of
from ralph_tracker.integrity.python.syntax import FUNCTIONS, blocks_below, dotted, nodes_below, tree_of

_COPIES: Final = Pattern(r"(^|[._/])(tests?|testing|copy|copies|stubs?|fakes?|mocks?|doubles?)([._/]|$)")
_DEFINED: Final = (*FUNCTIONS, ast.ClassDef)
_IMPORTING: Final = frozenset({"importorskip", "import_module", "__import__"})


def hidden_in(text: str, before: Mapping[str, str], path: str = "") -> frozenset[str]:
    """Return the imports that a test file had and defines itself now, or takes from tests. Raises Unparsable."""
    now = imports_of(text)
    known = (each for each in outer_statements(text) if isinstance(each, _DEFINED) and each.name in before)
    own = {each.name for each in known if not _imports(each)}
    own -= stood_in_for(text)
    return frozenset(
        name
        for name, full in before.items()
        if not _is_of_tests(full, path)
        and (name in own or (now.get(name, full) != full and _is_copy(now[name], full, path)))
    )


def made_relative(text: str, before: Mapping[str, str]) -> Mapping[str, str]:
    """Return the imports that are the same but for dots before them, with their modules. Raises Unparsable."""
    now = imports_of(text)
    return {
        name: full.rpartition(".")[0] or full
        for name, full in before.items()
        if now.get(name, full) != full and now[name].lstrip(".") == full
    }


def _imports(definition: ast.stmt) -> bool:
    """Tell whether a function imports, so that a fixture of a module's name hands out that module."""
    return any(
        isinstance(each, ast.Import | ast.ImportFrom)
        or (isinstance(each, ast.Call) and dotted(each.func).rpartition(".")[2] in _IMPORTING)
        for each in nodes_below(definition)
    )


def _is_copy(now: str, full: str, path: str) -> bool:
    """Tell whether a name is taken from tests now: no longer `box.lid`, and not its module `box` either."""
    module, _, name = now.rpartition(".")
    if name == full.rpartition(".")[2] and module.partition(".")[0] in sys.stdlib_module_names:
        return False
    if not module and (now == full.partition(".")[0] or now in sys.stdlib_module_names):
        return False
    return _is_of_tests(module or ".", path)


def stood_in_for(text: str) -> frozenset[str]:
    """Return what a file defines under a condition that the standard library has: older ones lack it."""
    imports = imports_of(text)
    top = {each.name for each in tree_of(text).body if isinstance(each, _DEFINED)}
    defined = (each.name for each in outer_statements(text) if isinstance(each, _DEFINED) and each.name not in top)
    return frozenset(name for name in defined if imports.get(name, "").partition(".")[0] in sys.stdlib_module_names)


def outer_statements(text: str) -> Iterator[ast.stmt]:
    """Yield the statements of a file that run when it is imported, those under conditions too. Raises Unparsable."""
    waiting: list[ast.AST] = [*reversed(tree_of(text).body)]
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.stmt):
            yield each
        if not isinstance(each, _DEFINED):
            waiting.extend(reversed(blocks_below(each)))


def _is_of_tests(full: str, path: str) -> bool:
    """Tell whether a module belongs to tests; a relative one is looked for from the file that imports it."""
    name = full.lstrip(".")
    dots = len(full) - len(name)
    if not dots:
        return _COPIES.search(full) is not None
    # Tests within a package import what they test as their neighbour.
    folders = path.split("/")[:-dots]
    return not folders or _COPIES.search("/".join(folders)) is not None or _COPIES.search(name) is not None
