"""Test code as statements, literals and words: what is found again elsewhere is recognised by these."""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from outcomes import FUNCTIONS, parsed

_LEAVES: Final = (ast.Assert, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return, ast.Raise, ast.Delete)
_NAMED: Final = (bool, type(None), type(...))  # their words say nothing
_LITERAL: Final = re.compile(r"[A-Za-z]{3}|\d{2}")


@dataclass(frozen=True, slots=True)
class Written:
    """Hold test code by its statements and by the literals in it that tell it from other code."""

    statements: Counter[str]
    literals: frozenset[str]

    def __add__(self, other: "Written") -> "Written":
        return Written(self.statements + other.statements, self.literals | other.literals)

    def __sub__(self, other: "Written") -> "Written":
        return Written(self.statements - other.statements, self.literals - other.literals)


NOTHING: Final = Written(Counter(), frozenset())


@lru_cache(maxsize=4096)
def written_in(data: bytes) -> Mapping[str, Written]:
    """Return the code of a test file by function, what is outside of functions under ""."""
    module = parsed(data)
    found: dict[str, Written] = defaultdict(lambda: NOTHING)
    waiting: list[tuple[str, ast.stmt]] = [("", each) for each in (module.body if module is not None else ())]
    while waiting:
        owner, node = waiting.pop()
        if isinstance(node, ast.ClassDef):
            waiting += [(f"{owner}{node.name}.", each) for each in node.body]
        else:
            name = f"{owner}{node.name}" if isinstance(node, FUNCTIONS) else owner
            found[name] += written(node)
    return dict(found)


def written(node: ast.AST) -> Written:
    """Return the statements of test code and its literals; docstrings are none."""
    found: Counter[str] = Counter()
    literals: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, _LEAVES) and not _is_text(each):
            found[ast.unparse(each)] += 1
            literals.update(literals_of(each))
        elif isinstance(each, ast.With | ast.AsyncWith):
            found.update(ast.unparse(item) for item in each.items)
            literals.update(literal for item in each.items for literal in literals_of(item))
        elif isinstance(each, FUNCTIONS):
            literals.update(literal for mark in each.decorator_list for literal in literals_of(mark))
    return Written(found, frozenset(literals))


def in_use(data: bytes) -> Iterator[tuple[str, Written]]:
    """Yield the functions of a test file with their code, less tests under other names that nobody calls."""
    for name, each in written_in(data).items():
        bare = name.rpartition(".")[2]
        if "test" not in bare or bare.startswith("test") or data.count(bare.encode()) > 1:
            yield name, each


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def words_of(node: ast.AST) -> Counter[str]:
    """Return the names and literals of code."""
    found: Counter[str] = Counter()
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            found[each.id] += 1
        elif isinstance(each, ast.Attribute):
            found[each.attr] += 1
        elif isinstance(each, ast.keyword) and each.arg:
            found[each.arg] += 1
        elif isinstance(each, ast.Constant):
            found[repr(each.value)] += 1
    return found


def literals_of(node: ast.AST) -> Iterator[str]:
    """Yield the literals that say something: texts with a word, numbers with two digits."""
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and not isinstance(each.value, _NAMED) and _LITERAL.search(repr(each.value)):
            yield repr(each.value)
