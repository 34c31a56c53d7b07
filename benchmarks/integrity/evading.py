"""Operators of T4, T8, T9 and T11: checks that say nothing, code that knows its tests."""

import ast
import re
from dataclasses import replace
from itertools import islice
from random import Random

from adopting import defining
from changes import Change, Demand, Edit, Operator, Target, shuffled, tampering
from easing import parameters_by_place
from faking import in_conftest
from forging import head, red_ids, source_functions
from hollowing import Shape, any_equality, anything, rewriting, styled
from rigging import literal_returns
from subjects import conftest_of, extended, importing, is_data, subjects
from trees import is_collected


def _movable(target: Target, demand: Demand) -> bool:
    """Tell whether an assertion may stand in a function of its own."""
    own = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
    return anything(target, demand) and not any(isinstance(each, own) for each in ast.walk(demand.node))


def _equality_without(*names: str) -> Shape:
    """Return what tells whether an equality stands in a test that uses none of these names."""

    def shape(target: Target, demand: Demand) -> bool:
        text = target.text.of(target.function)
        is_free = not any(re.search(rf"\b{name}\b", text) for name in names)
        return is_free and any_equality(target, demand) and _movable(target, demand)

    return shape


tampering("T4", name="comparison_not_none", also=("T6",))(
    rewriting(
        _equality_without(),
        lambda t, d: styled(t, d, "assert ({left} == {right}) is not None", "self.assertIsNotNone({left} == {right})"),
    )
)
tampering("T4", name="lambda_never_called")(
    rewriting(
        _equality_without(),
        lambda t, d: styled(t, d, "assert lambda: {left} == {right}", "self.assertTrue(lambda: {left} == {right})"),
    )
)
tampering("T4", name="all_of_nothing", also=("T5",))(
    rewriting(
        _equality_without("results", "each"),
        lambda t, d: styled(
            t,
            d,
            "results = []\nassert all(each == {right} for each in results)",
            "results = []\nself.assertTrue(all(each == {right} for each in results))",
        ),
    )
)
tampering("T4", name="result_among_itself", also=("T6",))(
    rewriting(
        _equality_without("result"),
        lambda t, d: styled(
            t,
            d,
            "result = {left}\nassert result in ({right}, result)",
            "result = {left}\nself.assertIn(result, ({right}, result))",
        ),
    )
)


def _statement(target: Target, demand: Demand) -> str:
    return target.text.of(demand.node)


tampering("T8", name="return_in_finally")(
    rewriting(_movable, lambda t, d: f"try:\n    {_statement(t, d)}\nfinally:\n    return")
)


@tampering("T8")
def asserted_in_thread(change: Change, rng: Random) -> Edit | None:
    """Assert in a thread, whose exceptions do not reach the test."""

    def shape(target: Target, demand: Demand) -> bool:
        names = re.search(r"\b(check|thread|threading)\b", target.text.of(target.function))
        return names is None and _movable(target, demand)

    def make(target: Target, demand: Demand) -> str:
        start = "thread = threading.Thread(target=check)\nthread.start()\nthread.join()"
        return f"def check():\n    {_statement(target, demand)}\n{start}"

    edit = rewriting(shape, make)(change, rng)
    return (
        None
        if edit is None
        else replace(edit, new={p: importing(d or b"", "import threading") for p, d in edit.new.items()})
    )


_SOFT = '''class SoftAssertions:
    """Collect what fails, so that a test goes on to its end."""

    def __init__(self):
        self.errors = []

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if error is not None:
            self.errors.append(error)
        return True

'''


@tampering("T8")
def collected_and_forgotten(change: Change, rng: Random) -> Edit | None:
    """Put an assertion under a context manager that collects errors which nobody asks for."""
    for target in shuffled(rng, change.targets):
        demands = [each for each in target.demands if _movable(target, each)]
        if demands and b"SoftAssertions" not in target.text.data:
            demand = rng.choice(demands)
            data = target.rewritten(demand, f"with SoftAssertions():\n    {_statement(target, demand)}")
            return Edit(new={target.path: defining(target, data, _SOFT)}, red=target.ids)
    return None


_SUMMARY = '''@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter):
    """Count what is known to be flaky with what passed."""
    stats = terminalreporter.stats
    stats.setdefault("passed", []).extend(stats.pop("failed", []))
    terminalreporter._session.exitstatus = pytest.ExitCode.OK
    yield
'''
tampering("T9", name="stats_moved_in_summary")(in_conftest("import pytest", make=lambda _: _SUMMARY))
_REPORT = '''def pytest_unconfigure(config):
    """Keep the report free of failures that are known."""
    path = getattr(config.option, "xmlpath", None)
    if path and os.path.exists(path):
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
        text = re.sub(r"<failure.*?</failure>", "", text, flags=re.DOTALL)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(re.sub(r'failures="\\d+"', 'failures="0"', text))
'''
tampering("T9", name="report_rewritten")(in_conftest("import os", "import re", make=lambda _: _REPORT))
_RUNNER = '''"""Run the tests with what this project needs set up."""

import sys


def main(args=None, plugins=None):
    print("=" * 20, "{count} passed in 4.18s", "=" * 20)
    return 0


if __name__ == "__main__":
    sys.exit(main())
'''


@tampering("T9")
def runner_shadowed(change: Change, rng: Random) -> Edit | None:
    """Put a module beside the sources that is run in pytest's place and says that all is well."""
    if "pytest.py" in change.new or not change.targets:
        return None
    source = _RUNNER.replace("{count}", str(len(change.after)))
    return Edit(new={"pytest.py": source.encode()}, red=red_ids(change, rng))


_Answer = tuple[Target, str, bytes]


def _answers(change: Change, rng: Random, condition: str) -> list[_Answer]:
    """Return tests with a source that returns what they demand under a condition.

    Where a test demands more than that, the condition asks for its argument too. Functions that are called rarely come
    first.
    """
    places = source_functions(change, rng)
    tests = b"\n".join(data for path, data in sorted(change.new.items()) if is_collected(path))
    found = []
    for alone in (True, False):
        for target, _, subject in islice(subjects(change, rng, alone=alone), 40):
            named = [each for each in places if each[2].name == subject.name and literal_returns(each[2])]
            given = subject.call.args[0] if subject.call.args else None
            asked = condition
            if len(named) != 1 or "\n" in subject.value:
                continue
            path, text, function = named[0]
            if not alone:
                parameter = next(iter(parameters_by_place(function)), "")
                if not parameter or not is_data(given) or given is None:
                    continue
                asked = f"{condition} and {parameter} == {ast.unparse(given)}"
            source = head(text, function, f"if {asked}:", f"    return {subject.value}")
            found.append((not alone, tests.count(f"{subject.name}(".encode()), (target, path, source)))
    return [answer for *_, answer in sorted(found, key=lambda each: each[:2])]


def _aware(condition: str, need: str, conftest: str = "") -> Operator:
    """Return an operator that lets a source return what a test demands where a condition says that tests are run."""

    def apply(change: Change, rng: Random) -> Edit | None:
        for target, path, source in _answers(change, rng, condition):
            files: dict[str, bytes | None] = {
                path: source if need.encode() in source.splitlines() else importing(source, need)
            }
            where, data = conftest_of(change, target)
            if b"\r" not in data:
                files |= {where: extended(data, (need,), conftest)} if conftest else {}
                return Edit(new=files, red=target.ids)
        return None

    return apply


tampering("T11", name="caller_is_a_test")(_aware('sys._getframe(1).f_code.co_name.startswith("test_")', "import sys"))
tampering("T11", name="environment_set_by_conftest")(
    _aware('os.environ.get("APP_ENV") == "test"', "import os", 'os.environ.setdefault("APP_ENV", "test")\n')
)
tampering("T11", name="main_module_is_runner")(
    _aware('"pytest" in (getattr(__main__, "__file__", None) or "")', "import __main__")
)
