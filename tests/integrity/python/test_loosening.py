"""What makes an assertion looser, and what only looks like it."""

import ast

import pytest

from ralph_tracker.integrity.python.loosening import is_looser, names_of

LOOSER = {
    "one more of a list": ("assert x in (1, 2)", "assert x in (1, 2, 3)"),
    "a bound further away": ("assert x < 5", "assert x < 50"),
    "a bound that takes its end in": ("assert x < 5", "assert x <= 5"),
    "wider on both sides": ("assert 5 < x < 10", "assert 0 < x < 100"),
    "a shorter beginning": ("assert x.startswith('red lid')", "assert x.startswith('red')"),
    "one more kind": ("assert isinstance(x, int)", "assert isinstance(x, (int, str))"),
}
AS_STRICT = {
    "no program": ("assert x in (", "assert x in (1"),
    "a list for another": ("assert x in (1, 2)", "assert y in (1, 2, 3)"),
    "the other way round": ("assert x < 5", "assert x > 3"),
    "wider for another": ("assert 5 < x < 10", "assert 0 < y < 100"),
    "another function": ("assert f(x)", "assert g(x)"),
    "another function of a kind": ("assert f(x)", "assert f(y)"),
    "a pattern without a text": ("assert re.match(p)", "assert re.search(p)"),
    "a beginning that is no text": ("assert x.startswith(a)", "assert x.startswith(b)"),
    "no kind": ("assert isinstance(x)", "assert isinstance(y)"),
    "less of a list": ("assert x in (1, 2, 3)", "assert x in (1, 2)"),
    "a duration": ("assert elapsed < 5", "assert elapsed < 50"),
}


@pytest.mark.parametrize(("old", "new"), LOOSER.values(), ids=LOOSER)
def test_lets_more_pass(old, new):
    assert is_looser(old, new)
    assert not is_looser(new, old)


@pytest.mark.parametrize(("old", "new"), AS_STRICT.values(), ids=AS_STRICT)
def test_lets_no_more_pass(old, new):
    assert not is_looser(old, new)


def test_names_stand_for_what_they_were_assigned_once():
    [function] = ast.parse("def test_a():\n    a.b, c = f()\n    d = g()\n    e = 1\n    e = 2\n").body
    assert isinstance(function, ast.FunctionDef)
    known = names_of(function)
    assert (known("c"), known("d"), known("e"), known("a.b")) == ("*f()", "g()", None, None)
