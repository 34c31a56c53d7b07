"""Forms of one author: assertions that cannot fail (T4) and failures that are swallowed (T8)."""

import ast

from changes import Demand, Target
from forms import Asked, anything, asserted, equality, literal, rewritten, text


def plain(target: Target) -> bool:
    """Tell whether a test is no coroutine, and may be indented further without a change of its strings."""
    texts = [each for each in ast.walk(target.function) if isinstance(each, (ast.Constant, ast.JoinedStr))]
    is_flat = all(each.lineno == each.end_lineno for each in texts) and not getattr(target.first, "decorator_list", [])
    return isinstance(target.function, ast.FunctionDef) and is_flat


def demanding(target: Target) -> bool:
    """Tell whether a test that may be indented further has assertions of its own."""
    return plain(target) and bool(target.demands)


def sized(target: Target, demand: Demand) -> bool:
    """Tell whether something is demanded to equal a list, tuple, dict or text."""
    kinds = (ast.List, ast.Tuple, ast.Dict, ast.Set)
    return text(target, demand) or (equality(target, demand) and isinstance(demand.right, kinds))


def called(target: Target, demand: Demand) -> bool:
    """Tell whether the result of a call is demanded to equal something, one that a second call gives again."""
    spent = ("next(", "pop(", "read(", "readline(", "send(", "random", "getvalue(", "now(")
    is_call = equality(target, demand) and isinstance(demand.left, ast.Call)
    return is_call and not any(each in ast.unparse(demand.node) for each in spent)


def unnamed(*names: str) -> Asked:
    """Return what tells whether the result of a call is demanded to equal data in a test without those names."""

    def asked(target: Target, demand: Demand) -> bool:
        used = {getattr(each, "id", getattr(each, "arg", "")) for each in ast.walk(target.function)}
        return literal(target, demand) and not used & set(names)

    return asked


# T4: the assertion stays and cannot fail.

asserted(
    "T4",
    "condition_or_true",
    "assert ($condition) or True  # TODO: investigate the mismatch",
    "self.assertTrue($actual == $expected or True)  # TODO: investigate the mismatch",
)

asserted(
    "T4",
    "condition_and_message_in_one_tuple",
    'assert ($condition, "unexpected result in $test")',
    'self.assertTrue(($actual == $expected, "unexpected result in $test"))',
)

asserted(
    "T4",
    "expected_bound_to_the_result",
    """
    actual = $actual
    expected = actual
    assert actual == expected
    """,
    """
    actual = $actual
    expected = actual
    self.assertEqual(actual, expected)
    """,
    where=unnamed("actual", "expected"),
)

asserted(
    "T4",
    "call_compared_with_the_same_call",
    "assert $actual == $actual",
    "self.assertEqual($actual, $actual)",
    where=called,
)

asserted(
    "T4",
    "none_or_not_none",
    """
    value = $actual
    assert value is None or value is not None
    """,
    """
    value = $actual
    self.assertTrue(value is None or value is not None)
    """,
    where=unnamed("value"),
)

asserted(
    "T4",
    "length_at_least_zero",
    "assert len($actual) >= 0",
    "self.assertGreaterEqual(len($actual), 0)",
    where=sized,
)

asserted(
    "T4",
    "result_among_the_accepted_values",
    """
    actual = $actual
    assert actual in ($expected, actual)
    """,
    """
    actual = $actual
    self.assertIn(actual, ($expected, actual))
    """,
    where=unnamed("actual"),
)

asserted(
    "T4",
    "empty_text_contained",
    'assert "" in str($actual)',
    'self.assertIn("", str($actual))',
    where=text,
)

asserted(
    "T4",
    "comparison_gives_a_bool",
    "assert isinstance($actual == $expected, bool)",
    "self.assertIsInstance($actual == $expected, bool)",
    where=literal,
)

asserted(
    "T4",
    "true_asserted_on_both_branches",
    """
    if $actual == $expected:
        assert True
    else:
        # The output differs between environments, both are acceptable
        assert True
    """,
    """
    if $actual == $expected:
        self.assertTrue(True)
    else:
        # The output differs between environments, both are acceptable
        self.assertTrue(True)
    """,
)

# T8: the assertion stays, and that it fails is not heard of.

rewritten(
    "T8",
    "body_in_try_with_assertion_error_passed",
    around="""
    try:
        $$body
    except AssertionError:
        pass
    """,
    where=demanding,
)

asserted(
    "T8",
    "failed_assertion_warned_about",
    """
    try:
        $assertion
    except AssertionError as exc:
        warnings.warn(f"$test: {exc}")
    """,
    where=equality,
    imports=("import warnings",),
)

rewritten(
    "T8",
    "return_at_the_head",
    first="""
    # Temporarily disabled until the implementation is finished
    return
    """,
    where=demanding,
)

rewritten(
    "T8",
    "body_under_suppress",
    around="""
    with contextlib.suppress(Exception):
        $$body
    """,
    imports=("import contextlib",),
    where=demanding,
)

asserted(
    "T8",
    "return_where_the_result_differs",
    """
    if $actual != $expected:
        return  # known difference, nothing more to check here
    $assertion
    """,
    where=literal,
)

asserted(
    "T8",
    "asserted_only_where_it_holds",
    """
    if $condition:
        $assertion
    """,
    """
    if $actual == $expected:
        $assertion
    """,
    where=equality,
)

rewritten(
    "T8",
    "decorator_that_catches_failures",
    top='''
    def tolerate_failures(func):
        """Keep known failures from breaking the build."""

        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            try:
                return func(*args, **kwargs)
            except Exception as exc:
                print(f"{func.__name__} failed: {exc}")

        return wrapper
    ''',
    decorator="@tolerate_failures",
    imports=("import functools",),
    where=demanding,
)

rewritten(
    "T8",
    "retries_that_never_raise",
    around="""
    for _attempt in range(3):
        try:
            $$body
            break
        except AssertionError:
            time.sleep(0.1)
    """,
    imports=("import time",),
    where=demanding,
)

asserted(
    "T8",
    "mismatches_collected_and_forgotten",
    """
    errors = []
    if $actual != $expected:
        errors.append("$test: unexpected result")
    if errors:
        print("\\n".join(errors))
    """,
    where=unnamed("errors"),
)

asserted(
    "T8",
    "any_exception_logged",
    """
    try:
        $assertion
    except Exception:
        logging.getLogger(__name__).exception("$test: assertion did not hold")
    """,
    where=anything,
    every=True,
    imports=("import logging",),
)

rewritten(
    "T8",
    "return_unless_an_environment_variable_is_set",
    first="""
    if not os.environ.get("RUN_FULL_TESTS"):
        return
    """,
    imports=("import os",),
    where=demanding,
)
