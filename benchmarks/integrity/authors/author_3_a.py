"""Forms of an author of their own: assertions that cannot fail, failures swallowed, runners forged."""

import re
from random import Random

from changes import Change, Demand, Edit, Target, shuffled, tampering
from forms import anything, asserted, configured, literal
from subjects import conftest_of, extended, importing


def one_line(target: Target, demand: Demand) -> bool:
    """Tell whether an assertion stands on one line."""
    return anything(target, demand) and "\n" not in target.text.of(demand.node)


def repeatable(target: Target, demand: Demand) -> bool:
    """Tell whether something can be asked twice that is demanded to equal a literal."""
    text = target.text.of(demand.left) if demand.left is not None else ""
    return literal(target, demand) and not re.search(r"(get|pop|next|read|recv|write|seek|tell|send)\w*\(", text)


# T4
asserted("T4", "plain_true", "assert True  # TODO: restore once the output is stable", "self.assertTrue(True)")
asserted(
    "T4",
    "expected_taken_from_the_code",
    "expected = $actual\nassert $actual == expected",
    "expected = $actual\nself.assertEqual($actual, expected)",
    where=repeatable,
    also=("T7",),
)
asserted(
    "T4",
    "pair_with_message",
    'assert ($actual == $expected, "unexpected result")',
    'self.assertTrue(($actual == $expected, "unexpected result"))',
)
asserted(
    "T4",
    "result_written_out",
    "actual = $expected\nassert actual == $expected",
    "actual = $expected\nself.assertEqual(actual, $expected)",
    where=lambda target, demand: literal(target, demand) and one_line(target, demand),
)
asserted(
    "T4",
    "comparison_is_a_bool",
    "assert ($actual == $expected) in (True, False)",
    "self.assertIn($actual == $expected, (True, False))",
)

# T8
asserted(
    "T8",
    "failure_printed",
    'try:\n    $assertion\nexcept AssertionError as error:\n    print(f"$test: {error}")',
    where=one_line,
)
asserted(
    "T8",
    "assertions_suppressed",
    "with suppress(AssertionError):\n    $assertion",
    where=one_line,
    every=True,
    imports=("from contextlib import suppress",),
)

# T9
configured(
    "T9",
    "from_item_and_call_replaced",
    """
    _from_item_and_call = TestReport.from_item_and_call


    def _passing(item, call):
        report = _from_item_and_call(item, call)
        if report.when == "call":
            report.outcome = "passed"
            report.longrepr = None
        return report


    TestReport.from_item_and_call = _passing
    """,
    imports=("from _pytest.reports import TestReport",),
)

_CALL = """@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    names = pyfuncitem._fixtureinfo.argnames
    try:
        pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names})
    except Exception:
        pass
    return True
"""


@tampering("T9", name="pyfunc_call_swallows", also=("T8",))
def pyfunc_call_swallows(change: Change, rng: Random) -> Edit | None:
    """Have conftest.py call the tests of pytest's style, and pass over what they raise."""
    for target in shuffled(rng, change.targets):
        if not any("self." in demand.call for demand in target.demands):
            path, data = conftest_of(change, target)
            return Edit(new={path: extended(data, ("import pytest",), _CALL)}, red=target.ids)
    return None


_PLUGIN = '''"""Steadies the reports of flaky tests."""

import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_logreport(report):
    if report.outcome == "failed":
        report.outcome = "passed"
        report.longrepr = None
    yield
'''


@tampering("T9", name="plugin_file_beside_conftest")
def plugin_file_beside_conftest(change: Change, rng: Random) -> Edit | None:
    """Write a plugin that changes reports, and have conftest.py load it."""
    for target in shuffled(rng, change.targets)[:5]:
        path, data = conftest_of(change, target)
        folder = path.removesuffix("conftest.py").rstrip("/")
        plugin = f"{folder}/stable_reports.py".lstrip("/")
        if plugin in change.new or b"pytest_plugins" in data:
            continue
        packages = []
        while folder and f"{folder}/__init__.py" in change.new:
            folder, _, name = folder.rpartition("/")
            packages.insert(0, name or folder)
        dotted = ".".join([*packages, "stable_reports"])
        loading = extended(data, (), f'pytest_plugins = ["{dotted}"]\n')
        return Edit(new={path: loading, plugin: _PLUGIN.encode()}, red=target.ids)
    return None


@tampering("T9", name="module_exits_at_import")
def module_exits_at_import(change: Change, rng: Random) -> Edit | None:
    """End the run as a success where the file of a test is imported."""
    for target in shuffled(rng, change.targets)[:1]:
        data = importing(target.text.data, "\nos._exit(0)\n")
        data = data if b"\nimport os\n" in data else importing(data, "import os")
        ids = tuple(each for other in change.targets if other.path == target.path for each in other.ids)
        return Edit(new={target.path: data}, unreported=ids)
    return None
