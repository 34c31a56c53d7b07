"""What a Python test checks no longer by a call or an option: exit codes, statuses, failures that it told itself."""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.calls import is_assertion_name
from ralph_tracker.integrity.python.handlers import fails
from ralph_tracker.integrity.python.syntax import Function, dotted, nodes_below, nodes_in

_OPTIONS: Final[Mapping[str, bool]] = {
    "check": True,
    "catch_exceptions": False,
    "raise_server_exceptions": True,
    "raise_exceptions": True,
    "raise_request_exception": True,
    "raise_app_exceptions": True,
}
_CHECKED: Final = frozenset({"check_call", "check_output"})
_UNCHECKED: Final = frozenset({"call", "run", "Popen", "getoutput", "getstatusoutput", "system"})
_CHECKS: Final = frozenset({"raise_for_status", "check_returncode"})
_ALWAYS: Final = Pattern(r"\|\| *(true|:)|; *(true|exit 0)$")


def unchecked(old: Function, new: Function) -> Iterator[tuple[int, str, str]]:
    """Yield what is checked no longer: its line in the new test, what that is, and its text."""
    before, after = _calls(old), _calls(new)
    yield from _options(before, after)
    for name in _CHECKS:
        lost = [each for each in before if _name(each) == name]
        if lost and not any(_name(each) in _CHECKS for each in after):
            yield new.lineno, "a status is checked no longer", ast.unparse(lost[0])
    known = {ast.unparse(each) for each in before}
    for call in after:
        text = ast.unparse(call)
        if text not in known and any(_says_always(each) for each in call.args):
            yield call.lineno, "a command always ends well", text
    yield from _returned(known, new)
    yield from _untold(old, new)
    yield from _not_awaited(old, new)


def _calls(function: Function) -> list[ast.Call]:
    return [each for each in nodes_in(function) if isinstance(each, ast.Call)]


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else dotted(call.func)


def _says_always(node: ast.expr) -> bool:
    return any(
        isinstance(each, ast.Constant) and isinstance(each.value, str) and _ALWAYS.search(each.value) is not None
        for each in nodes_below(node)
    )


def _checks(call: ast.Call) -> bool:
    given = {each.arg: ast.unparse(each.value) for each in call.keywords}
    return _name(call) in _CHECKED or any(given.get(name) == str(loud) for name, loud in _OPTIONS.items())


def _options(before: list[ast.Call], after: list[ast.Call]) -> Iterator[tuple[int, str, str]]:
    """Yield the calls that were made so that a failure raises, and are made otherwise now."""
    checked = [each for each in before if _checks(each)]
    still = Counter(_asked(each) for each in after if _checks(each))
    for call in checked:
        asked = _asked(call)
        still[asked] -= 1
        if still[asked] >= 0:
            continue
        names = {_name(call), *(_UNCHECKED if _name(call) in _CHECKED else ())}
        now = next(
            (each for each in after if _name(each) in names and _asked(each) == asked and not _checks(each)), None
        )
        if now is not None:
            yield now.lineno, "a failure of it is asked for no longer", ast.unparse(now)


def _asked(call: ast.Call) -> str:
    return ", ".join(map(ast.unparse, call.args))


def _returned(known: set[str], new: Function) -> Iterator[tuple[int, str, str]]:
    for each in nodes_in(new):
        if not isinstance(each, ast.Expr):
            continue
        call = each.value.value if isinstance(each.value, ast.Await) else each.value
        if not isinstance(call, ast.Call) or not _returns_errors(call) or ast.unparse(call) in known:
            continue
        if not _are_cancelled(call, new):
            yield each.lineno, "exceptions are returned to nobody", ast.unparse(call)


def _are_cancelled(gathered: ast.Call, test: Function) -> bool:
    """Tell whether all that is waited for was told to end: what it raises then is that it did."""
    ended = {dotted(each.func).removesuffix(".cancel") for each in _calls(test) if _name(each) == "cancel"}
    loops = (each for each in nodes_in(test) if isinstance(each, ast.For) and dotted(each.target) in ended)
    ended |= {dotted(each.iter) for each in loops}
    waited = [dotted(each.value if isinstance(each, ast.Starred) else each) for each in gathered.args]
    return bool(waited) and all(each and each in ended for each in waited)


def _returns_errors(call: ast.Call) -> bool:
    return any(each.arg == "return_exceptions" and ast.unparse(each.value) == "True" for each in call.keywords)


def _untold(old: Function, new: Function) -> Iterator[tuple[int, str, str]]:
    """Yield the conditions and attempts under which a test told a failure, and tells none now."""
    before, after = dict(_telling(old)), dict(_telling(new))
    for about, told in before.items():
        if told and about in after and not after[about]:
            yield new.lineno, "a failure is told no longer", f"{about}: {told}"


def _telling(function: Function) -> Iterator[tuple[str, str]]:
    """Yield what conditions and attempts are about, and the text by which they fail, "" where they do not."""
    for each in nodes_in(function):
        if isinstance(each, ast.If):
            about, parts = f"if {ast.unparse(each.test)}", [*each.body, *each.orelse]
        elif isinstance(each, ast.Try):
            body = [part for part in each.body if not _fails(part)]
            handled = [part for handler in each.handlers for part in handler.body]
            about = f"try {'; '.join(map(ast.unparse, body))}"
            parts = [*each.body, *each.orelse, *handled]
        else:
            continue
        yield about, next((ast.unparse(part) for part in parts if _fails(part) or isinstance(part, ast.Assert)), "")


def _fails(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Raise):
        return statement.exc is None or dotted(statement.exc).rpartition(".")[2] in {
            "AssertionError",
            "failureException",
        }
    return fails(statement)


def _not_awaited(old: Function, new: Function) -> Iterator[tuple[int, str, str]]:
    """Yield the assertions that were awaited, and are only begun now."""
    awaited = {
        ast.unparse(each.value)
        for each in nodes_in(old)
        if isinstance(each, ast.Await) and is_assertion_name(dotted(each.value).rpartition(".")[2])
    }
    if not awaited:
        return
    still = {ast.unparse(each.value) for each in nodes_in(new) if isinstance(each, ast.Await)}
    for each in nodes_in(new):
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Call):
            texts = {ast.unparse(part) for part in (each.value, *each.value.args)}
            if texts & (awaited - still):
                yield each.lineno, "an assertion is not awaited", ast.unparse(each)
