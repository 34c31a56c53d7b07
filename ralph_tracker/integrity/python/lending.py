"""What the tests of a Python file take from other files of the tests: what of that depends on nothing else."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final

from ralph_tracker.integrity.python.claimed import is_fixture
from ralph_tracker.integrity.python.expectations import module_values
from ralph_tracker.integrity.python.nodes import imports_of
from ralph_tracker.integrity.python.origins import Origins
from ralph_tracker.integrity.python.ownership import HELPFUL, PLAIN
from ralph_tracker.integrity.python.syntax import FUNCTIONS, Function, dotted, nodes_below, tree_of
from ralph_tracker.integrity.source_tests import Unparsable

_DEFINED: Final = (*FUNCTIONS, ast.ClassDef)
_CONFTEST: Final = "conftest"
_PACKAGE: Final = "__init__"
_DEPTH: Final = 3
# Texts of files of the tests by their paths without the suffix.
Texts = Mapping[str, str]


class Lenders:
    """Be files of the tests that hold no tests themselves, by their paths without the suffix; each is read once."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._closed: dict[tuple[str, int], frozenset[str]] = {}

    def lent_to(self, text: str, path: str, depth: int = _DEPTH) -> frozenset[str]:
        """Return the names that a test file has from these and that lead nowhere else.

        Fixtures of a `conftest.py` above it are among them. Raises Unparsable for the text of that file.
        """
        found: set[str] = set()
        imports = imports_of(text) if self._texts and depth else {}
        named = {part for full in imports.values() for part in full.split(".")[-2:]}
        for other, source in self._texts.items() if depth else ():
            folder, _, stem = other.rpartition("/")
            way = other.removesuffix(f"/{_PACKAGE}")
            for_all = stem == _CONFTEST
            lends = path.startswith(f"{folder}/" if folder else "") if for_all else way.rpartition("/")[2] in named
            if not lends or other == path.removesuffix(".py"):
                continue
            closed = self._closed_in(other, depth - 1)
            if for_all:
                found |= _fixtures_of(source) & closed
            else:
                found.update(name for name, full in imports.items() if _is_lent(full, way, closed, _defined_in(source)))
        return frozenset(found | _bound_to(text, found)) if found else frozenset()

    def lent_safely(self, text: str, path: str, depth: int = _DEPTH) -> frozenset[str]:
        """Return the same, nothing for what is no program."""
        try:
            return self.lent_to(text, path, depth)
        except Unparsable:
            return frozenset()

    def _closed_in(self, path: str, depth: int) -> frozenset[str]:
        """Return what leads nowhere out of one of the files, as far as `depth` others lend to it."""
        if (path, depth) not in self._closed:
            text = self._texts[path]
            self._closed[path, depth] = closed_in(text, self.lent_safely(text, f"{path}.py", depth))
        return self._closed[path, depth]


def is_lent(sides: Iterable[ast.expr], origins: Origins, lent: frozenset[str]) -> bool:
    """Tell whether something of what is compared is made by what other files of the tests lend."""
    return any(
        isinstance(each, ast.Name) and each.id in lent
        for side in sides
        for part in origins.of(side)
        for each in nodes_below(part)
    )


def _bound_to(text: str, lent: set[str]) -> set[str]:
    """Return what a file binds at its top to something that is lent: `box = stubs`."""
    values = module_values(text).items()
    return {name for name, value in values if dotted(value).partition(".")[0] in lent}


def _is_lent(full: str, way: str, closed: frozenset[str], defined: frozenset[str]) -> bool:
    """Tell whether an import takes a closed name of that file, or the whole of it where nothing leads out."""
    module, _, name = full.rpartition(".")
    if _leads_to(module, way) and name in closed:
        return True
    return _leads_to(full, way) and bool(defined) and defined <= closed


def _leads_to(module: str, way: str) -> bool:
    folders = module.strip(".").replace(".", "/")
    return bool(folders) and f"/{way}".endswith(f"/{folders}")


@lru_cache(maxsize=64)
def _defined_in(text: str) -> frozenset[str]:
    try:
        return frozenset(each.name for each in tree_of(text).body if isinstance(each, _DEFINED))
    except Unparsable:
        return frozenset()


@lru_cache(maxsize=64)
def closed_in(text: str, lent: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return what a file defines that uses nothing but itself, what is lent to it, and plain library.

    Nothing for what is no program.
    """
    try:
        imports, values = imports_of(text), module_values(text)
        used = {each.name: _used_by(each) for each in tree_of(text).body if isinstance(each, _DEFINED)}
    except Unparsable:
        return frozenset()
    used.update((name, _used_by(value)) for name, value in values.items() if name not in used)
    known = PLAIN | lent | {name for name, full in imports.items() if full.partition(".")[0] in HELPFUL}
    closed = frozenset(used)
    while kept := frozenset(name for name in closed if used[name] <= closed | known) ^ closed:
        closed -= kept
    return closed


def _used_by(node: ast.AST) -> frozenset[str]:
    """Return the names that a definition looks up outside itself."""
    below = nodes_below(node)
    own = {each.arg for each in below if isinstance(each, ast.arg)}
    own |= {each.id for each in below if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    own |= {each.name for each in below if isinstance(each, _DEFINED) and each is not node}
    markers = {id(part) for each in below if isinstance(each, FUNCTIONS) for part in _marked(each)}
    names = (each for each in below if isinstance(each, ast.Name) and id(each) not in markers)
    return frozenset(each.id for each in names) - own


def _marked(function: Function) -> Iterator[ast.AST]:
    """Yield what says of a function that it is a fixture."""
    for marker in filter(is_fixture, function.decorator_list):
        yield from nodes_below(marker)


@lru_cache(maxsize=64)
def _fixtures_of(text: str) -> frozenset[str]:
    """Return the fixtures of a file that are given nothing."""
    functions = (each for each in tree_of(text).body if isinstance(each, FUNCTIONS)) if _defined_in(text) else ()
    return frozenset(
        each.name
        for each in functions
        if any(map(is_fixture, each.decorator_list))
        and not any(isinstance(given, ast.arg) for given in nodes_below(each.args))
    )
