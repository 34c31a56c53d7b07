"""What ends a run of tests early with success, and what replaces the parts that judge tests."""

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.constants import UNKNOWN
from ralph_tracker.integrity.python.expectations import module_values
from ralph_tracker.integrity.python.facts import Fact, fact
from ralph_tracker.integrity.python.nodes import (
    Way,
    below,
    conditions,
    constant_of,
    full_name,
    functions_of,
    imports_of,
    in_function,
    nodes_of,
)
from ralph_tracker.integrity.python.replacing import is_for_all
from ralph_tracker.integrity.python.successes import NO_VALUES, Values, is_success
from ralph_tracker.integrity.python.syntax import FUNCTIONS, dotted, nodes_in, tree_of

_AT_ONCE: Final = frozenset({"os._exit", "os.abort"})
_HANDED: Final = _AT_ONCE | {"sys.exit"}
_EXITS: Final = _AT_ONCE | {"sys.exit", "exit", "quit", "builtins.exit", "builtins.quit", "pytest.exit", "SystemExit"}
_ENDS_RUN: Final = frozenset({"pytest.exit", "pytest.exit.Exception", "_pytest.outcomes.exit", "_pytest.outcomes.Exit"})
# What puts another program in the place of this one: one that says yes, or an interpreter that asserts nothing.
_EXECUTES: Final = frozenset(f"os.exec{form}" for form in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe"))
_WITHOUT_TESTS: Final = Pattern(
    r"['\"](/(usr/)?bin/)?(true|echo)['\"]|['\"]-OO?['\"]|['\"](import sys; )?(sys\.)?exit\(0?\)['\"]"
)
# What is handed a function that ends the process while tests run, or when they are done.
_HANDED_TO: Final = Pattern(r"(^|\.)(Timer|Thread|signal\.signal|atexit\.register|call_later|start_new_thread)$")
_MAIN: Final = "__name__ =="
_WITH_TESTS: Final = Pattern(r"test|set_?up|tear_?down", re.IGNORECASE)
_PLATFORM: Final = Pattern(r"version|platform|os\.name|environ")
# What unittest asserts by; a name of the tests' own that is put there judges only who asks for it.
_ASSERTS: Final = (
    r"assert(True|False|(Not)?(Almost)?Equals?|(Is)?Not|Is|Is(Not)?None|(Not)?In|(Not)?IsInstance|Raises(Regexp?)?"
    r"|Warns(Regex)?|(No)?Logs|(Greater|Less)(Equal)?|(Not)?Regex(pMatches)?|DictContainsSubset"
    r"|(Count|Items|MultiLine|Sequence|List|Tuple|Set|Dict)Equal|_)"
)
_JUDGES: Final = Pattern(
    r"^(pytest\.(raises|warns|fail|approx|deprecated_call|main|skip|xfail|Function|Item|TestReport|CallInfo)\b.*"
    r"|_pytest\..+|pluggy\..+"
    rf"|unittest\.(case\.)?(\w*TestCase)\.({_ASSERTS}|fail\w*|run|debug|__call__|_callTestMethod)"
    r"|unittest\.((result\.|runner\.)?\w*TestResult\.\w+|main|TestCase)"
    r"|builtins\.(AssertionError|isinstance|all|any|len|abs|sum|round|sorted|bool|repr|Exception|BaseException|exit|quit)"
    r"|sys\.exit|os\._exit|sys\.modules\[(pytest|_pytest[\w.]*|unittest[\w.]*)\])$"
)
# What tests of programs replace for themselves.
_OF_THE_PROCESS: Final = Pattern(r"(sys|os|builtins)\.")
_PATCHING: Final = Pattern(r"\.setattr\(|\bpatch(\.object)?\(", words=("setattr(", "patch"))
_ALIAS: Final = Pattern(r"^(unittest\.)?\w*TestCase\.assert\w+$")


def ends_well(node: ast.AST, imports: Mapping[str, str], values: Values = NO_VALUES) -> bool:
    """Tell whether a call or a raise ends the process, or the run, with success; `values` are the module's."""
    call = node.exc if isinstance(node, ast.Raise) else node
    if isinstance(node, ast.Raise) and isinstance(call, ast.Name):
        return full_name(call, imports) == "SystemExit"
    if not isinstance(call, ast.Call) or (isinstance(node, ast.Call) and dotted(node.func) == "SystemExit"):
        return False
    name = full_name(call.func, imports)
    if name in _ENDS_RUN:
        given = [each.value for each in call.keywords if each.arg == "returncode"]
        return any(is_success(each, values) for each in (*given, *call.args[1:2]))
    if name in _EXECUTES:
        return _WITHOUT_TESTS.search(ast.unparse(call)) is not None
    return name in _EXITS and (not call.args or constant_of(call.args[0]) is None or is_success(call.args[0], values))


def early_exits(text: str) -> Iterator[Fact]:
    """Yield exits with success that importing the file leads to, or that wait for the interpreter's end."""
    imports, values = imports_of(text), module_values(text)
    waiting = "atexit" in text or "excepthook" in text
    handed = _handed_on(text, imports)
    for node, way in below(tree_of(text)):
        if isinstance(node, ast.Raise | ast.Call) and ends_well(node, imports, values):
            asked = conditions(way)
            if not in_function(way):
                if _MAIN not in asked:
                    yield fact("exit before tests", node, certain=not _PLATFORM.search(asked))
            elif isinstance(node, ast.Call) and full_name(node.func, imports) in _AT_ONCE | _ENDS_RUN | _EXECUTES:
                if waiting:
                    yield fact("exit with success at the interpreter's end", node)
                elif _runs_with_tests(way) or any(step in handed for step in way):
                    yield fact("exit with success in the middle of tests", node)
        elif isinstance(node, ast.Call) and _hands_exit_on(node, imports):
            yield fact("exit with success at the interpreter's end", node)


def _handed_on(text: str, imports: Mapping[str, str]) -> set[ast.AST]:
    """Return the functions that a timer, a thread of the tests or a signal is given, defined there or by name."""
    if not any(word in text for word in ("Timer", "Thread", "signal", "call_later", "start_new_thread")):
        return set()
    given: list[ast.AST] = []
    for call in nodes_of(text, ast.Call):
        if _HANDED_TO.search(full_name(call.func, imports)):
            given += [*call.args, *(each.value for each in call.keywords)]
    names = {each.id for each in given if isinstance(each, ast.Name)}
    return {each for each in given if isinstance(each, ast.Lambda)} | {
        each for each in functions_of(text) if each.name in names
    }


def _runs_with_tests(way: Way) -> bool:
    """Tell whether the innermost function is a test, a fixture or the like, and forks no child that may end so."""
    function = next(step for step in reversed(way) if isinstance(step, (*FUNCTIONS, ast.Lambda)))
    if isinstance(function, ast.Lambda) or "fork" in ast.unparse(function):
        return False
    fixture = any(dotted(each).endswith("fixture") for each in function.decorator_list)
    return fixture or _WITH_TESTS.match(function.name) is not None


def _hands_exit_on(call: ast.Call, imports: Mapping[str, str]) -> bool:
    """Tell whether `os._exit` itself is an argument, with 0 after it: `atexit.register(os._exit, 0)`."""
    given = [*call.args, *(each.value for each in call.keywords)]
    exits = [full_name(each, imports) in _HANDED and not isinstance(each, ast.Call) for each in given]
    parts = [part for each in given for part in (each.elts if isinstance(each, ast.List | ast.Tuple) else [each])]
    return any(exits) and any(is_success(each) for each in parts)


def replaced_judges(text: str) -> Iterator[Fact]:
    """Yield parts of pytest, unittest and the builtins that are replaced for the whole run."""
    imports = imports_of(text)
    for node in nodes_of(text, ast.Assign):
        for target in node.targets:
            name = _replaced(target, imports)
            if _JUDGES.match(name) and not _ALIAS.match(full_name(node.value, imports)):
                yield fact(f"{name} replaced", node)
    for call in nodes_of(text, ast.Call):
        if dotted(call.func) == "setattr" and len(call.args) == _SETATTR:
            name = f"{full_name(call.args[0], imports)}.{constant_of(call.args[1])}"
            if _JUDGES.match(name):
                yield fact(f"{name} replaced", call)
    if _PATCHING.search(text):
        yield from _patched_for_all(text, imports)


def _patched_for_all(text: str, imports: Mapping[str, str]) -> Iterator[Fact]:
    """Yield what `monkeypatch.setattr` and `mock.patch` replace for each test: in fixtures that nobody asks for."""
    for function in functions_of(text):
        if is_for_all(function):
            for each in nodes_in(function):
                if isinstance(each, ast.Call):
                    name = _patched(each, imports)
                    if _JUDGES.match(name) and not _OF_THE_PROCESS.match(name):
                        yield fact(f"{name} replaced", each)


def _patched(call: ast.Call, imports: Mapping[str, str]) -> str:
    """Return the full name of what a call patches, "" where it patches nothing."""
    name = dotted(call.func)
    if not name.endswith((".setattr", "patch", "patch.object")) or not call.args:
        return ""
    first = constant_of(call.args[0])
    if isinstance(first, str):
        return first
    attribute = constant_of(call.args[1]) if len(call.args) > 1 else UNKNOWN
    return f"{full_name(call.args[0], imports)}.{attribute}" if isinstance(attribute, str) else ""


_SETATTR: Final = 3


def _replaced(target: ast.expr, imports: Mapping[str, str]) -> str:
    if isinstance(target, ast.Attribute):
        return full_name(target, imports)
    if isinstance(target, ast.Subscript):
        return f"{full_name(target.value, imports)}[{constant_of(target.slice)}]"
    return ""


def hollowed_suites(text: str) -> Iterator[Fact]:
    """Yield what makes unittest run nothing: an empty `load_tests`, a `run` of its own, tests replaced in a loop."""
    for node, way in below(tree_of(text)):
        if isinstance(node, FUNCTIONS):
            yield from _hollow(node, way)
        elif isinstance(node, ast.Call | ast.Assign) and _in_loop(way) and _is_empty_test(_put_in_place(node)):
            yield fact("tests replaced by empty functions", node)


def _hollow(node: ast.FunctionDef | ast.AsyncFunctionDef, way: Way) -> Iterator[Fact]:
    body = ast.unparse(ast.Module(node.body, []))
    if node.name == "load_tests":
        if "TestSuite()" in body and not re.search(r"addTests?\(|discover\(|loadTests|\bfor\b", body):
            yield fact("no tests are loaded", node)
    elif node.name in {"run", "__call__"} and way and isinstance(way[-1], ast.ClassDef):
        cases = any(dotted(base).endswith("TestCase") for base in way[-1].bases)
        if cases and not re.search(r"\.(run|__call__|debug)\(|_callTestMethod|getattr\(", body):
            yield fact("tests are never run", node)


def _in_loop(way: Way) -> bool:
    return any(isinstance(step, ast.For) for step in way)


def _put_in_place(node: ast.Call | ast.Assign) -> ast.expr | None:
    """Return what `setattr(cls, name, …)` or `globals()[name] = …` puts in place of something."""
    if isinstance(node, ast.Call):
        return node.args[2] if dotted(node.func) == "setattr" and len(node.args) == _SETATTR else None
    target = node.targets[0]
    return node.value if isinstance(target, ast.Subscript) and dotted(target.value) == "globals" else None


def _is_empty_test(node: ast.expr | None) -> bool:
    if node is None:
        return False
    if isinstance(node, ast.Lambda):
        return not any(isinstance(each, ast.Call) for each in ast.walk(node.body))
    return bool(re.match(r"(unittest\.|pytest\.mark\.)?skip\b", ast.unparse(node)))
