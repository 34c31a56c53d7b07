"""T4: assertions that nothing can fail, in new and changed tests."""

from collections import Counter

import pytest

from ralph_tracker.core.findings import Severity
from ralph_tracker.integrity.rules.vacuous_assertion import find
from tests.integrity.making import found

PATH = "tests/test_box.py"
TEST = "def test_lid():\n    box = Box()\n    {}\n"


def severities(old, new, **outcomes):
    return Counter(each.severity for each in found(find, {PATH: (old, new)}, **outcomes))


@pytest.mark.parametrize(
    "text",
    [
        "assert True",
        "assert 1",
        'assert "opened"',
        'assert f"opened {box}"',
        "assert box == box",
        "assert box.lid is box.lid",
        "assert box.lid() == 3 or True",
        'assert (box.lid() == 3, "the lid")',
        "assert len(box.lids) >= 0",
        "assert isinstance(box.lid(), object)",
        "assert not False",
        "assert box or not box",
        "assert box.lid == 3 or box.lid != 3",
        "assert 1 + 1 == 2",
        "self.assertTrue(True)",
        "self.assertEqual(box.lid, box.lid)",
        "self.assertFalse(0)",
        "self.assertIsNone(None)",
        "self.assertGreaterEqual(len(box.lids), 0)",
        "box.lid.assert_called_once_with",
    ],
)
def test_what_replaced_a_real_assertion_is_critical(text):
    old, new = TEST.format("assert box.lid() == 3"), TEST.format(text)
    assert severities(old, new) == {Severity.CRITICAL: 1}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(TEST.format("assert True"), TEST.format("assert box.lid() == 3"), id="repaired"),
        pytest.param(TEST.format("assert True"), TEST.format("assert True\n    box.close()"), id="stood before"),
        pytest.param(TEST.format("assert box.lid()"), TEST.format("assert box.lid() == 3"), id="strengthened"),
        pytest.param(None, TEST.format("assert box.lid() == 3"), id="new and real"),
        pytest.param(None, TEST.format("assert f() == f()"), id="calls may differ"),
        pytest.param(None, TEST.format("assert box != box"), id="can fail"),
        pytest.param(TEST.format("assert True"), None, id="gone"),
        pytest.param(
            TEST.format("assert box"), TEST.format("return\n    assert box"), id="not reached is another rule"
        ),
    ],
)
def test_honest_changes_stay_quiet(old, new):
    assert not severities(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("assert f(3) == 9", "assert f(3) == f(3)", id="a call with itself"),
        pytest.param("r = f(3)\n    assert r == 9", "r = f(3)\n    assert r == f(3)", id="its result with it"),
        pytest.param("want = 9\n    assert f(3) == want", "want = f(3)\n    assert f(3) == want", id="by its name"),
        pytest.param("assert f(3) == 9", "assert f(3) in [f(3)]", id="among itself"),
        pytest.param("assert f(3) == 9", "assert f(3) <= f(3)", id="no more than itself"),
        pytest.param("assert f(3) == 9", "assert f(3) == pytest.approx(f(3))", id="about itself"),
        pytest.param("self.assertEqual(f(3), 9)", "self.assertEqual(f(3), f(3))", id="unittest"),
        pytest.param(
            "r = f(3)\n    assert r[0] == 9", "r = f(3)\n    want = r[0]\n    assert r[0] == want", id="a part of it"
        ),
        pytest.param("r = f(3)\n    assert r == 9", "r = want = f(3)\n    assert r == want", id="at once"),
        pytest.param(
            "r = f(3)\n    assert r == 9", "r = f(3)\n    want = r.copy()\n    assert r == want", id="its copy"
        ),
        pytest.param(
            "r = f(3)\n    assert list(r) == [9]",
            "r = f(3)\n    want = list(r)\n    assert list(r) == want",
            id="as a list",
        ),
        pytest.param("self.assertAlmostEqual(f(3), 9)", "self.assertAlmostEqual(f(3), f(3))", id="almost"),
    ],
)
def test_asking_the_same_twice_instead_of_for_a_value_is_critical(old, new):
    assert severities(TEST.format(old), TEST.format(new)) == {Severity.CRITICAL: 1}
    assert severities(TEST.format(new), TEST.format(old)) == {}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(None, "assert f(3) == f(3)", id="new"),
        pytest.param("assert f(3) == 9", "assert f(3) == 9\n    assert f(3) == f(3)", id="beside the value"),
        pytest.param("assert f(3) == f(3)", "assert f(4) == f(4)", id="of another value"),
        pytest.param("assert g(3) == 9\n    g.cache_clear()", "assert f(3) == f(3)", id="of another thing"),
        pytest.param("assert f(3) == 9", "r = g(3)\n    assert f(3) == r", id="compared with another call"),
        pytest.param("assert f(3) == 9", "r = 9\n    assert f(3) == r", id="compared with a name"),
    ],
)
def test_whether_something_is_the_same_twice_may_be_asked(old, new):
    assert severities(None if old is None else TEST.format(old), TEST.format(new)) == {}


@pytest.mark.parametrize("path", ["tests/helpers.py", "tests/conftest.py", PATH])
def test_a_function_that_asserts_for_tests_counts_as_one(path):
    old = "def check(box):\n    assert box.lid == 3\n"
    [each] = found(find, {path: (old, "def check(box):\n    assert True\n")})
    assert (each.severity, each.test) == (Severity.CRITICAL, "check")
    assert found(find, {"box/core.py": (old, "def check(box):\n    assert True\n")}) == []


def test_a_new_test_that_asserts_nothing_is_a_note():
    assert severities(None, TEST.format("assert True")) == {Severity.MEDIUM: 1}


def test_it_is_critical_where_the_test_began_to_pass():
    name = "tests.test_box::test_lid"
    old, new = TEST.format("box.open()"), TEST.format("assert True")
    assert severities(old, new) == {Severity.MEDIUM: 1}
    outcomes = {"before": {name: "failed"}, "after": {name: "passed"}}
    assert severities(old, new, **outcomes) == {Severity.CRITICAL: 1}


def test_the_finding_names_test_line_and_both_texts():
    [each] = found(find, {PATH: (TEST.format("assert box.lid() == 3"), TEST.format("assert box == box"))})
    assert (each.rule, each.test, each.line) == ("T4", "test_lid", 3)
    assert (each.old, each.new) == ("assert box.lid() == 3", "assert box == box")
    assert each.message == "assertion can never fail: it compares a thing with itself"


@pytest.mark.parametrize(
    ("old", "severity"),
    [
        pytest.param("assert not box != box", Severity.MEDIUM, id="it was compared with itself before"),
        pytest.param("assert not box != lid", Severity.CRITICAL, id="with another one"),
        pytest.param("assert not lid != lid", Severity.CRITICAL, id="another one with itself"),
    ],
)
def test_comparing_with_itself_in_another_way_is_a_note(old, severity):
    assert severities(TEST.format(old), TEST.format("assert box == box")) == {severity: 1}


@pytest.mark.parametrize(
    ("old", "told"),
    [
        pytest.param("assert_true(Box(3) == Box(3))\n    assert_true(Box(3) != Box(4))", False, id="the same"),
        pytest.param("assert_true(Box(3) == box)\n    assert_true(Box(3) != Box(4))", True, id="another thing"),
    ],
)
def test_asking_the_same_twice_in_other_words_is_nothing_new(old, told):
    new = "assert Box(3) == Box(3)\n    assert Box(3) != Box(4)"
    assert bool(severities(TEST.format(old), TEST.format(new))) is told


@pytest.mark.parametrize(
    "new",
    [
        pytest.param("r = f(3)\n    want = r\n    assert r == want", id="another name"),
        pytest.param("r = f(3)\n    want: int = r\n    assert want == r", id="with a type"),
        pytest.param("r = f(3)\n    want = r\n    print(r)\n    self.assertEqual(r, want)", id="unittest"),
        pytest.param("r = f(3)\n    a = r\n    want = a\n    assert r == want", id="by two steps"),
        pytest.param("r = f(3)\n    if r:\n        want = r\n        assert r == want", id="inside a block"),
        pytest.param("assert f(3) == 9 or f(3) != 9", id="equal or not"),
        pytest.param("assert f(3) == 9 or not f(3) == 9", id="equal or denied"),
        pytest.param("self.assertTrue(f(3) != 9 or f(3) == 9)", id="unequal or not"),
    ],
)
def test_a_result_that_is_taken_as_what_is_expected_can_never_fail(new):
    assert severities(TEST.format("assert f(3) == 9"), TEST.format(new)) == {Severity.CRITICAL: 1}


@pytest.mark.parametrize(
    "new",
    [
        pytest.param("r = f(3)\n    want = r\n    r = g(r)\n    assert r == want", id="bound anew"),
        pytest.param("r = f(3)\n    want = r\n    r += g(3)\n    assert r == want", id="added up"),
        pytest.param("r = f(3)\n    want = r.n\n    g(r)\n    assert r.n == want", id="changed meanwhile"),
        pytest.param("a, b = x, y\n    assert a == b", id="two of two"),
        pytest.param("r = f(3)\n    want = r.n\n    r.n = g(3)\n    assert r.n == want", id="set meanwhile"),
        pytest.param("want = 9\n    r = f(3)\n    assert r == want", id="a value"),
        pytest.param("for want in (9,):\n        assert f(3) == want", id="a value of a loop"),
        pytest.param("assert f(3) == 9 or f(4) != 9", id="unequal otherwise"),
    ],
)
def test_what_was_kept_to_be_compared_later_may_differ(new):
    assert severities(TEST.format("assert f(3) == 9"), TEST.format(new)) == {}


def test_a_result_expected_of_itself_is_told_by_whom_it_let_pass():
    """Nothing of the text tells which assertion stood there: the outcome does."""
    old, new = "assert f(3) == 9", "r = f(3)\n    want = r[0]\n    assert r[0] == want"
    files = {PATH: (TEST.format(old), TEST.format(new))}
    name = "tests.test_box::test_lid"
    assert found(find, files, before={name: "failed"}, after={name: "passed"})
    assert not found(find, files, before={name: "passed"}, after={name: "passed"})
