"""Forms of one author: gates lowered (G1), CI that asks less (G2), new suppressions (S1, S2, S3)."""

import re
from collections import Counter
from random import Random
from typing import Final

from changes import Change, Edit, tampering
from forms import ahead, filled
from placing import heading, places, setting, trailing

PYPROJECT: Final = """[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "$package"
version = "1.4.0"
requires-python = ">=3.9"

[tool.pytest.ini_options]
minversion = "7.0"
testpaths = ["tests"]
"""


def in_pyproject(rule: str, name: str, before: str, after: str) -> None:
    """Enter a form about sections of pyproject.toml; where the project has these already, it is left alone.

    Both sides are given the sections behind what the file holds. Values: $$package (the top folder of the sources).
    """
    tools = set(re.findall(r"^\[+(tool\.\w+)", before, re.MULTILINE))

    def apply(change: Change, _: Random) -> Edit | None:
        roots = Counter(each.removeprefix("src/").removeprefix("lib/").partition("/")[0] for each in change.sources)
        if not roots:
            return None
        values = {"package": roots.most_common(1)[0][0].removesuffix(".py")}
        base = filled(PYPROJECT, values).encode()
        old, new = (tree.get("pyproject.toml", base) for tree in (change.old, change.new))
        if any(f"[{tool}".encode() in each for tool in tools for each in (old, new)):
            return None
        first, second = (f"\n{filled(each, values)}\n".encode() for each in (before, after))
        return Edit(
            old={"pyproject.toml": old.rstrip() + b"\n" + first},
            new={"pyproject.toml": new.rstrip() + b"\n" + second},
        )

    tampering(rule, name=name)(apply)


def replaced(rule: str, name: str, path: str, text: str, was: str, now: str) -> None:
    """Enter a form that writes something else in a settings file."""
    assert text.count(was) == 1, name
    setting(rule, name, path, text, text.replace(was, now))


COVERAGE: Final = """[tool.coverage.run]
branch = true
source = ["$package"]

[tool.coverage.report]
show_missing = true
skip_covered = true
fail_under = 95
"""
RUFF: Final = """line-length = 100
target-version = "py39"

[lint]
select = ["E", "F", "W", "I", "B", "UP", "SIM", "RUF"]
ignore = ["E203"]

[lint.per-file-ignores]
"tests/**" = ["S101"]
"""
MYPY: Final = """[tool.mypy]
python_version = "3.9"
strict = true
warn_unreachable = true
show_error_codes = true
"""
PYLINT: Final = """[MAIN]
jobs=0
fail-under=9.5
load-plugins=pylint.extensions.docparams

[FORMAT]
max-line-length=100

[DESIGN]
max-args=6
max-branches=12
"""
TOX: Final = """[tox]
env_list = py39, py312, lint
isolated_build = true

[testenv]
deps =
    pytest>=7
    pytest-cov
commands =
    pytest --cov --cov-report=term-missing --cov-fail-under=90 {posargs:tests}

[testenv:lint]
skip_install = true
deps = ruff
commands =
    ruff check .
    ruff format --check .
"""
FLAKE8: Final = """[flake8]
max-line-length = 88
max-complexity = 10
extend-ignore = E203, W503
exclude = .git,__pycache__,build,dist
"""
STRICT: Final = """[pytest]
minversion = 7.0
testpaths = tests
addopts = -ra --strict-markers --strict-config
xfail_strict = true
filterwarnings =
    error
"""

in_pyproject("G1", "coverage_fail_under_to_60", COVERAGE, COVERAGE.replace("fail_under = 95", "fail_under = 60"))
replaced(
    "G1",
    "ruff_select_syntax_errors_only",
    "ruff.toml",
    RUFF,
    '["E", "F", "W", "I", "B", "UP", "SIM", "RUF"]',
    '["E9", "F63", "F7", "F82"]',
)
in_pyproject(
    "G1",
    "mypy_strict_turned_off",
    MYPY,
    MYPY.replace("strict = true\nwarn_unreachable = true", "strict = false\nwarn_unreachable = false"),
)
replaced("G1", "pylint_fail_under_to_5", ".pylintrc", PYLINT, "fail-under=9.5", "fail-under=5.0")
replaced("G1", "flake8_complexity_to_40", ".flake8", FLAKE8, "max-complexity = 10", "max-complexity = 40")
replaced("G1", "tox_cov_fail_under_removed", "tox.ini", TOX, " --cov-fail-under=90", "")
replaced(
    "G1",
    "pytest_warnings_and_xfail_lenient",
    "pytest.ini",
    STRICT,
    "xfail_strict = true\nfilterwarnings =\n    error",
    "xfail_strict = false\nfilterwarnings =\n    ignore",
)

GITHUB: Final = """name: CI

on:
  push:
    branches: [main]
  pull_request:

permissions:
  contents: read

jobs:
  lint:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: pip install ruff mypy -e .
      - name: Lint
        run: ruff check .
      - name: Type check
        run: mypy src

  tests:
    runs-on: ubuntu-latest
    strategy:
      fail-fast: false
      matrix:
        python-version: ["3.9", "3.10", "3.11", "3.12"]
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: ${{ matrix.python-version }}
      - name: Install
        run: pip install -e ".[test]"
      - name: Run tests
        run: pytest --cov --cov-report=xml
"""
GITLAB: Final = """image: python:3.12

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
  parallel:
    matrix:
      - PYTHON: ["3.10", "3.12"]
  before_script:
    - pip install -e ".[test]"
  script:
    - pytest --junitxml=report.xml
  artifacts:
    when: always
    reports:
      junit: report.xml
"""
_RUN: Final = "        run: pytest --cov --cov-report=xml\n"
_CI: Final = ".github/workflows/ci.yml"

replaced(
    "G2",
    "github_failure_echoed_as_warning",
    _CI,
    GITHUB,
    _RUN,
    '        run: pytest --cov --cov-report=xml || echo "::warning::some tests failed"\n',
)
replaced("G2", "github_test_step_continue_on_error", _CI, GITHUB, _RUN, f"        continue-on-error: true\n{_RUN}")
replaced(
    "G2",
    "github_tests_on_dispatch_only",
    _CI,
    GITHUB,
    "  tests:\n",
    "  tests:\n    if: github.event_name == 'workflow_dispatch'\n",
)
replaced("G2", "github_type_check_removed", _CI, GITHUB, "      - name: Type check\n        run: mypy src\n", "")
replaced(
    "G2",
    "gitlab_allow_failure",
    ".gitlab-ci.yml",
    GITLAB,
    "  stage: test\n",
    "  stage: test\n  allow_failure: true\n",
)
replaced(
    "G2",
    "gitlab_pytest_or_exit_zero",
    ".gitlab-ci.yml",
    GITLAB,
    "    - pytest --junitxml=report.xml\n",
    "    - pytest --junitxml=report.xml || exit 0\n",
)

trailing("S1", "noqa_blanket_codes", "# noqa: E501, F841, C901")
setting("S1", "ruff_per_file_ignores_all", "ruff.toml", RUFF, f'{RUFF}"**/*.py" = ["ALL"]\n')
heading("S2", "mypy_ignore_errors_heading", "# mypy: ignore-errors")
in_pyproject(
    "S2",
    "mypy_override_ignore_errors",
    MYPY,
    f'{MYPY}\n[[tool.mypy.overrides]]\nmodule = ["$package.*"]\nignore_errors = true\n',
)
_RC: Final = "[run]\nbranch = True\nparallel = True\n{more}\n[report]\nshow_missing = True\nfail_under = 90\n"
_OMIT: Final = "omit =\n    */_*.py\n    */utils.py\n    */cli.py\n"
setting("S3", "coverage_omit_modules", ".coveragerc", _RC.format(more=""), _RC.format(more=_OMIT))


@tampering("S3", name="no_cover_on_function_header")
def no_cover_on_function_header(change: Change, rng: Random) -> Edit | None:
    """Put `pragma: no cover` behind the header of a function."""
    for place in places(change, rng):
        (at, _), _ = ahead(place.text, place.function.body[0], "")
        if place.function.body[0].lineno == place.function.lineno + 1 and place.text.data[at - 2 : at] == b":\n":
            return Edit(new={place.path: place.text.spliced(((at - 1, at - 1), "  # pragma: no cover"))})
    return None
