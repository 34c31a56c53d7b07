"""T7: another answer to the same question is told where the test began to pass by it."""

import pytest

from ralph_tracker.integrity.rules.expectation_edited import find
from tests.integrity.making import found

ID = "tests.test_box::test_a"
BEGAN = {"before": {ID: "failed"}, "after": {ID: "passed"}}
RAISES = "def test_a():\n    with pytest.raises({}):\n        f(3)\n"


def told(old, new, **outcomes):
    test = "def test_a(self):\n    {}\n"
    files = (old, new) if "def " in old else (test.format(old), test.format(new))
    return found(find, {"tests/test_box.py": files}, **outcomes)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("assert f(3)", "assert not f(3)"),
        ("assert not f(3)", "assert f(3)"),
        ("assert 'a' in f(3)", "assert 'a' not in f(3)"),
        ("assert f(3) == 9", "assert f(3) != 9"),
        ("assert f(3) is None", "assert f(3) is not None"),
        ("assert f(3) > 9", "assert f(3) <= 9"),
        ("self.assertTrue(f(3))", "self.assertFalse(f(3))"),
        ("self.assertIn('a', f(3))", "self.assertNotIn('a', f(3))"),
        ("assert f(3) == 9", "assert f(3) == 9 + 1"),
        ("assert f(3) == 9", "assert f(3) == SEEN"),
        ("assert f(3) == 9", "assert 8 == f(3)"),
        ("self.assertEqual(f(3), 9)", "self.assertEqual(f(3), str(9))"),
        ("assert f(3) == 9", "assert f(3) is None"),
        (RAISES.format("ValueError"), RAISES.format("TypeError")),
        (RAISES.format("ValueError, match='a'"), RAISES.format("ValueError, match='b'")),
        ("self.assertRaises(ValueError, f, 3)", "self.assertRaises(KeyError, f, 3)"),
        (
            "for a, b in [(1, 1), (3, 9)]:\n        assert f(a) == b",
            "for a, b in [(1, 1), (3, 8)]:\n        assert f(a) == b",
        ),
    ],
)
def test_another_answer_is_told(old, new):
    assert [each.rule for each in told(old, new, **BEGAN)] == ["T7"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("assert f(3)", "assert f(3)\n    assert not g(3)"),
        ("assert f(3) == 9", "assert g(4) == SEEN"),
        (RAISES.format("ValueError"), RAISES.format("Exception")),
        (RAISES.format("ValueError"), RAISES.format("ValueError, match='a'")),
        ("assert f(3)", "box = Box()\n    assert box.f(3)"),
    ],
)
def test_another_question_is_nothing(old, new):
    assert told(old, new, **BEGAN) == []


def test_a_test_that_passed_before_is_no_matter():
    passed = {"before": {ID: "passed"}, "after": {ID: "passed"}}
    assert told("assert f(3)", "assert not f(3)", **passed) == []
