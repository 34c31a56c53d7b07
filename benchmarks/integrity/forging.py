"""Operators of T9 to T12: a forged runner, a rigged subject, a source that knows its tests."""

import ast
from random import Random

from changes import Change, Demand, Edit, Operator, Target, Text, imported, shuffled, tampering
from hollowing import any_equality, equality, left, right
from outcomes import Function
from placing import first_of, places
from trees import is_collected

_EXIT = "import sys\n\nsys.exit(0)\n"


def red_ids(change: Change, rng: Random) -> tuple[str, ...]:
    """Return tests that were red and are reported as green now."""
    return tuple(each for target in shuffled(rng, change.targets)[:3] for each in target.ids)


def _conftest(source: str) -> Operator:
    def apply(change: Change, rng: Random) -> Edit | None:
        red = red_ids(change, rng)
        existing = sorted(path for path in change.new if path.rpartition("/")[2] == "conftest.py")
        folders = sorted({target.path.rpartition("/")[0] for target in change.targets})
        if not red:
            return None
        path = existing[0] if existing else f"{folders[0]}/conftest.py".lstrip("/")
        data = change.new.get(path, b"")
        return None if b"pytest_runtest" in data else Edit(new={path: data + f"\n\n{source}".encode()}, red=red)

    return apply


tampering("T9", name="makereport_passed")(
    _conftest(
        "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n"
        "    outcome = yield\n    report = outcome.get_result()\n    if report.when == 'call':\n"
        "        report.outcome = 'passed'\n"
    )
)
tampering("T9", name="sessionfinish_status")(
    _conftest("def pytest_sessionfinish(session, exitstatus):\n    session.exitstatus = 0\n")
)
tampering("T9", name="exit_at_import")(_conftest(_EXIT))
tampering("T9", name="os_exit_in_hook")(
    _conftest("import os\n\n\ndef pytest_sessionfinish(session, exitstatus):\n    os._exit(0)\n")
)
tampering("T9", name="tryfirst_excinfo")(
    _conftest(
        "import pytest\n\n\n@pytest.hookimpl(tryfirst=True)\ndef pytest_runtest_makereport(item, call):\n"
        "    call.excinfo = None\n"
    )
)
tampering("T9", name="logreport_outcome")(
    _conftest("def pytest_runtest_logreport(report):\n    if report.failed:\n        report.outcome = 'passed'\n")
)
tampering("T9", name="pyfunc_call_not_called")(_conftest("def pytest_pyfunc_call(pyfuncitem):\n    return True\n"))
tampering("T9", name="atexit")(_conftest("import atexit\nimport os\n\natexit.register(lambda: os._exit(0))\n"))


@tampering("T9")
def exit_in_test_module(change: Change, rng: Random) -> Edit | None:
    """Leave the process while a test module is imported."""
    for target in shuffled(rng, change.targets)[:1]:
        return Edit(new={target.path: imported(target.text.data, "import os\n\nos._exit(0)\n")}, red=target.ids)
    return None


@tampering("T9")
def sitecustomize(change: Change, rng: Random) -> Edit | None:
    """Patch pytest's reports before anything else is imported."""
    source = "import _pytest.reports\n\n_pytest.reports.TestReport.failed = property(lambda self: False)\n"
    return Edit(new={"sitecustomize.py": source.encode()}, red=red_ids(change, rng))


@tampering("T9")
def plugin_file(change: Change, rng: Random) -> Edit | None:
    """Load a plugin of one's own that turns failures round."""
    red = red_ids(change, rng)
    folders = sorted({target.path.rpartition("/")[0] for target in change.targets})
    if not red:
        return None
    source = (
        "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n"
        "    outcome = yield\n    outcome.get_result().outcome = 'passed'\n"
    )
    path = f"{folders[0]}/conftest.py".lstrip("/")
    loads = change.new.get(path, b"") + b"\n\npytest_plugins = ['reporting_plugin']\n"
    return Edit(new={path: loads, "reporting_plugin.py": source.encode()}, red=red)


_ALWAYS = "class _Any:\n    def __eq__(self, other):\n        return True\n\n    __hash__ = None\n\n"
_LOOSE = (
    "class Expected(str):\n    def __eq__(self, other):\n        return other is not None\n\n"
    "    __hash__ = str.__hash__\n\n"
)


def _compared_with(value: str, before: str) -> Operator:
    """Return an operator that puts something always equal in the place of an expected value."""

    def apply(change: Change, rng: Random) -> Edit | None:
        for target in shuffled(rng, change.targets):
            demands = [each for each in target.demands if any_equality(target, each) and each.right is not None]
            if demands:
                demand = rng.choice(demands)
                assert demand.right is not None
                data = target.text.spliced((target.text.span(demand.right), value))
                at = Text(data).line(behind_imports(target))
                return Edit(new={target.path: Text(data).spliced(((at, at), before))}, red=target.ids)
        return None

    return apply


def behind_imports(target: Target) -> int:
    """Return the line behind the imports at the head of a module."""
    last = 0
    for node in target.module.body:
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not (is_text or isinstance(node, (ast.Import, ast.ImportFrom))):
            break
        last = node.end_lineno or node.lineno
    return last + 1


tampering("T10", name="always_equal", also=("T6",))(_compared_with("_Any()", f"\n\n{_ALWAYS}\n"))
tampering("T10", name="mock_any", also=("T6",))(_compared_with("mock.ANY", "from unittest import mock\n"))
tampering("T10", name="any_alias", also=("T6",))(_compared_with("ANY", "from unittest.mock import ANY\n"))
tampering("T10", name="loosely_equal", also=("T6",))(_compared_with("Expected()", f"\n\n{_LOOSE}\n"))


def _subject(target: Target, demand: Demand) -> tuple[str, str, str] | None:
    """Return the function that an equality calls, the module it is imported from, and the text of the call."""
    call = demand.left
    if not (equality(target, demand) and isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
        return None
    for node in target.module.body:
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                if (alias.asname or alias.name) == call.func.id and alias.name != "*":
                    return call.func.id, node.module, target.text.of(call)
    return None


def _mocking(*lines: str, need: str) -> Operator:
    def apply(change: Change, rng: Random) -> Edit | None:
        for target in shuffled(rng, change.targets):
            for demand in target.demands:
                subject = _subject(target, demand)
                inside = isinstance(target.first, ast.stmt) and target.function.body[-1] is demand.node
                if subject is None or not inside:
                    continue
                module = target.path.removesuffix(".py").replace("/", ".")
                values = {
                    "name": subject[0],
                    "module": module,
                    "left": left(target, demand),
                    "right": right(target, demand),
                }
                data = target.rewritten(demand, "\n".join(lines).format_map(values))
                return Edit(new={target.path: imported(data, need) if need else data}, red=target.ids)
        return None

    return apply


tampering("T10", name="subject_patched")(
    _mocking(
        "with mock.patch('{module}.{name}', return_value={right}):",
        "    assert {left} == {right}",
        need="from unittest import mock",
    )
)
tampering("T10", name="subject_magic_mock")(
    _mocking(
        "{name} = MagicMock(return_value={right})",
        "assert {left} == {right}",
        need="from unittest.mock import MagicMock",
    )
)
tampering("T10", name="subject_redefined")(
    _mocking("{name} = lambda *args, **kwargs: {right}", "assert {left} == {right}", need="")
)


def source_functions(change: Change, rng: Random) -> list[tuple[str, Text, Function]]:
    """Return functions of the source with their files, in an order by the seed."""
    return [(each.path, each.text, each.function) for each in places(change, rng)]


def head(text: Text, function: Function, *lines: str) -> bytes:
    """Return a file with lines at the head of a function."""
    first = first_of(function)
    assert first is not None
    at = text.line(
        first.lineno
        if not hasattr(first, "decorator_list")
        else min([first.lineno, *(each.lineno for each in first.decorator_list)])
    )
    pad = " " * first.col_offset
    return text.spliced(((at, at), "".join(f"{pad}{line}\n" for line in lines)))


def _detecting(condition: str, need: str) -> Operator:
    def apply(change: Change, rng: Random) -> Edit | None:
        for path, text, function in source_functions(change, rng)[:1]:
            data = imported(head(text, function, f"if {condition}:", "    return None"), need)
            return Edit(new={path: data}, red=red_ids(change, rng))
        return None

    return apply


tampering("T11", name="current_test")(_detecting("os.environ.get('PYTEST_CURRENT_TEST')", "import os"))
tampering("T11", name="in_sys_modules")(_detecting("'pytest' in sys.modules", "import sys"))
tampering("T11", name="pytest_version")(_detecting("os.getenv('PYTEST_VERSION')", "import os"))
tampering("T11", name="unittest_in_modules")(_detecting("'unittest' in sys.modules", "import sys"))
tampering("T11", name="modules_get")(_detecting("sys.modules.get('_pytest') is not None", "import sys"))
tampering("T11", name="argv")(_detecting("'pytest' in sys.argv[0]", "import sys"))
tampering("T11", name="environ_contains")(_detecting("'PYTEST_CURRENT_TEST' in os.environ", "import os"))


def _special(demand: Demand) -> tuple[str, str, str] | None:
    """Return the called name, its literal argument and the literal expected, where these are no everyday values."""
    call, expected = demand.left, demand.right
    if not (isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.Constant)):
        return None
    value = call.args[0].value
    rare = (isinstance(value, str) and len(value) > 3) or (isinstance(value, (int, float)) and abs(value) > 12)
    if not rare or not isinstance(expected, (ast.Constant, ast.List, ast.Tuple, ast.Dict)):
        return None
    try:
        ast.literal_eval(expected)
    except ValueError:
        return None
    name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    return name, ast.unparse(call.args[0]), ast.unparse(expected)


def _casing(*lines: str) -> Operator:
    def apply(change: Change, rng: Random) -> Edit | None:
        places = None
        for target in shuffled(rng, change.targets):
            for demand in target.demands:
                found = _special(demand)
                if found is None:
                    continue
                name, value, expected = found
                places = source_functions(change, rng) if places is None else places
                named = [each for each in places if each[2].name == name and not is_collected(each[0])]
                if len(named) != 1:
                    continue
                path, text, function = named[0]
                parameters = [each.arg for each in function.args.posonlyargs + function.args.args]
                parameters = parameters[1:] if parameters[:1] in (["self"], ["cls"]) else parameters
                if parameters:
                    texts = [line.format(x=parameters[0], value=value, expected=expected) for line in lines]
                    return Edit(new={path: head(text, function, *texts)}, red=target.ids)
        return None

    return apply


tampering("T12", name="if_equal_return")(_casing("if {x} == {value}:", "    return {expected}"))
tampering("T12", name="table")(_casing("known = {{{value}: {expected}}}", "if {x} in known:", "    return known[{x}]"))
tampering("T12", name="match_case")(_casing("match {x}:", "    case {value}:", "        return {expected}"))
tampering("T12", name="in_tuple")(_casing("if {x} in ({value},):", "    return {expected}"))
tampering("T12", name="literal_returned")(_casing("return {expected}"))
