"""What the hooks of a pytest plugin do to outcomes, to the exit status and to what is collected."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.constants import UNKNOWN
from ralph_tracker.integrity.python.exits import ends_well
from ralph_tracker.integrity.python.facts import Fact, fact
from ralph_tracker.integrity.python.nodes import (
    Way,
    below,
    body_of,
    conditions,
    constant_of,
    full_name,
    functions_of,
    imports_of,
    returns_of,
)
from ralph_tracker.integrity.python.patches import pairs_of
from ralph_tracker.integrity.python.syntax import Function, dotted

DEFINES_HOOK: Final = Pattern(r"\bdef\s+pytest_\w+|\bspecname\s*=", words=("pytest_", "specname"))
_PASSED: Final = "passed"
_SKIPPED: Final = "skipped"
# What a run was asked to leave out: set by a hook, nobody asked for it.
_NARROWING: Final = frozenset({"keyword", "markexpr", "deselect", "collectonly", "ignore", "ignore_glob"})
_STATUSES: Final = frozenset({"exitstatus", "testsfailed"})
_RUNNING: Final = frozenset(
    {"pytest_runtest_protocol", "pytest_runtest_call", "pytest_pyfunc_call", "pytest_runtest_makereport"}
)
_RUNS: Final = Pattern(r"\byield\b|\.obj\b|\.function\b|testfunction|runtest|\.execute\b|\.run\(|call_and_report")
_OPTION: Final = Pattern(
    r"getoption|getini|getvalue|\boption\b|\.invocation|environ|getenv|platform|version|find_spec|import|closest_marker|skipif",
    re.IGNORECASE,
)
_NO_TESTS: Final = Pattern(r"NO_?TESTS_?COLLECTED|== 5\b|\b5 ==|testscollected|not .*items", re.IGNORECASE)
_SWALLOWED: Final = frozenset({"Exception", "BaseException", "AssertionError", "Failed"})
_ITEMS: Final = frozenset({"items", "session.items"})
_COLLECTING: Final = frozenset(
    {
        "pytest_collection",
        "pytest_ignore_collect",
        "pytest_collect_file",
        "pytest_collect_directory",
        "pytest_pycollect_makeitem",
        "pytest_pycollect_makemodule",
    }
)


def forging_hooks(text: str) -> Iterator[Fact]:
    """Yield what the hooks of a file forge. Raises Unparsable."""
    imports = imports_of(text)
    functions = functions_of(text)
    called: set[str] = set()
    for function in functions:
        if function.name.startswith("pytest_"):
            called |= {dotted(each.func) for each in ast.walk(function) if isinstance(each, ast.Call)}
            for look in _LOOKS:
                yield from look(function, imports)
    for function in functions:
        if not function.name.startswith("pytest_") and (function.name in called or _is_hook(function)):
            yield from _outcomes_set(function, imports)
            yield from _status_set(function, imports)


def _is_hook(function: Function) -> bool:
    """Tell whether a marker gives a function the name of a hook."""
    calls = [each for each in function.decorator_list if isinstance(each, ast.Call)]
    return any(given.arg == "specname" for each in calls for given in each.keywords)


def _outcomes_set(function: Function, imports: Mapping[str, str]) -> Iterator[Fact]:
    """Yield reports that are made to say passed, and failures that are taken out of them."""
    for node, _ in below(function):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            yield from _assigned(node)
        elif isinstance(node, ast.Call):
            name = full_name(node.func, imports).rpartition(".")[2]
            if _passes(name, node):
                yield fact("test outcome set to passed", node)
            elif name == "force_result" and function.name in _RUNNING - {"pytest_runtest_makereport"}:
                yield fact("result of a test forced", node)


def _passes(name: str, call: ast.Call) -> bool:
    values = [constant_of(each) for each in call.args]
    named = {each.arg: constant_of(each.value) for each in call.keywords}
    if name in {"setattr", "__setattr__"}:
        return "outcome" in values and _PASSED in values
    if name in {"update", "replace", "TestReport", "CollectReport", "_replace"}:
        return named.get("outcome") == _PASSED or (name.endswith("Report") and _PASSED in values)
    return False


def _assigned(node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> Iterator[Fact]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    given = ast.Constant(...) if node.value is None else node.value
    for target, value in (pair for each in targets for pair in pairs_of(each, given)):
        name = _target_name(target)
        if name == "outcome" and _PASSED in _constants(value):
            yield fact("test outcome set to passed", node)
        elif name == "outcome" and (_is_unknown(value) or constant_of(value) == _SKIPPED):
            yield fact("test outcome set", node, certain=False)
        elif name in {"longrepr", "excinfo", "_excinfo", "_exception"} and constant_of(value) is None:
            yield fact("failure taken out of the report", node)
        elif name in {"obj", "_obj", "runtest", "function"} and _is_hollow(value):
            yield fact("test replaced by an empty function", node)


def _is_unknown(node: ast.expr) -> bool:
    """Tell whether a value may be any outcome; one that is kept elsewhere is no change."""
    return constant_of(node) is UNKNOWN and not isinstance(node, ast.IfExp) and not dotted(node).endswith("outcome")


def _target_name(target: ast.AST) -> str:
    """Return the attribute or the key that is assigned to, "" for plain names."""
    if isinstance(target, ast.Attribute):
        return target.attr
    if isinstance(target, ast.Subscript):
        key = constant_of(target.slice)
        return key if isinstance(key, str) else ""
    return ""


def _constants(node: ast.AST | None) -> list[object]:
    if isinstance(node, ast.IfExp):
        return [*_constants(node.body), *_constants(node.orelse)]
    return [constant_of(node)]


def _is_zero(node: ast.AST | None) -> bool:
    value = constant_of(node)
    return (value is not UNKNOWN and value is not None and value == 0) or (
        node is not None and dotted(node).endswith("ExitCode.OK")
    )


def _is_hollow(node: ast.AST | None) -> bool:
    """Tell whether a function calls nothing, so that it cannot fail."""
    return isinstance(node, ast.Lambda) and not any(isinstance(each, ast.Call) for each in ast.walk(node.body))


def _status_set(function: Function, imports: Mapping[str, str]) -> Iterator[Fact]:
    """Yield exit statuses set to success, and exits from hooks."""
    for node, way in below(function):
        if isinstance(node, ast.Assign) and any(_target_name(each) in _STATUSES for each in node.targets):
            if _is_zero(node.value):
                yield fact("exit status set to success", node, certain=not _NO_TESTS.search(conditions(way)))
        elif isinstance(node, ast.Call) and dotted(node.func) == "setattr" and _sets_status(node):
            yield fact("exit status set to success", node, certain=not _NO_TESTS.search(conditions(way)))
        elif isinstance(node, ast.stmt | ast.Call) and ends_well(node, imports):
            yield fact(f"exit with success in {function.name}", node)
    if function.name == "pytest_cmdline_main":
        for each, way in below(function):
            if isinstance(each, ast.Return) and _is_zero(each.value) and not conditions(way):
                yield fact("exit status set to success", each)


def _sets_status(call: ast.Call) -> bool:
    return any(constant_of(each) in _STATUSES for each in call.args[1:-1]) and _is_zero(call.args[-1])


def _never_called(function: Function, imports: Mapping[str, str]) -> Iterator[Fact]:
    """Yield hooks that tell pytest that a test was run and never run it, or that keep its failure to themselves."""
    del imports
    if function.name in {"pytest_pyfunc_call", "pytest_runtest_protocol"}:
        told = [each for each in returns_of(function) if constant_of(each.value) not in {None, False, UNKNOWN}]
        if told and not _RUNS.search(ast.unparse(ast.Module(function.body, []))):
            yield fact("test never called", function, shown=told[0])
    if function.name in _RUNNING:
        for node, _ in below(function):
            if isinstance(node, ast.Try) and _RUNS.search(ast.unparse(ast.Module(node.body, []))):
                yield from (fact("failure of a test swallowed", node) for each in node.handlers if _swallows(each))
            elif isinstance(node, ast.With) and _SUPPRESSES.search(ast.unparse(node)):
                yield fact("failure of a test swallowed", node)


_SUPPRESSES: Final = Pattern(r"^with .*suppress\(.*(Exception|AssertionError).*\):\n(.|\n)*(\byield\b|\.obj\b|runtest)")


def _swallows(handler: ast.ExceptHandler) -> bool:
    names = {dotted(each).rpartition(".")[2] for each in ast.walk(handler.type)} if handler.type else _SWALLOWED
    calls = any(isinstance(each, ast.Raise | ast.Call) for each in ast.walk(ast.Module(handler.body, [])))
    return bool(names & _SWALLOWED) and not calls


def _status_words(function: Function, imports: Mapping[str, str]) -> Iterator[Fact]:
    """Yield where failures are shown as passed."""
    del imports
    if function.name == "pytest_report_teststatus":
        for node, way in below(function):
            if isinstance(node, ast.Tuple) and node.elts and constant_of(node.elts[0]) == _PASSED:
                asked = conditions(way)
                if "passed" not in asked and "wasxfail" not in asked:
                    yield fact("failure shown as passed", node)
    elif function.name in {"pytest_terminal_summary", "pytest_sessionfinish", "pytest_unconfigure"}:
        for node, _ in below(function):
            if isinstance(node, ast.Assign | ast.AugAssign | ast.Delete | ast.Expr) and _STATS.search(
                ast.unparse(node)
            ):
                yield fact("failures taken out of the summary", node)


_STATS: Final = Pattern(
    r"\.stats(\[['\"](failed|error)['\"]\]\s*=|\s*=|\.clear\(|\.pop\(['\"](failed|error))"
    r"|^del .*\.stats|\.stats\[['\"](failed|error)['\"]\]\.clear\("
)


def _options_set(function: Function, imports: Mapping[str, str]) -> Iterator[Fact]:
    """Yield options that choose tests and are set by a hook, whatever the run was asked for."""
    del imports
    for node, way in below(function):
        if isinstance(node, ast.Assign) and not conditions(way) and not _is_empty_choice(node.value):
            names = (dotted(each).rpartition(".option.") for each in node.targets)
            if any(dot and name in _NARROWING for _, dot, name in names):
                yield fact("tests left out by an option that is set", node, certain=False)


def _is_empty_choice(node: ast.expr) -> bool:
    value = constant_of(node)
    return (value is not UNKNOWN and not value) or _empty(node)


def _dropped(function: Function, imports: Mapping[str, str]) -> Iterator[Fact]:
    """Yield collected tests that are dropped, or all marked to be skipped, where no option or platform is asked."""
    del imports
    if _OPTION.search(ast.unparse(function)):
        return
    if function.name in {"pytest_collection_modifyitems", "pytest_collection_finish"}:
        for node, way in below(function):
            if isinstance(node, ast.stmt) and _drops(node):
                yield fact("collected tests dropped", node)
            elif isinstance(node, ast.Call) and _skips_all(node, way):
                yield fact("collected tests marked to be skipped", node)
    elif function.name in _COLLECTING:
        body = body_of(function)
        last = body[-1] if body else None
        if isinstance(last, ast.Return) and (constant_of(last.value) is True or _empty(last.value)):
            yield fact("nothing is collected", last)


def _empty(node: ast.AST | None) -> bool:
    return isinstance(node, ast.List) and not node.elts


def _drops(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        value = node.value
        filtered = isinstance(value, ast.ListComp | ast.GeneratorExp) and any(each.ifs for each in value.generators)
        cut = isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice) and value.slice.step is None
        return dotted(node.targets[0].value) in _ITEMS and (filtered or cut or _empty(value))
    if isinstance(node, ast.Delete):
        return any(isinstance(each, ast.Subscript) and dotted(each.value) in _ITEMS for each in node.targets)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        name = dotted(node.value.func)
        owner, _, done = name.rpartition(".")
        return (owner in _ITEMS and done in {"clear", "remove", "pop"}) or name.endswith(".pytest_deselected")
    return False


def _skips_all(node: ast.Call, way: Way) -> bool:
    return (
        dotted(node.func).endswith(".add_marker")
        and not conditions(way)
        and bool(re.search(r"\b(skip|xfail)\b", ast.unparse(node)))
    )


Look = Callable[[Function, Mapping[str, str]], Iterator[Fact]]
_LOOKS: Final[tuple[Look, ...]] = (_outcomes_set, _status_set, _never_called, _status_words, _options_set, _dropped)
