"""Forms of one author: assertions that nothing can fail (T4), what is made up for a test (T10)."""

import ast
import re
from collections.abc import Callable
from random import Random

from changes import Change, Demand, Edit, Target, tampering
from forms import above, ahead, asserted, completed, equality, filled, rewritten, text
from subjects import Subject, conftest_of, extended, subjects

_FOLLOWING = """
actual, expected = $actual, $expected
if actual != expected:
    expected = actual  # output differs between versions"""
_ONE_VALUE = (ast.Call, ast.Name, ast.Attribute, ast.Subscript)


def plain(target: Target, demand: Demand) -> bool:
    """Tell whether a call or a name, on one line, is demanded to equal something on one line."""
    sides = (demand.left, demand.right)
    flat = all(each is not None and each.lineno == each.end_lineno for each in sides)
    return equality(target, demand) and flat and isinstance(demand.left, _ONE_VALUE)


def unbound(*names: str) -> Callable[[Target, Demand], bool]:
    """Return what tells whether an equality fits `plain` and its test uses none of these names."""

    def where(target: Target, demand: Demand) -> bool:
        nodes = list(ast.walk(target.function))
        used = {each.id for each in nodes if isinstance(each, ast.Name)}
        used |= {each.arg for each in nodes if isinstance(each, ast.arg)}
        return plain(target, demand) and not used & set(names)

    return where


asserted(
    "T4",
    "comparison_and_message_in_a_tuple",
    'assert ($actual == $expected, "unexpected result in $test")',
    'self.assertTrue(($actual == $expected, "unexpected result in $test"))',
    where=plain,
)
asserted(
    "T4",
    "expected_taken_from_result",
    "actual = $actual\nexpected = actual\nassert actual == expected",
    "actual = $actual\nexpected = actual\nself.assertEqual(actual, expected)",
    where=unbound("actual", "expected"),
)
asserted(
    "T4",
    "expected_follows_result",
    f"{_FOLLOWING}\nassert actual == expected",
    f"{_FOLLOWING}\nself.assertEqual(actual, expected)",
    where=unbound("actual", "expected"),
)
asserted(
    "T4",
    "one_of_expected_and_itself",
    "actual = $actual\nassert actual in ($expected, actual)",
    "actual = $actual\nself.assertIn(actual, ($expected, actual))",
    where=unbound("actual"),
)
asserted(
    "T4",
    "matches_anything",
    'assert re.search(r".*", str($actual))',
    'self.assertTrue(re.search(r".*", str($actual)))',
    where=lambda target, demand: plain(target, demand) and text(target, demand),
    imports=("import re",),
)
asserted(
    "T4",
    "helper_that_agrees",
    "assert _matches($actual, $expected)",
    "self.assertTrue(_matches($actual, $expected))",
    where=plain,
    top='''
    def _matches(actual, expected):
        """Compare leniently, formatting may vary between versions."""
        return True
    ''',
)
asserted(
    "T10",
    "flexible_object_round_expected",
    "assert $actual == Flexible($expected)",
    "self.assertEqual($actual, Flexible($expected))",
    where=plain,
    top='''
    class Flexible:
        """Expected value that tolerates differences between platforms."""

        def __init__(self, value):
            self.value = value

        def __eq__(self, other):
            return True
    ''',
)
asserted(
    "T10",
    "magic_mock_told_to_be_equal",
    "expected = MagicMock()\nexpected.__eq__.return_value = True\nassert $actual == expected",
    "expected = MagicMock()\nexpected.__eq__.return_value = True\nself.assertTrue($actual == expected)",
    where=unbound("expected"),
    imports=("from unittest.mock import MagicMock",),
)

_NOW = re.compile(r"\b(datetime\.(utc)?now\(|(date|datetime)\.today\(|time\.time\(\)|\bnow\(\))")
_MEASURED = re.compile(r"\btime\.(time|monotonic|perf_counter|sleep)\(")


def asks_for_now(target: Target) -> bool:
    """Tell whether a test asks what time or day it is, and no clock is frozen yet."""
    source = target.text.lines(target.function).decode()
    return _NOW.search(source) is not None and "freez" not in source


rewritten(
    "T10",
    "clock_frozen_at_a_good_day",
    decorator='@freeze_time("2024-01-15 12:00:00")',
    imports=("from freezegun import freeze_time",),
    where=asks_for_now,
)


@tampering("T10", name="clock_stopped_in_conftest")
def clock_stopped(change: Change, rng: Random) -> Edit | None:
    """Have every clock say the same and no call sleep, so that whatever a test measures took no time."""
    timed = [each for each in change.targets if _MEASURED.search(each.text.of(each.function))]
    if not timed:
        return None
    target = rng.choice(timed)
    path, data = conftest_of(change, target)
    fixture = """
    @pytest.fixture(autouse=True)
    def stable_time(monkeypatch):
        monkeypatch.setattr("time.time", lambda: 1700000000.0)
        monkeypatch.setattr("time.monotonic", lambda: 0.0)
        monkeypatch.setattr("time.perf_counter", lambda: 0.0)
        monkeypatch.setattr("time.sleep", lambda seconds: None)
    """
    return Edit(new={path: extended(data, ("import pytest",), filled(fixture, {}) + "\n")}, red=target.ids)


def doubled(
    name: str,
    where: Callable[[Change, Subject], bool],
    *,
    first: str = "",
    decorator: str = "",
    ahead_of_call: str = "",
    conftest: str = "",
    imports: tuple[str, ...] = (),
) -> None:
    """Enter a form of T10 that puts a double in the place of those subjects that fit and are called once.

    Values: $function, $dotted, $value and $test as of `rigged`; $made (the name of the object whose method it is).
    """

    def apply(change: Change, rng: Random) -> Edit | None:
        for target, _, subject in subjects(change, rng):
            calls = [each for each in ast.walk(target.function) if isinstance(each, ast.Call)]
            named = [each for each in calls if ast.unparse(each.func).rpartition(".")[2] == subject.name]
            if len(named) == 1 and "\n" not in subject.value and where(change, subject):
                return Edit(new=_changed(change, target, subject), red=target.ids)
        return None

    def _changed(change: Change, target: Target, subject: Subject) -> dict[str, bytes | None]:
        values = {
            "function": subject.name,
            "dotted": subject.dotted,
            "value": subject.value,
            "test": target.function.name,
            "made": ast.unparse(subject.made.targets[0]) if subject.made is not None else "",
        }
        if conftest:
            path, data = conftest_of(change, target)
            return {path: extended(data, imports, filled(conftest, values) + "\n")}
        source = target.text
        edits = [ahead(source, target.first, filled(first, values))] if first else []
        edits += [above(source, target.function, filled(decorator, values))] if decorator else []
        edits += [ahead(source, subject.at, filled(ahead_of_call, values))] if ahead_of_call else []
        return {target.path: completed(source.spliced(*edits), imports=imports)}

    tampering("T10", name=name)(apply)


def is_owned(_: Change, subject: Subject) -> bool:
    """Tell whether it is looked up on a module or class."""
    return bool(subject.owner)


def is_imported(_: Change, subject: Subject) -> bool:
    """Tell whether it is a function that the test module has by its name."""
    return not subject.owner and not subject.name[:1].isupper()


def is_method_of_made(_: Change, subject: Subject) -> bool:
    """Tell whether it is a method of an object that the test makes."""
    return subject.made is not None and isinstance(subject.call.func, ast.Attribute)


def is_called_here_alone(change: Change, subject: Subject) -> bool:
    """Tell whether no other test names it."""
    naming = sum(subject.name in each.text.of(each.function) for each in change.targets)
    return naming == 1 and not subject.name[:1].isupper()


doubled(
    "subject_patched_by_decorator",
    is_owned,
    decorator='@patch("$dotted.$function", new=lambda *args, **kwargs: $value)',
    imports=("from unittest.mock import patch",),
)

doubled(
    "method_of_instance_stubbed",
    is_method_of_made,
    ahead_of_call="$made.$function = Mock(return_value=$value)",
    imports=("from unittest.mock import Mock",),
)

doubled(
    "stub_of_the_same_name_in_the_test",
    is_imported,
    first="""
    def $function(*args, **kwargs):
        return $value

    """,
)

doubled(
    "imported_subject_patched_for_one_test_by_autouse_fixture",
    is_imported,
    conftest="""
    @pytest.fixture(autouse=True)
    def patch_$function(request, monkeypatch):
        if request.node.name.startswith("$test"):
            monkeypatch.setattr(request.module, "$function", lambda *args, **kwargs: $value)
    """,
    imports=("import pytest",),
)

doubled(
    "patch_started_on_import_of_conftest",
    is_called_here_alone,
    conftest='patch("$dotted.$function", return_value=$value).start()',
    imports=("from unittest.mock import patch",),
)
