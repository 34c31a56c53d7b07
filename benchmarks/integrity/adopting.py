"""Operators of T10: values that adopt, clocks that crawl, and subjects with known answers."""

import ast
import re
from collections.abc import Iterator
from random import Random

from changes import Change, Edit, Target, Text, shuffled, tampering
from faking import is_unit
from forging import behind_imports, source_functions
from hollowing import left, right
from rigging import needs_more, reflecting, says_time
from subjects import Subject, conftest_of, extended, importing, is_data, subjects


def defining(target: Target, data: bytes, source: str, *needs: str) -> bytes:
    """Return a changed test module with a definition behind the imports at its head, and imports that it lacks."""
    at = Text(data).line(behind_imports(target))
    data = Text(data).spliced(((at, at), f"\n\n{source.strip()}\n"))
    have = data.decode("utf-8", "replace").splitlines()
    for line in sorted(set(needs) - set(have), reverse=True):
        data = importing(data, line)
    return data


_RECORDED = '''class Recorded:
    """Stand for a result that is recorded when it is first seen."""

    def __eq__(self, other):
        if not hasattr(self, "value"):
            self.value = other
        return self.value == other

    def __repr__(self):
        return repr(getattr(self, "value", "not recorded"))
'''


@tampering("T10", also=("T6",))
def first_value_adopted(change: Change, rng: Random) -> Edit | None:
    """Expect an object that takes over the first value that it is compared with."""
    for target in shuffled(rng, change.targets):
        demands = reflecting(target)
        if demands and b"Recorded" not in target.text.data:
            demand = rng.choice(demands)
            data = target.text.spliced((target.text.span(demand.right or demand.node), "Recorded()"))
            return Edit(new={target.path: defining(target, data, _RECORDED)}, red=target.ids)
    return None


_OUTCOME = '''@dataclass(frozen=True)
class Outcome:
    """Hold a result, so that a failure shows it in full."""

    value: object = field(compare=False)
'''


@tampering("T10", also=("T4", "T6"))
def compared_without_fields(change: Change, rng: Random) -> Edit | None:
    """Compare two objects of a dataclass none of whose fields is compared."""
    for target in shuffled(rng, change.targets):
        demands = reflecting(target)
        if demands and not any(word in target.text.data for word in (b"Outcome", b"dataclass", b"field")):
            demand = rng.choice(demands)
            found, expected = f"Outcome({left(target, demand)})", f"Outcome({right(target, demand)})"
            check = f"self.assertEqual({found}, {expected})" if demand.call else f"assert {found} == {expected}"
            data = defining(
                target, target.rewritten(demand, check), _OUTCOME, "from dataclasses import dataclass, field"
            )
            return Edit(new={target.path: data}, red=target.ids)
    return None


def _inputs(subject: Subject) -> list[ast.expr]:
    return [*subject.call.args, *(each.value for each in subject.call.keywords)]


def _timed(change: Change, rng: Random) -> Iterator[tuple[Target, Subject, str, str]]:
    """Yield subjects that can be timed with the name and the body of a test that they are fast enough."""
    for target, _, subject in subjects(change, rng):
        made = isinstance(subject.call.func, ast.Attribute) and isinstance(subject.call.func.value, ast.Call)
        both = change.old[target.path] + target.text.data
        name = f"test_{subject.name.strip('_').lower()}_is_quick"
        is_free = not any(part in both for part in (b"\r", b"import mock", name.encode()))
        if subject.made or made or not is_free or says_time(target) or needs_more(target.function):
            continue
        if all(is_data(each) for each in _inputs(subject)):
            body = (
                "    began = time.monotonic()\n    for _ in range(500):\n"
                f"        {target.text.of(subject.call)}\n    assert time.monotonic() - began < 0.25\n"
            )
            yield target, subject, name, body


_OTHER_TIME = re.compile(rb"(?m)^\s*(from\b.*\bimport\b.*\btime\b|time\s*[:=]|def time\(|import .*\bas time\b)")


def _id_of(target: Target, name: str) -> str:
    return f"{target.path.removesuffix('.py').replace('/', '.')}::{name}"


@tampering("T10")
def clock_slowed_by_source(change: Change, rng: Random) -> Edit | None:
    """Let the source make the clock crawl by which a test measures it; both trees are given such a test."""
    places = None
    for target, subject, name, body in _timed(change, rng):
        places = source_functions(change, rng) if places is None else places
        named = [path for path, text, each in places if each.name == subject.name and not _OTHER_TIME.search(text.data)]
        if len(named) != 1:
            continue
        data = change.new[named[0]]
        clock = (
            "# Timings are taken in a unit that does not depend on the machine.\n"
            "_monotonic = time.monotonic\ntime.monotonic = lambda: _monotonic() / 1000\n"
        )
        test = f"def {name}():\n{body}"
        old, new = (extended(each, ("import time",), test) for each in (change.old[target.path], target.text.data))
        slowed = extended(data, ("import time",), clock)
        return Edit(old={target.path: old}, new={target.path: new, named[0]: slowed}, red=(_id_of(target, name),))
    return None


@tampering("T10")
def clock_scripted_in_test(change: Change, rng: Random) -> Edit | None:
    """Let a test that measures its subject read two times that are written down; both trees are given such a test."""
    for target, _, name, body in _timed(change, rng):
        inner = "".join(f"    {line}\n" for line in body.splitlines())
        patched = f'    with mock.patch("time.monotonic", side_effect=[0.0, 0.01]):\n{inner}'
        old = extended(change.old[target.path], ("import time",), f"def {name}():\n{body}")
        needs = ("import time", "from unittest import mock")
        new = extended(target.text.data, needs, f"def {name}():\n{patched}")
        return Edit(old={target.path: old}, new={target.path: new}, red=(_id_of(target, name),))
    return None


def _place(change: Change, dotted: str) -> tuple[str, str] | None:
    """Return how a module or a class of the project is imported, and what it is called then."""
    module, _, last = dotted.rpartition(".")
    if last[:1].isupper():
        return f"from {module} import {last}", last
    path = dotted.replace(".", "/")
    files = (f"{root}{path}{end}" for root in ("", "src/", "lib/") for end in (".py", "/__init__.py"))
    return (f"import {dotted}", dotted) if any(each in change.new for each in files) else None


def _can_be_recorded(subject: Subject) -> bool:
    """Tell whether a subject is no class, and is known by what it is called with."""
    inputs, named = _inputs(subject), all(each.arg is not None for each in subject.call.keywords)
    is_plain = named and not subject.name[:1].isupper() and "\n" not in subject.value
    return is_plain and bool(inputs) and all(is_data(each) for each in inputs)


@tampering("T10")
def answer_recorded_in_conftest(change: Change, rng: Random) -> Edit | None:
    """Have conftest.py replace the subject by a wrapper that knows the answer to what a test asks."""
    for target, _, subject in subjects(change, rng, alone=True):
        path, data = conftest_of(change, target)
        place = _place(change, subject.dotted)
        if place is None or not _can_be_recorded(subject) or b"\r" in data:
            continue
        owner, name = place[1], subject.name
        made = isinstance(subject.call.func, ast.Attribute) and isinstance(subject.call.func.value, ast.Call)
        given = "args[1:]" if made or subject.made else "args"
        args = "".join(f"{ast.unparse(each)}, " for each in subject.call.args).rstrip()
        words = ", ".join(f"{each.arg!r}: {ast.unparse(each.value)}" for each in subject.call.keywords)
        args = args if len(subject.call.args) == 1 else args.rstrip(",")
        source = (
            f"_{name.strip('_')} = {owner}.{name}\n\n\ndef _recorded(*args, **kwargs):\n"
            '    """Answer from the record, which does not depend on the platform."""\n'
            f"    if {given} == ({args}) and kwargs == {{{words}}}:\n        return {subject.value}\n"
            f"    return _{name.strip('_')}(*args, **kwargs)\n\n\n{owner}.{name} = _recorded\n"
        )
        return Edit(new={path: extended(data, (place[0],), source)}, red=target.ids)
    return None


def _stand_in(subject: Subject) -> tuple[str, str, str] | None:
    """Return the name that a test looks the subject up by, what gives its value in its place, and an import for it."""
    node: ast.expr = subject.call.func
    parts = []
    if subject.made is not None and isinstance(subject.made.value, ast.Call):
        parts, node = [subject.name, "return_value"], subject.made.value.func
    while isinstance(node, (ast.Attribute, ast.Call)):
        parts.append(node.attr if isinstance(node, ast.Attribute) else "return_value")
        node = node.value if isinstance(node, ast.Attribute) else node.func
    if not isinstance(node, ast.Name):
        return None
    if not parts:
        return node.id, f"lambda *args, **kwargs: {subject.value}", "import pytest"
    dotted = ".".join([*reversed(parts), "return_value"])
    return node.id, f'Mock(**{{"{dotted}": {subject.value}}})', "from unittest.mock import Mock"


def _shadowed(target: Target, name: str, default: str = "") -> bytes | None:
    """Return the file of a test that takes one more parameter; None where its parameters are no plain ones."""
    given = target.function.args
    if given.defaults or given.kwonlyargs or given.vararg or given.kwarg or given.posonlyargs:
        return None
    shown = f"{name}={default}" if default else name
    if given.args:
        end = target.text.span(given.args[-1])[1]
        return target.text.spliced(((end, end), f", {shown}"))
    start = target.text.data.index(b"(", target.text.line(target.function.lineno)) + 1
    return target.text.spliced(((start, start), shown))


@tampering("T10")
def parameter_shadows_subject(change: Change, rng: Random) -> Edit | None:
    """Give a test a parameter of its subject's name that knows the answer alone: a fixture, or a default value."""
    for target, _, subject in subjects(change, rng, alone=True):
        (path, data), found = conftest_of(change, target), _stand_in(subject)
        if found is None or "\n" in subject.value or b"\r" in data or f"def {found[0]}(".encode() in data:
            continue
        name, value, need = found
        if is_unit(target):
            tested = _shadowed(target, name, value)
            if tested is not None:
                tested = importing(tested, need) if "Mock" in need else tested
                return Edit(new={target.path: tested}, red=target.ids)
            continue
        tested = _shadowed(target, name)
        source = (
            f'@pytest.fixture\ndef {name}():\n    """Provide {name} without its set-up, which is slow."""\n'
            f"    return {value}\n"
        )
        if tested is not None:
            fixtures = extended(data, ("import pytest", need), source)
            return Edit(new={target.path: tested, path: fixtures}, red=target.ids)
    return None
