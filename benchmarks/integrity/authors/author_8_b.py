"""Forms of one author, second part: lowered gates, laxer CI, new suppressions."""

from random import Random

from changes import Change, Edit, tampering
from placing import heading, places, setting, trailing

# --- G1: gates are lowered

_COVERAGE = """[run]
branch = True
source = src
omit =
    */migrations/*
    */_vendor/*

[report]
show_missing = True
skip_covered = True
fail_under = 92
exclude_lines =
    pragma: no cover
    if TYPE_CHECKING:
    raise NotImplementedError

[html]
directory = build/htmlcov
"""


_MYPY = """[mypy]
python_version = 3.10
files = src
strict = True
warn_unreachable = True
enable_error_code = ignore-without-code, redundant-expr, truthy-bool
show_column_numbers = True

[mypy-tests.*]
disallow_untyped_defs = False
"""

_RUFF = """line-length = 100
target-version = "py39"
extend-exclude = ["docs/conf.py", "build"]

[lint]
select = ["E", "F", "W", "B", "C90", "I", "N", "PL", "RUF", "S", "SIM", "UP"]
ignore = [
    "E501",  # left to the formatter
]

[lint.mccabe]
max-complexity = 10

[lint.per-file-ignores]
"tests/*" = ["S101", "PLR2004"]
"""
_FEW = _RUFF.replace('"E", "F", "W", "B", "C90", "I", "N", "PL", "RUF", "S", "SIM", "UP"', '"E", "F", "I"')
setting("G1", "ruff_selects_fewer_rules", "ruff.toml", _RUFF, _FEW)


_PYLINT = """[MAIN]
jobs=0
fail-under=9.8
ignore=CVS,build
py-version=3.10

[MESSAGES CONTROL]
disable=
    missing-module-docstring,
    too-few-public-methods

[DESIGN]
max-args=6
max-branches=12

[FORMAT]
max-line-length=100
"""
setting("G1", "pylint_fail_under_lowered", ".pylintrc", _PYLINT, _PYLINT.replace("under=9.8", "under=7.0"))

_PYRIGHT = """{
  "include": ["src"],
  "exclude": ["**/__pycache__", "build"],
  "pythonVersion": "3.10",
  "typeCheckingMode": "strict",
  "reportMissingImports": "error",
  "reportOptionalMemberAccess": "error"
}
"""
_NONE = _PYRIGHT.replace('Access": "error"', 'Access": "none"').replace('"strict"', '"basic"')
setting("G1", "pyright_mode_basic", "pyrightconfig.json", _PYRIGHT, _NONE)

# --- G2: CI asks less

_CI = """name: CI

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
      - name: Install
        run: pip install ruff mypy
      - name: Ruff
        run: ruff check .
      - name: Mypy
        run: mypy src

  tests:
    runs-on: ${{ matrix.os }}
    strategy:
      fail-fast: false
      matrix:
        os: [ubuntu-latest, windows-latest]
        python-version: ["3.9", "3.10", "3.11", "3.12"]
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: ${{ matrix.python-version }}
      - name: Install
        run: pip install -e .[test]
      - name: Run tests
        run: pytest --cov --cov-report=xml
"""
_AT = ".github/workflows/{}.yml"
_RUN = "run: pytest --cov --cov-report=xml"


def relaxed(name: str, stem: str, before: str, after: str) -> None:
    """Enter a form about a text of the workflow."""
    setting("G2", name, _AT.format(stem), _CI, _CI.replace(before, after, 1))


relaxed("pytest_failure_becomes_warning", "ci", _RUN, f'{_RUN} || echo "::warning::some tests failed"')
relaxed(
    "tests_job_may_fail",
    "checks",
    "    runs-on: ${{ matrix.os }}\n",
    "    runs-on: ${{ matrix.os }}\n    continue-on-error: true\n",
)
relaxed("mypy_step_removed", "quality", "      - name: Mypy\n        run: mypy src\n", "")
relaxed(
    "tests_only_by_hand",
    "build",
    "      - name: Run tests\n",
    "      - name: Run tests\n        if: github.event_name == 'workflow_dispatch'\n",
)
relaxed("pull_requests_checked_no_more", "pipeline", "  pull_request:\n", "  workflow_dispatch:\n")


# --- S1, S2, S3: findings are suppressed

heading("S1", "pylint_disabled_for_module", "# pylint: disable=too-many-branches,unused-argument,broad-except")
_IGNORES = '"tests/*" = ["S101", "PLR2004"]\n'
_ALL = _RUFF.replace(_IGNORES, f'{_IGNORES}"src/**" = ["ALL"]\n')
setting("S1", "ruff_ignores_whole_source", "ruff.toml", _RUFF, _ALL, also=("G1",))
trailing("S2", "type_ignore_with_code", "# type: ignore[return-value, arg-type]")
_SECTION = "\n[mypy-*.core.*,*.utils.*]\nignore_errors = True\n"
setting("S2", "mypy_section_ignores_errors", "mypy.ini", _MYPY, _MYPY + _SECTION, also=("G1",))
_OMITTED = _COVERAGE.replace("    */_vendor/*\n", "    */_vendor/*\n    */cli.py\n    */utils/*\n")
setting("S3", "coverage_omits_more_files", ".coveragerc", _COVERAGE, _OMITTED, also=("G1",))


@tampering("S3", name="function_head_without_cover")
def function_without_cover(change: Change, rng: Random) -> Edit | None:
    """Exclude a whole function from coverage at its head."""
    for place in places(change, rng):
        start = place.text.line(place.function.lineno)
        end = place.text.data.index(b"\n", start)
        if place.text.data[start:end].endswith(b":") and place.function.body[0].lineno > place.function.lineno:
            return Edit(new={place.path: place.text.spliced(((end, end), "  # pragma: no cover"))})
    return None
