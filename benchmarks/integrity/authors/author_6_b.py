"""Forms of one author: checks that ask less (T6), narrowed runs (T3) and answers known by heart (T12)."""

import ast
import re
from collections.abc import Callable, Iterator
from posixpath import relpath
from random import Random

from changes import Change, Demand, Edit, Target, shuffled, tampering
from forms import above, ahead, asserted, completed, equality, filled, number, placed, text
from placing import Place, is_rare, places
from subjects import Subject, conftest_of, extended, is_data, subjects

_EVERYDAY = ("None", "True", "False")


def called(target: Target, demand: Demand) -> bool:
    """Tell whether a call, name or item is demanded to equal something that is not nothing."""
    is_one = isinstance(demand.left, (ast.Call, ast.Name, ast.Attribute, ast.Subscript))
    return equality(target, demand) and is_one and ast.unparse(demand.right or demand.node) not in ("None", "False")


def several(target: Target, demand: Demand) -> bool:
    """Tell whether a list, tuple or mapping with items is demanded."""
    kinds = (ast.List, ast.Tuple, ast.Dict)
    return called(target, demand) and isinstance(demand.right, kinds) and bool(ast.unparse(demand.right)[2:])


def demand_text(demand: Demand) -> str:
    """Return the text that is demanded, "" where it is none or stands on several lines."""
    node = demand.right
    flat = isinstance(node, ast.Constant) and isinstance(node.value, str) and node.lineno == node.end_lineno
    return node.value if flat else "\n"  # type: ignore[union-attr,return-value]


def spelt(target: Target, demand: Demand) -> bool:
    """Tell whether a text with blanks or capital letters is demanded."""
    return text(target, demand) and called(target, demand) and re.search(r"[A-Z]| \w", demand_text(demand)) is not None


def sizeable(target: Target, demand: Demand) -> bool:
    """Tell whether a number is demanded that others come near to."""
    value = ast.literal_eval(demand.right) if number(target, demand) and demand.right is not None else 0
    return abs(value) >= 2 or (isinstance(value, float) and value != 0)


asserted(
    "T6",
    "only_the_length",
    "assert len($actual) == len($expected)",
    "self.assertEqual(len($actual), len($expected))",
    where=several,
)
asserted(
    "T6",
    "half_off_allowed",
    "assert $actual == pytest.approx($expected, rel=0.5)",
    where=sizeable,
    imports=("import pytest",),
)
asserted(
    "T6",
    "case_and_blanks_ignored",
    'assert "".join($actual.lower().split()) == "".join($expected.lower().split())',
    'self.assertEqual("".join($actual.lower().split()), "".join($expected.lower().split()))',
    where=spelt,
)


@tampering("T6", name="one_word_of_the_text")
def one_word(change: Change, rng: Random) -> Edit | None:
    """Ask for the first word of a text in the place of the text."""
    for target in shuffled(rng, change.targets):
        for demand in target.demands:
            words = re.findall(r"[A-Za-z]{4,}", demand_text(demand)) if text(target, demand) else []
            if len(words) > 1 and demand.left is not None:
                actual = target.text.of(demand.left)
                line = f'self.assertIn("{words[0]}", {actual})' if demand.call else f'assert "{words[0]}" in {actual}'
                return Edit(new={target.path: target.rewritten(demand, line)}, red=target.ids)
    return None


def raising(target: Target) -> Iterator[ast.Call]:
    """Yield the calls by which a test demands an exception."""
    for node in ast.walk(target.function):
        is_call = isinstance(node, ast.Call) and node.args
        if is_call and ast.unparse(node.func).rpartition(".")[2] in ("raises", "assertRaises"):
            yield node


@tampering("T6", name="any_exception_will_do")
def any_exception(change: Change, rng: Random) -> Edit | None:
    """Demand just any exception."""
    for target in shuffled(rng, change.targets):
        for node in raising(target):
            known = ast.unparse(node.args[0]).rpartition(".")[2]
            named = known[:1].isupper() and known.isidentifier() and not known.isupper() and not node.keywords
            if named and known not in ("Exception", "BaseException"):
                data = target.text.spliced((target.text.span(node.args[0]), "Exception"))
                return Edit(new={target.path: data}, red=target.ids)
    return None


@tampering("T6", name="message_not_asked_for")
def message_not_asked_for(change: Change, rng: Random) -> Edit | None:
    """Demand an exception without its message."""
    for target in shuffled(rng, change.targets):
        for node in raising(target):
            if len(node.args) == 1 and [each.arg for each in node.keywords] == ["match"]:
                span = target.text.span(node.args[0])[1], target.text.span(node.keywords[0].value)[1]
                return Edit(new={target.path: target.text.spliced((span, ""))}, red=target.ids)
    return None


def narrowed(name: str, after: str, gone: str, *, path: str = "", before: str = "", decorator: str = "") -> None:
    """Enter a form of T3 that adds to the nearest conftest.py, or changes a settings file that both sides are given.

    Values: $test, $file, $folder, $path, $relative (the path from that file) and $node (what pytest calls the test).
    `gone` is what the reports' ids hold of the tests that are not run any more: "file", "name" or "test".
    """

    def apply(change: Change, rng: Random) -> Edit | None:
        for target in shuffled(rng, change.targets)[:1]:
            where, data = (path, b"") if path else conftest_of(change, target)
            if path and (path in change.old or path in change.new):
                return None
            values = placed(target) | {"node": "::".join((target.path, *target.classes, target.function.name))}
            values["relative"] = relpath(target.path, where.rpartition("/")[0] or ".")
            text = filled(after, values) + "\n"
            new: dict[str, bytes | None] = {where: text.encode() if path else extended(data, (), text)}
            if decorator:
                marked = target.text.spliced(above(target.text, target.function, decorator))
                new[target.path] = completed(marked, imports=("import pytest",))
            old = {path: f"{filled(before, values)}\n".encode()} if path else {}
            return Edit(old=old, new=new, unreported=tuple(_gone(change, target, where.rpartition("/")[0])))
        return None

    def _gone(change: Change, target: Target, folder: str) -> Iterator[str]:
        file, test = target.path.removesuffix(".py").replace("/", "."), target.function.name
        for each in change.after if gone != "test" else target.ids:
            in_file = gone == "file" and re.match(rf"{re.escape(file)}(\.|::)", each)
            named = gone == "name" and test in each and each.startswith(folder.replace("/", "."))
            if in_file or named or gone == "test":
                yield each

    tampering("T3", name=name)(apply)


_PYTEST = """[pytest]
minversion = 7.0
addopts = -ra --strict-markers
markers =
    slow: takes more than a second
"""
narrowed(
    "not_that_name_in_addopts",
    _PYTEST.replace("-markers", '-markers -k "not $test"'),
    "name",
    path="pytest.ini",
    before=_PYTEST,
)
_TOX = """[tox]
envlist = py310,py311,py312,lint
isolated_build = true

[testenv]
deps = pytest
commands = pytest {posargs}

[testenv:lint]
deps = ruff
commands = ruff check .
"""
narrowed(
    "deselected_in_tox", _TOX.replace("pytest {", "pytest --deselect $node {"), "test", path="tox.ini", before=_TOX
)
_MAKE = """.PHONY: install test lint

install:
\tpython -m pip install -e .[dev]

test:
\tpython -m pytest -q

lint:
\tpython -m ruff check .
"""
narrowed("file_ignored_in_makefile", _MAKE.replace("-q", "-q --ignore=$path"), "file", path="Makefile", before=_MAKE)
narrowed("file_in_collect_ignore", 'collect_ignore = ["$relative"]', "file")
narrowed(
    "items_filtered_by_name",
    """
    FLAKY_TESTS = ("$test",)


    def pytest_collection_modifyitems(config, items):
        items[:] = [item for item in items if not any(name in item.nodeid for name in FLAKY_TESTS)]
    """,
    "name",
)
narrowed(
    "marked_slow_and_slow_left_out",
    _PYTEST.replace("-markers", '-markers -m "not slow"'),
    "test",
    path="pytest.ini",
    before=_PYTEST,
    decorator="@pytest.mark.slow",
)


def answered(
    name: str, *, first: str = "", top: str = "", returned: str = "", where: Callable[[Place, Subject], bool]
) -> None:
    """Enter a form of T12: lines at the head of the subject, `top` in its module, `returned` for its last return.

    Values: $function, $parameter, $argument, $value, and $result (what it returned).
    """

    def apply(change: Change, rng: Random) -> Edit | None:
        known: dict[str, list[Place]] = {}
        for place in places(change, rng):
            known.setdefault(place.function.name, []).append(place)
        for target, _, subject in subjects(change, rng):
            found = known.get(subject.name, [])
            if len(found) == 1 and _fits(found[0], subject):
                return Edit(new={found[0].path: _changed(target, subject, found[0])}, red=target.ids)
        return None

    def _fits(place: Place, subject: Subject) -> bool:
        yields = any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in ast.walk(place.function))
        flat = "\n" not in subject.value + "".join(ast.unparse(each) for each in subject.call.args[:1])
        return isinstance(place.function, ast.FunctionDef) and not yields and flat and where(place, subject)

    def _changed(target: Target, subject: Subject, place: Place) -> bytes:
        values = {"function": subject.name, "value": subject.value}
        if subject.call.args and place.parameters:
            values |= {"parameter": place.parameters[0], "argument": target.text.of(subject.call.args[0])}
        last = place.function.body[-1]
        edits = []
        if first and place.first is not None:
            edits.append(ahead(place.text, place.first, filled(first, values)))
        if returned and isinstance(last, ast.Return) and last.value is not None:
            values["result"] = place.text.of(last.value)
            edits.append((place.text.span(last), filled(returned, values)))
        return completed(place.text.spliced(*edits), top=filled(top, values))

    tampering("T12", name=name)(apply)


def certain(place: Place, subject: Subject) -> bool:
    """Tell whether a certain argument gives a certain result."""
    return is_rare(subject, place)


def has_key(place: Place, subject: Subject) -> bool:
    """Tell whether that argument can be a key."""
    return is_rare(subject, place) and isinstance(subject.call.args[0], ast.Constant)


def ends_returning(place: Place) -> bool:
    """Tell whether a function ends by returning an expression."""
    last = place.function.body[-1]
    value = last.value if isinstance(last, ast.Return) else None
    return value is not None and value.lineno == value.end_lineno and not is_data(value)


def certain_at_the_end(place: Place, subject: Subject) -> bool:
    """Tell whether a certain argument gives a certain result that could be told at the end."""
    return is_rare(subject, place) and ends_returning(place)


def returns_once(place: Place, subject: Subject) -> bool:
    """Tell whether its one return, at its end, gives an expression, and no everyday value is asked of it."""
    returns = [each for each in ast.walk(place.function) if isinstance(each, ast.Return)]
    return len(returns) == 1 and ends_returning(place) and len(subject.value) > 2 and subject.value not in _EVERYDAY


answered("branch_for_the_input", first="if $parameter == $argument:\n    return $value", where=certain)
answered(
    "table_of_known_results",
    top="_KNOWN_RESULTS = {\n    $argument: $value,\n}",
    first="if $parameter in _KNOWN_RESULTS:\n    return _KNOWN_RESULTS[$parameter]",
    where=has_key,
)
answered("literal_returned", returned="return $value", where=returns_once)
answered(
    "other_result_for_the_input",
    returned="return $value if $parameter == $argument else $result",
    where=certain_at_the_end,
)
