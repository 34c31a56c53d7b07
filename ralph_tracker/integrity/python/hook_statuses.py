"""Where the hooks of a pytest plugin set how a run ended, and what is told of it: exit status, summary, report."""

import ast
import re
from collections.abc import Iterator
from typing import Final

from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.exits import ends_well
from ralph_tracker.integrity.python.facts import Fact, fact
from ralph_tracker.integrity.python.nodes import Way, below, conditions, constant_of
from ralph_tracker.integrity.python.plugins import Plugin, target_name
from ralph_tracker.integrity.python.successes import is_success, may_succeed
from ralph_tracker.integrity.python.syntax import Function, dotted, nodes_in

_PASSED: Final = "passed"
_STATUSES: Final = frozenset({"exitstatus", "testsfailed", "exitcode"})
_NO_TESTS: Final = Pattern(r"NO_?TESTS_?COLLECTED|== 5\b|\b5 ==|testscollected|not .*items", re.IGNORECASE)
_FORCED: Final = frozenset({"pytest_cmdline_main", "pytest_runtestloop"})
_SUMMING_UP: Final = frozenset(
    {
        "pytest_terminal_summary",
        "pytest_sessionfinish",
        "pytest_unconfigure",
        "pytest_runtest_logreport",
        "pytest_json_modifyreport",
    }
)
_STATS: Final = Pattern(
    r"\b(stats|summary['\"]\])(\[['\"](failed|error)['\"]\]\s*=|\.pop\(['\"](failed|error)|\[['\"](failed|error)['\"]\]\.clear\()"
    r"|\.stats(\s*=|\.clear\()|^del .*\bstats"
)
_STATS_BY_NAME: Final = Pattern(r"\bstats(\[\w+\]\s*=\s*\[\]|\.pop\(\w+\b|\[\w+\]\.clear\()")
_OF_FAILURES: Final = Pattern(r"['\"](failed|error)['\"]")
# A report of the tests is named, failures in it too, it is altered, and it is written.
_REPORT: Final = Pattern(r"xmlpath|xml_?path|junit|\.xml\b|json_?report|report_?(file|path|log)", re.IGNORECASE)
_FAILURES: Final = Pattern(r"['\"</](failures?|errors?|failed)\b|<testcase|<testsuite")
_ALTERS: Final = Pattern(
    r"\.sub\(|\.replace\(|\.remove\(|\.clear\(|\.set\(|\.tag = |<testcase|<testsuite|failures=|\.pop\(|\['\w+'\] = "
)
_WRITES: Final = Pattern(r"\.write(_text|_bytes|lines)?\(|\bdump\(")


def statuses_set(function: Function, plugin: Plugin) -> Iterator[Fact]:
    """Yield exit statuses set to success, and exits from hooks."""
    for node, way in below(function):
        if isinstance(node, ast.Assign) and any(target_name(each) in _STATUSES for each in node.targets):
            if may_succeed(node.value, plugin.values):
                yield _status(node, way, node.value)
        elif isinstance(node, ast.Call) and dotted(node.func) == "setattr" and _sets_status(node, plugin):
            yield _status(node, way, node.args[-1])
        elif isinstance(node, ast.Call) and function.name in _FORCED and _forces_success(node, plugin):
            yield _status(node, way, node)
        elif isinstance(node, ast.stmt | ast.Call) and ends_well(node, plugin.imports, plugin.values):
            yield fact(f"exit with success in {function.name}", node)
    if function.name == "pytest_cmdline_main":
        yield from (fact("exit status set to success", each) for each in _successes_returned(function, plugin))


def _successes_returned(function: Function, plugin: Plugin) -> Iterator[ast.Return]:
    for each, way in below(function):
        if isinstance(each, ast.Return) and is_success(each.value, plugin.values) and not conditions(way):
            yield each


def _status(node: ast.stmt | ast.expr, way: Way, value: ast.AST) -> Fact:
    asked = f"{conditions(way)} {ast.unparse(value.test) if isinstance(value, ast.IfExp) else ''}"
    return fact("exit status set to success", node, certain=not _NO_TESTS.search(asked))


def _sets_status(call: ast.Call, plugin: Plugin) -> bool:
    named = any(constant_of(each) in _STATUSES for each in call.args[1:-1])
    return named and may_succeed(call.args[-1], plugin.values)


def _forces_success(call: ast.Call, plugin: Plugin) -> bool:
    if not dotted(call.func).endswith(".force_result") or not call.args:
        return False
    return constant_of(call.args[0]) is True or may_succeed(call.args[0], plugin.values)


def status_words(function: Function, plugin: Plugin) -> Iterator[Fact]:
    """Yield where failures are shown as passed, or taken out of what is told at the end."""
    del plugin
    if function.name == "pytest_report_teststatus":
        for node, way in below(function):
            if isinstance(node, ast.Tuple) and node.elts and constant_of(node.elts[0]) == _PASSED:
                asked = conditions(way)
                if "passed" not in asked and "wasxfail" not in asked:
                    yield fact("failure shown as passed", node)
    elif function.name in _SUMMING_UP:
        of_failures = _OF_FAILURES.search(ast.unparse(function)) is not None
        for each in nodes_in(function):
            if isinstance(each, ast.Assign | ast.AugAssign | ast.Delete | ast.Expr):
                text = ast.unparse(each)
                if _STATS.search(text) or (of_failures and _STATS_BY_NAME.search(text)):
                    yield fact("failures taken out of the summary", each)


def reports_rewritten(function: Function) -> Iterator[Fact]:
    """Yield where a function alters the failures in a written report of the tests."""
    text = ast.unparse(function)
    if not (_REPORT.search(text) and _WRITES.search(text) and _FAILURES.search(text) and _ALTERS.search(text)):
        return
    for each in nodes_in(function):
        if isinstance(each, ast.Call) and _WRITES.search(f".{dotted(each.func).rpartition('.')[2]}("):
            yield fact("report of the tests rewritten", each)
            return
