"""Where a Python test lets a failure pass: silent handlers, `suppress`, and ways out before the assertions."""

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.assertions import demands_in, ends, statements_of
from ralph_tracker.integrity.python.syntax import Function, dotted

_BROAD: Final = frozenset(
    {"Exception", "BaseException", "AssertionError", "failureException", "Failed", "ExceptionGroup"}
)
_QUIET: Final = Pattern(
    r"^(print|pprint|(\w+\.)*(log|logger|logging|_logger|LOG)\.\w+|warnings\.warn|pytest\.(skip|xfail)|self\.skipTest"
    r"|traceback\.print_\w+|sys\.std(out|err)\.write)$"
)
_PLATFORM: Final = Pattern(
    r"platform|sys\.version|version_info|os\.name|\bWIN|win32|windows|linux|darwin|macos|pypy|cpython|\bPY_?\d"
    r"|which\(|find_spec|importorskip|\b_?(HAS|HAVE|IS|NO|ON|WITH|USE|SUPPORTS?)_|\b_?(has|have|is|supports?)_\w+"
    r"|implementation|hasattr\(|is None\b|version|backend|gete?uid|CI\b",
    re.IGNORECASE,
)
_VERSION: Final = Pattern(
    r"sys\.platform|sys\.version|version_info|os\.name|platform\.|\b(IS_)?(PY_?\d|PYPY|WIN|WINDOWS|win32|CPYTHON|MACOS|LINUX)"
)


class Swallow(NamedTuple):
    """Hold one place where failures end: its first line, what it is, what it covers, and the assertions among it."""

    line: int
    text: str
    covered: tuple[str, ...]
    assertions: tuple[str, ...]


class Guard(NamedTuple):
    """Hold a way out of a test under a condition."""

    line: int
    text: str


def swallows_of(node: Function) -> Iterator[Swallow]:
    """Yield the places in a test where an assertion or a call may fail and nobody learns of it."""
    for statement, _ in statements_of(node):
        if isinstance(statement, ast.Try):
            how = _handled(statement)
        elif isinstance(statement, ast.With | ast.AsyncWith):
            how = _suppressed(statement)
        else:
            continue
        if how:
            yield _swallow(statement, how)


def guards_of(node: Function) -> Iterator[Guard]:
    """Yield the conditions under which a test ends early, but for those that ask what it runs on."""
    for statement, reached in statements_of(node, nested=False):
        if isinstance(statement, ast.If) and reached and not statement.orelse and _leaves(statement.body):
            asked = ast.unparse(statement.test)
            if not _PLATFORM.search(asked):
                yield Guard(statement.lineno, f"if {asked}: {ast.unparse(statement.body[-1])}")


def on_platforms_before(old: Function, new: Function) -> frozenset[str]:
    """Return the assertions under a question for the platform or version that a test asks no longer."""
    kept = {ast.unparse(each.test) for each in ast.walk(new) if isinstance(each, ast.If)}
    return frozenset(
        text
        for each in ast.walk(old)
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


def _swallow(statement: ast.Try | ast.With | ast.AsyncWith, how: str) -> Swallow:
    covered = [each for each, _ in statements_of(_function(statement.body))]
    return Swallow(
        statement.lineno,
        how,
        tuple(ast.unparse(each) for each in covered if _is_plain(each)),
        tuple(text for each in covered for text, _ in demands_in(each)),
    )


def _function(body: list[ast.stmt]) -> ast.FunctionDef:
    return ast.FunctionDef("_", ast.arguments([], [], None, [], [], None, []), body, [])


def _handled(statement: ast.Try) -> str:
    if any(isinstance(each, ast.Return | ast.Break | ast.Continue) for each in statement.finalbody):
        return "finally: return"
    if any(isinstance(each, ast.Raise) or _fails(each) for each in statement.orelse):
        return ""
    for handler in statement.handlers:
        if _is_broad(handler.type):
            return _said(handler) if _is_silent(handler.body) else ""
    return ""


def _said(handler: ast.ExceptHandler) -> str:
    kind = f" {ast.unparse(handler.type)}" if handler.type is not None else ""
    return f"except{kind}: {ast.unparse(handler.body[-1])}"


def _suppressed(statement: ast.With | ast.AsyncWith) -> str:
    for item in statement.items:
        call = item.context_expr
        if isinstance(call, ast.Call) and dotted(call.func).rpartition(".")[2] == "suppress" and _any_broad(call.args):
            return ast.unparse(call)
    return ""


def _is_broad(kind: ast.expr | None) -> bool:
    if kind is None:
        return True
    return _any_broad(kind.elts if isinstance(kind, ast.Tuple) else [kind])


def _any_broad(kinds: Sequence[ast.expr]) -> bool:
    return any(dotted(each).rpartition(".")[2] in _BROAD for each in kinds)


def _is_silent(body: Sequence[ast.stmt]) -> bool:
    """Tell whether a handler does nothing with a failure but leave or tell it."""
    return all(_is_quiet(each) for each in body)


def _is_quiet(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Pass | ast.Return | ast.Continue | ast.Break):
        return True
    if isinstance(statement, ast.Assert):
        return isinstance(statement.test, ast.Constant)
    if not isinstance(statement, ast.Expr):
        return False
    value = statement.value
    return isinstance(value, ast.Constant) or (isinstance(value, ast.Call) and bool(_QUIET.match(dotted(value.func))))


def _fails(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and dotted(statement.value) in {"pytest.fail", "self.fail"}


def _leaves(body: Sequence[ast.stmt]) -> bool:
    last = body[-1]
    if isinstance(last, ast.Return):
        return last.value is None or isinstance(last.value, ast.Constant)
    return isinstance(last, ast.Expr) and ends(last) and not _fails(last)
