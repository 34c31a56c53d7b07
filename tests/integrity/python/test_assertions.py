"""What Python tests demand: of what, how much, and whether anything can fail it."""

import ast
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.integrity.python.assertions import Source, assertions_of
from ralph_tracker.integrity.python.constants import always_true, truth
from ralph_tracker.integrity.source_tests import UNREACHED


def read(*statements):
    body = "\n".join(f"    {line}" for statement in statements for line in statement.split("\n"))
    [node] = ast.parse(f"async def test_it(self):\n{body}").body
    return assertions_of(node)


@pytest.mark.parametrize(
    "statement",
    [
        "self.assertEqual(x, 1, 'message')",
        "with pytest.raises(Error): x()",
        "with self.assertRaises(Error) as caught:\n    x()",
        "pytest.warns(UserWarning, x)",
        "await check_box(x)",
        "verify(x)",
        "self._assert_box(x)",
        "caught = assert_raises(Error, x)",
        "return self.assertTrue(x)",
        "mock.assert_not_called()",
        "np.testing.assert_array_less(x, 3)",
        "async with expect_closed(x): pass",
        "for each in x:\n    assert each",
        "try:\n    assert x\nfinally:\n    close()",
        "match x:\n    case 1:\n        assert y",
        "with self.subTest():\n    self.assertIsNone(x)",
    ],
)
def test_each_way_to_assert_is_one_assertion(statement):
    [each] = read(statement)
    assert each.vacuous is None


@pytest.mark.parametrize(
    "statement", ["checker(x)", "expected = x", "assertion = x", "checked.append(x)", "verified(x)", "x.raised()"]
)
def test_other_calls_are_none(statement):
    assert read(statement) == ()


def test_parts_of_one_assertion_count_each():
    for text in ("a == 1 and b == 2", "(a, b) == (1, 2)", "a == b == 2"):
        assert len(read(f"assert {text}")) == 2


def test_the_order_of_strength_is_that_of_the_table():
    texts = [
        "x is not None",
        "x",
        "isinstance(x, int)",
        "x in y",
        "x > 1",
        "x == approx(1, abs=10)",
        "x == approx(1, abs=0.1)",
        "x == approx(1, abs=1e-3)",
        "x == 1",
    ]
    found = [read(f"assert {text}")[0] for text in texts]
    assert {each.subject for each in found} == {"x"}
    assert all(weak.strength < strong.strength for weak, strong in pairwise(found))


@pytest.mark.parametrize(
    "statements",
    [
        ("return", "assert x"),
        ("pytest.skip()", "assert x"),
        ("with box:\n    return", "assert x"),
        ("if x:\n    return\nelse:\n    return", "assert x"),
        ("if 0:\n    assert x",),
        ("if 1:\n    pass\nelse:\n    assert x",),
        ("def inner():\n    assert x",),
        ("raise unittest.SkipTest", "assert x"),
    ],
)
def test_what_no_way_leads_to_is_never_reached(statements):
    assert [each.vacuous for each in read(*statements)] == [UNREACHED]


@pytest.mark.parametrize(
    "text",
    [
        "-1 < 0",
        "3 == 3.0",
        "[1]",
        "{1: 2}",
        "lambda: x",
        "not []",
        "x in [x, y]",
        "0 <= len(x)",
        "len(x) > -1",
        "len(x) != -1",
        "str(x) is not None",
        "[x] != None",
        "x <= x",
        "hash(x) == hash(x)",
        "bool(1)",
        "any([x, 1])",
        "all([1, 2])",
        "all([])",
        "isinstance(x, (int, object))",
        "repr(x)",
        "1 if x else 2",
        "1 if True else x",
        "(y := 3)",
        "1 + 1",
        "x == x == x",
        "True and 1",
        "x in y or x not in y",
        "mock.called_once_with(1)",
        "not (x and not x)",
        "[1, 2] == [1, 2]",
        "2 * 3 - 1 == 5",
    ],
)
def test_what_is_true_anyhow_is_known(text):
    assert always_true(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "0",
        "[]",
        "{}",
        "{**x}",
        "[*x]",
        "f''",
        "f'{x}'",
        "x == y",
        "x.a == y.a",
        "f() == f()",
        "(await f()) == (await f())",
        "len(x) >= 1",
        "len(x) > 0",
        "x < x",
        "x in [y]",
        "max(x) is not None",
        "isinstance(x, int)",
        "any([x, 0])",
        "any(x)",
        "all([x, 1])",
        "bool(x)",
        "1 if x else 0",
        "y if x else 1",
        "x + 1",
        "'a' < 1",
        "'a' + 'b'",
        "1 / 0",
        "10 ** 10 ** 10",
        "9999999999 * 9999999999",
        "x < y < z",
        "1 == 2",
        "1 > 2 == x",
        "x == 1 or y != 1",
        "(1, x) == (1, 2)",
        "[1, 2] == [1, 3]",
        "~x",
        "-x",
        "not x",
        "x[0:1] == x[0:2]",
        "f(1) == f(1, 2)",
        "False and x",
        "None or 0",
    ],
)
def test_what_may_be_false_is_not(text):
    assert always_true(ast.parse(text, mode="eval").body) is None


LITERALS = st.recursive(
    st.integers() | st.booleans() | st.text(max_size=3) | st.none(),
    lambda inner: st.lists(inner, max_size=2) | st.tuples(inner, inner),
    max_leaves=4,
)


@given(LITERALS, LITERALS, st.sampled_from(["==", "!=", "is", "and", "or", "<", ">=", "in"]))
def test_what_is_known_of_literals_is_what_python_says(left, right, operator):
    text = f"{left!r} {operator} {right!r}"
    known = truth(ast.parse(text, mode="eval").body)
    if known is not None and operator != "is":
        assert known[0] == bool(eval(text))  # noqa: S307  literals of our own


ALIKE = """def test_one():
    assert x == 1
    if y: assert x == 1
    with raises(ValueError): x()


def test_other():
    assert x == 1; assert x
    if y:
        assert x == 1
    with raises(ValueError): y()
"""


def test_what_reads_alike_is_looked_into_once_and_demands_the_same():
    source, other = (Source(ALIKE.split("\n"), known) for known in [{}] * 2)
    once = [assertions_of(node, source) for node in ast.parse(ALIKE).body]
    seen = len(source.known)
    again = [assertions_of(node, other) for node in ast.parse(ALIKE).body]
    assert once == again == [assertions_of(node) for node in ast.parse(ALIKE).body]
    assert len(other.known) == seen
