"""G1 in further tools and forms: hooks, options of commands, limits; each with what is honest beside it."""

import pytest

from ralph_tracker.core.findings import Severity
from ralph_tracker.integrity.rules.gate_lowered import find
from tests.integrity.making import found

HOOKS = """
repos:
  - repo: https://github.com/astral-sh/ruff-pre-commit
    rev: v0.6.9
    hooks:
      - id: ruff
        args: [--fix, --exit-non-zero-on-fix]
      - id: ruff-format
  - repo: https://github.com/pre-commit/mirrors-mypy
    rev: v1.11.2
    hooks:
      - id: mypy
        args: [--strict]
"""
PYPROJECT = """
[tool.pytest.ini_options]
addopts = "-ra --cov-fail-under=90"
filterwarnings = ["error"]
timeout = 30

[tool.coverage.run]
source = ["box"]

[tool.coverage.report]
fail_under = 90

[tool.ruff]
line-length = 100

[tool.ruff.lint]
select = ["E", "F", "BLE", "PL"]

[tool.ruff.lint.pylint]
max-branches = 12

[tool.mypy]
strict = true

[tool.bandit]
skips = ["B101"]

[tool.interrogate]
fail-under = 80

[tool.pyright]
reportMissingImports = "error"
"""
FLAKE8 = "[flake8]\nmax-complexity = 9\nextend-ignore = E203\n"


def severities(path, old, new):
    return [each.severity for each in found(find, {path: (old, new)})]


def edited(text, *edits):
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    return text


@pytest.mark.parametrize(
    "edit",
    [
        ("        args: [--strict]\n", "        args: [--strict]\n        stages: [manual]\n"),
        ("repos:", "default_stages: [manual]\nrepos:"),
        (HOOKS[HOOKS.index("  - repo: https://github.com/pre-commit/mirrors") :], ""),
        ("args: [--fix, --exit-non-zero-on-fix]", "args: [--exit-zero]"),
        ("args: [--strict]", "args: [--ignore-missing-imports]"),
        ("        args: [--strict]\n", ""),
        ("args: [--strict]", "args: [--strict]\n        exclude: ^box/"),
        ("args: [--strict]", "args: [--strict]\n        exclude: .*"),
        ("args: [--strict]", "args: [--strict]\n        files: ^$"),
        ("repos:", "exclude: ^src/\nrepos:"),
        ("      - id: ruff\n        args: [--fix, --exit-non-zero-on-fix]\n", ""),
    ],
)
def test_a_hook_that_checks_less_is_found(edit):
    assert Severity.HIGH in severities(".pre-commit-config.yaml", HOOKS, edited(HOOKS, edit))


@pytest.mark.parametrize(
    "edit",
    [
        ("v0.6.9", "v0.7.0"),
        ("- id: ruff\n", "- id: ruff-check\n"),
        ("      - id: ruff-format\n", ""),
        ("args: [--fix, --exit-non-zero-on-fix]", "args: [--exit-non-zero-on-fix]"),
        ("args: [--strict]", "args: [--strict]\n        stages: [pre-commit, manual]"),
        ("args: [--strict]", "args: [--strict]\n        exclude: ^tests/data/"),
        ("repos:", "exclude: ^docs/\nrepos:"),
        ("id: mypy\n", "id: pyright\n"),
    ],
)
def test_a_hook_that_checks_as_much_is_nothing(edit):
    assert severities(".pre-commit-config.yaml", HOOKS, edited(HOOKS, edit)) == []


def test_a_hook_that_moves_to_ci_is_nothing():
    gone = HOOKS[: HOOKS.index("  - repo: https://github.com/pre-commit/mirrors")]
    ci = "on: [push]\njobs:\n  a:\n    steps:\n      - run: mypy --strict box\n"
    files = {".pre-commit-config.yaml": (HOOKS, gone), ".github/workflows/ci.yml": (None, ci)}
    assert found(find, files) == []


@pytest.mark.parametrize(
    "edit",
    [
        ("fail-under=90", "fail-under=50"),
        ('["error"]', '["error", "ignore"]'),
        ("-ra ", "-ra -p no:warnings "),
        ("-ra ", "-ra --reruns 3 "),
        ("-ra ", "-ra --suppress-no-test-exit-code "),
        ("timeout = 30", "timeout = 0"),
        ('source = ["box"]', 'source = ["box"]\ninclude = ["box/easy/*"]'),
        ("line-length = 100", "line-length = 300"),
        ("max-branches = 12", "max-branches = 60"),
        ('"PL"]', '"PL"]\nignore = ["BLE001"]'),
        ("strict = true", 'strict = true\n[[tool.mypy.overrides]]\nmodule = "box.*"\ndisallow_untyped_defs = false'),
        ('["B101"]', '["B101", "B602"]'),
        ("fail-under = 80", "fail-under = 10"),
        ('reportMissingImports = "error"', 'reportMissingImports = "warning"'),
        ('reportMissingImports = "error"', 'reportMissingImports = "error"\nreportArgumentType = false'),
        ("line-length = 100", 'line-length = 100\nexclude = ["box/core.py"]'),
    ],
)
def test_a_gate_of_further_tools_is_found(edit):
    assert Severity.HIGH in severities("pyproject.toml", PYPROJECT, edited(PYPROJECT, edit))


@pytest.mark.parametrize(
    "edit",
    [
        (" --cov-fail-under=90", ""),
        ('["error"]', '["error", "ignore::DeprecationWarning:lid"]'),
        ("timeout = 30", "timeout = 60"),
        ("line-length = 100\n", ""),
        ("line-length = 100", "line-length = 120"),
        ("max-branches = 12", "max-branches = 10"),
        ("strict = true", 'strict = true\n[[tool.mypy.overrides]]\nmodule = "tests.*"\ndisallow_untyped_defs = false'),
        ('source = ["box"]', 'source = ["box"]\nignore_errors = true'),
        ("line-length = 100", 'line-length = 100\nexclude = ["box/_generated.py"]'),
    ],
)
def test_what_is_as_strict_or_adjusted_is_no_alarm(edit):
    assert Severity.HIGH not in severities("pyproject.toml", PYPROJECT, edited(PYPROJECT, edit))


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (".flake8", FLAKE8, f"{FLAKE8}exit-zero = True\n"),
        (".flake8", FLAKE8, f"{FLAKE8}per-file-ignores =\n    box/*.py: F401,F841\n"),
        ("pyrightconfig.json", '{"typeCheckingMode": "strict"}', None),
        (".bandit", "[bandit]\nexclude = tests\n", "[bandit]\nexclude = tests,box\n"),
        ("bandit.yml", "skips: []\n", "skips: [B602]\n"),
        (
            "codecov.yml",
            "coverage: {status: {project: {a: {threshold: 1%}}}}",
            "coverage: {status: {project: {a: {threshold: 30%}}}}",
        ),
        ("Makefile", "lint:\n\truff check .\n\tmypy box\n", "lint:\n\truff check .\n"),
        ("Makefile", "lint:\n\tmypy --strict box\n", "lint:\n\tmypy box\n"),
        ("Makefile", "lint:\n\truff check .\n", "lint:\n\truff check --select E9 .\n"),
        ("Makefile", "lint:\n\tmypy src\n", "lint:\n\tmypy src/lid.py\n"),
        ("Makefile", "lint:\n\tmypy src\n", "lint:\n\tmypy --version src\n"),
        (
            "tox.ini",
            "[testenv:a]\ncommands = pylint --fail-under=9 box\n",
            "[testenv:a]\ncommands = pylint --disable=all box\n",
        ),
    ],
)
def test_a_gate_of_another_file_is_found(path, old, new):
    assert Severity.HIGH in severities(path, old, new)


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (".flake8", FLAKE8, f"{FLAKE8}per-file-ignores =\n    tests/*.py: F401\n"),
        ("Makefile", "lint:\n\truff check .\n\tmypy box\n", "lint:\n\truff check .\n\tpyright box\n"),
        ("Makefile", "lint:\n\tmypy box\n", "lint: types\ntypes:\n\tmypy box\n"),
        ("Makefile", "lint:\n\tmypy --strict box\n", "lint:\n\tmypy --strict --pretty box lid\n"),
        ("Makefile", "lint:\n\tpylint box setup.py\n", "lint:\n\tpylint box\n"),
        ("Makefile", "lint:\n\tmypy --warn-return-any box\n", "lint:\n\tmypy --strict box\n"),
    ],
)
def test_a_check_that_changed_its_shape_is_no_alarm(path, old, new):
    assert Severity.HIGH not in severities(path, old, new)


def test_an_option_that_moves_to_the_settings_is_nothing():
    make = "lint:\n\tmypy --strict box\n", "lint:\n\tmypy box\n"
    assert found(find, {"Makefile": make, "mypy.ini": (None, "[mypy]\nstrict = True\n")}) == []
