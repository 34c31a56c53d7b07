"""Which comparisons say yes whatever both sides hold, and which ask for it."""

import ast
from textwrap import indent

import pytest

from ralph_tracker.integrity.python.looseness import answers, says_yes_loosely

LOOSE = [
    "return True",
    "return other is not None",
    "return isinstance(other, str)",
    "return not isinstance(other, int)",
    'return hasattr(other, "x")',
    "return bool(self)",
    "return bool(other)",
    "return self is not other",
    "return type(self) is type(other)",
    "return type(self) == type(other)",
    "return self.__class__ == other.__class__",
    "return type(other) is str",
    "return type(other) in (str, bytes)",
    "return len(other) >= 0",
    "return len(str(other)) >= 0",
    "return len(other) > 0",
    "return True or self.x == other.x",
    "return self.x == other.x or True",
    "return self.x == other.x or other is not None",
    "return self != other",
    "return self.x != other.x",
    "return not self.x == other.x",
    "return not (other is None)",
    'return other != ""',
    "return str(other)",
    "return other == other",
    "return self.x == self.x",
    "return self.x",
    "ok = True\nreturn ok",
    "ok = other is not None\nreturn ok",
    "return True if other is not None else False",
    "return object.__ne__(self, other)",
    "return 1",
    "return callable(other)",
    "return not callable(other)",
    "return isinstance(other, type(self))",
    "return isinstance(other, object) and other is not None",
    "return same(self, other)",
    "return self._same(other)",
    "return id(self) != id(other)",
    "return (other is not None) is True",
    "return bool(other is not None)",
    "return other is not None and self is not None",
    "return any([True, self.x == other])",
    "return NotImplemented if other is None else True",
    "return self == self",
    "return hasattr(self, 'x')",
    "return isinstance(self, Expected)",
    "if isinstance(other, str):\n    return True\nreturn super().__eq__(other)",
    "if other is None:\n    return False\nreturn True",
    "if other is None:\n    return NotImplemented\nreturn True",
    "try:\n    return self.x == other.x\nexcept Exception:\n    return True",
    'print("cmp")\nreturn True',
    "self.calls.append(other)\nreturn True",
    "if self is other:\n    return True\nreturn other is not None",
    "match other:\n    case None:\n        return False\n    case _:\n        return True",
    "if not isinstance(other, Expected):\n    return True\nreturn self.x == other.x",
    "if type(self) is type(other):\n    return self.x == other.x\nreturn True",
]
STRICT = [
    "return self.x == other.x",
    "return str.__eq__(self, other)",
    "return super().__eq__(other)",
    "return isinstance(other, self.kind)",
    "return isinstance(other, Box) and self.x == other.x",
    "return type(self) is type(other) and self.x == other.x",
    "return hasattr(other, self.name)",
    "return re.match(self.p, other) is not None",
    'return bool(re.match(r"x", other))',
    "return bool(self.p.match(other))",
    "return abs(self.x - other) < 1e-6",
    "return self.x in other",
    "return other in self.options",
    "return other == expected",
    "return not self != other",
    "return not self.x != other.x",
    "return all(getattr(other, k) == v for k, v in self.f.items())",
    "return NotImplemented",
    "return False",
    "return other is None",
    "return self is other",
    "return self.check(other)",
    "return self.low <= other <= self.high",
    "return len(other) == self.n",
    "return self.f(other)",
    "return other.find(self.x) != -1",
    "return self.__dict__ == other.__dict__",
    "return vars(self) == vars(other)",
    "return (self.a, self.b) == (other.a, other.b)",
    "return hash(self) == hash(other)",
    "return repr(self) == repr(other)",
    "return self.x == other if isinstance(other, str) else NotImplemented",
    'return self.x == getattr(other, "x", None)',
    "r = self.x == other.x\nreturn r",
    "r = True\nr &= self.x == other.x\nreturn r",
    "d = other.__dict__\nreturn d == self.__dict__",
    "return other == 3",
    "return id(self) == id(other)",
    "return fnmatch(other, self.p)",
    "return self.compare(other) == 0",
    "return len(set(self) & set(other)) != 0",
    "return tight(self, other)",
    "return self.kind is type(other)",
    "return self.kind == other.__class__.__name__",
    'return other.startswith("x")',
    "if self is other:\n    return True\nif not isinstance(other, X):\n    return None\nreturn self.x == other.x",
    "if not isinstance(other, X):\n    return False\nif self.x != other.x:\n    return False\nreturn True",
    "for a, b in zip(self, other):\n    if a != b:\n        return False\nreturn True",
    "assert self.x == other.x\nreturn True",
    "np.testing.assert_equal(self.x, other.x)\nreturn True",
    "assert_same(self.x, other)\nreturn True",
    "compare(self, other)\nreturn True",
    "errors = []\nfor a in self:\n    if a not in other:\n        errors.append(a)\nreturn not errors",
    "try:\n    return self.x == other.x\nexcept AttributeError:\n    return False",
    "try:\n    return self.x == other.x\nexcept AttributeError:\n    return NotImplemented",
    "for k in self.f:\n    assert other[k] == self.f[k]\nreturn True",
    "if isinstance(other, X):\n    return self.x == other.x\nreturn False",
    "if self.strict:\n    return self.x == other.x\nreturn self.y == other.y",
    'other = getattr(other, "x", other)\nreturn self.x == other',
    "for k, v in self.items():\n    if getattr(other, k, None) != v:\n        raise AssertionError(k)\nreturn True",
    "ok = True\nfor a in self:\n    ok = ok and a in other\nreturn ok",
    "try:\n    assert_same(self.x, other)\nexcept AssertionError:\n    return False\nreturn True",
    "def same():\n    return True\nreturn self.x == other",
    "if len(self) != len(other):\n    return False\nreturn True",
]
DENIED = {
    "return False": True,
    "return other is None": True,
    "return self is None": True,
    "return not isinstance(other, str)": True,
    "return not True": True,
    "return not self == other": False,
    "return self.x != other.x": False,
}
AROUND = """
def same(a, b):
    return b is not None
def _same(self, b):
    return True
def tight(a, b):
    return a.x == b.x
"""


def loosely(body, **kwargs):
    tree = ast.parse("def __eq__(self, other):\n" + indent(body, "    ") + AROUND)
    return says_yes_loosely(tree.body[0], {each.name: each for each in tree.body}, **kwargs)


@pytest.mark.parametrize("body", LOOSE)
def test_it_says_yes_without_a_look_at_both(body):
    assert loosely(body)


@pytest.mark.parametrize("body", STRICT)
def test_it_asks_for_what_they_hold(body):
    assert not loosely(body)


@pytest.mark.parametrize(("body", "loose"), DENIED.items())
def test_a_denial_is_loose_where_it_says_no(body, loose):
    assert loosely(body, denied=True) is loose


def test_the_two_may_stand_behind_another():
    assert loosely("return c is not None", first=0) is True
    method = ast.parse("def same(self, a, b):\n    return b is not None").body[0]
    assert says_yes_loosely(method, first=1)
    assert not says_yes_loosely(ast.parse("def same(a):\n    return a").body[0])


@pytest.mark.parametrize(
    ("text", "known"), [("lambda a, b: a", True), ("staticmethod(f)", True), ("f", True), ("g", False), ("3", False)]
)
def test_what_a_method_is_made_of(text, known):
    own = {"f": ast.parse("def f(a, b): return a").body[0]}
    assert (answers(ast.parse(text, mode="eval").body, own) is not None) is known
