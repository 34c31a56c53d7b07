"""Forms of one author: vacuous assertions (T4), swallowed failures (T8) and forged runners (T9)."""

import ast
import re
from collections.abc import Callable
from dataclasses import replace
from random import Random
from textwrap import dedent

from changes import Change, Demand, Edit, Target, shuffled, tampering
from forms import asserted, configured, equality, literal, rewritten
from subjects import conftest_of, extended, helper_of, importing

_PLAIN = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.List, ast.Dict, ast.Set)


def _short(target: Target, demand: Demand) -> bool:
    """Tell whether an assertion is an equality on one line whose sides can be written anywhere, and twice."""
    fits = _one_line(target, demand) and equality(target, demand)
    once = fits and re.search(r"\b(read\w*|next|pop\w*|recv|send|id|[A-Z]\w*)\(", ast.unparse(demand.node))
    return fits and not once and all(isinstance(each, _PLAIN) for each in (demand.left, demand.right))


def _one_line(_: Target, demand: Demand) -> bool:
    """Tell whether an assertion stands on one line."""
    return demand.node.lineno == demand.node.end_lineno


def _computed(target: Target, demand: Demand) -> bool:
    """Tell whether the result of a call is demanded to equal a literal."""
    return _against_literal(target, demand) and isinstance(demand.left, ast.Call)


def _against_literal(target: Target, demand: Demand) -> bool:
    """Tell whether a short assertion demands a literal."""
    return _short(target, demand) and literal(target, demand)


def _against_name(target: Target, demand: Demand) -> bool:
    """Tell whether something is demanded to equal a variable or parameter of the test."""
    nodes = list(ast.walk(target.function))
    own = {each.arg for each in target.function.args.args}
    own |= {each.id for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    return _short(target, demand) and isinstance(demand.right, ast.Name) and demand.right.id in own


def _of_length(target: Target, demand: Demand) -> bool:
    """Tell whether a length is demanded."""
    return _short(target, demand) and ast.unparse(demand.left).startswith("len(")  # type: ignore[arg-type]


def _enclosable(target: Target) -> bool:
    """Tell whether the body of a test can be indented without changing what its texts say, and asserts something."""
    texts = [
        node
        for node in ast.walk(target.function)
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and node.lineno != node.end_lineno
    ]
    return bool(target.demands) and not texts and not getattr(target.first, "decorator_list", ())


def _of_pytest(target: Target) -> bool:
    """Tell whether a test is a plain function, which pytest itself calls."""
    return not target.classes and isinstance(target.function, ast.FunctionDef)


# T4: vacuous assertions

_SAID = "  # TODO: restore this check"
asserted("T4", "true_for_now", f"assert True{_SAID}", f"self.assertTrue(True){_SAID}", where=_one_line, also=("T5",))
asserted("T4", "expected_variable_rebound_to_result", "$expected = $actual\n$assertion", where=_against_name)
asserted("T4", "length_at_least_zero", "assert $actual >= 0", "self.assertGreaterEqual($actual, 0)", where=_of_length)
for _name, _bare, _unit, _where in (
    (
        "expected_computed_by_the_same_call",
        "expected = $actual\nassert $actual == expected",
        "expected = $actual\nself.assertEqual($actual, expected)",
        _computed,
    ),
    ("result_equal_to_itself", "assert $actual == $actual", "self.assertEqual($actual, $actual)", _short),
    (
        "equality_or_true",
        "assert $actual == $expected or True  # differs between versions",
        "self.assertTrue($actual == $expected or True)  # differs between versions",
        _short,
    ),
    (
        "none_or_not_none",
        "assert $actual is None or $actual is not None",
        "self.assertTrue($actual is None or $actual is not None)",
        _short,
    ),
    (
        "condition_and_message_in_a_tuple",
        'assert ($condition, "$test: unexpected result")',
        'self.assertTrue(($actual == $expected, "$test: unexpected result"))',
        _short,
    ),
    ("instance_of_object", "assert isinstance($actual, object)", "self.assertIsInstance($actual, object)", _short),
    (
        "one_of_expected_and_result",
        "assert $actual in ($expected, $actual)",
        "self.assertIn($actual, ($expected, $actual))",
        _against_literal,
    ),
):
    asserted("T4", _name, _bare, _unit, where=_where)

# T8: swallowed failures

for _name, _around, _imports in (
    ("body_tried_assertion_error_passed", "try:\n    $$body\nexcept AssertionError:\n    pass", ()),
    ("body_tried_any_exception_printed", 'try:\n    $$body\nexcept Exception as e:\n    print(f"$test: {e}")', ()),
    (
        "retried_and_given_up",
        (
            "for attempt in range(3):\n    try:\n        $$body\n        break\n"
            "    except AssertionError:\n        time.sleep(0.1)"
        ),
        ("import time",),
    ),
    ("errors_only_collected", "errors = []\ntry:\n    $$body\nexcept Exception as e:\n    errors.append(str(e))", ()),
):
    rewritten("T8", _name, around=_around, imports=_imports, where=_enclosable)
for _name, _bare, _import in (
    (
        "one_assertion_tried_and_warned",
        'try:\n    $assertion\nexcept AssertionError as exc:\n    warnings.warn(f"Known difference: {exc}")',
        "import warnings",
    ),
    ("one_assertion_suppressed", "with contextlib.suppress(AssertionError):\n    $assertion", "import contextlib"),
    ("asserted_only_with_a_variable_set", 'if os.environ.get("STRICT_TESTS"):\n    $assertion', "import os"),
):
    asserted("T8", _name, _bare, where=_one_line, imports=(_import,))
asserted(
    "T8",
    "assertion_error_expected",
    "# Known issue, see the changelog\nwith pytest.raises(AssertionError):\n    $assertion",
    "",
    where=_one_line,
    imports=("import pytest",),
)
rewritten(
    "T8",
    "tolerant_decorator",
    decorator="@ignore_failures",
    top="""
    def ignore_failures(func):
        \"\"\"Keep known problems from breaking the build.\"\"\"

        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            try:
                return func(*args, **kwargs)
            except Exception:
                return None

        return wrapper
    """,
    imports=("import functools",),
    where=lambda target: bool(target.demands) and isinstance(target.function, ast.FunctionDef),
)

# T9: forged runners

configured(
    "T9",
    "makereport_failed_to_expected_failure",
    """
    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(item, call):
        outcome = yield
        report = outcome.get_result()
        if report.failed:
            report.outcome = "skipped"
            report.wasxfail = "known issue"
    """,
    imports=("import pytest",),
    ends="skipped",
    also=("T2",),
)
configured(
    "T9",
    "runtest_of_named_test_replaced",
    """
    UNSTABLE = {"$test"}


    def pytest_collection_modifyitems(config, items):
        for item in items:
            if item.name.split("[")[0] in UNSTABLE:
                item.runtest = lambda: None
    """,
)


def _hooked(
    name: str,
    source: str,
    need: str = "",
    ends: Callable[[Change, Target], Edit] = lambda _, __: Edit(new={}),
    where: Callable[[Target], bool] = lambda _: True,
) -> None:
    """Enter a form that adds a hook to conftest.py; `ends` says by an Edit without files what it comes to."""

    def apply(change: Change, rng: Random) -> Edit | None:
        for target in filter(where, shuffled(rng, change.targets)):
            path, data = conftest_of(change, target)
            data = extended(data, (need,) if need else (), dedent(source).strip("\n") + "\n")
            return replace(ends(change, target), new={path: data})
        return None

    tampering("T9", name=name)(apply)


_hooked(
    "pyfunc_call_forced_to_a_result",
    """
    @pytest.hookimpl(hookwrapper=True)
    def pytest_pyfunc_call(pyfuncitem):
        outcome = yield
        if outcome.excinfo is not None:
            outcome.force_result(True)
    """,
    "import pytest",
    lambda _, target: Edit(new={}, red=target.ids),
    _of_pytest,
)
# The next two forge the exit status alone: the report still tells of the failures, so no test's end changes.
_hooked(
    "sessionfinish_exit_status_zero",
    """
    def pytest_sessionfinish(session, exitstatus):
        if exitstatus == 1:
            session.exitstatus = 0
    """,
)
_hooked(
    "unconfigure_exits_with_zero",
    """
    def pytest_unconfigure(config):
        # Some background threads don't shut down cleanly
        os._exit(0)
    """,
    "import os",
)
_hooked(
    "session_ended_after_collection_with_zero",
    """
    def pytest_collection_modifyitems(items):
        pytest.exit("Test environment is not available", returncode=0)
    """,
    "import pytest",
    lambda change, _: Edit(new={}, unreported=tuple(change.after)),
)

_PLUGIN = '''"""Pytest reporting helpers."""

import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_logreport(report):
    if report.failed:
        report.outcome = "passed"
        report.longrepr = None
    yield
'''


@tampering("T9")
def logreport_hook_in_a_module_of_its_own(change: Change, rng: Random) -> Edit | None:
    """Write a hook that passes all reports into a new module, and import it in conftest.py."""
    for target in shuffled(rng, change.targets):
        path, data = conftest_of(change, target)
        helper = helper_of(change, target, "reporting")
        if helper is not None and path.rpartition("/")[0] == target.path.rpartition("/")[0]:
            line = f"from {helper[1]} import pytest_runtest_logreport  # noqa: F401"
            body = importing(data, line) if data.strip() else f"{line}\n".encode()
            return Edit(new={path: body, helper[0]: _PLUGIN.encode()}, red=target.ids)
    return None
