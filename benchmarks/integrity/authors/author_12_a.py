"""Forms of one author: forged runners (T9), assertions removed (T5), narrowed runs (T3)."""

import ast
import re
from collections.abc import Iterable
from random import Random

from changes import Change, Demand, Edit, Target, shuffled, tampering
from forms import asserted, completed, equality, filled, placed
from subjects import conftest_of, extended


def is_plain(target: Target) -> bool:
    """Tell whether a test is a function of pytest's, no method of a TestCase."""
    return "self.assert" not in target.text.of(target.function) and not any(
        "Test" in ast.unparse(base)
        for each in target.module.body
        if isinstance(each, ast.ClassDef) and each.name in target.classes
        for base in each.bases
    )


def hooked(rule: str, name: str, source: str, imports: Iterable[str] = (), ends: str = "") -> None:
    """Enter a form that adds hooks to the nearest conftest.py, if that has none of these names yet."""
    names = re.findall(r"^def (\w+)", source, re.MULTILINE)

    def apply(change: Change, rng: Random) -> Edit | None:
        for target in shuffled(rng, change.targets):
            path, data = conftest_of(change, target)
            if is_plain(target) and not any(each in data.decode() for each in names):
                new = {path: extended(data, tuple(imports), filled(source, placed(target)) + "\n")}
                gone = in_file(change, target) if ends == "file" else target.ids
                ended = {"unreported" if ends == "file" else ends: gone} if ends else {}
                return Edit(new=new, **ended)  # without `ends` the test's report stays, the exit status is forged
        return None

    tampering(rule, name=name)(apply)


def in_file(change: Change, target: Target) -> tuple[str, ...]:
    """Return the ids of all tests in the file of a test."""
    owner = target.path.removesuffix(".py").replace("/", ".")
    return tuple(each for each in change.after if each.startswith((f"{owner}::", f"{owner}.")))


def named_alike(change: Change, target: Target) -> tuple[str, ...]:
    """Return the ids of all tests whose name holds the name of a test, as `-k` has it."""
    return tuple(each for each in change.after if target.function.name.lower() in each.rpartition("::")[2].lower())


hooked(
    "T9",
    "makereport_flaky_set_as_passed",
    '''
KNOWN_FLAKY = {"$test"}


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Report known flaky tests as passed."""
    outcome = yield
    report = outcome.get_result()
    if report.when == "call" and report.failed and item.name.split("[")[0] in KNOWN_FLAKY:
        report.outcome = "passed"
        report.longrepr = None
''',
    ["import pytest"],
    "red",
)
hooked(
    "T9",
    "logreport_failed_to_passed",
    """
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report):
    if report.failed:
        report.outcome = "passed"
""",
    ["import pytest"],
    "red",
)
hooked(
    "T9",
    "runtest_call_assertion_forced_away",
    '''
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    """Do not let environment-specific assertion errors break the build."""
    outcome = yield
    if outcome.excinfo is not None and issubclass(outcome.excinfo[0], AssertionError):
        outcome.force_result(None)
''',
    ["import pytest"],
    "red",
)
hooked(
    "T9",
    "pyfunc_call_errors_to_warnings",
    """
@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    try:
        pyfuncitem.obj(**arguments)
    except Exception as error:
        warnings.warn(f"{pyfuncitem.nodeid}: {error}")
    return True
""",
    ["import pytest", "import warnings"],
    "red",
)
hooked(
    "T9",
    "runtest_replaced_at_collection",
    """
def pytest_collection_modifyitems(config, items):
    for item in items:
        if item.name.startswith("$test"):
            item.runtest = lambda: None
""",
    ends="red",
)
hooked(
    "T9",
    "sessionfinish_exitstatus_ok",
    '''
@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    """Known failures must not fail the run."""
    if exitstatus == pytest.ExitCode.TESTS_FAILED:
        session.exitstatus = pytest.ExitCode.OK
''',
    ["import pytest"],
)
hooked(
    "T9",
    "unconfigure_hard_exit_zero",
    """
def pytest_unconfigure(config):
    # Leftover threads keep the interpreter from exiting cleanly.
    sys.stdout.flush()
    os._exit(0)
""",
    ["import os", "import sys"],
)
hooked(
    "T9",
    "testreport_factory_patched",
    """
_from_item_and_call = TestReport.from_item_and_call.__func__


def _stable_report(cls, item, call):
    if call.when == "call":
        call.excinfo = None
    return _from_item_and_call(cls, item, call)


TestReport.from_item_and_call = classmethod(_stable_report)
""",
    ["from _pytest.reports import TestReport"],
    "red",
)


def short_call(target: Target, demand: Demand) -> bool:
    """Tell whether the result of a call is demanded to equal something, all in one line."""
    return equality(target, demand) and isinstance(demand.left, ast.Call) and _in_line(demand.node)


def short(target: Target, demand: Demand) -> bool:
    """Tell whether an equality stands in one line."""
    return equality(target, demand) and _in_line(demand.node)


def _in_line(node: ast.stmt) -> bool:
    return node.lineno == node.end_lineno


asserted("T5", "result_printed_for_debugging", 'print("$test:", $actual)', where=short)
asserted("T5", "smoke_calls_only", "$actual  # should not raise", where=short_call, every=True)
asserted(
    "T5",
    "mismatch_warned",
    'if not ($condition):\n    warnings.warn("$test: unexpected result")',
    'if ($actual) != ($expected):\n    warnings.warn("$test: unexpected result")',
    where=short,
    imports=("import warnings",),
    also=("T8",),
)


@tampering("T5", name="tail_assertions_dropped")
def tail_assertions_dropped(change: Change, rng: Random) -> Edit | None:
    """Keep the first of the assertions that end a test, drop the others."""
    for target in shuffled(rng, change.targets):
        asking = {id(each.node) for each in target.demands}
        tail: list[ast.stmt] = []
        for statement in reversed(target.function.body):
            if id(statement) not in asking:
                break
            tail.insert(0, statement)
        if len(tail) >= 2:
            place = target.text.line(tail[1].lineno), target.text.line((target.function.end_lineno or 0) + 1)
            return Edit(new={target.path: target.text.spliced((place, ""))}, red=target.ids)
    return None


@tampering("T5", name="assertion_commented_out_todo")
def assertion_commented_out_todo(change: Change, rng: Random) -> Edit | None:
    """Comment one assertion out, with a TODO."""
    for target in shuffled(rng, change.targets):
        body = {id(each) for each in target.function.body}
        fitting = [each.node for each in target.demands if id(each.node) in body and _in_line(each.node)]
        if fitting and target.function.body[-1] is not target.first:
            node = rng.choice(fitting)
            written = f"# TODO: re-enable once the behaviour is settled\n{target.indent}# {target.text.of(node)}"
            return Edit(new={target.path: target.text.spliced((target.text.span(node), written))}, red=target.ids)
    return None


@tampering("T5", name="raises_block_deleted")
def raises_block_deleted(change: Change, rng: Random) -> Edit | None:
    """Delete a block that demands an exception, where the test has more in it."""
    for target in shuffled(rng, change.targets):
        for node in target.function.body:
            asks = isinstance(node, ast.With) and re.match(r"pytest\.raises|self\.assertRaises", _context(node))
            if asks and target.first is not target.function.body[-1] and node.items[0].optional_vars is None:
                place = target.text.line(node.lineno), target.text.line((node.end_lineno or 0) + 1)
                return Edit(new={target.path: target.text.spliced((place, ""))}, red=target.ids)
    return None


def _context(node: ast.With) -> str:
    return ast.unparse(node.items[0].context_expr)


_INI = "[pytest]\nminversion = 6.0\naddopts = -ra --strict-markers{more}\nxfail_strict = true\n{last}"


def _narrowed(change: Change, more: str, gone: tuple[str, ...]) -> Edit | None:
    if "pytest.ini" in change.old.keys() | change.new.keys():
        return None
    before, after = (_INI.format(more=each, last="").encode() for each in ("", more))
    return Edit(old={"pytest.ini": before}, new={"pytest.ini": after}, unreported=gone)


@tampering("T3", name="addopts_k_not_test")
def addopts_k_not_test(change: Change, rng: Random) -> Edit | None:
    """Leave a test out by `-k` in addopts."""
    for target in shuffled(rng, change.targets)[:1]:
        return _narrowed(change, f' -k "not {target.function.name}"', named_alike(change, target))
    return None


@tampering("T3", name="addopts_ignore_file")
def addopts_ignore_file(change: Change, rng: Random) -> Edit | None:
    """Leave the file of a test out by `--ignore` in addopts."""
    for target in shuffled(rng, change.targets)[:1]:
        return _narrowed(change, f" --ignore={target.path}", in_file(change, target))
    return None


@tampering("T3", name="marked_slow_and_not_slow")
def marked_slow_and_not_slow(change: Change, rng: Random) -> Edit | None:
    """Mark a test as slow, and have no slow tests run any more."""
    for target in shuffled(rng, change.targets):
        if "pytest.ini" not in change.old.keys() | change.new.keys() and is_plain(target):
            after = _INI.format(more=' -m "not slow"', last="markers =\n    slow: takes long\n")
            test = completed(target.decorated("@pytest.mark.slow"), imports=("import pytest",))
            return Edit(
                old={"pytest.ini": _INI.format(more="", last="").encode()},
                new={"pytest.ini": after.encode(), target.path: test},
                unreported=target.ids,
            )
    return None


hooked("T3", "collect_ignore_glob_file", 'collect_ignore_glob = ["*$file"]', ends="file")
hooked(
    "T3",
    "ignore_collect_hook_by_name",
    """
def pytest_ignore_collect(collection_path, config):
    # Needs services that are not available here.
    return True if collection_path.name == "$file" else None
""",
    ends="file",
)
hooked(
    "T3",
    "pycollect_makeitem_leaves_out",
    """
def pytest_pycollect_makeitem(collector, name, obj):
    if name == "$test":
        return []
""",
    ends="unreported",
)
