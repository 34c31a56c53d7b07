"""T10: objects equal to everything, subjects that the test replaced, clocks that stand still."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph_tracker.core.findings import Severity
from ralph_tracker.integrity.rules import test_rigged
from tests.integrity.making import evidence, found

TEST, SOURCE, CONFTEST = "tests/test_box.py", "box/core.py", "tests/conftest.py"
HEAD = (
    "import time\nfrom unittest import mock\nfrom unittest.mock import ANY, MagicMock, Mock, patch\n"
    "import box\nfrom box import Box, f\n"
)
REAL = f"{HEAD}def test_a():\n    assert box.f(3) == 9\n"
BEGAN = {"before": {"tests.test_box::test_a": "failed"}, "after": {"tests.test_box::test_a": "passed"}}
EQUAL_BODIES = {
    "true": "def __eq__(self, other):\n        return True",
    "not false": "def __eq__(self, other):\n        return not False",
    "itself": "def __eq__(self, other):\n        return self is self",
    "or true": "def __eq__(self, other):\n        return other == 1 or True",
    "everything is an object": "def __eq__(self, other):\n        return isinstance(other, object)",
    "either way": "def __eq__(self, other):\n        if other:\n            return True\n        return True",
    "before it compares": "def __eq__(self, other):\n        return True\n        return self.a == other.a",
    "before it refuses": "def __eq__(self, other):\n        return True\n        raise TypeError(other)",
    "never unequal": "def __ne__(self, other):\n        return False",
    "a lambda": "__eq__ = lambda self, other: True",
}
HONEST_BODIES = {
    "a comparison": "def __eq__(self, other):\n        return self.a == other.a",
    "a kind": "def __eq__(self, other):\n        return isinstance(other, Box)",
    "not implemented": (
        "def __eq__(self, other):\n        if not other:\n            return NotImplemented\n        return True"
    ),
    "an error": "def __eq__(self, other):\n        raise TypeError",
    "a truth": "def __bool__(self):\n        return True",
    "never equal": "def __eq__(self, other):\n        return False",
}
RIGGED = {
    "mock.ANY": "def test_a():\n    assert box.f(3) == mock.ANY\n",
    "ANY": "def test_a():\n    assert box.f(3) == ANY\n",
    "an object of a class": (
        "class Any:\n    def __eq__(self, o):\n        return True\ndef test_a():\n    assert box.f(3) == Any()\n"
    ),
    "an object by name": (
        "class Any:\n    def __eq__(self, o):\n        return True\nX = Any()\ndef test_a():\n"
        "    assert box.f(3) == X\n"
    ),
    "a result by name": (
        "class Any:\n    def __eq__(self, o):\n        return True\ndef test_a():\n    r = box.f(3)\n"
        "    assert r == Any()\n"
    ),
    "patched by name": "@patch('box.f', return_value=9)\ndef test_a(_):\n    assert box.f(3) == 9\n",
    "patched in a block": "def test_a():\n    with patch('box.f', return_value=9):\n        assert box.f(3) == 9\n",
    "patched as an object": (
        "def test_a():\n    with patch.object(box, 'f', return_value=9):\n        assert box.f(3) == 9\n"
    ),
    "a patch's own name": (
        "def test_a():\n    with patch('box.f') as f:\n        f.return_value = 9\n        assert f(3) == 9\n"
    ),
    "a patched attribute": (
        "def test_a(monkeypatch):\n    monkeypatch.setattr(box, 'f', lambda x: 9)\n    assert box.f(3) == 9\n"
    ),
    "a patched path": (
        "def test_a(monkeypatch):\n    monkeypatch.setattr('box.f', lambda x: 9)\n    r = box.f(3)\n    assert r == 9\n"
    ),
    "a patch of the plugin": (
        "def test_a(mocker):\n    mocker.patch('box.f', return_value=9)\n    assert box.f(3) == 9\n"
    ),
    "an assignment": "def test_a():\n    box.f = lambda x: 9\n    assert box.f(3) == 9\n",
    "an assignment for all": "box.f = lambda x: 9\ndef test_a():\n    assert box.f(3) == 9\n",
    "its name in the module": (
        "def test_a():\n    with patch('tests.test_box.f', return_value=9):\n        assert f(3) == 9\n"
    ),
    "its name in this module": (
        "def test_a():\n    with patch(__name__ + '.f', lambda x: 9):\n        assert f(3) == 9\n"
    ),
    "its name in the module, formatted": (
        "def test_a(mocker):\n    mocker.patch(f'{__name__}.f', return_value=9)\n    assert f(3) == 9\n"
    ),
    "the module as an object": (
        "def test_a():\n    with patch.object(sys.modules[__name__], 'f', return_value=9):\n        assert f(3) == 9\n"
    ),
    "an imported module as an object": (
        "def test_a():\n    patch.object(import_module(__name__), 'f', return_value=9).start()\n    assert f(3) == 9\n"
    ),
    "the globals": "def test_a():\n    with patch.dict(globals(), f=lambda x: 9):\n        assert f(3) == 9\n",
    "the globals by a dict": (
        "def test_a():\n    with patch.dict(globals(), {'f': lambda x: 9}):\n        assert f(3) == 9\n"
    ),
    "an item of the globals": (
        "def test_a(monkeypatch):\n    monkeypatch.setitem(globals(), 'f', lambda x: 9)\n    assert f(3) == 9\n"
    ),
    "the globals assigned to": "def test_a():\n    globals()['f'] = lambda x: 9\n    assert f(3) == 9\n",
    "an effect that never differs": (
        "def test_a():\n    with patch('box.f', side_effect=lambda x: 9):\n        assert box.f(3) == 9\n"
    ),
    "a method where it is defined": (
        "def test_a():\n    with patch('box.core.Box.f', return_value=9):\n        assert Box().f(3) == 9\n"
    ),
    "a mock": "def test_a():\n    box = Mock()\n    box.f.return_value = 9\n    assert box.f(3) == 9\n",
    "a mock's function": "def test_a():\n    f = MagicMock(return_value=9)\n    assert f(3) == 9\n",
    "a lambda": "def test_a():\n    f = lambda x: 9\n    assert f(3) == 9\n",
    "a function of its own": "def test_a():\n    def f(x):\n        return 9\n    assert f(3) == 9\n",
    "a function of the module": "def f(x):\n    return 9\ndef test_a():\n    assert f(3) == 9\n",
    "through a length": (
        "def test_a():\n    with patch('box.f', return_value=[9]):\n        assert len(box.f(3)) == 1\n"
    ),
}
QUIET = {
    "the real thing": "def test_a():\n    assert box.f(3) == 9\n    assert box.g(3) == 8\n",
    "ANY within": "def test_a():\n    assert box.f(3) == {'id': ANY, 'size': 9}\n",
    "ANY is refused": "def test_a():\n    assert box.f(3) != ANY\n",
    "a dependency patched": "@patch('box.g', return_value=9)\ndef test_a(_):\n    assert box.f(3) == 9\n",
    "a dependency's calls": (
        "def test_a():\n    with patch('box.g') as g:\n        assert box.f(3) == 9\n"
        "        assert g.call_count == 1\n        g.assert_called_once()\n"
    ),
    "a spy": "def test_a():\n    with patch('box.f', wraps=box.f):\n        assert box.f(3) == 9\n",
    "an error on the way": (
        "def test_a():\n    with patch('box.g', side_effect=OSError):\n        assert box.f(3) == 9\n"
    ),
    "an effect that acts": (
        "def test_a():\n    with patch('box.f', side_effect=lambda x: g(x)):\n        assert box.f(3) == 9\n"
    ),
    "a module's function of that name": (
        "def test_a():\n    with patch('box.core.f', return_value=9):\n        assert box.other.f(3) == 9\n"
    ),
    "a name by a variable": "def test_a():\n    with patch(NAME + '.f', lambda x: 9):\n        assert f(3) == 9\n",
    "items of another mapping": "def test_a():\n    with patch.dict(os.environ, f='9'):\n        assert f(3) == 9\n",
    "a setting among the globals": (
        "def test_a():\n    with patch.dict(globals(), {'LIMIT': 9, **MORE}):\n        assert f(3) == 9\n"
    ),
    "nothing put": "def test_a():\n    with patch.dict(globals()):\n        assert f(3) == 9\n",
    "a setting": "def test_a(monkeypatch):\n    monkeypatch.setattr(box, 'LIMIT', 3)\n    assert box.f(3) == 9\n",
    "a helper of its own": "def test_a():\n    def want(x):\n        return 9\n    assert box.f(3) == want(3)\n",
    "a mock that is filled": "def test_a():\n    m = Mock()\n    box.fill(m)\n    assert m.size == 9\n",
    "a method": "def test_a():\n    b = Box()\n    assert b.f(3) == 9\n",
}


def of(new, old=REAL, path=TEST, **outcomes):
    return found(test_rigged.find, {path: (old, new)}, **outcomes)


@pytest.mark.parametrize("text", [HEAD + text for text in RIGGED.values()], ids=RIGGED)
class TestAnAssertion:
    def test_that_took_the_place_of_a_real_one_is_critical(self, text):
        told = [each for each in of(text) if each.test]
        assert [(each.rule, each.severity, each.test) for each in told] == [("T10", Severity.CRITICAL, "test_a")]

    def test_of_a_new_test_is_a_note(self, text):
        told = of(text, None)
        assert {each.severity for each in told} == {Severity.MEDIUM}
        assert any(each.test for each in told)

    def test_of_a_test_that_began_to_pass_is_critical(self, text):
        other = f"{HEAD}def test_a():\n    assert box.other() == 1\n"
        assert Severity.CRITICAL in {each.severity for each in of(text, other, **BEGAN)}

    def test_that_stood_there_is_not_told(self, text):
        assert of(f"{text}    print(1)\n", text, **BEGAN) == []


@pytest.mark.parametrize("text", [HEAD + text for text in QUIET.values()], ids=QUIET)
def test_honest_doubles_are_silent(text):
    assert [each for each in of(text, **BEGAN) if each.test] == []
    assert of(text, None) == []


class TestMethods:
    OLD = f"{HEAD}def test_a():\n    b = Box()\n    assert b.lid(3) == 9\n"

    @pytest.mark.parametrize(
        "body",
        [
            "    with patch.object(Box, 'lid', return_value=9):\n        b = Box()\n        assert b.lid(3) == 9\n",
            "    with patch('box.Box.lid', return_value=9):\n        assert Box().lid(3) == 9\n",
        ],
        ids=["of an object by name", "of an object made in place"],
    )
    def test_a_patched_method_is_what_is_asserted_about(self, body):
        assert [each.severity for each in of(f"{HEAD}def test_a():\n{body}", self.OLD)] == [Severity.CRITICAL]


def test_a_duration_by_a_clock_that_stands_still():
    old = f"{HEAD}def test_a():\n    t = time.perf_counter()\n    f()\n    assert time.perf_counter() - t < 1\n"
    new = old.replace(
        "def test_a():\n", "def test_a(monkeypatch):\n    monkeypatch.setattr(time, 'perf_counter', lambda: 0.0)\n"
    )
    assert [each.severity for each in of(new, old)] == [Severity.CRITICAL]


class TestClasses:
    @pytest.mark.parametrize("body", EQUAL_BODIES.values(), ids=EQUAL_BODIES)
    @pytest.mark.parametrize("path", [SOURCE, "box/other.py"])
    def test_of_source_equal_to_everything(self, path, body):
        text = f"class Result:\n    {body}\n"
        assert [each.severity for each in of(text, None, path)] == [Severity.MEDIUM]
        assert [each.severity for each in of(text, "x = 1\n", path, **BEGAN)] == [Severity.CRITICAL]
        assert of(f"x = 1\n{text}", text, path, **BEGAN) == []

    @pytest.mark.parametrize(
        "text",
        [
            "Box.__eq__ = lambda self, other: True\n",
            "X = type('X', (int,), {'__eq__': lambda self, other: True})\n",
        ],
        ids=["set later", "made by type"],
    )
    def test_of_source_by_other_ways(self, text):
        assert [each.severity for each in of(text, None, SOURCE, **BEGAN)] == [Severity.CRITICAL]

    @pytest.mark.parametrize("body", HONEST_BODIES.values(), ids=HONEST_BODIES)
    def test_that_compare_are_silent(self, body):
        assert of(f"class Result:\n    {body}\n", None, SOURCE, **BEGAN) == []

    def test_of_a_helper_that_a_test_compares_with(self):
        helper = "class Same:\n    def __eq__(self, other):\n        return True\n"
        new = f"{HEAD}from tests.helper import Same\ndef test_a():\n    assert box.f(3) == Same()\n"
        told = found(test_rigged.find, {"tests/helper.py": (None, helper), TEST: (REAL, new)})
        assert [(each.file, each.severity) for each in told] == [
            ("tests/helper.py", Severity.MEDIUM),
            (TEST, Severity.CRITICAL),
        ]


class TestForAll:
    @pytest.mark.parametrize(
        "text",
        [
            "import box\nbox.f = lambda x: 9\n",
            "import box\nfrom unittest.mock import Mock\nbox.f = Mock(return_value=9)\n",
            (
                "import pytest, box\n@pytest.fixture(autouse=True)\ndef still(monkeypatch):\n"
                "    monkeypatch.setattr(box, 'f', lambda x: 9)\n"
            ),
        ],
        ids=["a lambda", "a mock", "a fixture"],
    )
    def test_a_function_replaced_in_conftest(self, text):
        assert [each.severity for each in of(text, None, CONFTEST)] == [Severity.MEDIUM]
        assert [each.severity for each in of(text, "import box\n", CONFTEST, **BEGAN)] == [Severity.CRITICAL]

    @pytest.mark.parametrize(
        "text",
        [
            "import time\ntime.sleep = lambda s: None\n",
            "import requests\nrequests.get = lambda *a: None\n",
            "import box\nbox.f = lambda x: real(x)\n",
            "import pytest, box\n@pytest.fixture(autouse=True)\ndef seen(monkeypatch):\n    yield\n",
        ],
        ids=["no sleep", "no network", "a wrapper", "a fixture that does nothing"],
    )
    def test_honest_replacements(self, text):
        assert of(text, None, CONFTEST, **BEGAN) == []


class TestAFixtureForOthers:
    REAL = "import pytest, box\n@pytest.fixture\ndef b():\n    return box.Box()\n"
    DOUBLES = {
        "a mock": "from unittest.mock import Mock\nimport pytest\n@pytest.fixture\ndef b():\n    return Mock()\n",
        "a mock by name": (
            "from unittest.mock import Mock\nimport pytest\n@pytest.fixture\ndef b():\n    b = Mock()\n    yield b\n"
        ),
        "a lambda": "import pytest\n@pytest.fixture\ndef b():\n    return lambda x: 9\n",
    }

    @pytest.mark.parametrize("new", DOUBLES.values(), ids=DOUBLES)
    def test_that_hands_out_a_double_now(self, new):
        assert [each.severity for each in of(new, self.REAL, CONFTEST)] == [Severity.MEDIUM]
        assert [each.severity for each in of(new, self.REAL, CONFTEST, **BEGAN)] == [Severity.CRITICAL]

    @pytest.mark.parametrize("new", DOUBLES.values(), ids=DOUBLES)
    def test_that_always_did_or_is_new_is_silent(self, new):
        assert of(f"{new}x = 1\n", new, CONFTEST, **BEGAN) == []
        assert of(new, "import pytest\n", CONFTEST, **BEGAN) == []
        assert of(self.REAL, new, CONFTEST, **BEGAN) == []


def test_a_helper_that_is_no_program_hides_nothing_else():
    helper = ("tests/helper.py", None, "class A:\n    def __eq__(:\n")
    looked_at = evidence({helper[0]: helper[1:], TEST: (REAL, REAL.replace("box.f(3)", "mock.ANY"))})
    assert [each.severity for each in test_rigged.find(looked_at.files[1], looked_at)] == [Severity.CRITICAL]


@settings(deadline=None)
@given(st.lists(st.sampled_from([*RIGGED.values(), *QUIET.values()]), max_size=4))
def test_a_file_against_itself_gives_nothing(parts):
    text = HEAD + "".join(parts)
    assert of(text, text, **BEGAN) == []


def test_other_files_are_not_looked_into():
    assert of("class A { equals() { return true } }\n", None, "box/core.js") == []
    assert of(None, REAL) == []
