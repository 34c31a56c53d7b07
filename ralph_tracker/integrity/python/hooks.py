"""What the hooks of a pytest plugin do to outcomes, to the exit status and to what is collected."""

import ast
import re
from collections.abc import Callable, Iterator
from typing import Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.constants import UNKNOWN
from ralph_tracker.integrity.python.emptied_tests import CALLED_BY, cannot_fail, is_muffled, passes_over
from ralph_tracker.integrity.python.facts import Fact, fact
from ralph_tracker.integrity.python.hook_statuses import reports_rewritten, status_words, statuses_set
from ralph_tracker.integrity.python.nodes import Way, below, body_of, conditions, constant_of, full_name, returns_of
from ralph_tracker.integrity.python.patches import pairs_of
from ralph_tracker.integrity.python.plugins import PREFIX, Plugin, hooks_of, plugin_of, target_name
from ralph_tracker.integrity.python.syntax import Function, dotted, nodes_in

_PASSED: Final = "passed"
_SKIPPED: Final = "skipped"
# What a run was asked to leave out: set by a hook, nobody asked for it.
_NARROWING: Final = frozenset({"keyword", "markexpr", "deselect", "collectonly", "ignore", "ignore_glob"})
_RUNNING: Final = frozenset(
    {"pytest_runtest_protocol", "pytest_runtest_call", "pytest_pyfunc_call", "pytest_runtest_makereport"}
)
_ANSWERING: Final = frozenset({"pytest_pyfunc_call", "pytest_runtest_protocol", "pytest_runtestloop"})
_RUNS: Final = Pattern(r"\byield\b|\.obj\b|\.function\b|testfunction|runtest|\.execute\b|\.run\(|call_and_report")
_OPTION: Final = Pattern(
    r"getoption|getini|getvalue|\boption\b|\.invocation|environ|getenv|platform|version|find_spec|import|closest_marker|skipif",
    re.IGNORECASE,
)
_SKIPS: Final = Pattern(r"\b(skip|Skipped|xfail|XFailed)\b")
# What a hook may ask of a failure that says which one it is.
_KIND_OF_FAILURE: Final = Pattern(
    r"excinfo|isinstance|errisinstance|longrepr|typename|marker|keywords|getoption|environ|platform|version"
)
_NODES: Final = Pattern(r"(^|\.)(node|item|request|pyfuncitem)$")
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
    """Yield what the hooks of a file forge, and the fixtures that each test is given. Raises Unparsable."""
    plugin = plugin_of(text)
    called: set[str] = set()
    known: set[int] = set()
    for hook in hooks_of(text, plugin):
        known.add(hook.lineno)
        called |= {dotted(each.func) for each in nodes_in(hook) if isinstance(each, ast.Call)}
        for look in _LOOKS:
            yield from look(hook, plugin)
        yield from reports_rewritten(hook)
    for name, function in plugin.functions.items():
        if function.lineno in known or name.startswith(PREFIX):
            continue
        if name in called:
            yield from _outcomes_set(function, plugin)
            yield from statuses_set(function, plugin)
        elif _is_for_each_test(function):
            yield from _outcomes_set(function, plugin)
        if name in called or "atexit" in text:
            yield from reports_rewritten(function)


def _is_for_each_test(function: Function) -> bool:
    calls = [each for each in function.decorator_list if isinstance(each, ast.Call)]
    return any(given.arg == "autouse" for each in calls for given in each.keywords)


def _outcomes_set(function: Function, plugin: Plugin) -> Iterator[Fact]:
    """Yield reports that are made to say passed, and failures that are taken out of them."""
    for node, way in below(function):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            yield from _assigned(node, way, plugin)
        elif isinstance(node, ast.Call):
            name = full_name(node.func, plugin.imports).rpartition(".")[2]
            if _passes(name, node):
                yield fact("test outcome set to passed", node)
            elif name == "force_result" and function.name in _RUNNING - {"pytest_runtest_makereport"}:
                yield fact("result of a test forced", node)
            elif name == "force_exception" and _SKIPS.search(ast.unparse(node)):
                yield fact("failure turned into a skip", node)
            elif name == "setattr" and _replaces_test(node, plugin):
                yield fact("test replaced by an empty function", node)


def _replaces_test(call: ast.Call, plugin: Plugin) -> bool:
    """Read `setattr(item, "obj", …)` and `monkeypatch.setattr(request.node, "obj", …)`."""
    given = call.args
    if len(given) != _SETATTR or constant_of(given[1]) not in CALLED_BY or not _NODES.search(dotted(given[0])):
        return False
    return cannot_fail(given[2], plugin.functions) or is_muffled(given[2], plugin.functions)


_SETATTR: Final = 3


def _passes(name: str, call: ast.Call) -> bool:
    values = [constant_of(each) for each in call.args]
    named = {each.arg: constant_of(each.value) for each in call.keywords}
    if name in {"setattr", "__setattr__"}:
        return "outcome" in values and _PASSED in values
    if name in {"update", "replace", "TestReport", "CollectReport", "_replace"}:
        return named.get("outcome") == _PASSED or (name.endswith("Report") and _PASSED in values)
    return False


def _assigned(node: ast.Assign | ast.AnnAssign | ast.AugAssign, way: Way, plugin: Plugin) -> Iterator[Fact]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    given = ast.Constant(...) if node.value is None else node.value
    for target, value in (pair for each in targets for pair in pairs_of(each, given)):
        name = target_name(target)
        if name == "outcome":
            yield from _outcome(node, value, way)
        elif name in {"longrepr", "excinfo", "_excinfo", "_exception"} and constant_of(value) is None:
            yield fact("failure taken out of the report", node)
        elif name in {"excinfo", "_excinfo", "_exception"} and _SKIPS.search(ast.unparse(value)):
            yield fact("failure turned into a skip", node, certain=not _KIND_OF_FAILURE.search(conditions(way)))
        elif name in CALLED_BY and cannot_fail(value, plugin.functions):
            yield fact("test replaced by an empty function", node)
        elif name in CALLED_BY and is_muffled(value, plugin.functions):
            yield fact("failure of a test swallowed", node)
        elif name == "__code__":
            yield fact("test replaced by other code", node)


def _outcome(node: ast.stmt, value: ast.expr, way: Way) -> Iterator[Fact]:
    if _PASSED in _constants(value):
        yield fact("test outcome set to passed", node)
    elif constant_of(value) == _SKIPPED:
        yield fact("test outcome set", node, certain=not _KIND_OF_FAILURE.search(conditions(way)))
    elif _is_unknown(value):
        yield fact("test outcome set", node, certain=False)


def _is_unknown(node: ast.expr) -> bool:
    """Tell whether a value may be any outcome; one that is kept elsewhere is no change."""
    return constant_of(node) is UNKNOWN and not isinstance(node, ast.IfExp) and not dotted(node).endswith("outcome")


def _constants(node: ast.AST | None) -> list[object]:
    if isinstance(node, ast.IfExp):
        return [*_constants(node.body), *_constants(node.orelse)]
    return [constant_of(node)]


def _never_called(function: Function, plugin: Plugin) -> Iterator[Fact]:
    """Yield hooks that tell pytest that a test was run and never run it, or that keep its failure to themselves."""
    del plugin
    if function.name in _ANSWERING:
        told = [each for each in returns_of(function) if constant_of(each.value) not in {None, False, UNKNOWN}]
        if told and not _RUNS.search(ast.unparse(ast.Module(function.body, []))):
            yield fact("test never called", function, shown=told[0])
    if function.name in _RUNNING:
        for node, _ in below(function):
            if isinstance(node, ast.Try) and _RUNS.search(ast.unparse(ast.Module(node.body, []))):
                yield from (fact("failure of a test swallowed", node) for each in node.handlers if passes_over(each))
            elif isinstance(node, ast.With) and _SUPPRESSES.search(ast.unparse(node)):
                yield fact("failure of a test swallowed", node)


_SUPPRESSES: Final = Pattern(r"^with .*suppress\(.*(Exception|AssertionError).*\):\n(.|\n)*(\byield\b|\.obj\b|runtest)")


def _options_set(function: Function, plugin: Plugin) -> Iterator[Fact]:
    """Yield options that choose tests and are set by a hook, whatever the run was asked for."""
    del plugin
    for node, way in below(function):
        if isinstance(node, ast.Assign) and not conditions(way) and not _is_empty_choice(node.value):
            names = (dotted(each).rpartition(".option.") for each in node.targets)
            if any(dot and name in _NARROWING for _, dot, name in names):
                yield fact("tests left out by an option that is set", node, certain=False)


def _is_empty_choice(node: ast.expr) -> bool:
    value = constant_of(node)
    return (value is not UNKNOWN and not value) or _empty(node)


def _dropped(function: Function, plugin: Plugin) -> Iterator[Fact]:
    """Yield collected tests that are dropped, or all marked to be skipped, where no option or platform is asked."""
    del plugin
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


Look = Callable[[Function, Plugin], Iterator[Fact]]
_LOOKS: Final[tuple[Look, ...]] = (_outcomes_set, statuses_set, _never_called, status_words, _options_set, _dropped)
