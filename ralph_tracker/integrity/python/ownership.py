"""What of a Python test stands on nothing but the test itself: the answer was put there, nothing is asked for it."""

import ast
import builtins
from collections.abc import Mapping
from typing import Final

from ralph_tracker.integrity.python.calls import is_assertion_name
from ralph_tracker.integrity.python.constants import UNKNOWN
from ralph_tracker.integrity.python.expectations import is_plain
from ralph_tracker.integrity.python.nodes import constant_of, full_name
from ralph_tracker.integrity.python.origins import COUNTS, Bindings, given_to
from ralph_tracker.integrity.python.parts import Made, fills_in, key_of, leaks_in, made_in
from ralph_tracker.integrity.python.stand_ins import MOCKS, Own, answer_of
from ralph_tracker.integrity.python.syntax import FUNCTIONS, Function, children_of, dotted, nodes_below, nodes_in

# Stands for the module of what other files of the tests lend.
OF_TESTS: Final = "of tests"
# Modules whose functions tell nothing but what they were given.
HELPFUL: Final = frozenset(
    {"unittest", "mock", "types", "collections", "functools", "itertools", "operator", "math", "decimal", "fractions"}
    | {"contextlib", "copy", "string", "enum", "typing", "dataclasses", "datetime", "textwrap", "json", "re"}
)
_ASKING: Final = frozenset({"open", "input", "exec", "eval", "compile", "__import__", "globals", "locals", "super"})
PLAIN: Final = frozenset(dir(builtins)) - _ASKING
_FIXED: Final = (ast.Constant, ast.Tuple, ast.Lambda)
_TEXTS: Final = (ast.Constant, ast.JoinedStr)
_INNER: Final = (*FUNCTIONS, ast.Lambda, ast.ClassDef)
_DEPTH: Final = 6
_END: Final = 1 << 30
Named = ast.Attribute | ast.Subscript | ast.Name


class Ownership:
    """Tell which expressions of one test depend on nothing but what the test and its file say."""

    def __init__(
        self, test: Function, imports: Mapping[str, str], own: Own, constants: Mapping[str, ast.expr], around: Bindings
    ) -> None:
        self._imports = imports
        self._lines = test.lineno, test.end_lineno or _END
        self._own = own
        self._constants = constants
        self._made: dict[str, list[Made]] = {}
        self._around = around
        for name, values in around.items():
            self._made[name] = [Made(0, 0, each) for each in values]
        for name, value in given_to(test):
            self._made.setdefault(name, []).append(Made(0, 0, value))
        for name, made in made_in(test):
            self._made.setdefault(name, []).append(made)
        self._fills: dict[str, list[ast.expr]] = {}
        for name, value in fills_in(test):
            self._fills.setdefault(name, []).append(value)
        self._leaks = [*leaks_in(test)]
        self._inside: frozenset[str] = _named_inside(test)
        self._known: dict[str, bool] = {}

    def is_own(self, node: ast.AST, line: int, column: int, depth: int = _DEPTH) -> bool:
        """Tell whether an expression that stands there depends on nothing else, names alone being looked at."""
        return self._is_own(node, line, column, depth, partly=False)

    def is_put(self, node: ast.AST, line: int, column: int) -> bool:
        """Tell the same where parts that the test put into something count as its own: `box.size = 4`."""
        return self._is_own(node, line, column, _DEPTH, partly=True)

    def keeps_within(self, function: Function) -> bool:
        """Tell whether a function uses nothing but what it is given and what is the test's own."""
        return self._is_closed(function, _DEPTH)

    def _is_own(self, node: ast.AST, line: int, column: int, depth: int, *, partly: bool) -> bool:
        waiting: list[ast.AST] = [node]
        while waiting:
            each = waiting.pop()
            if isinstance(each, Named) and (partly or self._is_looked_up(each)):
                known = self._is_named(each, line, column, depth, partly=partly)
                if known is False:
                    return False
                if known:
                    continue
            elif isinstance(each, ast.Lambda):
                if not self._is_closed(each, depth):
                    return False
                continue
            elif isinstance(each, ast.Call) and self._answers(each.func):
                continue
            waiting.extend(_asked(each, self._imports))
        return True

    def _answers(self, callee: ast.expr) -> bool:
        """Tell whether what is called answers the same whatever it is given."""
        made: ast.AST | None = self._own.get(dotted(callee)) if isinstance(callee, ast.Attribute) else callee
        if isinstance(callee, ast.Name):
            bound = self._made.get(callee.id)
            made = bound[-1].value if bound else self._own.get(callee.id)
        if isinstance(made, ast.Lambda):
            return is_plain(made.body)
        return isinstance(made, FUNCTIONS) and answer_of(made) is not UNKNOWN and self.keeps_within(made)

    def _is_looked_up(self, node: Named) -> bool:
        """Tell whether a part is looked up as such, as names are: where it stands around the test under its name."""
        counts = isinstance(node, ast.Attribute) and node.attr in COUNTS
        return isinstance(node, ast.Name) or counts or key_of(node) in self._around

    def _is_named(self, node: Named, line: int, column: int, depth: int, *, partly: bool) -> bool | None:
        """Tell whether what a name or a part is bound to is the test's own, None where that is not known of a part."""
        key = key_of(node)
        made = self._before(key, line, column) if key else []
        if isinstance(node, ast.Attribute) and node.attr in COUNTS:
            return False
        if not made:
            return self._is_known(node.id, depth) if isinstance(node, ast.Name) else None
        if not depth or (isinstance(node, ast.Name) and self._is_open(node.id, made)):
            return False
        filled = [Made(line, column, each) for each in self._fills.get(key, ())]
        return all(
            self._is_own(each.value, each.line, each.column, depth - 1, partly=partly) for each in (*made, *filled)
        )

    def _before(self, key: str, line: int, column: int) -> list[Made]:
        """Return what a key was bound to when that place is reached: the last binding, else all that may be."""
        made = [each for each in self._made.get(key, ()) if each.line < line]
        last = max((at for at, each in enumerate(made) if each.column <= column), default=0)
        return made[last:]

    def _is_open(self, name: str, made: list[Made]) -> bool:
        """Tell whether something else may change what a name stands for."""
        if all(isinstance(each.value, _FIXED) for each in made):
            return False
        first = min(each.line for each in made)
        handed = (each for each in self._leaks if each.line > first and name in each.names)
        return name in self._inside or not all(self._is_harmless(each.to) for each in handed)

    def _is_harmless(self, callee: ast.expr) -> bool:
        if isinstance(callee, ast.Attribute) and isinstance(callee.value, _TEXTS):
            return True  # a text is formatted
        root = dotted(callee).partition(".")[0]
        if root == "self":
            return dotted(callee).startswith("self.assert")
        return root in PLAIN or self._imports.get(root, "").partition(".")[0] in HELPFUL

    def _is_known(self, name: str, depth: int) -> bool:
        """Tell whether a name that the test does not bind stands for nothing but what its file says."""
        if name not in self._known:
            self._known[name] = True
            self._known[name] = depth > 0 and self._look_up(name, depth)
        return self._known[name]

    def _look_up(self, name: str, depth: int) -> bool:
        if self._imports.get(name) == OF_TESTS:
            handed = (each.to for each in self._leaks if name in each.names)
            return all(self._is_harmless(each) or is_assertion_name(dotted(each).rpartition(".")[2]) for each in handed)
        if name in self._imports:
            return self._imports[name].lstrip(".").partition(".")[0] in HELPFUL
        made = self._own.get(name)
        if isinstance(made, (*FUNCTIONS, ast.ClassDef)):
            return self._is_closed(made, depth)
        if name in self._constants:
            value = self._constants[name]
            filled = constant_of(value) is not UNKNOWN or isinstance(value, ast.Call) or _holds_any(value)
            return filled and self.is_own(value, 0, 0, depth - 1)
        return name in PLAIN

    def _is_inside(self, node: ast.AST) -> bool:
        """Tell whether a function or class is the test's: what stands around it does not know the test's names."""
        line = getattr(node, "lineno", 0)
        return self._lines[0] <= line <= self._lines[1]

    def _is_closed(self, node: ast.AST, depth: int) -> bool:
        """Tell whether a function or class uses nothing but what it is given and what is the test's own."""
        if isinstance(node, FUNCTIONS):
            marks = [dotted(each) for each in node.decorator_list]
            if any("fixture" not in each and each not in PLAIN for each in marks):
                return False
        markers = node.decorator_list if isinstance(node, FUNCTIONS) else []
        below = [each for part in children_of(node) if part not in markers for each in (part, *nodes_below(part)[1:])]
        own = {each.arg for each in below if isinstance(each, ast.arg)}
        own |= {each.id for each in below if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        own |= {each.name for each in below if isinstance(each, (*FUNCTIONS, ast.ClassDef))}
        names = {each.id for each in below if isinstance(each, ast.Name)} - own
        if isinstance(node, FUNCTIONS) and _asked_for(node) - {"self", "monkeypatch"} and _is_fixture(node):
            return False
        return all(
            self._is_known(each, depth - 1)
            if each not in self._made or not self._is_inside(node)
            else self.is_own(ast.Name(each), _END, 0, depth - 1)
            for each in sorted(names)
        )


def _asked(node: ast.AST, imports: Mapping[str, str]) -> list[ast.AST]:
    """Return what the value of a node depends on: of a mock, not what it is like."""
    if isinstance(node, ast.Call) and "patch" in dotted(node.func):
        return [ast.Name("")]  # a mock that is put somewhere is filled from there
    if isinstance(node, ast.Call) and MOCKS.search(full_name(node.func, imports)):
        return [node.func, *(each.value for each in node.keywords if each.arg not in {"spec", "spec_set", "name"})]
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Tuple | ast.List):
        at = constant_of(node.slice)
        if isinstance(at, int) and -len(node.value.elts) <= at < len(node.value.elts):
            return [node.value.elts[at]]
    return children_of(node)


def _asked_for(node: Function) -> set[str]:
    return {each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}


def _is_fixture(node: Function) -> bool:
    return any(dotted(each).endswith("fixture") for each in node.decorator_list)


def _holds_any(value: ast.expr) -> bool:
    return isinstance(value, ast.List | ast.Dict | ast.Set) and len(children_of(value)) > 0


def _named_inside(test: Function) -> frozenset[str]:
    """Return the names that functions and classes inside a test use: they may be called by anything."""
    inner = (each for each in nodes_in(test) if isinstance(each, _INNER) and each is not test)
    return frozenset(each.id for node in inner for each in nodes_below(node) if isinstance(each, ast.Name))
