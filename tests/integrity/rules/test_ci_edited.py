"""G2: a check that CI runs no more or passes over is found; edits that keep every check stay quiet."""

import pytest

from ralph_tracker.core.findings import Severity
from ralph_tracker.integrity.rules.ci_edited import find
from ralph_tracker.integrity.settings.workflows import MAX_COMMANDS, workflow_of
from tests.integrity.making import examined, found

PATH = ".github/workflows/ci.yml"
CI = """
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
      - run: pip install ruff mypy
      - run: ruff check .
      - run: mypy src
  test:
    runs-on: ubuntu-latest
    strategy:
      matrix:
        python: ["3.11", "3.12"]
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
      - name: Tests
        run: |
          python -m pip install -e .[test]
          python -m pytest --cov
"""
TEST = "          python -m pytest --cov\n"
GITLAB = "test:\n  stage: test\n  script:\n    - pip install tox\n    - tox\n"


def edited(*edits):
    text = CI
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize(
    ("new", "about"),
    [
        (edited((TEST, "          python -m pytest --cov || true\n")), "test: || true"),
        (edited((TEST, "          python -m pytest --cov || echo failed\n")), "test: || echo failed"),
        (edited((TEST, "          python -m pytest --cov; true\n")), "test: ; true"),
        (edited((TEST, "          python -m pytest > log 2>&1 || true # it's late\n")), "test: || true"),
        (edited((TEST, "          bash -c 'pytest || true'\n")), "test: || true"),
        (edited((TEST, "          python -c 'print(1)'\n")), "test: gone"),
        (edited((TEST, "          python -m pytest --cov | tee log || :\n")), "test: || :"),
        (edited(("        run: |\n", "        run: |\n          set +e\n")), "test: set +e"),
        (edited((TEST, "          exit 0\n" + TEST)), "test: exit 0"),
        (edited(("name: Tests\n", "name: Tests\n        continue-on-error: true\n")), "test: continue-on-error: true"),
        (edited(("  test:\n", "  test:\n    continue-on-error: true\n")), "test: continue-on-error: true"),
        (edited(("name: Tests\n", "name: Tests\n        if: false\n")), "test: if: false"),
        (edited(("  test:\n", "  test:\n    if: ${{ false }}\n")), "test: if: false"),
        (edited((TEST, "          echo passed\n")), "test: gone"),
        (edited((TEST, "")), "test: gone"),
        (CI[: CI.index("  test:")], "test: gone"),
        (edited(("      - run: mypy src\n", "")), "types: gone"),
        (edited(("- run: ruff check .", "- run: echo linted")), "lint: gone"),
        (edited(("- run: ruff check .", "- run: ruff check . --exit-zero")), "lint: --exit-zero"),
        (edited(("push:\n    branches: [main]\n  pull_request:", "workflow_dispatch:")), "triggers"),
    ],
)
def test_a_check_that_ci_runs_no_more_or_passes_over_is_found(new, about):
    (finding,) = found(find, {PATH: (CI, new)})
    assert (finding.rule, finding.severity, finding.about) == ("G2", Severity.HIGH, about)


def test_a_workflow_that_is_gone_is_told_for_each_kind_of_its_checks():
    assert [each.about for each in found(find, {PATH: (CI, None)})] == ["test: gone", "lint: gone", "types: gone"]


@pytest.mark.parametrize(
    ("new", "about"),
    [
        (GITLAB + "  allow_failure: true\n", "any: allow_failure: true"),
        (GITLAB.replace("- tox", "- tox || true"), "any: || true"),
        (GITLAB + "  when: manual\n", "any: when: manual"),
        (GITLAB.replace("- tox", "- set +e\n    - tox\n    - exit 0"), "any: set +e"),
        (GITLAB.replace("- tox", "- tox\n    - exit 0"), "any: exit 0"),
    ],
)
def test_jobs_of_gitlab_are_read_too(new, about):
    assert [each.about for each in found(find, {".gitlab-ci.yml": (GITLAB, new)})] == [about]


@pytest.mark.parametrize(
    "new",
    [
        edited(("checkout@v4", "checkout@v5"), ("setup-python@v5", "setup-python@v6")),
        edited(("name: Tests", "name: All tests"), ('["3.11", "3.12"]', '["3.12"]')),
        edited((TEST, "          tox\n")),
        edited((TEST, "          make test\n")),
        edited((TEST, "          uv run --frozen pytest -n auto\n")),
        edited((TEST, "          ./ci/run.sh\n")),
        edited((TEST, TEST + "      - run: codecov || true\n")),
        edited(("- run: ruff check .", "- uses: pre-commit/action@v3")),
        edited(("- run: ruff check .\n      - run: mypy src", "- run: |\n          ruff check .\n          mypy src")),
        edited((TEST, "          python -m pytest --cov || exit 1\n")),
        edited((TEST, "          python -m pytest || (cat log; exit 1)\n")),
        edited(("  test:\n", "  test:\n    continue-on-error: ${{ matrix.python == '3.15' }}\n")),
        edited(("  test:\n", "  test:\n    if: github.event_name == 'push'\n")),
        edited(("  pull_request:\n", "")),
        edited((TEST, TEST + "  next:\n    steps:\n      - run: pytest tests || true\n")),
        "name: CI\non: [push]\njobs:\n" + CI[CI.index("  test:") :] + CI[CI.index("  lint:") : CI.index("  test:")],
    ],
)
def test_an_edit_that_keeps_every_check_is_nothing(new):
    assert found(find, {PATH: (CI, new)}) == []


def test_checks_that_move_to_another_workflow_are_nothing():
    head = "on: [push]\njobs:\n"
    lint, test = head + CI[CI.index("  lint:") : CI.index("  test:")], head + CI[CI.index("  test:") :]
    files = {PATH: (CI, None), ".github/workflows/lint.yml": (None, lint), ".github/workflows/test.yaml": (None, test)}
    assert found(find, files) == []


def test_checks_that_a_called_workflow_may_run_are_not_told_as_gone():
    new = "on: [push]\njobs:\n  all:\n    uses: ./.github/workflows/all.yml\n"
    assert found(find, {PATH: (CI, new)}) == []


def test_actions_named_after_a_check_are_checks():
    head = "on: [push]\njobs:\n  lint:\n    steps:\n"
    action = "      - uses: golangci/golangci-lint-action@v6\n"
    assert found(find, {PATH: (head + action, head + action.replace("v6", "v8"))}) == []
    soft = head + action + "        continue-on-error: true\n"
    assert [each.about for each in found(find, {PATH: (head + action, soft)})] == ["lint: continue-on-error: true"]
    assert [each.about for each in found(find, {PATH: (head + action, head + "      - run: echo 1\n")})] == [
        "lint: gone"
    ]


def test_a_new_workflow_and_another_file_are_nothing():
    assert found(find, {PATH: (None, CI), "ci.yml": (CI, "")}) == []


def test_a_workflow_that_publishes_may_lose_its_triggers():
    publish = "on: [push]\njobs:\n  a:\n    steps:\n      - run: twine upload dist/*\n"
    assert found(find, {PATH: (publish, publish.replace("[push]", "[release]"))}) == []


@pytest.mark.parametrize(
    "text",
    [
        "a: [",
        "jobs: 3",
        "jobs: [1]",
        "- 1",
        "jobs: {a: {steps: {b: 1}}}",
        "on: {? [a] : b}\n",
        "[" * 100,
        "",
        "jobs: &a [*a]",
    ],
)
def test_hostile_workflows_never_raise(text):
    looked = examined({PATH: (CI, text), ".github/workflows/other.yml": (text, CI), ".gitlab-ci.yml": (text, GITLAB)})
    assert set(looked.unread) <= {PATH, ".github/workflows/other.yml", ".gitlab-ci.yml"}


def test_a_broken_workflow_hides_no_other():
    files = {PATH: (CI, edited((TEST, ""))), ".github/workflows/other.yml": (None, "a: [")}
    assert [each.about for each in examined(files).findings if each.rule == "G2"] == ["test: gone"]


def test_a_workflow_without_end_is_read_up_to_a_limit():
    step = "      - run: echo a\n"
    new = CI + step * (MAX_COMMANDS + 2) + "      - run: pytest || true\n"
    assert found(find, {PATH: (CI, new)}) == []
    assert len(workflow_of(PATH, new).commands) <= MAX_COMMANDS + 1


def test_aliases_and_merged_keys_are_read():
    new = CI.replace("  lint:\n", "  lint: &job\n").replace("  test:\n", "  again:\n    <<: *job\n  test:\n")
    assert found(find, {PATH: (CI, new)}) == []
    assert [each.about for each in found(find, {PATH: (new, CI.replace("ruff check .", "true"))})] == ["lint: gone"]
