"""T7: an expected value was edited, and nothing else that could have made the test pass."""

import pytest

from ralph_tracker.core.findings import Severity
from ralph_tracker.integrity.rules import expectation_edited
from tests.integrity.making import found

TEST = "tests/test_box.py"
ID = "tests.test_box::test_a"
BEGAN = {"before": {ID: "failed"}, "after": {ID: "passed"}}
PASSED = {"before": {ID: "passed"}, "after": {ID: "passed"}}
FAILS = {"before": {ID: "failed"}, "after": {ID: "failed"}}


def of(old, new, others=None, **outcomes):
    return found(expectation_edited.find, {TEST: (old, new), **(others or {})}, **outcomes)


EDITED = {
    "the expected value": ("def test_a():\n    assert f(3) == 9\n", "def test_a():\n    assert f(3) == 8\n"),
    "the expected value on the left": (
        "def test_a():\n    assert 9 == f(3)\n",
        "def test_a():\n    assert 8 == f(3)\n",
    ),
    "a sign": ("def test_a():\n    assert f(3) == 9\n", "def test_a():\n    assert f(3) == -9\n"),
    "a truth value": ("def test_a():\n    assert f(3) is True\n", "def test_a():\n    assert f(3) is False\n"),
    "a list": ("def test_a():\n    assert f(3) == [1, 2]\n", "def test_a():\n    assert f(3) == [1]\n"),
    "within a structure": (
        "def test_a():\n    assert f() == {'a': g(), 'b': 2}\n",
        "def test_a():\n    assert f() == {'a': g(), 'b': 3}\n",
    ),
    "an argument of unittest": (
        "class TestA:\n    def test_a(self):\n        self.assertEqual(f(3), 9)\n",
        "class TestA:\n    def test_a(self):\n        self.assertEqual(f(3), 8)\n",
    ),
    "a local name": (
        "def test_a():\n    want = 9\n    assert f(3) == want\n",
        "def test_a():\n    want = 8\n    assert f(3) == want\n",
    ),
    "a table of the module": (
        "WANT = {'a': 1}\ndef test_a():\n    assert f(3) == WANT\n",
        "WANT = {'a': 2}\ndef test_a():\n    assert f(3) == WANT\n",
    ),
    "a fixture": (
        "import pytest\n@pytest.fixture\ndef want():\n    return 9\ndef test_a(want):\n    assert f(3) == want\n",
        "import pytest\n@pytest.fixture\ndef want():\n    return 8\ndef test_a(want):\n    assert f(3) == want\n",
    ),
    "a parameter": (
        "@pytest.mark.parametrize('a, b', [(1, 1), (3, 9)])\ndef test_a(a, b):\n    assert f(a) == b\n",
        "@pytest.mark.parametrize('a, b', [(1, 1), (3, 8)])\ndef test_a(a, b):\n    assert f(a) == b\n",
    ),
    "a named parameter": (
        "@pytest.mark.parametrize('a, b', [pytest.param(3, 9, id='x')])\ndef test_a(a, b):\n    assert f(a) == b\n",
        "@pytest.mark.parametrize('a, b', [pytest.param(3, 8, id='x')])\ndef test_a(a, b):\n    assert f(a) == b\n",
    ),
    "an awaited call": (
        "async def test_a():\n    await assert_total(f(3), 9)\n",
        "async def test_a():\n    await assert_total(f(3), 8)\n",
    ),
    "one of two": (
        "def test_a():\n    assert f(3) == 9 and not g(2)\n",
        "def test_a():\n    assert f(3) == 8 and not g(2)\n",
    ),
    "a table of parameters": (
        "ROWS = [(1, 1), (3, 9)]\n@pytest.mark.parametrize('a, b', ROWS)\ndef test_a(a, b):\n    assert f(a) == b\n",
        "ROWS = [(1, 1), (3, 8)]\n@pytest.mark.parametrize('a, b', ROWS)\ndef test_a(a, b):\n    assert f(a) == b\n",
    ),
    "an inline snapshot": (
        "def test_a():\n    assert f(3) == snapshot(9)\n",
        "def test_a():\n    assert f(3) == snapshot(8)\n",
    ),
}
OLD, NEW = EDITED["the expected value"]
UNCHANGED = {
    "an addition": (OLD, f"{OLD}    assert f(4) == 16\n"),
    "a message": ("def test_a():\n    assert f(3) == 9, 'x'\n", "def test_a():\n    assert f(3) == 9, 'y'\n"),
    "layout": (OLD, "def test_a():\n    # squares\n    assert (f(3) == 9)\n"),
    "a row more": (
        "@pytest.mark.parametrize('a, b', [(1, 1)])\ndef test_a(a, b):\n    assert f(a) == b\n",
        "@pytest.mark.parametrize('a, b', [(1, 1), (3, 9)])\ndef test_a(a, b):\n    assert f(a) == b\n",
    ),
    "a new test": ("x = 1\n", OLD),
    "an input": (
        "def test_a():\n    given = 3\n    assert f(given) == 9\n",
        "def test_a():\n    given = 4\n    assert f(given) == 9\n",
    ),
}


@pytest.mark.parametrize(("old", "new"), EDITED.values(), ids=EDITED)
class TestAnEdit:
    def test_is_told_where_the_test_began_to_pass(self, old, new):
        name = "tests.test_box.TestA::test_a" if "class" in old else ID
        (told,) = of(old, new, before={name: "failed"}, after={name: "passed"})
        assert (told.rule, told.severity, told.tests) == ("T7", Severity.MEDIUM, (name,))
        assert told.old != told.new

    def test_is_told_where_nothing_is_known_and_only_literals_changed(self, old, new):
        assert len(of(old, new)) == 1

    def test_is_silent_where_source_changed(self, old, new):
        assert of(old, new, {"box/core.py": ("x = 1\n", "x = 2\n")}, **BEGAN) == []
        assert of(old, new, {"src/box.js": ("x = 1\n", "x = 2\n")}, **BEGAN) == []

    def test_is_told_where_only_the_layout_of_source_changed(self, old, new):
        assert len(of(old, new, {"box/core.py": ("x = 1\n", "x=1  # one\n")})) == 1

    @pytest.mark.parametrize("path", ["box/core.pyi", "docs/conf.py", "setup.py", "noxfile.py"])
    def test_is_told_where_only_what_no_test_runs_changed(self, old, new, path):
        assert of(old, new, {path: ("x = 1\n", "x = 2\n")}, **BEGAN) != []

    def test_is_silent_where_the_test_passed_before_or_still_fails(self, old, new):
        if "class" not in old:
            assert of(old, new, **PASSED) == []
            assert of(old, new, **FAILS) == []

    def test_gives_nothing_where_it_is_none(self, old, new):
        assert of(new, new, **BEGAN) == []


@pytest.mark.parametrize(("old", "new"), UNCHANGED.values(), ids=UNCHANGED)
def test_what_is_no_edited_expectation_is_silent(old, new):
    assert of(old, new, **BEGAN) == []


def test_nothing_is_known_and_more_than_literals_changed():
    assert of(OLD, f"{NEW}    g()\n") == []


def test_source_that_is_no_program_counts_as_changed():
    assert of(OLD, NEW, {"box/core.py": ("x = (\n", "x = 1\n")}) == []


@pytest.mark.parametrize(
    "path",
    [
        "tests/__snapshots__/test_box.ambr",
        "src/__snapshots__/box.test.js.snap",
        "tests/box.approved.txt",
        "tests/golden/box.txt",
        "tests/data/box_expected.json",
    ],
)
class TestSnapshots:
    def test_an_edited_one_is_told_where_a_test_began_to_pass(self, path):
        (told,) = found(expectation_edited.find, {path: ("a\nb\n", "a\nc\n")}, **BEGAN)
        assert (told.rule, told.severity, told.old, told.new, told.tests) == ("T7", Severity.MEDIUM, "b", "c", (ID,))

    def test_an_edited_one_is_told_where_nothing_is_known(self, path):
        assert len(found(expectation_edited.find, {path: ("a\nb\n", "a\nc\n")})) == 1

    @pytest.mark.parametrize(
        ("old", "new", "outcomes"),
        [
            pytest.param("a\n", "a\nb\n", BEGAN, id="entries were added"),
            pytest.param("a\nb\n", "a\nc\n", PASSED, id="no test began to pass"),
            pytest.param("a b\n", "a  b\n", BEGAN, id="spaces only"),
            pytest.param(None, "a\n", BEGAN, id="a new one"),
            pytest.param("a\n", None, BEGAN, id="one that is gone"),
        ],
    )
    def test_others_are_silent(self, path, old, new, outcomes):
        assert found(expectation_edited.find, {path: (old, new)}, **outcomes) == []

    def test_source_changed_too(self, path):
        files = {path: ("a\n", "b\n"), "box/core.py": ("x = 1\n", "x = 2\n")}
        assert found(expectation_edited.find, files, **BEGAN) == []


def test_an_input_file_is_silent():
    assert found(expectation_edited.find, {"tests/data/input.json": ("1\n", "2\n")}, **BEGAN) == []
