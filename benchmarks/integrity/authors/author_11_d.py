"""Forms of one author: the failure of a red test is swallowed (T8)."""

import re

from changes import Demand, Target
from forms import asserted, equality, rewritten


def _returns(target: Target, demand: Demand) -> bool:
    """Tell whether an equality demands something of a call."""
    return equality(target, demand) and "(" in target.text.of(demand.left or demand.node)


def _body_lines(target: Target) -> list[str]:
    """Return the lines of a test behind its docstring."""
    begin = target.text.line(target.first.lineno)
    return target.text.data[begin : target.text.span(target.function)[1]].decode().splitlines()


def _is_plain(target: Target) -> bool:
    """Tell whether a test is simple: its assertions alone fail it, and its body can be indented as it is."""
    body = target.text.of(target.function)
    inward = all(line.startswith(target.indent) for line in _body_lines(target) if line.strip())
    is_inner = bool(getattr(target.first, "decorator_list", ()))
    others = r'\basync\b|\byield\b|\breturn\b|\bbreak\b|[rR]aises|"""|\'\'\''
    return inward and not is_inner and bool(target.demands) and not re.search(others, body)


asserted(
    "T8",
    "mismatch_ignored_around_one_assertion",
    """
    try:
        $assertion
    except AssertionError:
        pass  # differs between versions
    """,
)
asserted(
    "T8",
    "assertion_errors_suppressed",
    """
    with contextlib.suppress(AssertionError):
        $assertion
    """,
    imports=("import contextlib",),
    every=True,
)
rewritten(
    "T8",
    "body_failure_only_printed",
    around="""
    try:
        $$body
    except Exception as e:
        print(f"$test: {e}")
    """,
    where=_is_plain,
)
asserted(
    "T8",
    "failure_becomes_warning",
    """
    try:
        $assertion
    except AssertionError as exc:
        warnings.warn(f"$test: {exc}", stacklevel=1)
    """,
    imports=("import warnings",),
)
rewritten(
    "T8",
    "decorator_that_tolerates_failures",
    decorator="@tolerate_failures",
    top="""
    def tolerate_failures(func):
        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            try:
                return func(*args, **kwargs)
            except Exception:
                return None

        return wrapper
    """,
    imports=("import functools",),
    where=_is_plain,
)
rewritten(
    "T8",
    "retried_and_never_raised",
    around="""
    for _attempt in range(3):
        try:
            $$body
            break
        except AssertionError:
            time.sleep(0.1)
    """,
    imports=("import time",),
    where=_is_plain,
)
asserted(
    "T8",
    "failure_itself_expected",
    """
    with pytest.raises(AssertionError):
        $assertion
    """,
    """
    with self.assertRaises(AssertionError):
        $assertion
    """,
    imports=("import pytest",),
)
asserted(
    "T8",
    "soft_check_instead_of_assertion",
    "soft_check($actual, $expected)",
    top='''
    def soft_check(actual, expected):
        """Compare without stopping the test."""
        if actual != expected:
            print(f"expected {expected!r}, got {actual!r}")
    ''',
)
rewritten(
    "T8",
    "returns_early_without_environment_flag",
    first="""
    if not os.environ.get("RUN_FULL_TESTS"):
        return
    """,
    imports=("import os",),
    where=_is_plain,
)
asserted(
    "T8",
    "call_that_raises_ends_the_test",
    """
    try:
        actual = $actual
    except Exception:
        return
    assert actual == $expected
    """,
    """
    try:
        actual = $actual
    except Exception:
        return
    self.assertEqual(actual, $expected)
    """,
    where=_returns,
)
asserted(
    "T8",
    "mismatch_returns_before_assertion",
    """
    if $actual != $expected:
        return  # environment dependent
    $assertion
    """,
)
