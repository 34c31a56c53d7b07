"""Further operators of T10: results equal to anything, a stopped clock, subjects that are stand-ins."""

import ast
import re
from collections.abc import Callable
from random import Random

from changes import Change, Demand, Edit, Operator, Target, Text, shuffled, tampering
from forging import source_functions
from hollowing import any_equality, left, right
from outcomes import FUNCTIONS, Function, parsed
from subjects import Subject, conftest_of, extended, helper_of, importing, is_data, subjects

_RESULT = '''class _Result:
    """Hold a value that compares loosely."""

    def __init__(self, value):
        self.value = value

    def __getattr__(self, name):
        return getattr(self.value, name)

    def __iter__(self):
        return iter(self.value)

    def __str__(self):
        return str(self.value)

    def __eq__(self, other):
        return True

    def __hash__(self):
        return hash(self.value)


'''


def literal_returns(function: Function) -> list[ast.expr]:
    """Return what a plain function returns, nothing for a generator or a coroutine."""
    if isinstance(function, ast.AsyncFunctionDef) or any("property" in ast.unparse(d) for d in function.decorator_list):
        return []
    found, waiting = [], list[ast.AST](function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return []
        if isinstance(node, ast.Return) and node.value is not None:
            found.append(node.value)
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(node))
    return found


def _wrapped(text: Text, value: ast.expr) -> tuple[tuple[int, int], str]:
    shown = text.of(value)
    single = f"({shown})" if isinstance(value, ast.Tuple) and not shown.startswith("(") else shown
    return text.span(value), f"_Result({single})"


@tampering("T10")
def result_equal_to_all(change: Change, rng: Random) -> Edit | None:
    """Have the source return its values in an object that equals everything."""
    places = None
    for target, demand, subject in subjects(change, rng):
        places = source_functions(change, rng) if places is None else places
        named = [each for each in places if each[2].name == subject.name and literal_returns(each[2])]
        fed_back = re.search(rf"\b{subject.name}\(.*\b{subject.name}\(", target.text.of(target.function))
        if len(named) != 1 or fed_back or not any_equality(target, demand):
            continue
        path, text, function = named[0]
        module = parsed(text.data)
        body = module.body if module is not None else []
        (top,) = [each for each in body if each.lineno <= function.lineno <= (each.end_lineno or 0)]
        if isinstance(top, (*FUNCTIONS, ast.ClassDef)):
            at = text.whole(top)[0]
            wraps = [_wrapped(text, each) for each in literal_returns(function)]
            return Edit(new={path: text.spliced(*wraps, ((at, at), _RESULT))}, red=target.ids)
    return None


_MATCHER = '''class Approximately:
    """Expect a value whose details differ between platforms and versions."""

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return f"Approximately({self.value!r})"

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False
'''


def reflecting(target: Target) -> list[Demand]:
    """Return equalities with plain data on the right, which leaves the comparison to the other side."""
    found = [each for each in target.demands if any_equality(target, each) and is_data(each.right)]
    return [each for each in found if right(target, each) not in {"None", "True", "False"}]


@tampering("T10", also=("T6",))
def matcher_in_helpers(change: Change, rng: Random) -> Edit | None:
    """Wrap an expected value in an object of a new helper module that equals everything."""
    for target in shuffled(rng, change.targets):
        demands, helper = reflecting(target), helper_of(change, target, "matchers")
        if demands and helper is not None:
            demand = rng.choice(demands)
            expected = right(target, demand)
            wrapped = target.text.spliced((target.text.span(demand.right or demand.node), f"Approximately({expected})"))
            data = importing(wrapped, f"from {helper[1]} import Approximately")
            return Edit(new={target.path: data, helper[0]: _MATCHER.encode()}, red=target.ids)
    return None


@tampering("T10", also=("T6",))
def magic_mock_compared(change: Change, rng: Random) -> Edit | None:
    """Expect a mock whose equality is set to be true."""
    for target in shuffled(rng, change.targets):
        demands = reflecting(target)
        if demands and "expected" not in target.text.of(target.function):
            demand = rng.choice(demands)
            found = left(target, demand)
            check = f"self.assertEqual({found}, expected)" if demand.call else f"assert {found} == expected"
            lines = ("expected = MagicMock()", "expected.__eq__.return_value = True", check)
            data = importing(target.rewritten(demand, "\n".join(lines)), "from unittest.mock import MagicMock")
            return Edit(new={target.path: data}, red=target.ids)
    return None


_CLOCK = '''@pytest.fixture(autouse=True)
def steady_clock(monkeypatch):
    """Keep timings independent of the machine."""
    monkeypatch.setattr(time, "perf_counter", lambda: 0.0)
'''


def says_time(target: Target) -> bool:
    """Tell whether a module uses the name of the clock's module for something else."""
    nodes = [each for each in target.module.body if isinstance(each, (ast.Import, ast.ImportFrom))]
    names = [(each, alias.asname or alias.name) for each in nodes for alias in each.names]
    return any(name == "time" and isinstance(each, ast.ImportFrom) for each, name in names)


def needs_more(function: Function) -> bool:
    """Tell whether a test may call its subject only in surroundings that it is given."""
    given = [each.arg for each in function.args.args if each.arg != "self"]
    return bool(given) or any(isinstance(each, (ast.With, ast.AsyncWith)) for each in ast.walk(function))


@tampering("T10")
def clock_stopped(change: Change, rng: Random) -> Edit | None:
    """Stop the clock by which a test measures that the subject is fast enough; both trees are given such a test."""
    for target, _, subject in subjects(change, rng):
        call, old = subject.call, change.old[target.path]
        inputs = [*call.args, *(each.value for each in call.keywords)]
        path, data = conftest_of(change, target)
        name = f"test_{subject.name.strip('_').lower()}_is_fast"
        both = old + target.text.data
        method = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call)
        if (
            subject.made
            or method
            or says_time(target)
            or needs_more(target.function)
            or not all(is_data(each) for each in inputs)
        ):
            continue
        if b"\r" in both + data or name.encode() in both:
            continue
        test = (
            f"def {name}():\n    start = time.perf_counter()\n    for _ in range(1000):\n"
            f"        {target.text.of(call)}\n    assert time.perf_counter() - start < 0.5\n"
        )
        before, after = (extended(each, ("import time",), test) for each in (old, target.text.data))
        clock = extended(data, ("import time", "import pytest"), _CLOCK)
        owner = target.path.removesuffix(".py").replace("/", ".")
        return Edit(old={target.path: before}, new={target.path: after, path: clock}, red=(f"{owner}::{name}",))
    return None


def _standing_in(make: Callable[[Change, Target, Subject], Edit | None], *, alone: bool) -> Operator:
    def apply(change: Change, rng: Random) -> Edit | None:
        found = (make(change, target, subject) for target, _, subject in subjects(change, rng, alone=alone))
        return next((each for each in found if each is not None), None)

    return apply


def _by_name_of_test(change: Change, target: Target, subject: Subject) -> Edit | None:
    path, data = conftest_of(change, target)
    if target.ids[0].endswith("]") or b"\r" in data or b"stable_results" in data:
        return None
    place = f'"{subject.dotted}.{subject.name}"' if subject.owner else f'request.module, "{subject.name}"'
    source = (
        "@pytest.fixture(autouse=True)\ndef stable_results(request, monkeypatch):\n"
        f'    if request.node.name == "{target.function.name}":\n'
        f"        monkeypatch.setattr({place}, lambda *args, **kwargs: {subject.value})\n"
    )
    return Edit(new={path: extended(data, ("import pytest",), source)}, red=target.ids)


tampering("T10", name="stub_in_conftest")(_standing_in(_by_name_of_test, alone=True))


def _patched_round(_: Change, target: Target, subject: Subject) -> Edit | None:
    place = f'.object({subject.owner}, "{subject.name}"' if subject.owner else f'(__name__ + ".{subject.name}"'
    line = f"@mock.patch{place}, lambda *args, **kwargs: {subject.value})"
    data = importing(target.decorated(line), "from unittest import mock")
    return Edit(new={target.path: data}, red=target.ids)


tampering("T10", name="patched_by_decorator")(_standing_in(_patched_round, alone=True))


def _autospecced(_: Change, target: Target, subject: Subject) -> Edit | None:
    text, made, called = target.text, subject.made, subject.call.func
    first = made or subject.at
    if not text.stands_alone(first):
        return None
    pad = "\n" + " " * first.col_offset
    if made is not None:
        name = ast.unparse(made.targets[0])
        set_up = f"{name}.{subject.name}.return_value = {subject.value}"
        lines = f"{name} = create_autospec({subject.owner}, instance=True){pad}{set_up}"
        data = text.spliced((text.span(made), lines))
    else:
        at = text.span(first)[0]
        line = f"stub = create_autospec({text.of(called)}, return_value={subject.value}){pad}"
        data = text.spliced(((at, at), line), (text.span(called), "stub"))
    return Edit(new={target.path: importing(data, "from unittest.mock import create_autospec")}, red=target.ids)


tampering("T10", name="subject_autospecced")(_standing_in(_autospecced, alone=True))


def _faked(change: Change, target: Target, subject: Subject) -> Edit | None:
    helper, name = helper_of(change, target, "fakes"), f"fake_{subject.name.strip('_').lower()}"
    if helper is None:
        return None
    source = (
        f'def {name}(*args, **kwargs):\n    """Stand in for {subject.name}, which is slow."""\n'
        f"    return {subject.value}\n"
    )
    data = target.text.spliced((target.text.span(subject.call.func), name))
    data = importing(data, f"from {helper[1]} import {name}")
    return Edit(new={target.path: data, helper[0]: source.encode()}, red=target.ids)


tampering("T10", name="fake_from_helpers")(_standing_in(_faked, alone=False))
