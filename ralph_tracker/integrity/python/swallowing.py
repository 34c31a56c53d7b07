"""Where a Python test lets a failure pass: silent handlers, `suppress`, and ways out before the assertions."""

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.assertions import demands_in, ends, statements_of
from ralph_tracker.integrity.python.calls import RAISES
from ralph_tracker.integrity.python.constants import truth
from ralph_tracker.integrity.python.handlers import asks_for, fails, is_broad, is_loud, is_outside, names_made, skips
from ralph_tracker.integrity.python.syntax import FUNCTIONS, Function, dotted, nodes_below, nodes_in

_SKIPS: Final = frozenset({"pytest.skip", "pytest.xfail", "self.skipTest", "skip"})
_PLATFORM: Final = Pattern(
    r"platform|sys\.version|version_info|os\.name|\bWIN|win32|windows|linux|darwin|macos|pypy|cpython|\bPY_?\d"
    r"|which\(|find_spec|importorskip|\b_?(HAS|HAVE|IS|NO|ON|WITH|USE|SUPPORTS?)_|\b_?(has|have|is|supports?)_\w+"
    r"|implementation|hasattr\(|is None\b|version|backend|gete?uid",
    re.IGNORECASE,
)
_LOOPS: Final = (ast.For, ast.AsyncFor, ast.While)
_VERSION: Final = Pattern(
    r"sys\.platform|version|VERSION|os\.name|platform\.|\b(IS_)?(PY_?\d|PYPY|WIN|WINDOWS|win32|CPYTHON|MACOS|LINUX)"
)


class Swallow:
    """Be one place where failures end: its first line, what it is, what it covers, and the assertions among it.

    `broad` says that whatever fails there ends there; else it is some kinds of failures.
    """

    def __init__(
        self, line: int, how: ast.expr | str, body: list[ast.stmt], *, broad: bool, inner: Sequence[Function] = ()
    ) -> None:
        self.line = line
        self._inner = inner
        self.broad = broad
        self._how = how
        self._body = body

    @cached_property
    def text(self) -> str:
        """Return what it is."""
        return self._how if isinstance(self._how, str) else ast.unparse(self._how)

    @cached_property
    def covered(self) -> tuple[str, ...]:
        """Return the texts of the statements that stand in it and hold no other."""
        return tuple(ast.unparse(each) for each in self._statements if _is_plain(each))

    @cached_property
    def assertions(self) -> tuple[str, ...]:
        """Return the texts of the assertions that stand in it, or in functions of the test that are called there."""
        called = {dotted(node) for each in self._body for node in nodes_below(each) if isinstance(node, ast.Call)}
        inside = [each for one in self._inner if one.name in called for each, _ in statements_of(one)]
        return tuple(text for each in (*self._statements, *inside) for text, _ in demands_in(each))

    @cached_property
    def _statements(self) -> list[ast.stmt]:
        return [each for each, _ in statements_of(_function(self._body))]


class Guard(NamedTuple):
    """Hold a way out of a test under a condition, `asked` where that is a statement of its own.

    `end` is the last line that it leaves out, None where that is the test's last: `continue` leaves a loop alone.
    """

    line: int
    text: str
    asked: ast.expr | None = None
    end: int | None = None


def swallows_of(node: Function, swallowers: frozenset[str] = frozenset()) -> Iterator[Swallow]:
    """Yield the places in a test where an assertion or a call may fail and nobody learns of it.

    `swallowers` are the names of managers that pass over what fails inside.
    """
    statements = [each for each, _ in statements_of(node)]
    tried_again = frozenset(_tried_again(statements))
    how: ast.expr | str | None
    for statement in statements:
        if isinstance(statement, ast.Try | ast.TryStar):
            how, broad = (None, False) if id(statement) in tried_again else _handled(statement, node)
        elif isinstance(statement, ast.With | ast.AsyncWith):
            how, broad = _suppressed(statement, swallowers)
        else:
            continue
        if how is not None:
            inner = [each for each in statements if isinstance(each, FUNCTIONS)]
            yield Swallow(statement.lineno, how, statement.body, broad=broad, inner=inner)


def _tried_again(statements: list[ast.stmt]) -> Iterator[int]:
    """Yield the attempts of loops that fail once all have failed, or that never end before one succeeds."""
    for loop in statements:
        if isinstance(loop, ast.For | ast.AsyncFor | ast.While):
            forever = isinstance(loop, ast.While) and truth(loop.test) is not None
            if forever or any(is_loud(each) for each in loop.orelse):
                for each in loop.body:
                    if isinstance(each, ast.Try) and not (forever and any(map(_breaks, each.handlers))):
                        yield id(each)


def _breaks(handler: ast.ExceptHandler) -> bool:
    return any(isinstance(each, ast.Break | ast.Return) for each in handler.body)


def guards_of(node: Function) -> Iterator[Guard]:
    """Yield the conditions under which a test ends early, but for those that ask what it runs on."""
    made = names_made(node)
    ends: list[tuple[int, int]] = []
    for statement, reached in statements_of(node, nested=False):
        if isinstance(statement, _LOOPS):
            ends.append((statement.lineno, statement.end_lineno or statement.lineno))
        if not reached:
            continue
        if isinstance(statement, ast.If):
            inner = max(((first, last) for first, last in ends if first < statement.lineno <= last), default=None)
            yield from _way_out(statement, made, None if inner is None else inner[1])
        elif isinstance(statement, ast.Expr | ast.Assign) and _may_skip(statement.value):
            yield Guard(statement.lineno, ast.unparse(statement))


def _may_skip(value: ast.expr) -> bool:
    """Tell whether an expression skips under a condition: `value or pytest.skip()`."""
    if not isinstance(value, ast.BoolOp | ast.IfExp):
        return False
    return any(isinstance(each, ast.Call) and dotted(each) in _SKIPS for each in nodes_below(value))


def _way_out(statement: ast.If, made: frozenset[str], end: int | None) -> Iterator[Guard]:
    ways = [body for body in (statement.body, statement.orelse) if body and _leaves(body)]
    asked = ast.unparse(statement.test)
    if not ways or (_PLATFORM.search(asked) and not asks_for(statement.test, made)):
        return
    if len(ways) == 1 and any(is_loud(each) for each in (*statement.body, *statement.orelse)):
        return
    # A loop passes over what is not meant; what is skipped for what it was given is in the report (T2).
    told = any(isinstance(body[-1], ast.Continue | ast.Break | ast.Raise | ast.Expr) for body in ways)
    if told and not asks_for(statement.test, made):
        return
    in_loop = all(isinstance(body[-1], ast.Continue | ast.Break) for body in ways)
    yield Guard(statement.lineno, f"if {asked}: {ast.unparse(ways[0][-1])}", statement.test, end if in_loop else None)


def on_platforms_before(old: Function, new: Function) -> frozenset[str]:
    """Return the assertions under a question for the platform or version that a test asks no longer."""
    kept = {ast.unparse(each.test) for each in nodes_in(new) if isinstance(each, ast.If)}
    return frozenset(
        text
        for each in nodes_in(old)
        if isinstance(each, ast.If) and _VERSION.search(asked := ast.unparse(each.test)) and asked not in kept
        for statement, _ in statements_of(_function(each.body + each.orelse))
        for text, _ in demands_in(statement)
    )


def repeated_in(node: Function) -> frozenset[str]:
    """Return the assertions of a test that stand twice in one run of assertions, by nothing else interrupted."""
    found: set[str] = set()
    run: set[str] = set()
    for statement, _ in statements_of(node):
        texts = [text for text, _ in demands_in(statement)]
        run = run if texts else set()
        found.update(text for text in texts if text in run)
        run.update(texts)
    return frozenset(found)


def texts_of(node: Function) -> frozenset[str]:
    """Return the texts of the statements of a test that no other statement stands in."""
    return frozenset(ast.unparse(statement) for statement, _ in statements_of(node) if _is_plain(statement))


def _is_plain(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr | ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Assert | ast.Return)


def _function(body: list[ast.stmt]) -> ast.FunctionDef:
    return ast.FunctionDef("_", ast.arguments([], [], None, [], [], None, []), body, [])


def _handled(statement: ast.Try | ast.TryStar, node: Function) -> tuple[str | None, bool]:
    """Return where the failures of a `try` end, and whether all of them do; None where somebody learns of them."""
    if any(
        isinstance(each, ast.Return | ast.Break | ast.Continue)
        for part in statement.finalbody
        for each in nodes_below(part)
    ):
        return "finally: return", True
    if any(isinstance(each, ast.Raise) or fails(each) for each in statement.orelse):
        return None, False
    for handler in statement.handlers:
        broad = is_broad(handler.type)
        silent = _asks_instead(handler) or not any(is_loud(each, handler, node) for each in handler.body)
        if broad or (silent and not is_outside(handler.type)):
            return (_said(handler), broad) if silent else (None, False)
    return None, False


def _asks_instead(handler: ast.ExceptHandler) -> bool:
    """Tell whether a failed assertion is passed over by another one: `except AssertionError: assert x is not None`."""
    if handler.type is None or dotted(handler.type) != "AssertionError" or handler.name is not None:
        return False
    return all(any(demands_in(each)) and not _is_settled(each) for each in handler.body)


def _is_settled(statement: ast.stmt) -> bool:
    """Tell whether an assertion comes out one way whatever is under test: `assert False` fails, and says so."""
    return isinstance(statement, ast.Assert) and truth(statement.test) is not None


def _said(handler: ast.ExceptHandler) -> str:
    kind = f" {ast.unparse(handler.type)}" if handler.type is not None else ""
    return f"except{kind}: {ast.unparse(handler.body[-1])}"


def _suppressed(statement: ast.With | ast.AsyncWith, swallowers: frozenset[str]) -> tuple[ast.expr | None, bool]:
    """Return the manager that passes over failures, and whether over all; `raises` passes over what comes after one."""
    opened = [item.context_expr for item in statement.items]
    for each in statement.body:
        entered = each.value if isinstance(each, ast.Expr | ast.Assign) else None
        if isinstance(entered, ast.Call) and dotted(entered.func).endswith("enter_context"):
            opened += entered.args
    for call in opened:
        name = dotted(call).rpartition(".")[2]
        if name in swallowers:
            return call, True
        if isinstance(call, ast.Call) and name == "suppress" and call.args:
            broad = any(is_broad(each) for each in call.args)
            if broad or not all(map(is_outside, call.args)):
                return call, broad
        if isinstance(call, ast.Call) and name in RAISES and "arn" not in name and name != "deprecated_call":
            return call, False
    return None, False


def _leaves(body: Sequence[ast.stmt]) -> bool:
    last = body[-1]
    if isinstance(last, ast.Return):
        return last.value is None or isinstance(last.value, ast.Constant)
    if isinstance(last, ast.Continue | ast.Break):
        return True
    if isinstance(last, ast.If) and last.orelse:
        return _leaves(last.body) and _leaves(last.orelse)
    if isinstance(last, ast.Raise):
        return skips(last.exc)
    return isinstance(last, ast.Expr) and ends(last) and not fails(last)
