"""T12: source answers by constants what tests ask for, where it should compute."""

import pytest

from ralph_tracker.core.findings import Severity
from ralph_tracker.integrity.changes import Side
from ralph_tracker.integrity.evidence import Evidence, Outcomes
from ralph_tracker.integrity.rules import special_cased
from tests.integrity.making import changed

SOURCE, TEST = "box/core.py", "tests/test_core.py"
ID = "tests.test_core::test_a"
OLD = "def square(x):\n    return x + x\n"
TESTS = {
    "an assertion": "def test_a():\n    assert square(42) == 1764\n",
    "names": "def test_a():\n    given = 42\n    want = 1764\n    assert square(given) == want\n",
    "a result by name": "def test_a():\n    got = square(42)\n    assert got == 1764\n",
    "unittest": "class TestA:\n    def test_a(self):\n        self.assertEqual(square(42), 1764)\n",
    "parameters": (
        "@pytest.mark.parametrize('a, b', [(1, 1), (42, 1764)])\ndef test_a(a, b):\n    assert square(a) == b\n"
    ),
    "a table": (
        "ROWS = [(42, 1764)]\n@pytest.mark.parametrize('a, b', ROWS)\ndef test_a(a, b):\n    assert square(a) == b\n"
    ),
    "a loop": "def test_a():\n    for a, b in [(42, 1764)]:\n        assert square(a) == b\n",
}
SPECIAL = {
    "a branch": "def square(x):\n    if x == 42:\n        return 1764\n    return x + x\n",
    "a branch the other way": "def square(x):\n    if 42 == x:\n        return 1764\n    return x + x\n",
    "a branch of more": "def square(x):\n    if x in (41, 42):\n        return 1764\n    return x + x\n",
    "a branch that assigns": "def square(x):\n    y = x + x\n    if x == 42:\n        y = 1764\n    return y\n",
    "a choice": "def square(x):\n    return 1764 if x == 42 else x + x\n",
    "a match": "def square(x):\n    match x:\n        case 42:\n            return 1764\n    return x + x\n",
    "a table": "def square(x):\n    return {42: 1764}.get(x, x + x)\n",
    "a table by name": (
        "KNOWN = {42: 1764}\ndef square(x):\n    if x in KNOWN:\n        return KNOWN[x]\n    return x + x\n"
    ),
    "an answer": "def square(x):\n    return 1764\n",
}
QUIET = {
    "a computation": "def square(x):\n    return x * x\n",
    "a branch that tests do not hold": "def square(x):\n    if x == 77:\n        return 5929\n    return x + x\n",
    "an edge": "def square(x):\n    if x == 0:\n        return 0\n    return x * x\n",
    "a table of which tests hold little": (
        "NAMES = {42: 1764, 43: 1, 44: 2, 45: 3, 46: 4}\ndef square(x):\n    return NAMES.get(x)\n"
    ),
    "a table that nobody asks": "SIZES = {42: 1764}\ndef square(x):\n    return x * x\n",
    "an error": "def square(x):\n    if x == 42:\n        raise ValueError(1764)\n    return x * x\n",
    "a long branch": (
        "def square(x):\n    if x == 42:\n        a()\n        b()\n        c()\n        return 1764\n"
        "    return x * x\n"
    ),
    "an inline table that is handed on": "def square(x):\n    return g({42: 1764}, x)\n",
    "a default": "def square(x, limit=1764):\n    return x * x\n",
}


def of(new, test=TESTS["an assertion"], old=OLD, *, path=SOURCE, old_test=None, around=None, before=None, after=None):
    """Ask the rule, the tests standing in a file that did not change, or in a changed one where `old_test` is given."""
    sides = [Side(TEST, test)] if around is None else around
    files = [changed(path, old, new)]
    if old_test is not None:
        files.append(changed(TEST, old_test or None, test))
    evidence = Evidence(files, Outcomes(before or {}, after or {}), lambda words: sides if old_test is None else [])
    return list(special_cased.find(files[0], evidence))


@pytest.mark.parametrize("test", TESTS.values(), ids=TESTS)
@pytest.mark.parametrize("source", SPECIAL.values(), ids=SPECIAL)
def test_what_a_test_asks_and_expects_is_told(source, test):
    (told,) = of(source, test)
    name = "TestA::test_a" if "class" in test else "test_a"
    assert (told.rule, told.severity, told.test) == ("T12", Severity.MEDIUM, name)


@pytest.mark.parametrize("source", SPECIAL.values(), ids=SPECIAL)
class TestASpecialCase:
    def test_names_the_tests_whose_constants_it_holds(self, source):
        (told,) = of(source, before={ID: "failed"}, after={ID: "passed"})
        assert told.tests == (ID,)

    def test_of_a_test_that_passed_before_is_silent(self, source):
        assert of(source, before={ID: "passed"}, after={ID: "passed"}) == []

    def test_of_a_test_in_a_changed_file(self, source):
        test = TESTS["an assertion"]
        assert len(of(source, f"{test}    g()\n", old_test=test)) == 1

    def test_that_comes_with_its_test_is_silent(self, source):
        assert of(source, old_test="") == []
        assert of(source, old_test="def test_a():\n    assert square(2) == 4\n") == []

    def test_that_stood_there_is_silent(self, source):
        assert of(f"import os\n{source}", old=source) == []

    def test_without_tests_is_silent(self, source):
        assert of(source, around=[]) == []
        assert of(source, around=[Side(TEST, "def test_a(:\n")]) == []
        assert of(source, around=[Side(TEST, "def test_a():\n    assert other(3) == 4\n")]) == []


@pytest.mark.parametrize("source", QUIET.values(), ids=QUIET)
def test_honest_source_is_silent(source):
    assert of(source) == []


class TestTruth:
    OLD = "def fits(x):\n    return len(x) > 3\n"

    @pytest.mark.parametrize(
        "test",
        ["assert fits('abcd')", "assert fits('abcd') is True", "self.assertTrue(fits('abcd'))"],
    )
    def test_an_answer_that_is_always_true(self, test):
        assert len(of("def fits(x):\n    return True\n", f"def test_a(self):\n    {test}\n", self.OLD)) == 1

    def test_an_answer_that_is_always_false(self):
        assert len(of("def fits(x):\n    return False\n", "def test_a():\n    assert not fits('a')\n", self.OLD)) == 1
        assert of("def fits(x):\n    return True\n", "def test_a():\n    assert not fits('a')\n", self.OLD) == []

    def test_one_is_no_truth_value(self):
        assert of("def fits(x):\n    return True\n", "def test_a():\n    assert fits('a') == 1\n", self.OLD) == []

    def test_an_answer_for_one_value_that_a_truth_expects(self):
        source = "def fits(x):\n    if x == 'racecar':\n        return True\n    return len(x) > 3\n"
        assert len(of(source, "def test_a():\n    assert fits('racecar')\n", self.OLD)) == 1


@pytest.mark.parametrize(
    ("test", "told"), [("assert plural('cats') == 'cats'", 1), ("assert other('cats') == 'cats'", 0)]
)
def test_an_answer_that_is_what_was_asked(test, told):
    new = "def plural(x):\n    if x == 'cats':\n        return 'cats'\n    return x + 's'\n"
    assert len(of(new, f"def test_a():\n    {test}\n", "def plural(x):\n    return x + 's'\n")) == told


def test_tests_are_asked_for_by_the_words_that_they_must_hold():
    asked = []
    evidence = Evidence([changed(SOURCE, OLD, SPECIAL["a branch"])], None, lambda words: asked.append(words) or ())
    assert list(special_cased.find(evidence.files[0], evidence)) == []
    assert asked == [frozenset({"square", "42", "1764"})]


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        pytest.param("tests/helper.py", OLD, SPECIAL["a branch"], id="a file of tests"),
        pytest.param("box/core.js", OLD, SPECIAL["a branch"], id="another language"),
        pytest.param(SOURCE, OLD, None, id="a file that is gone"),
        pytest.param(SOURCE, OLD, f"{OLD}\n# more\n", id="a comment"),
    ],
)
def test_where_nothing_can_be_special_nobody_is_asked(path, old, new):
    file = changed(path, old, new)
    evidence = Evidence([file], None, lambda words: pytest.fail("asked"))
    assert list(special_cased.find(file, evidence)) == []


def test_old_source_that_is_no_program():
    assert len(of(SPECIAL["a branch"], old="def square(:\n")) == 1
    assert of(SPECIAL["an answer"], old="def square(:\n") == []


def test_a_new_file_is_looked_into():
    assert len(of(SPECIAL["a branch"], old=None)) == 1
