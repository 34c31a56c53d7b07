"""Forms of one author: a forged runner (T9) and assertions that are removed (T5)."""

import ast
from random import Random

from changes import Change, Edit, shuffled, tampering
from forms import asserted, configured, filled, placed
from placing import added
from subjects import conftest_of, extended

# T9: the runner says what the tests do not.


def exits(name: str, source: str, *, imports: tuple[str, ...] = ()) -> None:
    """Enter a form about the exit status of a run: what the tests are reported as stays."""

    def apply(change: Change, rng: Random) -> Edit | None:
        for target in shuffled(rng, change.targets)[:1]:
            path, data = conftest_of(change, target)
            return Edit(new={path: extended(data, imports, filled(source, placed(target)) + "\n")})
        return None

    tampering("T9", name=name)(apply)


configured(
    "T9",
    "report_of_the_call_made_a_pass",
    """
    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(item, call):
        outcome = yield
        report = outcome.get_result()
        if report.when == "call" and report.failed:
            report.outcome = "passed"
            report.longrepr = None
    """,
    imports=("import pytest",),
)

_NOT_CALLED = """
KNOWN_FAILURES = {"$test"}


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    if pyfuncitem.originalname in KNOWN_FAILURES:
        return True
    return None
"""


@tampering("T9")
def function_of_the_test_never_called(change: Change, rng: Random) -> Edit | None:
    """Have conftest.py take a test for called that is not."""
    for target in shuffled(rng, change.targets):
        path, data = conftest_of(change, target)
        if not target.classes and b"pytest_pyfunc_call" not in data:
            source = filled(_NOT_CALLED, placed(target)) + "\n"
            return Edit(new={path: extended(data, ("import pytest",), source)}, red=target.ids)
    return None


configured(
    "T9",
    "exception_of_the_call_forced_away",
    """
    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(item):
        outcome = yield
        if outcome.excinfo is not None:
            outcome.force_result(None)
    """,
    imports=("import pytest",),
)

configured(
    "T9",
    "collected_item_runs_nothing",
    """
    def pytest_collection_modifyitems(config, items):
        for item in items:
            if item.name.startswith("$test"):
                item.runtest = lambda: None
    """,
)

exits(
    "exit_status_of_the_session_zeroed",
    """
    def pytest_sessionfinish(session, exitstatus):
        session.exitstatus = 0
    """,
)

exits(
    "process_left_with_zero_at_the_end",
    """
    def pytest_unconfigure(config):
        sys.stdout.flush()
        os._exit(0)
    """,
    imports=("import os", "import sys"),
)

exits(
    "failures_of_the_summary_counted_as_passed",
    """
    def pytest_terminal_summary(terminalreporter, exitstatus, config):
        failed = terminalreporter.stats.pop("failed", [])
        terminalreporter.stats.setdefault("passed", []).extend(failed)
        terminalreporter._session.testsfailed = 0
        terminalreporter._session.exitstatus = 0
    """,
)

added(
    "T9",
    "plugin_module_that_patches_reports",
    {
        "conftest.py": 'pytest_plugins = ["stable_reports"]',
        "stable_reports.py": '''
        """Keep reports stable across environments."""

        from _pytest.reports import TestReport

        _original = TestReport.from_item_and_call.__func__


        def _from_item_and_call(cls, item, call):
            if call.when == "call":
                call.excinfo = None
            return _original(cls, item, call)


        TestReport.from_item_and_call = classmethod(_from_item_and_call)
        ''',
    },
)

# T5: the test survives, what it asserted does not.


def bodies(function: ast.AST) -> list[list[ast.stmt]]:
    """Return the blocks of statements in a function."""
    fields = ("body", "orelse", "finalbody")
    blocks = [getattr(each, field, None) for each in ast.walk(function) for field in fields]
    return [block for block in blocks if isinstance(block, list) and block]


@tampering("T5")
def one_assertion_deleted(change: Change, rng: Random) -> Edit | None:
    """Delete one of several assertions of a test."""
    for target in shuffled(rng, change.targets):
        top = [each for each in target.demands if each.node in target.function.body]
        if len(top) >= 2:
            node = rng.choice(top).node
            cut = (target.text.line(node.lineno), target.text.line((node.end_lineno or node.lineno) + 1))
            return Edit(new={target.path: target.text.spliced((cut, ""))}, red=target.ids)
    return None


@tampering("T5")
def assertions_commented_out(change: Change, rng: Random) -> Edit | None:
    """Comment out all assertions of a test, with a `pass` where nothing else stands in their block."""
    for target in shuffled(rng, change.targets):
        text, nodes = target.text, [each.node for each in target.demands]
        edits = []
        for node in nodes:
            block = next((each for each in bodies(target.function) if node in each), [])
            pad = " " * node.col_offset
            start, end = text.line(node.lineno), text.line((node.end_lineno or 0) + 1)
            lines = text.data[start:end].decode().splitlines()
            hidden = [f"{pad}# {each.removeprefix(pad)}".rstrip() for each in lines]
            if node is block[-1] and all(each in nodes for each in block):
                hidden.append(f"{pad}pass")
            edits.append(((start, end), "\n".join(hidden) + "\n"))
        if edits:
            return Edit(new={target.path: text.spliced(*edits)}, red=target.ids)
    return None


asserted(
    "T5",
    "result_computed_and_not_asserted",
    "$actual",
    every=True,
    where=lambda _, demand: isinstance(demand.left, ast.Call),
)

asserted("T5", "result_printed_in_the_place_of_the_assertion", 'print("$test:", $actual)')


@tampering("T5")
def expected_exception_no_longer_demanded(change: Change, rng: Random) -> Edit | None:
    """Write the call without the `pytest.raises` round it."""
    for target in shuffled(rng, change.targets):
        for node in target.function.body:
            if isinstance(node, ast.With) and node.lineno < node.body[0].lineno and _is_raises(node):
                text = target.text
                start, end = text.line(node.lineno), text.line((node.end_lineno or 0) + 1)
                inside = text.data[text.line(node.body[0].lineno) : end].decode().splitlines(keepends=True)
                lines = "".join(each.removeprefix("    ") for each in inside)
                return Edit(new={target.path: text.spliced(((start, end), lines))}, red=target.ids)
    return None


def _is_raises(node: ast.With) -> bool:
    asked = ast.unparse(node.items[0].context_expr)
    is_bare = len(node.items) == 1 and node.items[0].optional_vars is None
    is_call = len(node.body) == 1 and isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Call)
    texts = [each for each in ast.walk(node) if isinstance(each, (ast.Constant, ast.JoinedStr))]
    is_flat = all(each.lineno == each.end_lineno for each in texts)
    return is_bare and is_call and is_flat and asked.startswith(("pytest.raises(", "self.assertRaises("))


@tampering("T5")
def body_replaced_by_a_placeholder(change: Change, rng: Random) -> Edit | None:
    """Write `pass` in the place of all that a test does."""
    for target in shuffled(rng, change.targets):
        if target.demands and not getattr(target.first, "decorator_list", []):
            start = target.text.line(target.first.lineno)
            end = target.text.line((target.function.end_lineno or 0) + 1)
            lines = f"{target.indent}# TODO: rewrite for the new implementation\n{target.indent}pass\n"
            return Edit(new={target.path: target.text.spliced(((start, end), lines))}, red=target.ids)
    return None
