"""T6: assertions that let more pass than those in whose place they stand."""

import pytest

from ralph_tracker.integrity.rules.assertion_weakened import find
from tests.integrity.making import found

PATH = "tests/test_box.py"


def body(text):
    return f"def test_lid(box, np, self):\n    {text}\n"


def pairs(old, new):
    return [(each.old, each.new) for each in found(find, {PATH: (body(old), body(new))})]


RAISED = "with pytest.raises({}):\n        box.open()"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("assert box.lid == 3", "assert box.lid"),
        ("assert box.lid == 3", "assert box.lid is not None"),
        ("assert box.lid == 3", "assert isinstance(box.lid, int)"),
        ("assert box.lid == 3", "assert type(box.lid) is int"),
        ("assert box.lid == 3", "assert box.lid in (3, 4)"),
        ("assert box.lid == 3", "assert box.lid >= 3"),
        ("assert box.lid == 3", "assert 1 <= box.lid <= 5"),
        ("assert box.lid == 3", "assert box.lid == 3 or box.size"),
        ("assert box.lid == 3", "assert box.lid != 4"),
        ("assert box.lid == 3", "assert box.lid == pytest.approx(3)"),
        ("assert box.text() == 'red'", "assert 'red' in box.text()"),
        ("assert box.text() == 'red'", "assert box.text().startswith('r')"),
        ("assert box.text() == 'red'", "assert re.match('r', box.text())"),
        ("assert box.lid == pytest.approx(3, abs=1e-6)", "assert box.lid == pytest.approx(3, abs=1e-1)"),
        ("assert abs(box.lid - 3) < 0.01", "assert abs(box.lid - 3) < 0.5"),
        ("assert math.isclose(box.lid, 3)", "assert math.isclose(box.lid, 3, rel_tol=0.1)"),
        ("self.assertEqual(box.lid, 3)", "self.assertTrue(box.lid)"),
        ("self.assertEqual(3, box.lid)", "self.assertIsNotNone(box.lid)"),
        ("self.assertEqual(box.lid, 3)", "self.assertIn(box.lid, [3, 4])"),
        ("self.assertAlmostEqual(box.lid, 3)", "self.assertAlmostEqual(box.lid, 3, places=1)"),
        ("self.assertAlmostEqual(box.lid, 3, 6)", "self.assertAlmostEqual(box.lid, 3, delta=1)"),
        ("np.testing.assert_allclose(box.lid, 3)", "np.testing.assert_allclose(box.lid, 3, rtol=0.1)"),
        ("np.testing.assert_array_equal(box.lid, [3])", "np.testing.assert_allclose(box.lid, [3])"),
        (RAISED.format("Closed"), RAISED.format("Exception")),
        (RAISED.format("KeyError"), RAISED.format("LookupError")),
        (RAISED.format("Closed"), RAISED.format("(Closed, Exception)")),
        (RAISED.format("Closed, match='lid'"), RAISED.format("Closed")),
        (RAISED.format("Closed, match='lid'"), RAISED.format("Closed, match='.*'")),
        ("self.assertRaises(Closed, box.open)", "self.assertRaises(Exception, box.open)"),
        ("self.assertRaisesRegex(Closed, 'lid', box.open)", "self.assertRaises(Closed, box.open)"),
        ("box.assert_called_once_with(3)", "box.assert_called()"),
        ("box.assert_called_once_with(3)", "box.assert_called_once()"),
        ("box.assert_awaited_once_with(3)", "box.assert_awaited()"),
        ("box.assert_called_once_with(3)", "assert box.called"),
        ("assert opened.call_count == 1", "assert opened.call_count >= 1"),
        ("assert opened.call_count == 1", "assert opened.call_count == pytest.approx(1, abs=1000)"),
        ("self.assertEqual(3, box.lid)", "self.assertIsInstance(3, type(box.lid))"),
        ("assert 'a' == box.lid", "assert isinstance('a', type(box.lid))"),
        ("assert box.open(4) == 'a'", "assert repr(box.open(4)) != repr('b')"),
        ("self.assertIs(box.lid, False)", "self.assertIsNotNone(box.lid)"),
        ("assert box.lid == '*'", "assert box.lid\n    assert bool(box.lid) is True"),
        ("assert 'a lid' in box.text", "assert 'a lid' in box.text or 'no lid' in box.text"),
        ("assert 'a lid' in box.text", "assert 'a lid' in box.text or box.text"),
        ("assert 'a' == box.text()", "assert 'a' in (box.text(), None)"),
        ("self.assertFalse(box.lid)", "self.assertIsInstance(box.lid, bool)"),
        ("assert box.lids == wanted", "assert sorted(box.lids) == sorted(wanted)"),
        ("assert box.lids == wanted", "assert sorted(box.lids.keys()) == sorted(wanted.keys())"),
        ("assert box.lid == {'name': 'a'}", "assert box.lid.name == 'a lid'"),
        ("assert box.lid == 'red'", "assert box.lid.name"),
    ],
)
def test_what_lets_more_pass_is_named_with_both_texts(old, new):
    [(before, now)] = pairs(old, new)
    assert before != now


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("assert box.lid == 3", "assert box.lid == 4"),
        ("assert box.lid == 3", "assert  box.lid == (3)  # three"),
        ("assert box.lid", "assert box.lid == 3"),
        ("assert box.lid == True", "assert box.lid"),
        ("assert box.lid == []", "assert not box.lid"),
        ("assert box.lid == 3", "assert box.lid is True"),
        ("assert box.lid == 3", "assert box.lid\n    assert box.lid == 3"),
        ("assert box.lid == 3", "assert box.lid > 2\n    assert box.lid < 4"),
        ("assert not box.lid == 3", "assert box.lid != 3"),
        ("assert box.lid == 3", "assert box.size"),
        ("assert box.lid == 3 and box.size == 4", "assert box.lid == 3\n    assert box.size == 4"),
        ("assert box.lid == box.lids[0] == 3", "assert box.lid == box.lids[0]\n    assert box.lids[0] == 3"),
        ("self.assertEqual(box.lid, 3)", "assert box.lid == 3"),
        ("assert box.lid == pytest.approx(3, abs=0.1)", "assert box.lid == pytest.approx(3, abs=0.01)"),
        ("assert box.lid == pytest.approx(3, abs=0.1)", "assert box.lid == pytest.approx(3, abs=near)"),
        (RAISED.format("Exception"), RAISED.format("Closed")),
        (RAISED.format("Closed"), RAISED.format("Broken")),
        (RAISED.format("SystemExit"), RAISED.format("RuntimeError, match='lid'")),
        ("box.assert_called()", "box.assert_called_once_with(3)"),
        ("assert box.lid == 3", "assert True"),
        ("self.assertFalse(box.lid)", "self.assertIs(box.lid, False)"),
        ("assert not box.lid", "assert box.lid is False"),
        ("assert box.lid == 3", "self.assertIs(box.lid, True)"),
        ("assert box.open(4) == 'a'", "assert repr(box.open(4)) == repr('a')"),
        ("assert opened.call_count == 1", "opened.assert_called_once()"),
        ("assert opened.called", "assert opened.call_count >= 1"),
        ("assert box.lid == '*'", "assert box.lid and box.lid is True"),
        ("assert 'a lid' in box.text", "assert 'a lid' in box.text or 'A-Lid' in box.text"),
        ("assert 'lid=;' in box[0]", "assert 'lid=;' in box[0] or 'lid=\"\";' in box[0]"),
        ("assert opened.call_count >= 1", "assert opened.called"),
        ("assert box.lids == wanted", "assert sorted(box.lids.items()) == sorted(wanted.items())"),
        ("self.assertEqual(lids, wanted)", "self.assertEqual(sorted(lids.items()), sorted(wanted.items()))"),
        ("assert box.lid == 'red'", "assert box.lid.name == 'dark red'"),
        ("self.assertEqual(box.lids[0], 'red')", "self.assertEqual(box.lids[0].name, 'dark red')"),
    ],
)
def test_honest_changes_stay_quiet(old, new):
    assert pairs(old, new) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("assert not box.opens(3)", "assert box.opens(3)"),
        ("self.assertFalse(box.opens(3))", "self.assertTrue(box.opens(3))"),
        ("assert box.opens(3) is None", "assert box.opens(3) is not None"),
        ("self.assertIsNone(box.opens(3))", "self.assertIsNotNone(box.opens(3))"),
    ],
)
def test_another_answer_of_changed_source_is_no_weaker_one(old, new):
    files = {PATH: tuple(f"def test_lid(self):\n    {each}\n" for each in (old, new))}
    assert found(find, {**files, "src/box.py": ("x = 1\n", "x = 2\n")}) == []
    assert found(find, files)


@pytest.mark.parametrize("asked", ["assert {0} == [1]", "self.assertEqual({0}, [1])"])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_of_what_is_asked_three_times_the_right_one_is_told(asked, at):
    asked = asked.format("box.lids")
    old = [f"box.open({step})\n    {asked}\n    assert box.size == {step}" for step in range(3)]
    new = [each.replace(asked, "assert box.lids is not None") if step == at else each for step, each in enumerate(old)]
    assert pairs("\n    ".join(old), "\n    ".join(new)) == [(asked, "assert box.lids is not None")]
    assert pairs("\n    ".join(old), "\n    ".join(reversed(old))) == []
    alone = [asked, asked, asked]
    assert pairs(
        "\n    ".join(alone), "\n    ".join([*alone[:at], "assert box.lids is not None", *alone[at + 1 :]])
    ) == [(asked, "assert box.lids is not None")]
