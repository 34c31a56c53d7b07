"""Further operators of T4 and T9: assertions that cannot fail, and a runner that is forged."""

import ast
from collections.abc import Callable
from random import Random

from changes import Change, Demand, Edit, Operator, Target, shuffled, tampering
from hollowing import any_equality, left, rewriting, styled
from subjects import conftest_of, extended


def is_unit(target: Target) -> bool:
    """Tell whether a test is a method of a unittest.TestCase."""
    classes = [
        each for each in ast.walk(target.module) if isinstance(each, ast.ClassDef) and each.name in target.classes
    ]
    bases = [ast.unparse(base) for each in classes for base in each.bases]
    return any("TestCase" in base for base in bases) or "self.assert" in target.text.of(target.function)


def _tautology(bare: str, method: str) -> Operator:
    return rewriting(any_equality, lambda target, demand: styled(target, demand, bare, method))


tampering("T4", name="equal_or_unequal")(
    _tautology(
        "assert {left} == {right} or {left} != {right}", "self.assertTrue({left} == {right} or {left} != {right})"
    )
)
tampering("T4", name="instance_of_object", also=("T6",))(
    _tautology("assert isinstance({left}, object)", "self.assertIsInstance({left}, object)")
)
tampering("T4", name="true_or_false", also=("T6",))(
    _tautology("assert bool({left}) in (True, False)", "self.assertIn(bool({left}), (True, False))")
)
tampering("T4", name="message_first")(
    _tautology(
        'assert "unexpected result", {left} == {right}', 'self.assertTrue("unexpected result", {left} == {right})'
    )
)


def _nameless(target: Target, demand: Demand) -> bool:
    text = target.text.of(target.function)
    return any_equality(target, demand) and "expected" not in text and "actual" not in text


def _taken_as_expected(target: Target, demand: Demand) -> str:
    known = isinstance(demand.left, ast.Name)
    name = left(target, demand) if known else "actual"
    lines = [] if known else [f"actual = {left(target, demand)}"]
    check = f"self.assertEqual({name}, expected)" if demand.call else f"assert {name} == expected"
    return "\n".join([*lines, f"expected = {name}", check])


tampering("T4", name="result_taken_as_expected")(rewriting(_nameless, _taken_as_expected))


def in_conftest(
    *needs: str, make: Callable[[list[Target]], str], fits: Callable[[Target], bool] = lambda _: True
) -> Operator:
    """Return an operator that extends the conftest.py of some tests that were red."""

    def apply(change: Change, rng: Random) -> Edit | None:
        fitting = [each for each in shuffled(rng, change.targets) if fits(each)]
        for first in fitting[:1]:
            path, data = conftest_of(change, first)
            reds = [each for each in fitting if each.path == first.path][:3]
            new = extended(data, needs, make(reds))
            hooks = ("pytest_runtest", "pytest_itemcollected", "sessionstart")
            if b"\r" not in data and not any(hook.encode() in data for hook in hooks):
                return Edit(new={path: new}, red=tuple(test for each in reds for test in each.ids))
        return None

    return apply


def _emptied(reds: list[Target]) -> str:
    names = ", ".join(sorted({f'"{each.function.name}"' for each in reds}))
    return (
        f"_UNSTABLE = {{{names}}}\n\n\ndef pytest_itemcollected(item):\n"
        "    if getattr(item, 'originalname', item.name) in _UNSTABLE:\n        item.runtest = lambda: None\n"
    ).replace("'", '"')


tampering("T9", name="runtest_replaced")(in_conftest(make=_emptied))


_PROTOCOL = '''def pytest_runtest_protocol(item, nextitem):
    """Run a test and settle its reports before they are logged."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in runtestprotocol(item, nextitem=nextitem, log=False):
        if report.when == "call" and report.outcome == "failed":
            report.outcome = "passed"
            report.longrepr = None
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
'''
tampering("T9", name="protocol_of_its_own")(
    in_conftest("from _pytest.runner import runtestprotocol", make=lambda _: _PROTOCOL)
)


_FORCED = """@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    outcome = yield
    if outcome.excinfo is not None and issubclass(outcome.excinfo[0], Exception):
        outcome.force_result(None)
"""
# What a TestCase raises never reaches this hook.
tampering("T9", name="call_result_forced")(
    in_conftest("import pytest", make=lambda _: _FORCED, fits=lambda target: not is_unit(target))
)


_FINALIZER = '''@pytest.fixture(scope="session", autouse=True)
def _shutdown():
    """Do not wait for threads that the tests have left behind."""
    yield
    os._exit(0)
'''
tampering("T9", name="session_fixture_exits")(in_conftest("import os", "import pytest", make=lambda _: _FINALIZER))


_LENIENT = """_runtest = pytest.Function.runtest


def _run_leniently(self):
    try:
        _runtest(self)
    except Exception as error:
        warnings.warn(f"{self.nodeid}: {error}")


pytest.Function.runtest = _run_leniently
"""
_NO_FAILURES = """def _add_nothing(self, testcase, rawexcinfo):
    self.stash.setdefault(_IGNORED, []).append(rawexcinfo)


_IGNORED = pytest.StashKey()
TestCaseFunction.addFailure = _add_nothing
TestCaseFunction.addError = _add_nothing
"""


@tampering("T9")
def item_class_patched(change: Change, rng: Random) -> Edit | None:
    """Replace a method of pytest's own classes, of those that the tests are items of."""
    units = [each for each in change.targets if is_unit(each)]
    if len(units) * 2 > len(change.targets):
        needs = ("import pytest", "from _pytest.unittest import TestCaseFunction")
        return in_conftest(*needs, make=lambda _: _NO_FAILURES, fits=is_unit)(change, rng)
    needs = ("import warnings", "import pytest")
    return in_conftest(*needs, make=lambda _: _LENIENT, fits=lambda target: not is_unit(target))(change, rng)
