"""What operators work on: a change between two trees, its tests, and what these demand."""

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import Final

from outcomes import PASSED, Function, carried_over, functions_of, outcomes_of, parameters_of, parsed
from trees import Tree, changed_paths, is_collected, is_source

UNITTEST: Final = "self.assert"


@dataclass(frozen=True, slots=True)
class Demand:
    """Hold one assertion of a test: `left` and `right` where it is an equality of two expressions."""

    node: ast.Assert | ast.Expr
    left: ast.expr | None = None
    right: ast.expr | None = None

    @property
    def call(self) -> str:
        """Return `self.assertEqual` and its like, "" for a plain assert."""
        return ast.unparse(self.node.value.func) if isinstance(self.node, ast.Expr) else ""  # type: ignore[attr-defined]


class Text:
    """Be the bytes of a file, cut and joined by the places of syntax nodes."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._starts = [0]
        for line in data.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return where a node begins and ends."""
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]

    def of(self, node: ast.AST) -> str:
        """Return the source of a node."""
        start, end = self.span(node)
        return self.data[start:end].decode()

    def line(self, number: int) -> int:
        """Return where a line begins, the first being 1."""
        return self._starts[min(number, len(self._starts)) - 1]

    def whole(self, function: Function | ast.ClassDef) -> tuple[int, int]:
        """Return where the lines of a function begin and end, its decorators included."""
        first = min([function.lineno, *(each.lineno for each in function.decorator_list)])
        return self.line(first), self.line((function.end_lineno or function.lineno) + 1)

    def lines(self, function: Function | ast.ClassDef) -> bytes:
        """Return the lines of a function, its decorators included."""
        start, end = self.whole(function)
        return self.data[start:end].rstrip()

    def spliced(self, *edits: tuple[tuple[int, int], str]) -> bytes:
        """Return the file with other texts in the places given."""
        data = self.data
        for (start, end), text in sorted(edits, key=lambda edit: edit[0], reverse=True):
            data = data[:start] + text.encode() + data[end:]
        return data

    def stands_alone(self, node: ast.stmt) -> bool:
        """Tell whether a statement has its lines for itself."""
        start, end = self.span(node)
        before = self.data[self.line(node.lineno) : start]
        after = self.data[end : self.line((node.end_lineno or node.lineno) + 1)].strip()
        return not before.strip() and b"\t" not in before and (not after or after.startswith(b"#"))


@dataclass(frozen=True)
class Target:
    """Be one test of the new tree that the honest change left as it was."""

    path: str
    text: Text
    classes: tuple[str, ...]
    function: Function
    module: ast.Module

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """Return its ids in the report."""
        owner = ".".join((self.path.removesuffix(".py").replace("/", "."), *self.classes))
        return tuple(f"{owner}::{self.function.name}{suffix}" for suffix in parameters_of(self.function))

    @property
    def indent(self) -> str:
        """Return what its body is indented by."""
        return " " * self.function.body[0].col_offset

    @cached_property
    def first(self) -> ast.stmt:
        """Return its first statement behind the docstring."""
        body = self.function.body
        is_doc = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
        return body[1] if is_doc and len(body) > 1 else body[0]

    @cached_property
    def demands(self) -> tuple[Demand, ...]:
        """Return its assertions that stand alone on their lines, in the order of the source."""
        found = []
        for node in _walk(self.function):
            demand = _demand(node)
            if demand is not None and self.text.stands_alone(demand.node):
                found.append(demand)
        return tuple(sorted(found, key=lambda each: each.node.lineno))

    def rewritten(self, demand: Demand, replacement: str) -> bytes:
        """Return the file with another statement in place of an assertion; its lines are indented as that was."""
        pad = "\n" + " " * demand.node.col_offset
        return self.text.spliced((self.text.span(demand.node), replacement.replace("\n", pad)))

    def headed(self, *lines: str) -> bytes:
        """Return the file with lines before the first statement of the test."""
        at = self.text.line(self.first.lineno)
        return self.text.spliced(((at, at), "".join(f"{self.indent}{line}\n" for line in lines)))

    def decorated(self, *lines: str) -> bytes:
        """Return the file with decorators on the test."""
        at = self.text.whole(self.function)[0]
        pad = " " * self.function.col_offset
        return self.text.spliced(((at, at), "".join(f"{pad}{line}\n" for line in lines)))


def imported(data: bytes, line: str) -> bytes:
    """Return a module with one more import, behind its docstring and the imports from the future."""
    module = parsed(data)
    text = Text(data)
    last = 0
    for node in module.body if module is not None else ():
        is_doc = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_doc or (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            last = node.end_lineno or node.lineno
        else:
            break
    at = text.line(last + 1)
    return text.spliced(((at, at), f"{line}\n"))


def _walk(function: Function) -> Iterator[ast.AST]:
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(node))


def _demand(node: ast.AST) -> Demand | None:
    if isinstance(node, ast.Assert):
        test = node.test
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
            return Demand(node, test.left, test.comparators[0])
        return Demand(node)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        name = ast.unparse(node.value.func)
        if name in {"self.assertEqual", "self.assertEquals"} and len(node.value.args) >= 2:
            return Demand(node, node.value.args[0], node.value.args[1])
        if name.startswith(UNITTEST) and node.value.args:
            return Demand(node)
    return None


class Change:
    """Be two successive trees of a project, and the tests that both hold alike.

    `chosen` are the names of classes that are collected for their name; without them the settings of each tree say it.
    """

    def __init__(self, project: str, name: str, old: Tree, new: Tree, chosen: tuple[str, ...] = ()) -> None:
        self.project = project
        self.name = name
        self.old = old
        self.new = new
        self._chosen = chosen

    @cached_property
    def before(self) -> Mapping[str, str]:
        """Return how the tests of the old tree end."""
        return outcomes_of(self.old, self._chosen)

    @cached_property
    def after(self) -> Mapping[str, str]:
        """Return how the tests of the new tree end."""
        return carried_over(self.old, self.new, self._chosen)

    @property
    def vanished(self) -> frozenset[str]:
        """Return the tests that the new tree has no longer."""
        return frozenset(self.before.keys() - self.after.keys())

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """Return the paths that differ."""
        return changed_paths(self.old, self.new)

    @cached_property
    def targets(self) -> tuple[Target, ...]:
        """Return the tests that stand in both trees with the same text and pass in both."""
        found = []
        for path in sorted(self.new):
            old = self.old.get(path)
            if old is not None and is_collected(path):
                found += [each for each in _targets(path, old, self.new[path]) if self._passes(each)]
        return tuple(found)

    def _passes(self, target: Target) -> bool:
        ids = target.ids
        return all(self.before.get(test) == PASSED == self.after.get(test) for test in ids)

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """Return the paths of the new tree's sources that are no tests, those of both trees only."""
        return tuple(sorted(path for path in self.new if is_source(path) and path in self.old))


def _targets(path: str, old: bytes, new: bytes) -> list[Target]:
    module, previous = parsed(new), parsed(old)
    if module is None or previous is None or b"\r" in new:
        return []
    before, text = Text(old), Text(new)
    olds = {(classes, each.name): before.lines(each) for classes, each, _ in functions_of(previous)}
    found = {}
    for classes, function, _ in functions_of(module):
        if olds.get((classes, function.name)) == text.lines(function) and function.body[0].lineno > function.lineno:
            found[classes, function.name] = Target(path, text, classes, function, module)
    return list(found.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Hold what an operator did: files of the new tree (None: removed), and what it needs on the old side.

    `red` are tests that failed before and pass now, `skipped` and `unreported` what a run would say of others now.
    """

    new: Mapping[str, bytes | None]
    old: Mapping[str, bytes | None] = field(default_factory=dict)
    red: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    unreported: tuple[str, ...] = ()


Operator = Callable[[Change, Random], Edit | None]


@dataclass(frozen=True, slots=True)
class Variant:
    """Describe one way to tamper, by its row and all those that may tell it, or one honest refactor (`rule` is "")."""

    rule: str
    name: str
    apply: Operator
    held_out: bool = False
    accepted: frozenset[str] = frozenset()

    @property
    def is_quiet(self) -> bool:
        """Tell whether it is applied on that part of an honest change alone that touches no source."""
        return self.rule == "T7"


VARIANTS: Final[list[Variant]] = []
# What is weakened until nothing can fail it is found by the graver row.
_GRAVER: Final = {"T6": ("T4",)}


def tampering(rule: str, *, also: tuple[str, ...] = (), name: str = "") -> Callable[[Operator], Operator]:
    """Enter an operator into the table."""

    def enter(operator: Operator) -> Operator:
        label = name or operator.__name__
        accepted = frozenset({rule, *also, *_GRAVER.get(rule, ())})
        VARIANTS.append(Variant(rule, label, operator, accepted=accepted))
        return operator

    return enter


CONTROLS: Final[list[Variant]] = []


def control(operator: Operator) -> Operator:
    """Enter an honest refactor into the table."""
    CONTROLS.append(Variant("", operator.__name__, operator))
    return operator


def shuffled(rng: Random, items: tuple[Target, ...]) -> list[Target]:
    """Return targets in an order by the seed."""
    return rng.sample(items, len(items))
