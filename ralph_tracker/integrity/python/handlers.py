"""What the handlers of a Python test do with a failure: let it be known, keep it for later, or pass over it."""

import ast
import re
from typing import Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.assertions import blocks_of, demands_in, statements_of
from ralph_tracker.integrity.python.calls import demands_of_call, is_assertion_name
from ralph_tracker.integrity.python.constants import always_true
from ralph_tracker.integrity.python.demands import KIND, demands_of
from ralph_tracker.integrity.python.origins import FILLING
from ralph_tracker.integrity.python.substituting import substituted
from ralph_tracker.integrity.python.syntax import FUNCTIONS, Function, dotted, nodes_below, nodes_in

_BROAD: Final = frozenset(
    {"Exception", "BaseException", "AssertionError", "failureException", "Failed", "ExceptionGroup"}
)
_QUIET: Final = Pattern(
    r"^(print|pprint|(\w+\.)*(log|logger|logging|_logger|LOG)\.\w+|warnings\.warn|pytest\.(skip|xfail)|self\.skipTest"
    r"|traceback\.print_\w+|sys\.std(out|err)\.write)$"
)
_SKIP: Final = Pattern(r"(SkipTest|[sS]kip\.Exception|Skipped|skip)$")
_SETTING: Final = Pattern(r"environ|getenv|\bDEBUG\b|\bSTRICT\b")
_OUTSIDE: Final = Pattern(
    r"(^|\.)(ImportError|ModuleNotFoundError|OSError|IOError|EnvironmentError|PermissionError|File\w+Error|error|Empty"
    r"|NotImplementedError|[tT]imeout\w*|\w*TimeoutError|\w*TimeoutExpired|Connection\w*|BrokenPipeError|Full"
    r"|BlockingIOError|InterruptedError|CancelledError|KeyboardInterrupt|SystemExit|GeneratorExit|Stop(Async)?Iteration"
    r"|Unicode\w*Error|SkipTest|NoSuchProcess|\w*Warning|ProcessLookupError|NotADirectoryError|IsADirectoryError)$"
)
_OF_ERRORS: Final = frozenset({"isinstance", "str", "repr", "Exception", "BaseException", "type", "len", "bool"})


def is_broad(kind: ast.expr | None) -> bool:
    """Tell whether an exception is one that any failed assertion is caught by, or cannot be told."""
    if kind is None or isinstance(kind, ast.Call | ast.Subscript | ast.Starred):
        return True
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(dotted(each).rpartition(".")[2] in _BROAD for each in kinds)


def is_outside(kind: ast.expr | None) -> bool:
    """Tell whether an exception says what the machine has not, which says nothing of what is tested."""
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return all(each is not None and bool(_OUTSIDE.search(dotted(each))) for each in kinds)


def is_loud(statement: ast.stmt, handler: ast.ExceptHandler | None = None, node: Function | None = None) -> bool:
    """Tell whether a statement lets a failure be known: it fails, or keeps it for an assertion of the test."""
    if isinstance(statement, ast.Raise):
        return not skips(statement.exc)
    if isinstance(statement, ast.If):
        return _asks_loudly(statement, handler, node)
    if isinstance(statement, ast.Assert):
        return not _says_little(statement.test, handler)
    if isinstance(statement, ast.Expr):
        return _tells(statement.value, handler, node)
    if isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign):
        return node is not None and handler is not None and _keeps(statement, handler, node)
    inner = [each for body, _ in blocks_of(statement) for each in body] if not isinstance(statement, FUNCTIONS) else []
    return any(is_loud(each, handler, node) for each in inner)


def is_quiet(statement: ast.stmt) -> bool:
    """Tell whether a statement does no more than print, log or warn: no test fails by it."""
    if isinstance(statement, ast.If):
        return all(map(is_quiet, (*statement.body, *statement.orelse)))
    return isinstance(statement, ast.Expr) and bool(_QUIET.match(dotted(statement.value)))


def _asks_loudly(statement: ast.If, handler: ast.ExceptHandler | None, node: Function | None) -> bool:
    if _SETTING.search(ast.unparse(statement.test)):
        return False
    return any(is_loud(each, handler, node) for body, entered in blocks_of(statement) if entered for each in body)


def _says_little(test: ast.expr, handler: ast.ExceptHandler | None) -> bool:
    """Tell whether an assertion in a handler asks no more than that there was an error."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    names = {each.id for each in nodes_below(test) if isinstance(each, ast.Name)} - _OF_ERRORS
    about_error = handler is not None and handler.name in names and len(names) == 1
    return about_error and all((each.strength or 0) <= KIND for each in demands_of(test))


def _tells(value: ast.expr, handler: ast.ExceptHandler | None, node: Function | None) -> bool:
    call = value.value if isinstance(value, ast.Await) else value
    if not isinstance(call, ast.Call) or _QUIET.match(dotted(call.func)):
        return False
    name = dotted(call.func).rpartition(".")[2]
    if "fail" in name.lower():
        return True
    if is_assertion_name(name):
        return not (call.args and _says_little(call.args[0], handler))
    given = {
        each.id for part in (*call.args, *call.keywords) for each in nodes_below(part) if isinstance(each, ast.Name)
    }
    root = dotted(call.func).partition(".")[0]
    if handler is not None and node is not None and name in FILLING and _is_refused_after(root, handler, node):
        return True
    if handler is None or handler.name is None or handler.name not in given:
        return False
    kept = ast.List([ast.Name(handler.name, ast.Load())], ast.Load()) if name == "append" else None
    return node is None or root not in names_made(node) or _is_asked_after(root, handler, node, kept)


def _keeps(statement: ast.Assign | ast.AugAssign | ast.AnnAssign, handler: ast.ExceptHandler, node: Function) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    name = dotted(targets[0])
    if isinstance(statement, ast.AugAssign):
        return _is_refused_after(name, handler, node) or _is_asked_after(name, handler, node)
    return bool(name) and statement.value is not None and _is_asked_after(name, handler, node, statement.value)


def _is_refused_after(name: str, handler: ast.ExceptHandler, node: Function) -> bool:
    """Tell whether a test fails later where failures were gathered under a name: `if failed: pytest.fail()`."""
    last = handler.end_lineno or handler.lineno
    for each, _ in statements_of(node):
        if each.lineno > last and isinstance(each, ast.If) and dotted(each.test) == name:
            return any(is_loud(inner) for inner in each.body)
    return False


def _is_asked_after(name: str, handler: ast.ExceptHandler, node: Function, value: ast.expr | None = None) -> bool:
    """Tell whether a later assertion asks for a name in another way than one that its value there fulfils."""
    last = handler.end_lineno or handler.lineno
    word = re.compile(rf"\b{re.escape(name)}\b")
    return any(
        word.search(text) is not None and not _holds(each, name, value)
        for each, _ in statements_of(node)
        if each.lineno > last
        for text, _ in demands_in(each)
    )


def _holds(statement: ast.stmt, name: str, value: ast.expr | None) -> bool:
    """Tell whether an assertion holds with a value in the place of a name."""
    claim = statement.test if isinstance(statement, ast.Assert) else getattr(statement, "value", None)
    if value is None or not isinstance(claim, ast.expr):
        return False
    filled = substituted(claim, lambda asked: value if asked == name else None)
    if isinstance(statement, ast.Assert) or not isinstance(filled, ast.Call):
        return always_true(filled) is not None
    asked = demands_of_call(filled)
    return bool(asked) and all(each.vacuous is not None for each in asked)


def skips(error: ast.expr | None) -> bool:
    return error is not None and bool(_SKIP.search(dotted(error)))


def fails(statement: ast.stmt) -> bool:
    """Tell whether a statement says that the test failed."""
    return isinstance(statement, ast.Expr) and dotted(statement.value) in {"pytest.fail", "self.fail"}


def names_made(node: Function) -> frozenset[str]:
    """Return the names that a test assigns, loops over or opens: what comes of what it tests."""
    return frozenset(
        each.id for each in nodes_in(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    )


def asks_for(condition: ast.expr, made: frozenset[str]) -> bool:
    """Tell whether a condition asks for what a test has made."""
    return any(
        isinstance(each, ast.NamedExpr) or (isinstance(each, ast.Name) and each.id in made)
        for each in nodes_below(condition)
    )
