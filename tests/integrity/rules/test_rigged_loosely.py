"""T10, form by form: what makes comparisons come out alike, by what is equal, by helpers, by fixtures elsewhere."""

import pytest

from ralph_tracker.core.findings import Severity
from ralph_tracker.integrity.rules import test_rigged
from tests.integrity.making import evidence, found

PATH = "tests/test_box.py"
HEAD = (
    "import io\nimport pytest\nfrom unittest import mock\nfrom unittest.mock import ANY, MagicMock\n"
    "import box\nfrom box import Box\n\n"
)
REAL = "def test_a():\n    assert box.f(3) == 9\n"
BEGAN = {"before": {"tests.test_box::test_a": "failed"}, "after": {"tests.test_box::test_a": "passed"}}
KIND = (
    "class M{bases}:\n    def __init__(self, v=None):\n        self.v = v\n    def __eq__(self, o):\n        {body}\n"
)
LOOSE = {
    "not none": "return o is not None",
    "of a kind": "return isinstance(o, (int, str))",
    "of the same kind as its value": "return type(o) is type(self.v)",
    "or something": "return self.v == o or o is not None",
    "told and yes": "print(self.v, o)\n        return True",
    "but for nothing": "if o is None:\n            return False\n        return True",
    "whatever is raised": "try:\n            return self.v == o\n        except Exception:\n            return True",
    "true or false": "return (self.v == o) in (True, False)",
    "what differs": "return self.v != o",
    "what it takes over": "self.v = o\n        return self.v == o",
    "what it takes over at first": "if self.v is None:\n            self.v = o\n        return self.v == o",
    "what it takes over by name": "setattr(self, 'w', o)\n        return o == self.w",
    "what it collects": "self.seen.append(o)\n        return o in self.seen",
    "what it has by default": "return self.__dict__.setdefault('w', o) == o",
    "what it gets by default": "return getattr(self, 'w', o) == o",
    "itself or the other": "return (self.v or o) == o",
    "as long": "return len(self.v) == len(o)",
    "near to all": "return abs(o - self.v) < 1e9",
    "nearer than infinity": "return abs(o - self.v) < float('inf')",
    "an assertion that is caught": (
        "try:\n            assert self.v == o\n        except AssertionError:\n            pass\n        return True"
    ),
    "a key that is one for all": "return self._key() == o._key()\n    def _key(self):\n        return 0",
}
STRICT = {
    "what it shows later": "self.got = o\n        return self.v == o",
    "what it kept": "self.got = o\n        return self.got == self.v",
    "as long, and alike": "return len(self.v) == len(o) and all(a == b for a, b in zip(self.v, o))",
    "a default of its own": "return getattr(self, 'w', 9) == o",
    "near enough": "return abs(o - self.v) <= 1e-6",
    "a key": "return self._key() == o._key()\n    def _key(self):\n        return self.v",
    "an assertion that says no": (
        "try:\n            assert self.v == o\n        except AssertionError:\n            return False\n"
        "        return True"
    ),
    "the same value": "return self.v == o",
    "of a kind that it holds": "return isinstance(o, self.v)",
    "near": "return abs(o - self.v) < 1",
    "a pattern": "return re.match(self.v, o) is not None",
    "part by part": (
        "for k, v in self.v.items():\n"
        "            if getattr(o, k) != v:\n"
        "                return False\n"
        "        return True"
    ),
    "by an assertion": "assert_equal(self.v, o)\n        return True",
}
RIGGED = {
    "set as a lambda": (
        "class M:\n    __eq__ = lambda self, o: o is not None\ndef test_a():\n    assert box.f(3) == M()\n"
    ),
    "the opposite": "class M:\n    __eq__ = object.__ne__\ndef test_a():\n    assert box.f(3) == M()\n",
    "by a class above": (
        "class K:\n    def __eq__(self, o):\n        return o is not None\n"
        "class M(K):\n    x = 1\ndef test_a():\n    assert box.f(3) == M()\n"
    ),
    "in the test": (
        "def test_a():\n    class M:\n        def __eq__(self, o):\n            return hasattr(o, 'real')\n"
        "    assert box.f(3) == M()\n"
    ),
    "by a method": (
        "class M:\n"
        "    def __eq__(self, o):\n"
        "        return self._same(o)\n"
        "    def _same(self, o):\n"
        "        return o is not None\n"
        "def test_a():\n    assert box.f(3) == M()\n"
    ),
    "a constant of the module": "WANTED = mock.ANY\ndef test_a():\n    assert box.f(3) == WANTED\n",
    "one of two": (
        "from dirty_equals import IsAnything, IsStr\ndef test_a():\n    assert box.f(3) == (IsStr() | IsAnything())\n"
    ),
    "a mock that is told": (
        "def test_a():\n    want = MagicMock(**{'__eq__.return_value': True})\n    assert box.f(3) == want\n"
    ),
    "a helper that takes anything": (
        "def same(a, b):\n    return a is not None\ndef test_a():\n    assert same(box.f(3), 9)\n"
    ),
    "a helper that says it and yes": (
        "def same(a, b):\n"
        "    if a != b:\n"
        "        print(a)\n"
        "    return True\n"
        "def test_a():\n"
        "    assert same(box.f(3), 9)\n"
    ),
    "a lambda that takes anything": (
        "def test_a():\n    same = lambda a, b: a is not None or a == b\n    assert same(box.f(3), 9)\n"
    ),
    "a helper that hands out what is wanted": (
        "def settled(got, want):\n    if got is None:\n        return got\n    return want\n"
        "def test_a():\n    assert settled(box.f(3), 9) == 9\n"
    ),
    "a helper that makes all alike": (
        "def norm(v):\n    return None\ndef test_a():\n    assert norm(box.f(3)) == norm(9)\n"
    ),
    "wanted is asked for again": (
        "def wanted():\n    return box.f(3)\ndef test_a():\n    assert box.f(3) == wanted()\n"
    ),
    "a fixture of a constant": ("@pytest.fixture\ndef got():\n    return 9\ndef test_a(got):\n    assert got == 9\n"),
    "the wanted one first": "def test_a():\n    got = box.f(3)\n    got = 9 or got\n    assert got == 9\n",
    "a decorator that drops it": (
        "def quiet(fn):\n    def run(*a):\n        return None\n    run.__name__ = fn.__name__\n    return run\n"
        "@quiet\ndef test_a():\n    assert box.f(3) == 9\n"
    ),
}
HONEST = {
    "a helper that cleans": "def norm(v):\n    return repr(v)\ndef test_a():\n    assert norm(box.f(3)) == norm(9)\n",
    "a helper that hands on": "def run(v):\n    return v\ndef test_a():\n    assert run(box.f(3)) == 9\n",
    "a helper that compares": (
        "def same(a, b):\n    return a.strip() == b.strip()\ndef test_a():\n    assert same(box.f(3), 9)\n"
    ),
    "a helper that looks part by part": (
        "def holds(a, b):\n    for x in b:\n        if x not in a:\n            return False\n    return True\n"
        "def test_a():\n    assert holds(box.f(3), 9)\n"
    ),
    "a helper that validates": (
        "def valid(a, b):\n    box.validate(a, b)\n    return True\ndef test_a():\n    assert valid(box.f(3), 9)\n"
    ),
    "a fixture of what is given": "@pytest.fixture\ndef x():\n    return 3\ndef test_a(x):\n    assert box.f(x) == 9\n",
    "a fixture of what is wanted": (
        "@pytest.fixture\ndef y():\n    return 9\ndef test_a(y):\n    assert box.f(3) == y\n"
    ),
    "objects without a state": (
        "class A:\n    def __eq__(self, o):\n        return type(self) is type(o)\n"
        "def test_a():\n    assert box.f(A()) == [A()]\n"
    ),
    "a default that is nothing": "def test_a():\n    got = [] or box.f(3)\n    assert got == 9\n",
    "one part of any": "def test_a():\n    assert box.f(3) == {'id': ANY, 'n': 9}\n",
    "a decorator that runs it twice": (
        "def twice(fn):\n"
        "    def run(*a):\n"
        "        fn(*a)\n"
        "        fn(*a)\n"
        "    run.__name__ = fn.__name__\n"
        "    return run\n"
        "@twice\ndef test_a():\n    assert box.f(3) == 9\n"
    ),
    "two that are made alike": "def made():\n    return box.dump(3)\ndef test_a():\n    assert made() == box.f(9)\n",
}


def severities(new, old=REAL, **outcomes):
    return {each.severity for each in found(test_rigged.find, {PATH: (HEAD + old, HEAD + new)}, **outcomes)}


def kind(body, bases=""):
    return KIND.format(bases=bases, body=body)


@pytest.mark.parametrize("body", LOOSE.values(), ids=LOOSE)
class TestLooseEquality:
    NEW = "def test_a():\n    assert box.f(3) == M(9)\n"

    def test_in_the_place_of_a_value(self, body):
        assert Severity.CRITICAL in severities(kind(body) + self.NEW)
        assert Severity.CRITICAL in severities(kind(body, "(str)") + self.NEW)

    def test_of_a_class_that_was_stricter(self, body):
        assert Severity.CRITICAL in severities(kind(body) + self.NEW, kind("return self.v == o") + self.NEW, **BEGAN)

    def test_that_stood_there(self, body):
        assert severities(kind(body) + self.NEW + "x = 1\n", kind(body) + self.NEW, **BEGAN) == set()


@pytest.mark.parametrize("body", STRICT.values(), ids=STRICT)
def test_matchers_that_use_what_they_hold_are_silent(body):
    assert severities(f"import re\n{kind(body)}def test_a():\n    assert box.f(3) == M(9)\n", **BEGAN) == set()


UNCOMPARED = {
    "one field": "@dataclass\nclass M:\n    v: object = field(compare=False)\n",
    "all fields": (
        "@dataclass(frozen=True)\nclass M:\n    v: object = field(compare=False)\n"
        "    w: int = field(default=0, compare=False)\n"
    ),
    "of attrs": "@attr.s\nclass M:\n    v = attr.ib(eq=False)\n",
    "no field": "@dataclass(eq=True)\nclass M:\n    def __init__(self, v):\n        self.v = v\n",
}
COMPARED = {
    "one of two": "@dataclass\nclass M:\n    v: object\n    w: object = field(compare=False, default=0)\n",
    "the object": "@dataclass(eq=False)\nclass M:\n    v: object = field(compare=False)\n",
    "by its own": (
        "@dataclass\nclass M:\n    v: object = field(compare=False)\n"
        "    def __eq__(self, o):\n        return self.v == o.v\n"
    ),
    "no dataclass": "class M:\n    v: object = field(compare=False)\n",
    "a constant beside": "@dataclass\nclass M:\n    K: ClassVar[int] = 3\n    v: object = field(repr=False)\n",
}
WRAPPED = "from dataclasses import dataclass, field\nimport attr\n{}def test_a():\n    assert M(box.f(3)) == M(9)\n"


@pytest.mark.parametrize("made", UNCOMPARED.values(), ids=UNCOMPARED)
def test_objects_none_of_whose_fields_is_compared(made):
    assert Severity.CRITICAL in severities(WRAPPED.format(made))


@pytest.mark.parametrize("made", COMPARED.values(), ids=COMPARED)
def test_objects_that_are_compared_by_a_field_are_silent(made):
    assert severities(WRAPPED.format(made), **BEGAN) == set()


@pytest.mark.parametrize("new", RIGGED.values(), ids=RIGGED)
def test_rigged_forms_are_told(new):
    assert Severity.CRITICAL in severities(new, **BEGAN)
    assert severities(f"{new}x = 1\n", new, **BEGAN) == set()


@pytest.mark.parametrize("new", HONEST.values(), ids=HONEST)
def test_honest_forms_are_silent(new):
    assert severities(new, **BEGAN) == set()


class TestAFixtureOfConftest:
    CONFTEST = (
        "import pytest\n@pytest.fixture\ndef stable(monkeypatch):\n    monkeypatch.setattr('box.f', lambda *a: 9)\n"
    )
    NEW = "def test_a(stable):\n    assert box.f(3) == 9\n"

    def told(self, conftest, old=None):
        files = {PATH: (HEAD + REAL, HEAD + self.NEW), "tests/conftest.py": (old, conftest)}
        return {each.severity for each in found(test_rigged.find, files, **BEGAN)}

    def test_that_puts_a_constant_in_place(self):
        assert Severity.CRITICAL in self.told(self.CONFTEST)

    def test_that_does_something_else_or_stood_there(self):
        assert self.told(self.CONFTEST.replace("box.f", "box.clock")) == set()
        assert self.told(f"{self.CONFTEST}x = 1\n", self.CONFTEST) == set()

    def test_that_is_no_program(self):
        looked_at = evidence({PATH: (REAL, self.NEW), "tests/conftest.py": (None, "def stable(:\n    mock.patch\n")})
        assert list(test_rigged.find(looked_at.files[0], looked_at)) == []


def test_a_loose_class_that_stood_there_may_be_used():
    loose = kind("return isinstance(o, int)")
    new = "def test_a():\n    assert box.f(3) == M(9)\n"
    assert Severity.CRITICAL not in severities(loose + new, loose + REAL, **BEGAN)
