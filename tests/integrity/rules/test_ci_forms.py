"""G2 in further forms: conditions, triggers, shells and options; each with what is honest beside it."""

import pytest

from ralph_tracker.core.findings import Severity
from ralph_tracker.integrity.rules.ci_edited import find
from tests.integrity.making import found

PATH = ".github/workflows/ci.yml"
CI = """
on:
  push:
    branches: [main]
  pull_request:
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - run: ruff check .
      - run: bandit -r src
      - name: Tests
        run: |
          pytest --cov-fail-under=90
"""
TEST = "          pytest --cov-fail-under=90\n"
ON = "  push:\n    branches: [main]\n  pull_request:\n"
TOX = "on: [push]\njobs:\n  test:\n    steps:\n      - run: pip install tox\n      - run: tox -e py312\n"


def edited(*edits):
    text = CI
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    return text


def on_both(filters):
    return ON.replace("    branches: [main]\n", f"    {filters}\n") + f"    {filters}\n"


@pytest.mark.parametrize(
    "edit",
    [
        ("    runs-on", "    if: github.event_name == 'workflow_dispatch'\n    runs-on"),
        (
            "    runs-on",
            "    if: ${{ github.event_name == 'schedule' || startsWith(github.ref, 'refs/tags/') }}\n    runs-on",
        ),
        ("    runs-on", "    if: contains(github.event.pull_request.labels.*.name, 'run')\n    runs-on"),
        ("    runs-on", "    if: vars.RUN_TESTS == 'true'\n    runs-on"),
        ("    runs-on", "    if: \"!contains(github.event.head_commit.message, 'quick')\"\n    runs-on"),
        ("Tests\n", "Tests\n        if: ${{ 1 == 0 }}\n"),
        ("Tests\n", "Tests\n        if: failure()\n"),
        ("Tests\n", "Tests\n        continue-on-error: ${{ always() }}\n"),
        ("Tests\n", "Tests\n        shell: bash {0}\n"),
        ("jobs:", "defaults:\n  run:\n    shell: bash {0}\njobs:"),
        (TEST, f"{TEST}          exit 0\n"),
        (TEST, f"{TEST.rstrip()} | tee log\n"),
        (TEST, f"{TEST.rstrip()} || {{ echo failed; }}\n"),
        (TEST, "          if ! pytest; then\n            echo failed\n          fi\n"),
        (TEST, "          pytest --version\n"),
        (TEST, f"{TEST.rstrip()} --reruns 3\n"),
        ("=90", "=40"),
        ("ruff check .", "ruff check --ignore F401 ."),
        ("      - run: bandit -r src\n", ""),
        (ON, on_both("paths-ignore: ['**.py']")),
        (ON, on_both("paths-ignore: ['src/**', 'tests/**']")),
        (ON, on_both("paths: ['docs/**']")),
        (ON, "  push:\n    tags: ['v*']\n"),
        (ON, "  pull_request:\n    types: [labeled]\n"),
        (ON, on_both("branches-ignore: ['**']")),
    ],
)
def test_a_check_that_changes_hear_nothing_of_is_found(edit):
    assert {each.severity for each in found(find, {PATH: (CI, edited(edit))})} == {Severity.HIGH}


@pytest.mark.parametrize(
    "edit",
    [
        ("    runs-on", "    if: github.event_name == 'push' || github.repository == 'box/lid'\n    runs-on"),
        ("    runs-on", "    if: github.repository == 'box/lid'\n    runs-on"),
        ("    runs-on", "    if: \"!contains(github.event.head_commit.message, '[skip ci]')\"\n    runs-on"),
        ("    runs-on", "    if: (github.event_name == 'schedule' || github.ref == 'x')\n    runs-on"),
        ("Tests\n", "Tests\n        if: always()\n"),
        ("Tests\n", "Tests\n        if: ${{ 1 == 1 }}\n"),
        ("Tests\n", "Tests\n        shell: bash -e {0}\n"),
        (TEST, f"          set -o pipefail\n{TEST.rstrip()} | tee log\n"),
        (TEST, "          if ! pytest --cov-fail-under=90; then\n            exit 1\n          fi\n"),
        (TEST, f"{TEST.rstrip()} -n auto\n"),
        ("=90", "=95"),
        ("bandit -r src", "bandit -r src box"),
        (ON, on_both("paths-ignore: ['docs/**', '**.md']")),
        (ON, on_both("paths: ['src/**', 'pyproject.toml']")),
        (ON, "  pull_request:\n    types: [opened, synchronize]\n"),
        (ON, "  push:\n    tags: ['v*']\n    branches: [main]\n"),
    ],
)
def test_a_check_that_changes_still_set_off_is_nothing(edit):
    assert found(find, {PATH: (CI, edited(edit))}) == []


@pytest.mark.parametrize("new", [None, TOX.replace("      - run: tox -e py312\n", ""), TOX.replace("py312", "docs")])
def test_a_runner_of_checks_that_is_gone_is_found(new):
    assert [each.about for each in found(find, {PATH: (TOX, new)})] == ["any: gone"]


@pytest.mark.parametrize(
    "new",
    [
        TOX.replace("py312", "py313"),
        TOX.replace("tox -e py312", "pytest"),
        TOX.replace("-e py312", "run --installpkg dist/*.whl"),
    ],
)
def test_a_runner_that_runs_other_checks_is_nothing(new):
    assert found(find, {PATH: (TOX, new)}) == []


def test_a_runner_that_moves_or_builds_documents_is_nothing():
    moved = {PATH: (TOX, None), ".github/workflows/tests.yml": (None, TOX)}
    docs = TOX.replace("py312", "docs")
    assert found(find, moved) == found(find, {PATH: (docs, None)}) == []
