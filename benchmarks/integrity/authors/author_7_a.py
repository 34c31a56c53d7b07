"""Forms of two rows: T10 (something else answers for the code, results equal everything) and T8 (swallowed)."""

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from random import Random
from textwrap import indent

from changes import Change, Demand, Edit, Target, shuffled, tampering
from forms import above, ahead, asserted, completed, equality, filled, literal, rewritten
from subjects import Subject, conftest_of, extended, helper_of, is_data, subjects

Splice = tuple[tuple[int, int], str]
_CLOCK = re.compile(r"\btime\.(time|monotonic|perf_counter)\(\)|\b(datetime|date|dt)\.(now|utcnow|today)\(")
_PATCH = "from unittest.mock import patch"


def loose(target: Target) -> bool:
    """Tell whether the body of a test can be moved and indented otherwise: no text of it goes over lines."""
    doc = target.function.body[0] if target.function.body[0] is not target.first else None
    texts = [each for each in ast.walk(target.function) if isinstance(each, (ast.JoinedStr, ast.Constant))]
    is_flat = all(each.lineno == each.end_lineno for each in texts if each is not getattr(doc, "value", None))
    return is_flat and not getattr(target.first, "decorator_list", None)


def synchronous(target: Target) -> bool:
    """Tell whether a test is a plain function with assertions, whose body can be indented otherwise."""
    return isinstance(target.function, ast.FunctionDef) and loose(target) and bool(target.demands)


def short(target: Target, demand: Demand) -> bool:
    """Tell whether an assertion stands on one line."""
    return loose(target) and demand.node.lineno == demand.node.end_lineno


def short_equality(target: Target, demand: Demand) -> bool:
    """Tell whether a short assertion demands that two expressions are equal."""
    return short(target, demand) and equality(target, demand)


def short_literal(target: Target, demand: Demand) -> bool:
    """Tell whether a short assertion demands a literal that is not None."""
    return short(target, demand) and literal(target, demand) and ast.unparse(demand.right or demand.node) != "None"


def bare(target: Target, demand: Demand) -> bool:
    """Tell whether an assertion is a short `assert` without a message."""
    return short(target, demand) and isinstance(demand.node, ast.Assert) and demand.node.msg is None


# T10: the result that is demanded is given by something else than the code.


def by_name(subject: Subject) -> bool:
    """Tell whether a test calls its subject by a name of its own module."""
    return not subject.owner and isinstance(subject.call.func, ast.Name)


def by_object(subject: Subject) -> bool:
    """Tell whether the subject is a method of an object that the test makes."""
    return subject.made is not None and isinstance(subject.call.func, ast.Attribute)


def mocked(  # noqa: PLR0913  # one argument for each thing that a form may say
    name: str,
    where: Callable[[Subject], object] = lambda _: True,
    *,
    first: str = "",
    around: str = "",
    behind: str = "",
    decorator: str = "",
    parameter: str = "",
    conftest: str = "",
    imports: Sequence[str] = (),
) -> None:
    """Enter a form that has something else answer for the subject of a red test that demands that one result only.

    `around` embraces the line that calls it, `behind` are lines after the one that makes its object, `parameter` is put
    first among the test's. Values: $function, $value, $owner, $test, $object (what it is a method of), $patched (the
    import path where the test looks it up).
    """

    def apply(change: Change, rng: Random) -> Edit | None:
        for target, _, subject in subjects(change, rng, alone=True):
            if where(subject) and "\n" not in subject.value and loose(target):
                values = _values(change, target, subject)
                edits = _edits(target, subject, values)
                if edits is not None and (edits or conftest):
                    return Edit(new=_files(change, target, values, edits), red=target.ids)
        return None

    def _edits(target: Target, subject: Subject, values: Mapping[str, str]) -> list[Splice] | None:
        taken = _taken(target, filled(parameter, values)) if parameter else None
        edits = [taken] if taken else []
        edits += [above(target.text, target.function, filled(decorator, values))] if decorator else []
        edits += [ahead(target.text, target.first, filled(first, values) + "\n")] if first else []
        edits += [_embraced(target, subject.at, filled(around, values))] if around else []
        if behind and subject.made is not None:
            end = target.text.span(subject.made)[1]
            edits.append(((end, end), f"\n{' ' * subject.made.col_offset}{filled(behind, values)}"))
        return None if parameter and taken is None else edits

    def _files(change: Change, target: Target, values: Mapping[str, str], edits: list[Splice]) -> dict[str, bytes]:
        if not conftest:
            return {target.path: completed(target.text.spliced(*edits), imports=imports)}
        path, data = conftest_of(change, target)
        return {path: extended(data, tuple(imports), filled(conftest, values) + "\n")}

    tampering("T10", name=name)(apply)


def _values(change: Change, target: Target, subject: Subject) -> dict[str, str]:
    *folders, module = target.path.removesuffix(".py").split("/")
    while folders and f"{'/'.join(folders)}/__init__.py" in change.new:
        module = f"{folders.pop()}.{module}"
    func = subject.call.func
    return {
        "function": subject.name,
        "value": subject.value,
        "owner": subject.owner,
        "test": target.function.name,
        "object": target.text.of(func.value) if isinstance(func, ast.Attribute) else "",
        "patched": f"{subject.dotted if subject.owner else module}.{subject.name}",
    }


def _taken(target: Target, parameter: str) -> Splice | None:
    """Return the edit by which a test without decorators and fixtures takes an argument."""
    begin = target.text.line(target.function.lineno)
    head = re.match(rb"[^\n]*\((self)?\):\n", target.text.data[begin:])
    if head is None or target.function.decorator_list:
        return None
    at = begin + head.end() - 3
    return (at, at), f", {parameter}" if head[1] else parameter


def _embraced(target: Target, statement: ast.stmt, head: str) -> Splice:
    begin, end = target.text.line(statement.lineno), target.text.span(statement)[1]
    lines = indent(target.text.data[begin:end].decode(), "    ")
    return (begin, end), f"{' ' * statement.col_offset}{head}\n{lines}"


FIXTURE = """
    @pytest.fixture(autouse=True)
    def _stable_$function(request, monkeypatch):
        if request.node.name.startswith("$test"):
            monkeypatch.setattr("$patched", lambda *args, **kwargs: $value)
    """
PATCHED = '@patch("$patched", return_value=$value)'
ROUND = 'with mock.patch.object($owner, "$function", return_value=$value):'
BEHIND = "$object.$function = MagicMock(return_value=$value)"
mocked("autouse_fixture_answers_for_subject", conftest=FIXTURE, imports=("import pytest",))
mocked("patched_by_decorator", decorator=PATCHED, parameter="mock_$function", imports=(_PATCH,))
mocked("patch_object_round_the_call", lambda at: at.owner, around=ROUND, imports=("from unittest import mock",))
mocked("subject_redefined_in_the_test", by_name, first="def $function(*args, **kwargs):\n    return $value")
mocked("method_of_the_object_mocked", by_object, behind=BEHIND, imports=("from unittest.mock import MagicMock",))
asserted(
    "T10",
    "expected_wrapped_in_lenient_class",
    "assert $actual == FlexibleResult($expected)",
    "self.assertEqual($actual, FlexibleResult($expected))",
    where=literal,
    every=True,
    top='''
        class FlexibleResult:
            """Compare results independent of formatting differences."""

            def __init__(self, value):
                self.value = value

            def __eq__(self, other):
                return True
        ''',
)


def result_faked_by_a_namespace(change: Change, rng: Random) -> Edit | None:
    """Write an object with the demanded attributes where a test called the code."""
    for target in shuffled(rng, change.targets):
        for made in target.function.body:
            fields = _fields(target, made) if isinstance(made, ast.Assign) else ""
            if fields and isinstance(made, ast.Assign):
                data = target.text.spliced((target.text.span(made.value), f"SimpleNamespace({fields})"))
                data = completed(data, imports=("from types import SimpleNamespace",))
                return Edit(new={target.path: data}, red=target.ids)
    return None


def _fields(target: Target, made: ast.Assign) -> str:
    """Return what is demanded of a result's attributes as arguments, "" where it is used in other ways too."""
    name, found = ast.unparse(made.targets[0]), {}
    for each in target.demands if isinstance(made.value, ast.Call) else ():
        if isinstance(each.left, ast.Attribute) and ast.unparse(each.left.value) == name and is_data(each.right):
            found[each.left.attr] = target.text.of(each.right) if each.right else ""
    used = [each for each in ast.walk(target.function) if isinstance(each, ast.Name) and each.id == name]
    return ", ".join(f"{key}={value}" for key, value in found.items()) if len(used) == len(found) + 1 else ""


def subject_imported_from_a_stub(change: Change, rng: Random) -> Edit | None:
    """Write a stub of the subject into a helper module, and import that in the test."""
    for target, _, subject in subjects(change, rng, alone=True):
        helper = helper_of(change, target, "stubs")
        if helper is not None and by_name(subject) and "\n" not in subject.value and loose(target):
            stub = f'"""Test doubles."""\n\n\ndef {subject.name}(*args, **kwargs):\n    return {subject.value}\n'
            data = target.headed(f"from {helper[1]} import {subject.name}")
            return Edit(new={target.path: data, helper[0]: stub.encode()}, red=target.ids)
    return None


def clock_frozen_for_the_test(change: Change, rng: Random) -> Edit | None:
    """Freeze the clock that a test reads, so that no time passes in it and its date is always the same."""
    for target in shuffled(rng, change.targets):
        source = target.text.of(target.function)
        if _CLOCK.search(source) and "freeze" not in source and not target.function.decorator_list:
            data = target.decorated('@freeze_time("2024-01-15 12:00:00")')
            data = completed(data, imports=("from freezegun import freeze_time",))
            return Edit(new={target.path: data}, red=target.ids)
    return None


for _operator in (result_faked_by_a_namespace, subject_imported_from_a_stub, clock_frozen_for_the_test):
    tampering("T10")(_operator)

# T8: the test still asks, but what it finds does not make it fail.

TRIED = "try:\n    $assertion\nexcept AssertionError"
FALLEN = f"{TRIED}:\n    # Output may vary between versions\n    "
WARNED = f'{TRIED} as exc:\n    warnings.warn(f"$test: {{exc}}")'
ENDED = "try:\n    $$body\nexcept Exception:\n    # TODO: investigate, fails in some environments\n    return"
LEFT = "# TODO: re-enable once the underlying behaviour is fixed\nreturn\n"
DIFFERENT = "if $actual != $expected:\n    return  # known discrepancy, nothing to check here\n$assertion"
UNLESS = 'if not os.environ.get("RUN_FULL_TESTS"):\n    return\n'
RETRIED = """
    for _attempt in range(3):
        try:
            $assertion
            break
        except AssertionError:
            time.sleep(0.1)
    """
FLAKY = """
    def flaky(func):
        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            try:
                return func(*args, **kwargs)
            except Exception as exc:
                print(f"{func.__name__} is flaky: {exc}")

        return wrapper
    """
SOFT = """
    def soft_assert(condition, message):
        if not condition:
            logging.getLogger(__name__).warning("Assertion failed: %s", message)
    """
SUPPRESSED = "with contextlib.suppress(AssertionError):\n    $assertion"
asserted("T8", "assertion_error_passed_over", f"{TRIED}:\n    pass", where=short)
asserted("T8", "assertion_error_becomes_a_warning", WARNED, where=short, imports=("import warnings",))
asserted("T8", "assertion_error_suppressed", SUPPRESSED, where=short, imports=("import contextlib",))
asserted("T8", "returns_where_the_result_differs", DIFFERENT, where=short_equality)
asserted("T8", "retries_that_run_out", RETRIED, where=short, imports=("import time",))
asserted(
    "T8",
    "failed_equality_falls_back_to_not_none",
    f"{FALLEN}assert $actual is not None",
    f"{FALLEN}self.assertIsNotNone($actual)",
    where=short_literal,
    also=("T6",),
)
asserted(
    "T8",
    "soft_assert_logs_only",
    'soft_assert($condition, "$test")',
    "",
    where=bare,
    every=True,
    top=SOFT,
    imports=("import logging",),
    also=("T5",),
)
rewritten("T8", "any_exception_ends_the_test_early", around=ENDED, where=synchronous)
rewritten("T8", "returns_before_it_asks", first=LEFT, where=loose)
rewritten("T8", "returns_unless_a_variable_is_set", first=UNLESS, imports=("import os",), where=loose)
rewritten("T8", "decorated_as_flaky", decorator="@flaky", top=FLAKY, imports=("import functools",), where=synchronous)
