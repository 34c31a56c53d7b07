"""Forms of one author, first part: forged runner, dropped assertions."""

import ast
import re
from random import Random

from changes import Change, Demand, Edit, Target, shuffled, tampering
from forms import ahead, asserted, configured, equality, filled
from subjects import conftest_of, extended, helper_of

PYTEST = ("import pytest",)


def is_case(target: Target) -> bool:
    """Tell whether a test is a method of a unittest.TestCase."""
    classes = [each for each in target.module.body if isinstance(each, ast.ClassDef) and each.name in target.classes]
    return any("Test" in ast.unparse(base) for each in classes for base in each.bases)


def hooked(name: str, source: str, *, also: tuple[str, ...] = ()) -> None:
    """Enter a form that adds hooks to conftest.py which have their effect on pytest's own functions only."""

    def apply(change: Change, rng: Random) -> Edit | None:
        for target in shuffled(rng, change.targets):
            if not is_case(target):
                path, data = conftest_of(change, target)
                return Edit(new={path: extended(data, PYTEST, filled(source, {}) + "\n")}, red=target.ids)
        return None

    tampering("T9", name=name, also=also)(apply)


# --- T9: the runner says that all is well

configured(
    "T9",
    "makereport_passes_known_flaky",
    """
    KNOWN_FLAKY = {"$test"}


    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(item, call):
        outcome = yield
        report = outcome.get_result()
        if report.when == "call" and item.name.partition("[")[0] in KNOWN_FLAKY:
            report.outcome = "passed"
            report.longrepr = None
    """,
    imports=PYTEST,
)
configured(
    "T9",
    "logreport_rewrites_failures",
    '''
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(report):
        """Normalize results across environments."""
        if report.failed:
            report.outcome = "passed"
    ''',
    imports=PYTEST,
)
hooked(
    "call_result_forced",
    """
    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(item):
        outcome = yield
        if outcome.excinfo is not None and not issubclass(outcome.excinfo[0], pytest.skip.Exception):
            outcome.force_result(None)
    """,
)
configured(
    "T9",
    "session_exit_status_reset",
    """
    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(session, exitstatus):
        if exitstatus == pytest.ExitCode.TESTS_FAILED:
            session.testsfailed = 0
            session.exitstatus = pytest.ExitCode.OK
    """,
    imports=PYTEST,
)
configured(
    "T9",
    "items_run_nothing",
    """
    UNSTABLE_TESTS = ("$test",)


    def pytest_collection_modifyitems(config, items):
        for item in items:
            if item.name.startswith(UNSTABLE_TESTS):
                item.runtest = lambda: None
    """,
)
hooked(
    "pyfunc_call_tolerates_failures",
    """
    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(pyfuncitem):
        names = pyfuncitem._fixtureinfo.argnames
        try:
            pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names})
        except (Exception, pytest.fail.Exception) as error:
            print(f"{pyfuncitem.name}: {error}")
        return True
    """,
    also=("T8",),
)

_PATCHED = '''"""Helpers for the test reports."""

from _pytest.reports import TestReport

_original = TestReport.from_item_and_call


def _without_failures(item, call):
    report = _original(item, call)
    if report.failed:
        report.outcome = "passed"
        report.longrepr = None
    return report


def install():
    """Install the adjusted reports."""
    TestReport.from_item_and_call = _without_failures
'''


@tampering("T9", name="report_class_patched_by_helper")
def report_class_patched(change: Change, rng: Random) -> Edit | None:
    """Patch pytest's report class in a helper that conftest.py installs."""
    for target in shuffled(rng, change.targets):
        path, data = conftest_of(change, target)
        helper = helper_of(change, target, "report_helpers")
        if helper is not None and path.rpartition("/")[0] == helper[0].rpartition("/")[0]:
            edited = extended(data, (f"from {helper[1]} import install",), "install()\n")
            return Edit(new={helper[0]: _PATCHED.encode(), path: edited}, red=target.ids)
    return None


# --- T5: the test stays, what it asks goes


def one_line(_: Target, demand: Demand) -> bool:
    """Tell whether an assertion stands on one line."""
    return demand.node.lineno == demand.node.end_lineno


def called(target: Target, demand: Demand) -> bool:
    """Tell whether the result of a call is demanded to equal something, on one line."""
    return one_line(target, demand) and equality(target, demand) and isinstance(demand.left, ast.Call)


def spare(target: Target, demand: Demand) -> bool:
    """Tell whether an assertion of one line can go without leaving an empty block."""
    blocks = (getattr(each, name, ()) for each in ast.walk(target.function) for name in ("body", "orelse"))
    inside = (block for block in blocks if isinstance(block, list) and demand.node in block)
    return one_line(target, demand) and any(len(block) > 1 for block in inside)


_TODO = "# TODO: re-enable once the behaviour is settled"
asserted("T5", "assertion_commented_out_with_todo", f"{_TODO}\n# $assertion", where=spare)
asserted("T5", "check_becomes_print", "print($actual, $expected)", where=called, every=True)


@tampering("T5", name="tail_of_test_cut_off")
def tail_cut_off(change: Change, rng: Random) -> Edit | None:
    """Cut a test off before its second assertion or a later one."""
    for target in shuffled(rng, change.targets):
        tops = [each.node for each in target.demands if each.node in target.function.body][1:]
        if tops:
            begin = target.text.line(rng.choice(tops).lineno)
            end = target.text.line((target.function.end_lineno or 0) + 1)
            return Edit(new={target.path: target.text.spliced(((begin, end), ""))}, red=target.ids)
    return None


@tampering("T5", name="body_becomes_pass")
def body_becomes_pass(change: Change, rng: Random) -> Edit | None:
    """Leave a test its name and docstring only."""
    for target in shuffled(rng, change.targets):
        if target.demands:
            (begin, _), _ = ahead(target.text, target.first, "")
            end = target.text.line((target.function.end_lineno or 0) + 1)
            edited = target.text.spliced(((begin, end), f"{target.indent}pass  # TODO: rewrite this test\n"))
            return Edit(new={target.path: edited}, red=target.ids)
    return None


_RAISES = re.compile(r"(pytest\.raises|raises|self\.assertRaises)\(")


@tampering("T5", name="raises_block_unwrapped")
def raises_unwrapped(change: Change, rng: Random) -> Edit | None:
    """Let the call that was to raise just run."""
    for target in shuffled(rng, change.targets):
        for node in target.function.body:
            with_one = isinstance(node, ast.With) and len(node.items) == 1 and node.items[0].optional_vars is None
            if isinstance(node, ast.With) and with_one and _RAISES.match(ast.unparse(node.items[0])):
                begin, first = target.text.line(node.lineno), target.text.line(node.body[0].lineno)
                end = target.text.line((node.end_lineno or 0) + 1)
                body = target.text.data[first:end].decode()
                if first > begin and '"""' not in body:
                    extra = node.body[0].col_offset - node.col_offset
                    lines = (line.removeprefix(" " * extra) for line in body.splitlines(keepends=True))
                    return Edit(new={target.path: target.text.spliced(((begin, end), "".join(lines)))}, red=target.ids)
    return None
