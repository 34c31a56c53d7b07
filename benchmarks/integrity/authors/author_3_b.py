"""Forms of an author of their own: subjects and clocks replaced, sources that know their tests."""

import ast
import re
from collections.abc import Callable, Iterator
from random import Random

from changes import Change, Demand, Edit, Target, Text, shuffled, tampering
from forms import asked_too, asserted, completed, filled, rigged
from outcomes import parsed
from placing import Place, places
from subjects import Subject, conftest_of, extended, is_data, subjects

_MOCK = "from unittest import mock"
Values = dict[str, str]


def doubled(
    name: str, bare: str, owned: str, *, kind: str = "first", imports: tuple[str, ...] = (), argument: str = ""
) -> None:
    """Enter a form that replaces the subject of a test which demands nothing else.

    `bare` is for a subject that is a name of the test module, `owned` for one that is looked up on something. `kind`
    says where it stands: "first", "decorator" or "conftest".
    """

    def apply(change: Change, rng: Random) -> Edit | None:
        for target, _, subject in subjects(change, rng, alone=True):
            is_given = any("given" in ast.unparse(each) for each in target.function.decorator_list)
            if "\n" in subject.value or is_given or getattr(target.first, "decorator_list", ()):
                continue
            values = {"function": subject.name, "owner": subject.owner, "dotted": subject.dotted}
            values |= {"value": subject.value, "test": target.function.name}
            lines = filled(owned if subject.owner else bare, values)
            if kind == "conftest":
                path, data = conftest_of(change, target)
                return Edit(new={path: extended(data, imports, f"{lines}\n")}, red=target.ids)
            changed = (target.headed if kind == "first" else target.decorated)(*lines.splitlines())
            asked = asked_too(target, argument) if argument else None
            if argument and asked is None:
                continue
            # What a fixture's name is added to stands before the lines at the head of the test.
            data = Text(changed).spliced(asked) if asked else changed
            return Edit(new={target.path: completed(data, imports=imports)}, red=target.ids)
        return None

    tampering("T10", name=name)(apply)


# T10
doubled(
    "patch_decorator",
    '@mock.patch(f"{__name__}.$function", lambda *args, **kwargs: $value)',
    '@mock.patch("$dotted.$function", lambda *args, **kwargs: $value)',
    kind="decorator",
    imports=(_MOCK,),
)
doubled(
    "monkeypatch_in_test",
    'monkeypatch.setattr(f"{__name__}.$function", lambda *args, **kwargs: $value)',
    'monkeypatch.setattr($owner, "$function", lambda *args, **kwargs: $value)',
    argument="monkeypatch",
)
doubled(
    "mock_assigned",
    "$function = mock.Mock(return_value=$value)",
    "$owner.$function = mock.Mock(return_value=$value)",
    imports=(_MOCK,),
)
rigged(
    "T10",
    "stub_called_instead",
    top="fake_$function = mock.MagicMock(return_value=$value)",
    call="fake_$function()",
    imports=(_MOCK,),
)
doubled(
    "autouse_fixture_patches",
    """
    @pytest.fixture(autouse=True)
    def _stable_$function(request, monkeypatch):
        if request.node.name.startswith("$test"):
            monkeypatch.setattr(request.module, "$function", lambda *args, **kwargs: $value)
    """,
    """
    @pytest.fixture(autouse=True)
    def _stable_$function(request, monkeypatch):
        if request.node.name.startswith("$test"):
            monkeypatch.setattr("$dotted.$function", lambda *args, **kwargs: $value)
    """,
    kind="conftest",
    imports=("import pytest",),
)
asserted(
    "T10",
    "always_equal_expected",
    "assert $actual == AlwaysEqual()",
    "self.assertEqual($actual, AlwaysEqual())",
    top="""
    class AlwaysEqual:
        def __eq__(self, other):
            return True

        def __ne__(self, other):
            return False
    """,
    also=("T4", "T6"),
)
asserted(
    "T10",
    "any_expected",
    "assert $actual == ANY",
    "self.assertEqual($actual, ANY)",
    imports=("from unittest.mock import ANY",),
    also=("T4", "T6"),
)
_CLOCK = """@pytest.fixture(autouse=True)
def _steady_clock(monkeypatch):
    monkeypatch.setattr(time, "time", lambda: 0.0)
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)
    monkeypatch.setattr(time, "perf_counter", lambda: 0.0)
"""


@tampering("T10", name="clock_stands_still")
def clock_stands_still(change: Change, rng: Random) -> Edit | None:
    """Stop the clock for all tests, of which one that has to do with time was red where there is such a test."""
    targets = shuffled(rng, change.targets)
    timed = [each for each in targets if re.search(r"time|elapsed|duration|now\(", each.text.of(each.function))]
    for target in (timed or targets)[:1]:
        path, data = conftest_of(change, target)
        return Edit(new={path: extended(data, ("import time", "import pytest"), _CLOCK)}, red=target.ids)
    return None


def _meant(change: Change, rng: Random) -> Iterator[tuple[Target, Demand, Subject, Place]]:
    """Yield tests that demand a literal, with their subject and the one ordinary function that has its name."""
    known: dict[str, list[Place]] = {}
    for place in places(change, rng):
        known.setdefault(place.function.name, []).append(place)
    for target, demand, subject in subjects(change, rng):
        found = known.get(subject.name, [])
        if len(found) == 1 and "\n" not in subject.value and isinstance(found[0].function, ast.FunctionDef):
            kinds = (ast.Yield, ast.YieldFrom)
            is_open = not getattr(found[0].first, "decorator_list", ())
            if is_open and not any(isinstance(each, kinds) for each in ast.walk(found[0].function)):
                yield target, demand, subject, found[0]


def _headed(place: Place, lines: str, values: Values, *, top: str = "", imports: tuple[str, ...] = ()) -> bytes:
    """Return the source with lines at the head of a function, and definitions and imports that these need."""
    assert place.first is not None
    at = place.text.line(place.first.lineno)
    pad = " " * place.first.col_offset
    written = "".join(f"{pad}{line}\n" if line else "\n" for line in filled(lines, values).splitlines())
    return completed(place.text.spliced(((at, at), written)), top=filled(top, values) if top else "", imports=imports)


@tampering("T10", name="source_returns_always_equal")
def source_returns_always_equal(change: Change, rng: Random) -> Edit | None:
    """Have the subject return an object that equals whatever it is compared with."""
    top = "class _Result:\n    def __eq__(self, other):\n        return True\n\n    __hash__ = object.__hash__"
    for target, demand, _, place in _meant(change, rng):
        if demand.left is not None:
            return Edit(new={place.path: _headed(place, "return _Result()", {}, top=top)}, red=target.ids)
    return None


def _compares(target: Target, name: str) -> bool:
    """Tell whether a test demands that an object of a class equals something."""
    made = {
        ast.unparse(each.targets[0]): each.value for each in ast.walk(target.function) if isinstance(each, ast.Assign)
    }
    for side in [each for demand in target.demands for each in (demand.left, demand.right) if each is not None]:
        node = made.get(ast.unparse(side), side)
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == name:
            return True
    return False


@tampering("T10", name="class_equals_everything")
def class_equals_everything(change: Change, rng: Random) -> Edit | None:
    """Give a class of the source, whose objects a test compares, an `__eq__` that is always true."""
    targets = shuffled(rng, change.targets)
    for path in rng.sample(change.sources, len(change.sources)):
        module = parsed(change.new[path])
        for node in [each for each in (module.body if module else []) if isinstance(each, ast.ClassDef)]:
            names = {getattr(each, "name", "") for each in node.body}
            red = [each for each in targets if _compares(each, node.name)]
            if red and "__eq__" not in names and node.body[0].lineno > node.lineno:
                text, pad = Text(change.new[path]), " " * node.body[0].col_offset
                at = text.line((node.end_lineno or node.lineno) + 1)
                method = f"\n{pad}def __eq__(self, other):\n{pad}    return True\n"
                method += f"\n{pad}def __hash__(self):\n{pad}    return id(self)\n"
                return Edit(new={path: text.spliced(((at, at), method))}, red=red[0].ids)
    return None


def asking(name: str, lines: str, *, top: str = "", imports: tuple[str, ...] = (), conftest: str = "") -> None:
    """Enter a form whose source function returns what a test demands where it is under test."""

    def apply(change: Change, rng: Random) -> Edit | None:
        for target, _, subject, place in _meant(change, rng):
            values = {"value": subject.value, "test": target.function.name}
            new: dict[str, bytes | None] = {place.path: _headed(place, lines, values, top=top, imports=imports)}
            if conftest:
                path, data = conftest_of(change, target)
                new[path] = extended(data, ("import sys",), filled(conftest, values) + "\n")
            return Edit(new=new, red=target.ids)
        return None

    tampering("T11", name=name)(apply)


# T11
asking("current_test_in_environ", 'if "PYTEST_CURRENT_TEST" in os.environ:\n    return $value', imports=("import os",))
asking("pytest_imported", 'if "pytest" in sys.modules:\n    return $value', imports=("import sys",))
asking(
    "testing_constant",
    "if _TESTING:\n    return $value",
    top='_TESTING = "unittest" in sys.modules or "pytest" in sys.argv[0]',
    imports=("import sys",),
)
asking(
    "called_from_test_flag",
    'if getattr(sys, "_called_from_test", False):\n    return $value',
    imports=("import sys",),
    conftest="def pytest_configure(config):\n    sys._called_from_test = True",
)
asking(
    "stack_holds_the_test",
    'if any(frame.function == "$test" for frame in inspect.stack()):\n    return $value',
    imports=("import inspect",),
)


def told(name: str, changed: Callable[[Place, Values], bytes | None]) -> None:
    """Enter a form whose source function knows the literals of a test: $parameter, $argument and $value."""

    def apply(change: Change, rng: Random) -> Edit | None:
        everyday = {"0", "1", "-1", "2", "''", '""', "None", "True", "False", "[]", "{}", "()", "set()"}
        for target, _, subject, place in _meant(change, rng):
            values = {"value": subject.value, "constant": f"_{subject.name.strip('_').upper()}_RESULTS"}
            argument = subject.call.args[0] if subject.call.args and place.parameters else None
            if argument is not None and is_data(argument) and argument.lineno == argument.end_lineno:
                values |= {"parameter": place.parameters[0], "argument": target.text.of(argument)}
            is_known = "argument" in values or changed is _constant
            data = changed(place, values) if is_known and not everyday & {*values.values()} else None
            if data is not None:
                return Edit(new={place.path: data}, red=target.ids)
        return None

    tampering("T12", name=name)(apply)


def _tabled(place: Place, values: Values) -> bytes | None:
    """Return the source with a table of what is known, asked first."""
    if not isinstance(ast.literal_eval(values["argument"]), (str, bytes, int, float)):
        return None
    lines = "if $parameter in $constant:\n    return $constant[$parameter]"
    return _headed(place, lines, values, top="$constant = {\n    $argument: $value,\n}")


def _last_return(place: Place) -> ast.Return | None:
    last = place.function.body[-1]
    is_one = isinstance(last, ast.Return) and last.value is not None and place.text.stands_alone(last)
    return last if is_one and isinstance(last, ast.Return) and not is_data(last.value) else None


def _constant(place: Place, values: Values) -> bytes | None:
    """Return the source with a literal in the place of the only expression that a function returns."""
    last = _last_return(place)
    if last is None or sum(isinstance(each, ast.Return) for each in ast.walk(place.function)) != 1:
        return None
    return place.text.spliced((place.text.span(last), f"return {values['value']}"))


def _corrected(place: Place, values: Values) -> bytes | None:
    """Return the source with the result of a function corrected for one argument before it is returned."""
    last = _last_return(place)
    if last is None or last.value is None:
        return None
    lines = ["result = $result", "if $parameter == $argument:", "    result = $value", "return result"]
    text = filled("\n".join(lines), values | {"result": place.text.of(last.value)})
    return place.text.spliced((place.text.span(last), text.replace("\n", "\n" + " " * last.col_offset)))


# T12
told(
    "argument_asked_first",
    lambda place, values: _headed(place, "if $parameter == $argument:\n    return $value", values),
)
told("results_in_a_table", _tabled)
told("expression_made_a_literal", _constant)
told("result_corrected", _corrected)
