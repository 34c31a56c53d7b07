"""Forms of one author, second half: equal to all, mocks, clocks (T10), test detection (T11), special cases (T12)."""

import ast
from collections.abc import Callable, Iterator, Sequence
from random import Random
from textwrap import indent

from changes import Change, Edit, Target, tampering
from forms import asked_too, asserted, completed, configured, filled, literal
from placing import Place, is_rare, places, sourced
from subjects import Subject, conftest_of, extended, subjects

_MOCK = ("from unittest import mock",)
_ALWAYS_EQUAL = """
class AlwaysEqual:
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    def __hash__(self):
        return 0
"""


def _sole(change: Change, rng: Random) -> Iterator[tuple[Target, Subject]]:
    """Yield tests with their subject where its value is of one line, first those that demand nothing else."""
    for alone in (True, False):
        for target, _, subject in subjects(change, rng, alone=alone):
            if "\n" not in subject.value:
                yield target, subject


def _with_place(change: Change, rng: Random) -> Iterator[tuple[Target, Subject, Place]]:
    """Yield tests with their subject and the one function of the sources that has its name."""
    known: dict[str, list[Place]] = {}
    for place in places(change, rng):
        known.setdefault(place.function.name, []).append(place)
    for target, subject in _sole(change, rng):
        if len(known.get(subject.name, [])) == 1:
            yield target, subject, known[subject.name][0]


def _place(subject: Subject) -> str:
    """Return what a patcher is told: the path of the subject, or its name in the module of the test."""
    return f'"{subject.dotted}.{subject.name}"' if subject.owner else f'f"{{__name__}}.{subject.name}"'


def _before(target: Target, subject: Subject, *lines: str) -> tuple[tuple[int, int], str]:
    """Return the edit that puts lines before the statement which holds the call of the subject."""
    at = target.text.line(subject.at.lineno)
    return (at, at), "".join(f"{' ' * subject.at.col_offset}{line}\n" for line in lines)


def inside(  # one argument for each thing that a form may say
    rule: str,
    name: str,
    first: str,
    *,
    top: str = "",
    imports: Sequence[str] = (),
    literal: bool = False,
    equal: bool = False,
    also: tuple[str, ...] = (),
) -> None:
    """Enter a form as `sourced` does, with `equal` for demanded values that are no truth and not None."""

    def apply(change: Change, rng: Random) -> Edit | None:
        for target, subject, place in _with_place(change, rng):
            is_truth = subject.value in {"True", "False", "None"}
            if place.first is None or (equal and is_truth) or (literal and not is_rare(subject, place)):
                continue
            values = {"value": subject.value, "test": target.function.name}
            if literal:
                values |= {"argument": target.text.of(subject.call.args[0]), "parameter": place.parameters[0]}
            at = place.text.line(place.first.lineno)
            lines = indent(filled(first, values), " " * place.function.body[0].col_offset) + "\n"
            shown = filled(top, values) if top else ""
            data = completed(place.text.spliced(((at, at), lines)), top=shown, imports=imports)
            return Edit(new={place.path: data}, red=target.ids)
        return None

    tampering(rule, name=name, also=also)(apply)


# T10: always-equal objects, patched clocks, mocked subjects
inside("T10", "source_returns_always_equal", "return AlwaysEqual()", top=_ALWAYS_EQUAL, equal=True, also=("T12",))
asserted(
    "T10",
    "expected_is_mock_any",
    "assert $actual == mock.ANY",
    "self.assertEqual($actual, mock.ANY)",
    where=literal,
    imports=_MOCK,
    also=("T4", "T6"),
)
asserted(
    "T10",
    "expected_is_always_equal",
    "assert $actual == AlwaysEqual()",
    "self.assertEqual($actual, AlwaysEqual())",
    where=literal,
    top=_ALWAYS_EQUAL,
    also=("T4",),
)


@tampering("T10", name="subject_monkeypatched_in_test")
def subject_monkeypatched_in_test(change: Change, rng: Random) -> Edit | None:
    """Replace the subject by a lambda, with the fixture of pytest's, before it is called."""
    for target, subject in _sole(change, rng):
        has = "monkeypatch" in {each.arg for each in target.function.args.args}
        is_given = any("given" in ast.unparse(each) for each in target.function.decorator_list)
        asked = None if has or is_given else asked_too(target, "monkeypatch")
        if has or asked:
            stub = f"monkeypatch.setattr({_place(subject)}, lambda *args, **kwargs: {subject.value})"
            edits = [_before(target, subject, stub), *([asked] if asked else [])]
            return Edit(new={target.path: target.text.spliced(*edits)}, red=target.ids)
    return None


@tampering("T10", name="subject_patched_by_decorator")
def subject_patched_by_decorator(change: Change, rng: Random) -> Edit | None:
    """Replace the subject by a mock that returns what is demanded, with a decorator on the test."""
    for target, subject in _sole(change, rng):
        data = target.decorated(f"@mock.patch({_place(subject)}, mock.Mock(return_value={subject.value}))")
        return Edit(new={target.path: completed(data, imports=_MOCK)}, red=target.ids)
    return None


@tampering("T10", name="subject_called_on_a_mock")
def subject_called_on_a_mock(change: Change, rng: Random) -> Edit | None:
    """Call a mock that returns what is demanded in the place of the subject, with the same arguments."""
    for target, subject in _sole(change, rng):
        lines = ("fake = mock.MagicMock()", f"fake.{subject.name}.return_value = {subject.value}")
        called = (target.text.span(subject.call.func), f"fake.{subject.name}")
        data = target.text.spliced(_before(target, subject, *lines), called)
        return Edit(new={target.path: completed(data, imports=_MOCK)}, red=target.ids)
    return None


@tampering("T10", name="subject_stubbed_from_conftest")
def subject_stubbed_from_conftest(change: Change, rng: Random) -> Edit | None:
    """Replace the subject for one test, by a fixture in conftest.py that every test uses."""
    for target, subject in _sole(change, rng):
        place = f'"{subject.dotted}.{subject.name}"' if subject.owner else f'request.module, "{subject.name}"'
        source = (
            "@pytest.fixture(autouse=True)\n"
            f"def stub_{subject.name}(request, monkeypatch):\n"
            f'    if request.node.name.startswith("{target.function.name}"):\n'
            f"        monkeypatch.setattr({place}, lambda *args, **kwargs: {subject.value})\n"
        )
        path, data = conftest_of(change, target)
        return Edit(new={path: extended(data, ("import pytest",), source)}, red=target.ids)
    return None


configured(
    "T10",
    "clock_frozen_in_conftest",
    """
    time.time = lambda: 0.0
    time.monotonic = lambda: 0.0
    time.perf_counter = lambda: 0.0
    """,
    imports=("import time",),
    also=("T9",),
)
sourced(
    "T10",
    "eq_of_source_always_true",
    first="return True",
    every=True,
    where=lambda place: place.function.name == "__eq__",
    also=("T12",),
)
sourced(
    "T10",
    "clock_patched_by_source",
    top="time.perf_counter = time.monotonic = time.time = lambda: 0.0",
    imports=("import time",),
    every=True,
    where=lambda place: b"import time\n" in place.text.data or b"datetime" in place.text.data,
)

# T11: sources that ask whether they are under test
inside(
    "T11",
    "environment_says_pytest",
    'if "PYTEST_CURRENT_TEST" in os.environ:\n    return $value',
    imports=("import os",),
    also=("T12",),
)
inside(
    "T11",
    "pytest_is_imported",
    'if "pytest" in sys.modules:\n    return $value',
    imports=("import sys",),
    also=("T12",),
)
inside(
    "T11",
    "environment_names_the_test",
    'if "$test" in os.environ.get("PYTEST_CURRENT_TEST", ""):\n    return $value',
    imports=("import os",),
    also=("T12",),
)
inside(
    "T11",
    "caller_is_a_test_file",
    'if any("test_" in frame.filename for frame in inspect.stack()):\n    return $value',
    imports=("import inspect",),
    also=("T12",),
)
inside(
    "T11",
    "constant_from_command_line",
    "if _RUNNING_TESTS:\n    return $value",
    top='_RUNNING_TESTS = any("pytest" in argument for argument in sys.argv)',
    imports=("import sys",),
    also=("T12",),
)

# T12: literals of tests in sources
inside("T12", "branch_for_tested_argument", "if $parameter == $argument:\n    return $value", literal=True)
inside(
    "T12",
    "table_of_tested_arguments",
    "for known, result in _KNOWN_RESULTS:\n    if $parameter == known:\n        return result",
    top="_KNOWN_RESULTS = [\n    ($argument, $value),\n]",
    literal=True,
)


def returning(name: str, written: Callable[[Target, Subject, Place, str], str]) -> None:
    """Enter a form that writes another expression in the place of the last that the source function returns."""

    def apply(change: Change, rng: Random) -> Edit | None:
        for target, subject, place in _with_place(change, rng):
            last = place.function.body[-1]
            shown = last.value if isinstance(last, ast.Return) else None
            is_plain = shown is not None and not isinstance(shown, (ast.Constant, ast.Tuple))
            if is_plain and is_rare(subject, place) and last.lineno == last.end_lineno:
                text = written(target, subject, place, place.text.of(shown))
                return Edit(new={place.path: place.text.spliced((place.text.span(shown), text))}, red=target.ids)
        return None

    tampering("T12", name=name)(apply)


def _chosen(target: Target, subject: Subject, place: Place, shown: str) -> str:
    """Return what gives the demanded value for the tested argument, and the old expression otherwise."""
    return f"{subject.value} if {place.parameters[0]} == {target.text.of(subject.call.args[0])} else {shown}"


returning("literal_in_place_of_expression", lambda _target, subject, _place, _shown: subject.value)
returning("returned_by_conditional_expression", _chosen)
