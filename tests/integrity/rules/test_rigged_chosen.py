"""T10: an answer put in where it is not the one expected, tests that are not run, neighbours that are hidden."""

import pytest

from ralph_tracker.core.findings import Severity
from ralph_tracker.integrity.python.hiding import hidden_in
from ralph_tracker.integrity.rules import test_rigged
from tests.integrity.making import found

TEST, CONFTEST, INSIDE = "tests/test_box.py", "tests/conftest.py", "src/box/test/test_box.py"
HEAD = (
    "import contextlib\nimport copy\nimport pytest\nfrom unittest.mock import MagicMock, Mock, patch\n"
    "import box\nfrom box import Box, f\n\n"
)
REAL = "def test_a():\n    assert f(3) == 9\n"
NAMED = "def test_a():\n    got = f(3)\n    assert got == 9\n"
EMPTY = "def test_a():\n    got = f(3)\n    assert not got\n"
ATTRIBUTE = "def test_a():\n    b = Box()\n    assert b.size == 4\n"
BEGAN = {"before": {"tests.test_box::test_a": "failed"}, "after": {"tests.test_box::test_a": "passed"}}


def body(*lines):
    return "def test_a():\n" + "".join(f"    {line}\n" for line in lines)


CHOSEN = {
    "or": (NAMED, body("got = f(3) or 9", "assert got == 9")),
    "or, in place": (REAL, body("assert (f(3) or 9) == 9")),
    "and, or": (REAL, body("assert ((f(3) and False) or 9) == 9")),
    "a choice": (NAMED, body("got = f(3)", "got = got if got == 9 else 9", "assert got == 9")),
    "a choice in place": (REAL, body("assert (9 if f(3) != 9 else f(3)) == 9")),
    "a branch": (NAMED, body("got = f(3)", "if got != 9:", "    got = 9", "assert got == 9")),
    "a loop": (NAMED, body("got = f(3)", "while got != 9:", "    got = 9", "assert got == 9")),
    "a handler": (NAMED, body("try:", "    got = f(3)", "except Exception:", "    got = 9", "assert got == 9")),
    "of a pair": (NAMED, body("got = (f(3), 9)[1]", "assert got == 9")),
    "the last of a list": (REAL, body("assert [f(3), 9].pop() == 9")),
    "a default": (NAMED, body("got = {}.get(f(3), 9)", "assert got == 9")),
    "a default of next": (REAL, body("assert next((x for x in [f(3)] if x == 9), 9) == 9")),
    "a default of getattr": (REAL, body("assert getattr(f(3), 'none', 9) == 9")),
    "by the name of what is expected": (NAMED, body("want = 9", "got = f(3) or want", "assert got == want")),
    "put in, under a new name": (REAL, body("got = f(3)", "got = 9", "assert got == 9")),
    "put in for a truth": (
        body("assert f(3) == True"),
        body("got = f(3)", "if not got:", "    got = True", "assert got == True"),
    ),
    "put in by a helper": (
        NAMED,
        body("def plain(x):", "    return 9", "got = plain(f(3))", "assert got == 9"),
    ),
    "put in by a lambda": (NAMED, body("got = (lambda x: 9)(f(3))", "assert got == 9")),
    "put in by a context": (
        NAMED,
        body("got = f(3)", "with contextlib.nullcontext(9) as got:", "    pass", "assert got == 9"),
    ),
    "emptied": (EMPTY, body("got = f(3)", "got.clear()", "assert not got")),
    "emptied by a slice": (EMPTY, body("got = f(3)", "del got[:]", "assert not got")),
    "filled by a slice": (
        body("got = f(3)", "assert got == [9]"),
        body("got = f(3)", "got[:] = [9]", "assert got == [9]"),
    ),
    "expected of itself": (REAL, body("want = f(3)", "assert f(3) == want")),
    "expected of a copy": (REAL, body("got = f(3)", "want = copy.deepcopy(got)", "assert got == want")),
    "a class that `type` makes": (REAL, body("assert f(3) == type('S', (), {'__eq__': lambda a, b: True})()")),
    "a mock by its effect": (
        REAL,
        body("want = MagicMock()", "want.__eq__.side_effect = lambda other: True", "assert f(3) == want"),
    ),
    "a mock that is configured": (
        REAL,
        body("want = MagicMock()", "want.configure_mock(**{'__eq__.return_value': True})", "assert f(3) == want"),
    ),
    "a definition under a condition": (REAL, "if True:\n    def f(x):\n        return 9\n\n" + REAL),
    "a definition as a way out": (
        REAL,
        "try:\n    from box import g as f\nexcept ImportError:\n    def f(x):\n        return 9\n\n" + REAL,
    ),
    "a class as a way out": (
        "def test_a():\n    assert Box().lid(3) == 9\n",
        (
            "try:\n    raise ImportError\nexcept ImportError:\n    class Box:\n        def lid(self, x):\n"
            "            return 9\n\ndef test_a():\n    assert Box().lid(3) == 9\n"
        ),
    ),
    "an assignment under a condition": (REAL, "if not box.ready:\n    f = lambda x: 9\n\n" + REAL),
    "a set-up of the module": (REAL, "def setup_module(module):\n    module.f = lambda x: 9\n\n" + REAL),
}
HONEST = {
    "or nothing": (body("assert f(3) == []"), body("assert (f(3) or []) == []")),
    "a default that is nothing": (body("assert f(3) == ''"), body("assert getattr(f(3), 'text', '') == ''")),
    "expected by a choice": (REAL, body("want = 9 if box.new else 8", "assert f(3) == want")),
    "the input again": (body("assert f(9) == 9"), body("got = 9", "got = f(got)", "assert got == 9")),
    "one name after the other": (
        body("got = f(1)", "assert got == 1"),
        body("got = f(1)", "assert got == 1", "got = 4", "got = f(got)", "assert got == 4"),
    ),
    "asked twice besides": (REAL, body("assert f(3) == 9", "assert f(3) == f(3)")),
    "another default": (REAL, body("assert {3: f(3)}.get(3, 0) == 9")),
    "cleared by what is tested": (
        body("b = Box()", "assert b.size == 4"),
        body("b = Box()", "assert b.size == 4", "b.clear()", "assert not b"),
    ),
    "a name for it": (REAL, body("got = f(3)", "assert got == 9")),
    "a standard function under a condition": (
        "from functools import cache\n\ndef test_a():\n    assert cache(f)(3) == 9\n",
        (
            "try:\n    from functools import cache\nexcept ImportError:\n    def cache(x):\n        return x\n\n"
            "def test_a():\n    assert cache(f)(3) == 9\n"
        ),
    ),
    "an import that moves to the top": (
        "def test_a():\n    from box.lids import Lid\n    class Own:\n        pass\n    assert Lid(Own()).size == 1\n",
        "from box.lids import Lid\n\ndef test_a():\n    class Own:\n        pass\n    assert Lid(Own()).size == 1\n",
    ),
}
SUPPLANTED = {
    "a lambda": f"{REAL}\n\ntest_a = lambda: None\n",
    "a mock": f"{REAL}\n\ntest_a = Mock()\n",
    "another code": f"{REAL}\n\ntest_a.__code__ = (lambda: None).__code__\n",
    "a decorator that drops it": f"def quiet(test):\n    return lambda: None\n\n@quiet\n{REAL}",
    "a decorator that is a mock": f"@Mock\n{REAL}",
}
NOT_SUPPLANTED = {
    "a mark": f"{REAL}\n\ntest_a = pytest.mark.slow(test_a)\n",
    "another name": f"{REAL}\n\ntest_b = test_a\n",
    "a decorator that runs it": f"def timed(test):\n    def run():\n        test()\n    return run\n\n@timed\n{REAL}",
    "a decorator of another module": f"@box.slow\n{REAL}",
    "a constant": f"test_data = 1\n{REAL}",
}
ATTRIBUTES = {
    "a path": "with patch('box.Box.size', 4):",
    "a path of the module": "with patch('box.core.Box.size', 4):",
    "an object": "with patch.object(Box, 'size', 4):",
}
FOR_ALL = {
    "a function of its own": "import box\n\ndef nine(x):\n    return 9\n\nbox.f = nine\n",
    "setattr": "import box\n\nsetattr(box, 'f', lambda x: 9)\n",
    "a patch that is started": "from unittest.mock import patch\n\npatch('box.f', return_value=9).start()\n",
    "configuring": "def pytest_configure(config):\n    import box\n    box.f = lambda x: 9\n",
    "a set-up of each": "import box\n\ndef pytest_runtest_setup(item):\n    item.module.f = lambda x: 9\n",
}


def told(new, old, path=TEST, **outcomes):
    return {each.severity for each in found(test_rigged.find, {path: (old, new)}, **outcomes)}


@pytest.mark.parametrize(("old", "new"), CHOSEN.values(), ids=CHOSEN)
class TestAnAnswerThatIsPutIn:
    def test_is_told(self, old, new):
        assert Severity.CRITICAL in told(HEAD + new, HEAD + old)

    def test_is_not_told_where_it_stood(self, old, new):
        assert told(f"{HEAD}{new}", f"{HEAD}{new}    print(1)\n") == set()

    def test_is_silent_on_the_way_back(self, old, new):
        assert Severity.CRITICAL not in told(HEAD + old, HEAD + new)


@pytest.mark.parametrize(("old", "new"), HONEST.values(), ids=HONEST)
def test_honest_answers_are_silent(old, new):
    assert told(HEAD + new, HEAD + old) == set()


@pytest.mark.parametrize("new", SUPPLANTED.values(), ids=SUPPLANTED)
def test_what_takes_the_place_of_a_test_is_told(new):
    assert Severity.CRITICAL in told(HEAD + new, HEAD + REAL, **BEGAN)
    assert told(HEAD + new, HEAD + new, **BEGAN) == set()


@pytest.mark.parametrize("new", NOT_SUPPLANTED.values(), ids=NOT_SUPPLANTED)
def test_what_runs_a_test_is_silent(new):
    assert told(HEAD + new, HEAD + REAL, **BEGAN) == set()


@pytest.mark.parametrize("way", ATTRIBUTES.values(), ids=ATTRIBUTES)
def test_an_attribute_of_a_class_is_told_in_a_red_test(way):
    new = f"{HEAD}def test_a():\n    {way}\n        b = Box()\n        assert b.size == 4\n"
    assert told(new, HEAD + ATTRIBUTE, **BEGAN) == {Severity.CRITICAL}


@pytest.mark.parametrize("new", FOR_ALL.values(), ids=FOR_ALL)
def test_a_function_replaced_for_every_test_is_told(new):
    assert told(new, "import box\n", CONFTEST, **BEGAN) == {Severity.CRITICAL}
    assert told(f"{new}x = 1\n", new, CONFTEST, **BEGAN) == set()


class TestWithinAPackage:
    OLD = "from .. import f, Box\n\ndef test_a():\n    assert f(3) == 9\n\ndef test_b():\n    assert Box().lid() == 4\n"

    @pytest.mark.parametrize(
        "new",
        [
            OLD.replace("def test_a", "def f(x):\n    return 9\n\ndef test_a"),
            OLD.replace("    assert f", "    with patch('box.f', return_value=9):\n        assert f"),
            OLD.replace("    assert Box", "    with patch('box.Box.lid', return_value=4):\n        assert Box"),
            OLD.replace("from .. import f, Box", "from .. import Box\nfrom .copied import f"),
        ],
        ids=["a function of the same name", "a path", "a path of a method", "a copy beside the tests"],
    )
    def test_what_is_tested_is_a_neighbour(self, new):
        assert Severity.CRITICAL in told(new, self.OLD, INSIDE)

    @pytest.mark.parametrize(
        ("module", "path", "hidden"),
        [
            ("..helpers.f", "tests/unit/test_box.py", False),
            (".helpers.f", "tests/test_box.py", False),
            (".core.f", "box/test_box.py", True),
            ("..f", INSIDE, True),
            ("...f", "tests/test_box.py", False),
        ],
    )
    def test_helpers_of_the_tests_are_not(self, module, path, hidden):
        assert hidden_in("def f(x):\n    return 9\n", {"f": module}, path) == ({"f"} if hidden else set())


class TestHelpersThatAsk:
    """A helper that is imported asks what it is given about something of its own, unless it compares by its name."""

    OLD = "from . import Base\n\nclass TestBox(Base):\n    def test_a(self):\n        {}\n"

    def test_what_is_given_to_such_a_helper_is_no_answer(self):
        old = self.OLD.format("self.assertFail({'lid': 'no'}, self.schema)")
        new = self.OLD.format("assert_fail({'lid': 'no'}, update=True)").replace("Base\n", "Base, assert_fail\n")
        assert told(new, old, INSIDE) == set()

    def test_one_that_compares_is_told(self):
        old = "from . import assert_equal, f\n\ndef test_a():\n    assert_equal(f(3), 9)\n"
        new = "from . import assert_equal, f\n\ndef test_a():\n    got = 9\n    assert_equal(got, 9)\n"
        assert Severity.CRITICAL in told(new, old, INSIDE)
