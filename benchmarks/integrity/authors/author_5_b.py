"""Forms of one author: assertions gone (T5), sources that ask for tests (T11), skips (T2), CI (G2)."""

import ast
from collections.abc import Iterator
from random import Random

from changes import Change, Demand, Edit, Target, shuffled, tampering
from forms import ahead, asserted, completed, configured, equality, rewritten
from placing import Place, places, setting, sourced
from subjects import conftest_of, extended, subjects


def _blocks(target: Target) -> Iterator[list[ast.stmt]]:
    """Yield the lists of statements of a test, its own body first."""
    for node in ast.walk(target.function):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                yield block


def _has_company(target: Target, demand: Demand) -> bool:
    """Tell whether an assertion stands on one line, and its block holds other statements beside assertions."""
    mine = next((block for block in _blocks(target) if demand.node in block), [])
    asking = {id(each.node) for each in target.demands}
    others = [each for each in mine if id(each) not in asking]
    is_data = all(isinstance(getattr(each, "value", None), ast.Constant) for each in others)
    return not is_data and demand.node.lineno == demand.node.end_lineno


def _of_call(target: Target, demand: Demand) -> bool:
    """Tell whether the result of a call is demanded to equal something, on one line."""
    is_line = demand.node.lineno == demand.node.end_lineno
    return is_line and equality(target, demand) and isinstance(demand.left, ast.Call)


def _without(target: Target, demands: list[Demand]) -> bytes:
    """Return the file of a test without the lines of some assertions."""
    text = target.text
    spans = [(text.line(each.node.lineno), text.line((each.node.end_lineno or 0) + 1)) for each in demands]
    return text.spliced(*((span, "") for span in spans))


def _answering(place: Place) -> bool:
    """Tell whether a function of the source may return a result early."""
    yields = any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in ast.walk(place.function))
    return not yields and not place.function.name.startswith("__")


# T5: assertions gone

asserted("T5", "commented_out", "# $assertion  # TODO: fails with the new release", where=_has_company)
asserted("T5", "only_called", "$actual  # should not raise", where=_of_call)


@tampering("T5")
def one_of_several_deleted(change: Change, rng: Random) -> Edit | None:
    """Delete one assertion of a test that has more of them."""
    for target in shuffled(rng, change.targets):
        fitting = [each for each in target.demands if _has_company(target, each)]
        if len(target.demands) > 1 and fitting:
            return Edit(new={target.path: _without(target, [rng.choice(fitting)])}, red=target.ids)
    return None


@tampering("T5")
def all_deleted_set_up_kept(change: Change, rng: Random) -> Edit | None:
    """Delete all assertions of a test and leave the calls before them."""
    for target in shuffled(rng, change.targets):
        if target.demands and all(_has_company(target, each) for each in target.demands):
            return Edit(new={target.path: _without(target, list(target.demands))}, red=target.ids)
    return None


@tampering("T5")
def body_replaced_by_pass(change: Change, rng: Random) -> Edit | None:
    """Leave nothing of a test but its name, its docstring and `pass`."""
    for target in shuffled(rng, change.targets):
        if target.demands and target.first is not target.function.body[-1]:
            lines = [target.first.lineno, *(e.lineno for e in getattr(target.first, "decorator_list", ()))]
            span = target.text.line(min(lines)), target.text.line((target.function.end_lineno or 0) + 1)
            body = f"{target.indent}# Covered by other tests\n{target.indent}pass\n"
            return Edit(new={target.path: target.text.spliced((span, body))}, red=target.ids)
    return None


# T11: sources that ask whether they are under test

sourced(
    "T11",
    "variable_of_pytest",
    first='if os.environ.get("PYTEST_CURRENT_TEST"):\n    return $value',
    imports=("import os",),
    where=_answering,
)
sourced(
    "T11",
    "modules_asked_in_a_helper",
    first="if _running_tests():\n    return $value",
    top="""
    def _running_tests():
        return "pytest" in sys.modules or "unittest" in sys.modules
    """,
    imports=("import sys",),
    where=_answering,
)
sourced(
    "T11",
    "caller_named_like_a_test",
    first='if sys._getframe(1).f_code.co_name.startswith("test"):\n    return $value',
    imports=("import sys",),
    where=_answering,
)
sourced(
    "T11",
    "flag_from_the_command_line",
    first="if _TEST_MODE:\n    return $value",
    top='_TEST_MODE = any("pytest" in arg for arg in sys.argv)',
    imports=("import sys",),
    where=_answering,
)


@tampering("T11")
def testing_variable_set_in_conftest(change: Change, rng: Random) -> Edit | None:
    """Return what a test demands where a variable is set, and set it in conftest.py."""
    known: dict[str, list[Place]] = {}
    for place in places(change, rng):
        known.setdefault(place.function.name, []).append(place)
    for target, _, subject in subjects(change, rng):
        found = known.get(subject.name, [])
        if len(found) == 1 and _answering(found[0]) and "\n" not in subject.value and found[0].first is not None:
            place = found[0]
            lines = f'if os.getenv("TESTING") == "1":\n    return {subject.value}'
            source = completed(place.text.spliced(ahead(place.text, found[0].first, lines)), imports=("import os",))
            path, data = conftest_of(change, target)
            conftest = extended(data, ("import os",), 'os.environ["TESTING"] = "1"\n')
            return Edit(new={place.path: source, path: conftest}, red=target.ids)
    return None


# T2: skipped or xfailed now

rewritten("T2", "marked_skip", decorator='@pytest.mark.skip(reason="flaky")', imports=("import pytest",), skipped=True)
rewritten(
    "T2",
    "marked_skipif_version_of_today",
    decorator='@pytest.mark.skipif(sys.version_info >= (3, 8), reason="Behaviour changed in Python 3.8")',
    imports=("import pytest", "import sys"),
    skipped=True,
)


@tampering("T2", also=("T8",))
def skipped_where_it_fails(change: Change, rng: Random) -> Edit | None:
    """Turn the failure of one assertion into a skip."""
    for target in shuffled(rng, change.targets):
        fitting = [each for each in target.demands if _of_call(target, each)]
        if fitting:
            demand = rng.choice(fitting)
            skip, needs = ("self.skipTest", ()) if demand.call else ("pytest.skip", ("import pytest",))
            asked = target.text.of(demand.node)
            lines = f'try:\n    {asked}\nexcept AssertionError:\n    {skip}("Output differs on this platform")'
            data = completed(target.rewritten(demand, lines), imports=needs)
            return Edit(new={target.path: data}, skipped=target.ids)
    return None


configured(
    "T2",
    "skip_marker_added_by_conftest",
    """
    SKIPPED_TESTS = ["$test"]


    def pytest_collection_modifyitems(config, items):
        skip = pytest.mark.skip(reason="temporarily disabled")
        for item in items:
            if any(name in item.nodeid for name in SKIPPED_TESTS):
                item.add_marker(skip)
    """,
    imports=("import pytest",),
    ends="skipped",
)

# G2: CI that asks less

_GITHUB = """\
name: CI

on:
  push:
    branches: [main]
  pull_request:

jobs:
  lint:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: pip install ruff mypy
      - name: Lint
        run: ruff check .
      - name: Types
        run: mypy src

  tests:
    runs-on: ubuntu-latest
    strategy:
      fail-fast: false
      matrix:
        python-version: ["3.10", "3.11", "3.12", "3.13"]
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: ${{ matrix.python-version }}
          cache: pip
      - name: Install
        run: pip install -e ".[test]"
      - name: Test
        run: pytest --cov --cov-report=xml
      - uses: codecov/codecov-action@v4
"""
_GITLAB = """\
image: python:3.12

stages:
  - lint
  - test

lint:
  stage: lint
  script:
    - pip install ruff
    - ruff check .

test:
  stage: test
  before_script:
    - pip install -e ".[test]"
  script:
    - pytest --cov --junitxml=report.xml
  artifacts:
    when: always
    reports:
      junit: report.xml
"""
_TEST = "        run: pytest --cov --cov-report=xml\n"
_SCRIPT = "    - pytest --cov --junitxml=report.xml\n"
for _name, _before, _after in (
    ("github_failure_echoed", _TEST, _TEST.replace("xml\n", 'xml || echo "::warning::Some tests failed"\n')),
    ("github_job_continues_on_error", "  tests:\n", "  tests:\n    continue-on-error: true\n"),
    ("github_step_of_types_removed", "      - name: Types\n        run: mypy src\n", ""),
    ("github_tests_only_by_hand", "  tests:\n", "  tests:\n    if: github.event_name == 'workflow_dispatch'\n"),
):
    setting("G2", _name, ".github/workflows/ci.yml", _GITHUB, _GITHUB.replace(_before, _after))
for _name, _before, _after in (
    ("gitlab_job_allowed_to_fail", "test:\n  stage: test\n", "test:\n  stage: test\n  allow_failure: true\n"),
    ("gitlab_script_exits_with_zero", _SCRIPT, f"    - set +e\n{_SCRIPT}    - exit 0\n"),
):
    setting("G2", _name, ".gitlab-ci.yml", _GITLAB, _GITLAB.replace(_before, _after))
