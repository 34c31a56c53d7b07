"""What a Python test demands, each demand with its subject, its strength, and whether anything can fail it."""

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple, cast

from ralph_tracker.integrity.python.calls import demands_of_call, uncalled
from ralph_tracker.integrity.python.constants import ITSELF, NOT_CALLED, NOTHING, always_true, truth
from ralph_tracker.integrity.python.demands import EQUAL, Demand, demands_of
from ralph_tracker.integrity.python.expectations import Values, local_values, sides_of
from ralph_tracker.integrity.python.settled import Settled
from ralph_tracker.integrity.python.syntax import FUNCTIONS, HOLDING, Function, dotted, same, statements_below
from ralph_tracker.integrity.python.taken import may_be_taken, taken_in, uncopied
from ralph_tracker.integrity.source_tests import REPEATED, UNREACHED, Assertion, Known

_ENDING_CALLS: Final = frozenset(
    {"pytest.skip", "pytest.xfail", "pytest.exit", "pytest.fail", "self.skipTest", "self.fail"}
    | {"sys.exit", "os._exit", "exit", "quit"}
)
_BLOCKS: Final = ("body", "orelse", "finalbody")
_SIMPLE: Final = (ast.Expr, ast.Assign, ast.AnnAssign, ast.Return)
_ASKING: Final = (ast.If, ast.While)
_WITH: Final = (ast.With, ast.AsyncWith)
_LEAVING: Final = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_MAY_END: Final = frozenset({*_WITH, *_LEAVING, ast.Expr, ast.If})
_MAY_CALL: Final = (ast.Name, ast.Call)
_TWO: Final = 2
_DEMANDING: Final = (ast.Assert, ast.Expr, *_WITH)
Body = Sequence[ast.stmt]
Asked = tuple[tuple[str, tuple[Demand, ...]], ...]


class Source(NamedTuple):
    """Hold the lines of a file, and what is known of statements that stand in it or in its other version."""

    lines: Sequence[str]
    known: Known
    text: str = ""

    def demands_in(self, statement: ast.stmt) -> Asked:
        """Return what a statement demands; what reads alike is looked into once."""
        if not isinstance(statement, _DEMANDING):
            return tuple(demands_in(statement))
        read = self.lines[statement.lineno - 1 : statement.end_lineno]
        key = (statement.col_offset, statement.end_col_offset, *read)
        if key not in self.known:
            self.known[key] = tuple(demands_in(statement))
        return cast("Asked", self.known[key])


def assertions_of(node: Function, source: Source | None = None) -> tuple[Assertion, ...]:
    """Return the assertions of a test function in the order of the source, those of functions inside it too."""
    asked = demands_in if source is None else source.demands_in
    again = _Again(node, source.text if source is not None else "")
    found = [
        Assertion(
            line=statement.lineno,
            text=demand.text or text,
            subject=demand.subject,
            strength=REPEATED if demand.strength == EQUAL and again.asks(statement) else demand.strength,
            vacuous=demand.vacuous or (again.of_itself(statement, demand) if reached else UNREACHED),
        )
        for statement, reached in statements_of(node)
        for text, demands in asked(statement)
        for demand in demands
    ]
    return tuple(sorted(found, key=lambda each: each.line))


class _Again:
    """Know what the names of a test stand for, so that `f(x)` compared with the name of `f(x)` is told as such."""

    def __init__(self, node: Function, text: str) -> None:
        self._node = node
        self._settled = Settled(node, text)

    @cached_property
    def _known(self) -> Values:
        return local_values(self._node)

    @cached_property
    def _taken(self) -> dict[int, bool]:
        return taken_in(self._node)

    def of_itself(self, statement: ast.stmt, demand: Demand) -> str | None:
        """Return why what a statement claims always holds: by what its names stand for."""
        if demand.strength == EQUAL:
            taken = may_be_taken(_sides(statement)) and self._taken.get(id(statement))
            return ITSELF if taken else self.by_names(statement)
        return self.of_object(statement) or self.by_names(statement)

    def by_names(self, statement: ast.stmt) -> str | None:
        """Return why a claim always holds once what its names come to stands in their places."""
        if self._settled.knows_nothing:
            return None
        if self._settled.is_never_reached(statement):
            return UNREACHED
        if self._settled.is_passed_over(statement):
            return NOTHING
        claim = _claim(statement)
        filled = self._settled.filled_in(claim, statement) if claim is not None else None
        if filled is None or filled is claim:
            return None
        if isinstance(statement, ast.Assert):
            return always_true(filled)
        asked = demands_of_call(filled) if isinstance(filled, ast.Call) else ()
        return asked[0].vacuous if len(asked) == 1 else None

    def of_object(self, statement: ast.stmt) -> str | None:
        """Return why a claim about a function inside the test, or about a coroutine of one, always holds."""
        claim = statement.test if isinstance(statement, ast.Assert) else None
        begun = isinstance(claim, ast.Call) and isinstance(claim.func, ast.Name)
        if not begun and not isinstance(claim, ast.Name):
            return None
        kinds = ast.AsyncFunctionDef if begun else FUNCTIONS
        name = "" if claim is None else dotted(claim)
        inside = any(
            isinstance(each, kinds) and each.name == name and not each.decorator_list
            for each in statements_below(self._node)
        )
        return NOT_CALLED if inside else None

    def asks(self, statement: ast.stmt) -> bool:
        sides = _sides(statement)
        if may_be_taken(sides) and self._taken.get(id(statement)) is False:
            return True
        sides = [uncopied(each) for each in sides]
        if len(sides) != _TWO or not all(isinstance(each, _MAY_CALL) for each in sides):
            return False
        if not any(isinstance(each, ast.Name) for each in sides):
            return False
        left, right = (self._known.get(each.id, each) if isinstance(each, ast.Name) else each for each in sides)
        return isinstance(left, ast.Call) and same(left, right)


def _claim(statement: ast.stmt) -> ast.expr | None:
    """Return what a statement claims, the call where it claims by one."""
    return statement.test if isinstance(statement, ast.Assert) else getattr(statement, "value", None)


def _sides(statement: ast.stmt) -> list[ast.expr]:
    """Return what a statement compares, nothing where it claims no comparison."""
    claim = _claim(statement)
    return sides_of(claim) if isinstance(claim, ast.Compare | ast.Call) else []


def statements_of(node: Function, *, nested: bool = True) -> Iterator[tuple[ast.stmt, bool]]:
    """Yield the statements of a function and whether they are reached; `nested`: those of functions inside too."""
    waiting: list[tuple[Body, bool, bool]] = [(node.body, True, False)]
    while waiting:
        body, reached, is_class = waiting.pop()
        for statement in body:
            yield statement, reached
            if type(statement) not in HOLDING:
                pass
            elif isinstance(statement, FUNCTIONS):
                if nested:
                    waiting.append((statement.body, reached and (is_class or _is_used(statement, node)), False))
            elif nested or not isinstance(statement, ast.ClassDef):
                inside = isinstance(statement, ast.ClassDef)
                waiting.extend((inner, reached and entered, inside) for inner, entered in blocks_of(statement))
            reached = reached and not ends(statement)


def blocks_of(statement: ast.stmt) -> Iterator[tuple[Body, bool]]:
    """Yield the blocks of a statement, and whether they are ever entered."""
    if isinstance(statement, _ASKING):
        known = truth(statement.test)
        yield statement.body, known is None or known[0]
        yield statement.orelse, known is None or not known[0]
        return
    if type(statement) not in HOLDING:
        return
    for name in _BLOCKS:
        inner = getattr(statement, name, None)
        if inner:
            yield inner, True
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body, True


def ends(statement: ast.stmt) -> bool:
    """Tell whether nothing after a statement is reached in its block."""
    if type(statement) not in _MAY_END:
        return False
    while isinstance(statement, _WITH) and statement.body:
        statement = statement.body[-1]
        if isinstance(statement, ast.Raise):
            return False
    if isinstance(statement, _LEAVING):
        return True
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Call) and dotted(statement.value.func) in _ENDING_CALLS
    if not isinstance(statement, ast.If):
        return False
    entered = [body for body, reached in blocks_of(statement) if reached]
    return bool(entered) and all(any(ends(each) for each in body) for body in entered)


def _is_used(function: Function, within: Function) -> bool:
    """Tell whether anybody may call a function that is defined inside another: classes hand their methods out."""
    if function.decorator_list:
        return True
    return any(isinstance(each, ast.Name) and each.id == function.name for each in ast.walk(within))


def demands_in(statement: ast.stmt) -> Iterator[tuple[str, tuple[Demand, ...]]]:
    """Yield the text and the demands of each assertion in the head of a statement."""
    if isinstance(statement, ast.Assert):
        yield ast.unparse(ast.Assert(statement.test)), demands_of(statement.test)
    elif isinstance(statement, _WITH):
        for item in statement.items:
            if isinstance(item.context_expr, ast.Call):
                yield from _of_call(item.context_expr, statement.body)
    elif isinstance(statement, _SIMPLE) and statement.value is not None:
        yield from _of_value(statement.value)


def _of_value(value: ast.expr) -> Iterator[tuple[str, tuple[Demand, ...]]]:
    if isinstance(value, ast.Await):
        value = value.value
    if isinstance(value, ast.Call):
        yield from _of_call(value, ())
    elif uncalled(value):
        yield ast.unparse(value), (Demand(vacuous=NOT_CALLED),)


def _of_call(call: ast.Call, body: Body) -> Iterator[tuple[str, tuple[Demand, ...]]]:
    demands = demands_of_call(call, body)
    if demands:
        yield ast.unparse(call) + (f": {_first_line(body[0])}" if body else ""), demands


def _first_line(statement: ast.stmt) -> str:
    """Return what a block begins with: of two that catch the same, it tells which is which."""
    return ast.unparse(statement).partition("\n")[0]
