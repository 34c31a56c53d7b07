"""T4, form by form: what can come to one thing only, and what only looks so."""

import pytest

from ralph_tracker.core.findings import Severity
from ralph_tracker.integrity.rules.vacuous_assertion import find
from tests.integrity.making import found

PATH = "tests/test_box.py"
REAL = "def test_a():\n    assert f(3) == 9\n"
VACUOUS = {
    "gen truth": "assert (f(3) == 9 for _ in range(1))",
    "list truth": "assert [f(3) == 9]",
    "dict truth": 'assert {"same": f(3) == 9}',
    "set truth": "assert {f(3) == 9}",
    "str truth": "assert str(f(3) == 9)",
    "repr truth": "assert repr(f(3) == 9)",
    "fstring truth": 'assert f"{f(3) == 1}"',
    "len one": "assert len([f(3) == 9]) == 1",
    "len tuple": "assert len((f(3), 9)) == 2",
    "zip nothing": "assert all(a == b for a, b in zip([f(3)], []))",
    "any list true": "assert any([f(3) == 9, not None])",
    "list self": "value = f(3)\nassert [value] == [value]",
    "id self": "value = f(3)\nassert id(value) == id(value)",
    "isinstance object": "assert isinstance(f(3), object)",
    "type is type": "value = f(3)\nassert type(value) is type(value)",
    "lambda truth": "assert lambda: f(3) == 9",
    "eq or not": "same = f(3) == 9\nassert same or not same",
    "in bools": "assert (f(3) == 9) in (True, False)",
    "isinstance bool": "assert isinstance(f(3) == 9, bool)",
    "is not None cmp": "assert (f(3) == 9) is not None",
    "int ge 0": "assert int(f(3) == 9) >= 0",
    "bool >= False": "assert (f(3) == 9) >= False",
    "sum ge": "assert sum([f(3) == 9]) >= 0",
    "ternary": "assert True if f(3) else True",
    "and short": "assert not (False and f(3) == 9)",
    "try finally": "f(3)\nassert __name__",
    "msg": 'assert "differs", f(3) == 9',
    "tuple": 'assert (f(3) == 9, "differs")',
    "one elem": "assert (f(3) == 9,)",
    "max": "value = f(3)\nassert [value].count(value) >= 0",
    "str in": 'assert "" in str(f(3))',
    "issubset": "assert set() <= {str(f(3))}",
    "find": 'assert str(f(3)).count("x") >= 0',
    "a name of its own": "same = f(3) == 9\nassert __file__",
    "nothing at the end": "assert str(f(3)).endswith('')",
    "through an empty list": "assert not any([x for x in list([])])",
    "its own class": "value = f(3)\nassert isinstance(value, value.__class__)",
    "a call that waits": "import functools\nassert functools.partial(f, 3)",
    "never more than one": "assert bool(f(3)) <= 1",
    "never so few": "assert len([f(3), 9]) != 5",
    "between its bounds": "assert isinstance(f(3), int) > -1",
    "a function inside": "def check():\n    return f(3) == 9\nassert check",
    "a coroutine": "async def check():\n    return f(3) == 9\nassert check()",
    "a flag": "ok = True\nassert ok",
    "a flag set after the fact": "ok = f(3) == 9\nok = True\nassert ok",
    "a flag set on all ways": "try:\n    f(3)\n    ok = True\nexcept ValueError:\n    ok = True\nassert ok",
    "a flag set at last": "ok = False\ntry:\n    f(3)\nfinally:\n    ok = True\nassert ok",
    "all of a list that stays empty": "rows = []\nassert all(x == 9 for x in rows)",
    "none of a dictionary that stays empty": "wrong = {}\nassert not any(wrong.values())",
    "a list of errors that nobody fills": "errors = []\nassert not errors, f'{errors}'",
    "its length": "errors = []\nassert len(errors) == 0",
    "a loop over nothing": "for x in []:\n    assert x == f(3)",
    "a loop over a list that stays empty": "rows = []\nfor x in rows:\n    assert x == f(3)",
    "a comparison by its name": "same = f(3) == 9\nassert same is not None",
    "a comparison by its name, of a kind": "same = f(3) == 9\nassert isinstance(same, bool)",
    "an alternative by its name": "same = f(3) == 9 or True\nassert same",
    "a length by its name": "size = len(f(3))\nassert size >= 0",
    "a text by its name": "shown = str(f(3))\nassert shown is not None",
    "a list of one": "rows = [f(3)]\nassert len(rows) == 1",
    "a constant of the module": "assert f(3) == 9 or LENIENT",
    "an attribute of all": "assert hasattr(f(3), '__class__')",
    "any text": "assert re.match('.*', f(3))",
    "any text is there": "assert re.search('', f(3)) is not None",
    "any text, of unittest": "self.assertRegex(f(3), '.*')",
    "an amount": "assert abs(f(3) - 9) >= 0",
    "nothing times it": "assert f(3) * 0 == 0",
    "no more than infinite": "assert f(3) <= float('inf')",
    "constants alone": "assert len('lid') == 3",
    "itself by a name of its own": "assert (x := f(3)) == x",
    "raised there": "with pytest.raises(ValueError):\n    raise ValueError('no')",
    "an assertion of a mock that is not called": "m = Mock()\nassert m.assert_called_once",
    "a mock": "m = MagicMock()\nassert m",
    "in nothing": "assert f(3) not in []",
    "picked by the same question": "assert all(x == 9 for x in f(3) if x == 9)",
    "or not": "assert f(3) or not f(3)",
}
HONEST = {
    "a generator run": "assert all(x == 9 for x in [f(3)])",
    "a length": "assert len(f(3)) >= 1",
    "a count": "assert f(3).count(9) >= 1",
    "a text": "assert str(f(3))",
    "a formatted text": "assert f'{f(3)}'",
    "a truth": "assert (f(3) == 9) >= True",
    "zipped": "assert all(a == b for a, b in zip(f(3), [9]))",
    "zipped strictly": "assert all(a == b for a, b in zip(f(3), [], strict=True))",
    "an empty text among others": "assert '' in f(3)",
    "another class": "assert isinstance(f(3), type(9))",
    "an own class of another": "assert isinstance(f(3), type(f(4)))",
    "a beginning": "assert f(3).startswith('9')",
    "a sum": "assert sum([f(3)]) >= 0",
    "a function called": "def check():\n    return f(3) == 9\nassert check()",
    "a coroutine awaited": "async def check():\n    return f(3) == 9\nassert run(check())",
    "no less than a set": "assert set(f(3)) <= {9}",
    "starred": "assert len([*f(3)]) == 1",
    "a range": "assert all(f(x) == 9 for x in range(3))",
    "a number of it": "assert int(f(3)) >= 0",
    "a list that is filled": "seen = []\nf(3, seen.append)\nassert not seen",
    "a list that is given away": "seen = []\nf(seen)\nassert all(x == 9 for x in seen)",
    "a name bound in a loop": "found = None\nfor x in f(3):\n    found = x\nassert found is None",
    "a name that a function binds": (
        "ran = False\ndef run():\n    nonlocal ran\n    ran = True\nf(run)\nassert not ran"
    ),
    "a name bound on one way": "ok = True\nif f(3) != 9:\n    ok = False\nassert ok",
    "a name bound in a handler": ("ok = True\ntry:\n    f(3)\nexcept ValueError:\n    ok = False\nassert ok"),
    "a name bound at the end of a loop": "last = 9\nfor x in f(3):\n    assert last == 9\n    last = x",
    "two lengths": "before = len(f.rows)\nf(3)\nafter = len(f.rows)\nassert after >= before",
    "a comparison by name": "same = f(3) == 9\nassert same",
    "a length by name": "size = len(f(3))\nassert size >= 1",
    "a loop over what it gave": "for x in f(3):\n    assert x == 9",
    "a constant of the module that changes": "assert f(3) == 9 or LIDS",
    "an attribute of some": "assert hasattr(f(3), 'lid')",
    "a pattern": "assert re.match('9+', f(3))",
    "not infinite": "assert f(3) < float('inf')",
    "raised by the project": "with raises(LidError):\n    raise LidError(f(3))",
    "picked by another question": "assert all(x == 9 for x in f(3) if x)",
    "a builtin of what it gave": "assert len(f(3)) == 1",
}


def severities(body, old=REAL, **outcomes):
    text = "LENIENT = True\nLIDS = []\nLIDS.append(3)\ndef test_a():\n" + "".join(
        f"    {line}\n" for line in body.split("\n")
    )
    return {each.severity for each in found(find, {PATH: (old, text)}, **outcomes)}


@pytest.mark.parametrize("body", VACUOUS.values(), ids=VACUOUS)
def test_what_can_come_to_one_thing_only_is_told(body):
    assert severities(body) == {Severity.CRITICAL}
    assert severities(body, None) <= {Severity.MEDIUM}


@pytest.mark.parametrize("body", HONEST.values(), ids=HONEST)
def test_what_may_fail_is_silent(body):
    assert severities(body) == set()


@pytest.mark.parametrize("value", ["value.copy()", "copy.copy(value)", "copy.deepcopy(value)", "pytest.approx(value)"])
def test_a_copy_in_the_place_of_a_value_asks_the_same_twice(value):
    before = "def test_a():\n    value = f(3)\n    assert value == 9\n"
    assert severities(f"value = f(3)\nassert value == {value}", before) == {Severity.CRITICAL}
    assert severities(f"value = f(3)\nassert value == {value}", None) == set()
    assert severities(f"value = f(3)\nassert value == 9\nassert value == {value}", before) == set()


@pytest.mark.parametrize(
    ("old", "new", "is_told"),
    [
        ("assert f(3) == 'nine'", "assert '' in f(3)", True),
        ("assert f(3) == ['nine']", "assert '' in f(3)", False),
        ("assert box.f(3) == 9", "assert callable(box.f)", True),
        ("assert box.f(3) == 9", "assert box.f is not None", True),
        ("assert lid.f(3) == 9", "assert lid.f is not None", False),
        ("ok = f(3)\n    assert ok", "ok = True\n    assert ok", True),
        ("ok = f(3)\n    assert ok", "ok = g(3)\n    assert ok", False),
    ],
)
def test_what_was_asked_before_tells_what_is_asked_no_more(old, new, is_told):
    sides = tuple(f"import box\ndef test_a(lid):\n    {each}\n" for each in (old, new))
    assert bool(found(find, {PATH: sides})) is is_told


def test_a_test_that_became_a_generator_runs_nothing():
    assert severities("yield\nassert f(3) == 9") == {Severity.CRITICAL}
    assert severities("yield\nassert f(3) == 9", None) == set()
    assert severities("def rows():\n    yield 3\nassert f(rows()) == 9") == set()
    marked = ("@gen_test\n" + REAL, "@gen_test\ndef test_a():\n    got = yield f(3)\n    assert got == 9\n")
    assert found(find, {PATH: marked}) == []


ANSWERING = {
    "always": ("def matches(a, b):\n    return True\n", True),
    "compares": ("def matches(a, b):\n    return a == b\n", False),
    "is decorated": ("@check\ndef matches(a, b):\n    return True\n", False),
    "stands elsewhere": ("from tools import matches\n", False),
}


@pytest.mark.parametrize(("helper", "is_told"), ANSWERING.values(), ids=ANSWERING)
@pytest.mark.parametrize("claim", ["assert matches(f(3), 9)", "assert matches(f(3), 9), 'differs'"])
def test_a_helper_that_says_yes_to_anything(claim, helper, is_told):
    new = f"{helper}def test_a():\n    {claim}\n"
    told = [each.severity for each in found(find, {PATH: (REAL, new)})]

    assert told == ([Severity.CRITICAL] if is_told else [])


@pytest.mark.parametrize("claim", ["matches(f(3), 9) and f(3) == 9", "matches(f(3), 9) is False"])
def test_a_claim_that_asks_more_than_such_a_helper_is_silent(claim):
    new = f"def matches(a, b):\n    return True\ndef test_a():\n    assert {claim}\n"
    assert found(find, {PATH: (REAL, new)}) == []
