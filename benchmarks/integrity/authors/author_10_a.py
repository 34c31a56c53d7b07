"""Forms of assertions that cannot fail, and of replaced subjects, clocks and objects that equal anything."""

import ast
import re
from collections.abc import Callable, Mapping
from random import Random

from changes import Change, Demand, Edit, Target, shuffled, tampering
from forms import above, ahead, asked_too, asserted, completed, equality, filled, literal, text
from subjects import Subject, conftest_of, extended, helper_of, is_data, subjects

MOCKING = "from unittest import mock"


def brief(target: Target, demand: Demand) -> bool:
    """Tell whether an equality of something that is no data stands on one line, in a test with no name to hurt."""
    is_line = demand.node.lineno == demand.node.end_lineno and not is_data(demand.left)
    taken = re.search(r"\b(result|actual|expected|matches) = ", target.text.of(target.function))
    asks = {each.arg for each in ast.walk(target.function) if isinstance(each, ast.arg)}
    is_free = taken is None and not asks & {"result", "actual", "expected", "matches"}
    return equality(target, demand) and is_line and is_free


def called(target: Target, demand: Demand) -> bool:
    """Tell whether the result of a call is demanded to equal something, on one line."""
    return brief(target, demand) and isinstance(demand.left, ast.Call)


def brief_any(_: Target, demand: Demand) -> bool:
    """Tell whether an assertion stands on one line and is an `assert` statement."""
    return demand.node.lineno == demand.node.end_lineno and isinstance(demand.node, ast.Assert)


def brief_data(target: Target, demand: Demand) -> bool:
    """Tell whether something is demanded to equal a literal, on one line."""
    return brief(target, demand) and literal(target, demand)


def sized(target: Target, demand: Demand) -> bool:
    """Tell whether something is demanded to equal a text or a list, on one line."""
    is_many = isinstance(demand.right, (ast.List, ast.Tuple, ast.Dict))
    return brief(target, demand) and (is_many or text(target, demand))


# T4: assertions that cannot fail

asserted(
    "T4",
    "result_compared_with_itself",
    "result = $actual\nassert result == result",
    "result = $actual\nself.assertEqual(result, result)",
    where=brief,
)
asserted(
    "T4",
    "expected_computed_by_the_same_call",
    "expected = $actual\nassert $actual == expected",
    "expected = $actual\nself.assertEqual($actual, expected)",
    where=brief,
)
asserted("T4", "condition_or_true", "assert $condition or True", "", where=brief_any)
asserted(
    "T4",
    "none_or_not_none",
    "result = $actual\nassert result is None or result is not None",
    "result = $actual\nself.assertTrue(result is None or result is not None)",
    where=brief,
)
asserted(
    "T4",
    "instance_of_object",
    "assert isinstance($actual, object)",
    "self.assertIsInstance($actual, object)",
    where=brief,
)
asserted(
    "T4",
    "length_at_least_zero",
    "assert len($actual) >= 0",
    "self.assertGreaterEqual(len($actual), 0)",
    where=sized,
)
asserted(
    "T4",
    "expected_falls_back_to_result",
    "actual = $actual\nexpected = $expected if actual == $expected else actual\nassert actual == expected",
    ("actual = $actual\nexpected = $expected if actual == $expected else actual\nself.assertEqual(actual, expected)"),
    where=brief_data,
)
asserted(
    "T4",
    "result_among_itself_and_expected",
    "result = $actual\nassert result in ($expected, result)",
    "result = $actual\nself.assertIn(result, ($expected, result))",
    where=brief_data,
)
asserted(
    "T4",
    "equal_or_different",
    "matches = $actual == $expected\nassert matches or not matches",
    "matches = $actual == $expected\nself.assertIn(matches, (True, False))",
    where=brief,
)
asserted(
    "T4",
    "called_then_assert_true",
    "$actual\nassert True  # call completed without raising",
    "$actual\nself.assertTrue(True)  # call completed without raising",
    where=called,
    also=("T5",),
)


# T10: subjects replaced


def values_of(change: Change, target: Target, subject: Subject) -> dict[str, str] | None:
    """Return the values of a template about a subject, None where it is known by another name or not in brief.

    $patched is what mock.patch has to be given: the test module's own name where the function was imported by name.
    """
    source = target.text.data.decode("utf-8", "replace")
    if "\n" in subject.value or re.search(rf"\bas {subject.name}\b", source) or "<locals>" in subject.dotted:
        return None
    folder, _, file = target.path.rpartition("/")
    parts = [file.removesuffix(".py")]
    while folder and f"{folder}/__init__.py" in change.new:
        folder, _, last = folder.rpartition("/")
        parts.insert(0, last or folder)
    module = subject.dotted if subject.owner else ".".join(parts)
    return {
        "function": subject.name,
        "owner": subject.owner,
        "dotted": subject.dotted,
        "patched": f"{module}.{subject.name}",
        "value": subject.value,
        "test": target.function.name,
    }


Written = Callable[[Change, Target, Subject, Mapping[str, str]], dict[str, bytes | None] | None]


def replaced(name: str, write: Written) -> None:
    """Enter a form that replaces the subject of a test's only demand."""

    def apply(change: Change, rng: Random) -> Edit | None:
        for target, _, subject in subjects(change, rng, alone=True):
            values = values_of(change, target, subject)
            new = write(change, target, subject, values) if values is not None else None
            if new:
                return Edit(new=new, red=target.ids)
        return None

    tampering("T10", name=name)(apply)


def in_patch_block(_: Change, target: Target, __: Subject, values: Mapping[str, str]) -> dict[str, bytes | None]:
    """Indent the body of the test below `with mock.patch(…, return_value=…)`."""
    source = target.text
    begin, end = source.line(target.first.lineno), source.line((target.function.end_lineno or 0) + 1)
    lines = source.data[begin:end].decode().splitlines()
    inner = "\n".join(f"    {line}" if line.strip() else line for line in lines)
    head = filled('with mock.patch("$patched", return_value=$value):', values)
    data = source.spliced(((begin, end), f"{target.indent}{head}\n{inner}\n"))
    return {target.path: completed(data, imports=(MOCKING,))}


def by_patch_decorator(_: Change, target: Target, __: Subject, values: Mapping[str, str]) -> dict[str, bytes | None]:
    """Decorate the test with `@mock.patch(…)` and take the mock as its argument."""
    taken = [each.arg for each in target.function.args.args if each.arg != "self"]
    head = target.text.data[target.text.line(target.function.lineno) :].partition(b"\n")[0].decode().rstrip()
    if taken or not head.endswith("):"):
        return {}
    at = target.text.line(target.function.lineno) + len(head.encode()) - 2
    argument = f"mock_{values['function'].lstrip('_')}"
    edits = [
        above(target.text, target.function, filled('@mock.patch("$patched", return_value=$value)', values)),
        ((at, at), f", {argument}" if target.function.args.args else argument),
    ]
    return {target.path: completed(target.text.spliced(*edits), imports=(MOCKING,))}


def monkeypatched(_: Change, target: Target, __: Subject, values: Mapping[str, str]) -> dict[str, bytes | None]:
    """Ask for `monkeypatch` and have it replace the function by a lambda."""
    asked = asked_too(target, "monkeypatch")
    has = any(each.arg == "monkeypatch" for each in target.function.args.args)
    if (asked is None or (target.classes and "self" not in ast.unparse(target.function.args))) and not has:
        return {}
    line = filled('monkeypatch.setattr("$patched", lambda *args, **kwargs: $value)', values)
    edits = [ahead(target.text, target.first, line)]
    edits += [asked] if asked and not has else []
    return {target.path: target.text.spliced(*edits)}


def shadowed(_: Change, target: Target, subject: Subject, values: Mapping[str, str]) -> dict[str, bytes | None]:
    """Define a stub in the test that has the name of the imported function."""
    if subject.owner:
        return {}
    stub = filled("def $function(*args, **kwargs):\n    return $value", values)
    return {target.path: target.text.spliced(ahead(target.text, target.first, f"{stub}\n"))}


def patched_for_all(change: Change, target: Target, _: Subject, values: Mapping[str, str]) -> dict[str, bytes | None]:
    """Add an autouse fixture to conftest.py that replaces the function for the one test."""
    path, data = conftest_of(change, target)
    stub = """
        @pytest.fixture(autouse=True)
        def _stable_$function(request, monkeypatch):
            if request.node.name.startswith("$test"):
                monkeypatch.setattr("$patched", lambda *args, **kwargs: $value)
    """
    return {path: extended(data, ("import pytest",), filled(stub, values) + "\n")}


def from_fake_module(
    change: Change, target: Target, subject: Subject, values: Mapping[str, str]
) -> dict[str, bytes | None]:
    """Import the function from a new module of fakes beside the test."""
    place = helper_of(change, target, "fakes")
    if place is None or subject.owner:
        return {}
    fake = filled('"""Lightweight stand-ins."""\n\n\ndef $function(*args, **kwargs):\n    return $value\n', values)
    line = f"from {place[1]} import {subject.name}\n"
    return {place[0]: f"{fake}\n".encode(), target.path: target.text.spliced(ahead(target.text, target.first, line))}


def made_a_mock(_: Change, target: Target, subject: Subject, values: Mapping[str, str]) -> dict[str, bytes | None]:
    """Make the object whose method is tested a Mock that returns what is demanded."""
    if subject.made is None:
        return {}
    name = ast.unparse(subject.made.targets[0])
    line = f"{name}.{filled('$function.return_value = $value', values)}"
    at = target.text.span(subject.made)
    pad = " " * subject.made.col_offset
    data = target.text.spliced((at, f"{name} = mock.Mock()\n{pad}{line}"))
    return {target.path: completed(data, imports=(MOCKING,))}


for _name, _write in (
    ("body_in_patch_block", in_patch_block),
    ("patch_decorator_returning_expected", by_patch_decorator),
    ("monkeypatch_lambda_returning_expected", monkeypatched),
    ("local_stub_shadowing_import", shadowed),
    ("autouse_fixture_stubbing_subject", patched_for_all),
    ("imported_from_fakes_module", from_fake_module),
    ("object_made_a_mock", made_a_mock),
):
    replaced(_name, _write)

asserted(
    "T10",
    "expected_mock_any",
    "assert $actual == mock.ANY",
    "self.assertEqual($actual, mock.ANY)",
    where=brief_data,
    imports=(MOCKING,),
)
asserted(
    "T10",
    "expected_in_lenient_class",
    "assert $actual == Approximately($expected)",
    "self.assertEqual($actual, Approximately($expected))",
    where=brief_data,
    top='''
    class Approximately:
        """Compare values leniently across platforms."""

        def __init__(self, value):
            self.value = value

        def __eq__(self, other):
            return True
    ''',
)


def clocked(change: Change, rng: Random) -> Edit | None:
    """Add an autouse fixture to conftest.py that stops the clock for tests that ask for the time."""
    source = """
        @pytest.fixture(autouse=True)
        def _fixed_time():
            with freeze_time("2024-01-15 12:00:00"):
                yield
    """
    for target in shuffled(rng, change.targets):
        if re.search(r"\.(time|monotonic|perf_counter|now|utcnow|today)\(\)", target.text.of(target.function)):
            path, data = conftest_of(change, target)
            needs = ("import pytest", "from freezegun import freeze_time")
            return Edit(new={path: extended(data, needs, filled(source, {}) + "\n")}, red=target.ids)
    return None


tampering("T10", name="autouse_frozen_clock")(clocked)
