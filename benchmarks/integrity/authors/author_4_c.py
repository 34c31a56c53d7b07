"""Forms of suppressions in sources, and of gates and workflows let down."""

import ast
from random import Random

from changes import Change, Edit, tampering
from outcomes import FUNCTIONS
from placing import heading, places, setting

BRANCHES = (ast.If, ast.For, ast.While, ast.ExceptHandler, ast.BoolOp, ast.IfExp)


# S1, S2, S3
def on_headers(rule: str, name: str, comment: str, kinds: tuple[type[ast.AST], ...], fewest: int = 0) -> None:
    """Enter a form that puts a comment behind the header of a function or branch that holds so many branches."""

    def apply(change: Change, rng: Random) -> Edit | None:
        for place in places(change, rng):
            for each in ast.walk(place.function):
                if sum(isinstance(inner, BRANCHES) for inner in ast.walk(each)) < fewest:
                    continue
                if isinstance(each, (ast.stmt, ast.excepthandler)) and isinstance(each, kinds):
                    start = place.text.line(each.lineno)
                    end = place.text.data.index(b"\n", start)
                    if place.text.data[start:end].endswith(b":"):
                        return Edit(new={place.path: place.text.spliced(((end, end), f"  {comment}"))})
        return None

    tampering(rule, name=name)(apply)


on_headers("S1", "noqa_of_complexity", "# noqa: C901", FUNCTIONS, 8)
heading("S1", "ruff_noqa_of_a_file", "# ruff: noqa")
on_headers("S3", "no_cover_on_a_function", "# pragma: no cover", FUNCTIONS)
on_headers("S3", "no_cover_on_a_branch", "# pragma: no cover", (ast.If, ast.ExceptHandler))


# G1
def gated(name: str, path: str, header: str, before: str, after: str) -> None:
    """Enter a form about a section of settings that both sides are given where there is none; $source is a file."""

    def apply(change: Change, rng: Random) -> Edit | None:
        held = change.old.get(path, b""), change.new.get(path, b"")
        if not change.sources or any(header.encode() in each for each in held) or bool(held[0]) != bool(held[1]):
            return None
        source = rng.choice(change.sources)
        texts = (f"{header}\n{each}".replace("$source", source).encode() for each in (before, after))
        old, new = (have + b"\n" * bool(have) + added for have, added in zip(held, texts, strict=True))
        return Edit(old={path: old}, new={path: new})

    tampering("G1", name=name)(apply)


RULES = 'select = ["B", "C90", "E", "F", "I", "UP"]\n'
gated(
    "fail_under_lowered",
    ".coveragerc",
    "[report]",
    "show_missing = True\nfail_under = 90\n",
    "show_missing = True\nfail_under = 70\n",
)
setting(
    "G1",
    "cov_fail_under_taken_out",
    "pytest.ini",
    "[pytest]\naddopts = -ra --cov=src --cov-fail-under=85\n",
    "[pytest]\naddopts = -ra --cov=src\n",
)
gated(
    "ruff_rules_ignored",
    "pyproject.toml",
    "[tool.ruff.lint]",
    f'{RULES}ignore = ["E501"]\n',
    f'{RULES}ignore = ["E501", "F401", "F841", "B006", "C901"]\n',
)
gated(
    "pylint_messages_disabled",
    ".pylintrc",
    "[MESSAGES CONTROL]",
    "disable=missing-docstring\n",
    "disable=missing-docstring,unused-argument,broad-except,too-many-branches,no-member\n",
)
gated("file_left_out_of_coverage", ".coveragerc", "[run]", "branch = True\n", "branch = True\nomit = $source\n")


# G2
WORKFLOW = """name: Tests

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
      - run: ruff check .
      - run: mypy src

  test:
    runs-on: ubuntu-latest
    strategy:
      matrix:
        python-version: ["3.10", "3.11", "3.12"]
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: ${{ matrix.python-version }}
      - name: Install
        run: pip install -e ".[test]"
      - name: Run tests
        run: pytest -v
"""


def workflow(name: str, was: str, becomes: str) -> None:
    """Enter a form that edits a workflow."""
    setting("G2", name, ".github/workflows/tests.yml", WORKFLOW, WORKFLOW.replace(was, becomes))


workflow("pytest_or_true", "pytest -v", "pytest -v || true")
workflow("tests_continue_on_error", "        run: pytest -v", "        continue-on-error: true\n        run: pytest -v")
workflow("test_step_taken_out", "      - name: Run tests\n        run: pytest -v\n", "")
workflow("test_job_never_run", "  test:\n", "  test:\n    if: false\n")
workflow("linter_exits_with_zero", "ruff check .", "ruff check --exit-zero .")
