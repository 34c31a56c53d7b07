"""Which changed files the rules look at: never fewer than those in which they find something."""

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.integrity.examine import examine
from ralph_tracker.integrity.relevance import has_settings, may_narrow
from ralph_tracker.integrity.settings import files, targets
from ralph_tracker.integrity.table import RULES
from tests.integrity.making import change, changed, evidence

NAMES = [pattern.pattern for pattern, _ in (*files._READERS, *targets._READERS)]
OLD = "def add(a, b):\n    return a + b\n"
TEST = "def test_add():\n    assert add(1, 2) == 3\n    assert add(2, 2) == 4\n"

SWALLOWED = "def test_add():\n    try:\n        assert add(1, 2) == 3\n    except Exception:\n        pass\n"


@given(st.sampled_from(NAMES).flatmap(lambda name: st.from_regex(name, fullmatch=True)))
def test_every_name_of_settings_is_looked_at(name):
    file = changed(f"app/{name}", "collect_ignore = []", "collect_ignore = ['a.py']")
    assert has_settings(file)
    assert may_narrow(file)


@pytest.mark.parametrize(
    "path", ["README.md", "app.py", "src/app.js", "docs/index.rst", "data.json", "data.xml", "a.go", "logo.svg"]
)
def test_other_names_are_passed_over(path):
    assert not has_settings(changed(path, "a", "b"))


TAMPERED = {
    "T3 hook": ("conftest.py", "x = 1\n", "def pytest_collection_modifyitems(items):\n    items.clear()\n"),
    "T3 settings": ("pytest.ini", "[pytest]\n", "[pytest]\naddopts = -k one\n"),
    "T3 mark": ("a.test.ts", "it('a', f)\n", "it.only('a', f)\n"),
    "T3 tag": ("a_test.go", "package a\n", "//go:build never\n\npackage a\n"),
    "T4": ("test_a.py", TEST, "def test_add():\n    assert True\n"),
    "T5": ("test_a.py", TEST, "def test_add():\n    assert add(1, 2) == 3\n"),
    "T6": ("test_a.py", TEST, TEST.replace("add(1, 2) == 3", "add(1, 2)")),
    "T7": ("test_a.py", TEST, TEST.replace("== 3", "== 5")),
    "T7 stored": ("tests/__snapshots__/a.snap", "a\nb\n", "a\nc\n"),
    "T8": ("test_a.py", TEST, SWALLOWED),
    "T9": ("conftest.py", "x = 1\n", "import os\nos._exit(0)\n"),
    "T9 path": ("a.pth", "", "import os; os._exit(0)\n"),
    "T10": ("eq.py", "x = 1\n", "class Any:\n    def __eq__(self, other):\n        return True\n"),
    "T11": ("a.py", OLD, "import sys\n\ndef add(a, b):\n    return 3 if 'pytest' in sys.modules else a + b\n"),
    "S1": ("a.py", OLD, OLD.replace("return a + b", "return a + b  # noqa: E501")),
    "S2": ("a.py", OLD, OLD.replace("return a + b", "return a + b  # type: ignore")),
    "S3": ("a.py", OLD, OLD.replace("return a + b", "return a + b  # pragma: no cover")),
    "G1": ("pyproject.toml", "[tool.coverage.report]\nfail_under = 90\n", "[tool.coverage.report]\nfail_under = 10\n"),
    "G2": (
        ".github/workflows/ci.yml",
        "on: push\njobs: {a: {steps: [{run: pytest}]}}\n",
        "on: push\njobs: {a: {steps: [{run: pytest || true}]}}\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("row", "case"), TAMPERED.items(), ids=TAMPERED)
def test_what_a_rule_finds_in_a_file_is_looked_at(row, case):
    path, old, new = case
    rule = next(each for each in RULES if each.id == row.split()[0])
    looked_at = evidence({path: (old, new)})
    assert list(rule.find(looked_at.files[0], looked_at))
    assert rule.looks_at(looked_at.files[0])
    assert {each.rule for each in examine([change(path, old, new)]).findings} >= {rule.id}


PROBE = """
import sys
SHOWN = ("ralph_tracker.integrity.", "tomllib", "tree_sitter", "yaml")
from ralph_tracker.integrity.changes import FileChange
from ralph_tracker.integrity.examine import examine
examine([FileChange(sys.argv[1], sys.argv[2].encode(), sys.argv[3].encode())])
print(*(name for name in sys.modules if name.startswith(SHOWN)))
"""
FOLDERS = ("rules.", "python.", "settings.", "other.")


def imported(path: str, old: str, new: str) -> set[str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}  # it reads TOML
    words = [sys.executable, "-c", PROBE, path, old, new]
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=plain)
    return {name.removeprefix("ralph_tracker.integrity.") for name in done.stdout.split()}


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        pytest.param("README.md", "one\n", "two: noqa, pytest\n", id="a document"),
        pytest.param("a.py", OLD, OLD.replace("+", "-"), id="source that asks and silences nothing"),
        pytest.param("a.rs", "fn a() {}\n", "fn b() {}\n", id="source of another language"),
    ],
)
def test_plain_changes_import_no_rule_but_what_judges_them(path, old, new):
    names = {name for name in imported(path, old, new) if name.startswith(FOLDERS)}
    wanted = {"rules.test_detected"} if path.endswith(".rs") else set()
    assert {name for name in names if name.startswith("rules.")} == wanted
    assert not {name for name in names if name.startswith(("settings.", "other."))}


def test_changed_tests_import_neither_settings_nor_parsers_of_other_languages():
    names = imported("test_a.py", TEST, TEST.replace("== 3", "== 5"))
    assert {"rules.vacuous_assertion", "rules.expectation_edited", "python.tests"} <= names
    assert not {name for name in names if name.startswith(("settings.", "other.", "tree_sitter", "tomllib", "yaml"))}


def test_a_change_of_settings_imports_nothing_that_reads_tests():
    names = imported("pytest.ini", "[pytest]\n", "[pytest]\naddopts = -q\n")
    assert "settings.files" in names
    assert not names & {"python.tests", "python.assertions", "rules.vacuous_assertion", "naming", "matching"}
