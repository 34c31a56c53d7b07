"""What a baseline shows of its own checks: a guessed command is asked about, and so is a tracer."""

import json
import os
import sys

import pytest

from ralph_tracker.config.load import FOR_EDITORS
from ralph_tracker.errors import ConfigError
from ralph_tracker.tracker import Tracker

PASSES = '<testsuite name="s" tests="1"><testcase classname="a" name="b"/></testsuite>'
FAILS = '<testsuite name="s" tests="1"><testcase classname="a" name="b"><failure/></testcase></testsuite>'
TESTS = {"run": "cp ../junit.xml {reports}/j.xml", "reports": ["{reports}/j.xml"]}
QUESTION = "is this your test command? `cp ../junit.xml {reports}/j.xml`"


@pytest.fixture
def tracker(tmp_path):
    root = tmp_path / "project"
    root.mkdir()

    def start(checks, junit=PASSES, first=FOR_EDITORS):
        (root / "ralph-tracker.yaml").write_text(first + json.dumps({"checks": checks}))
        (root / "app.py").write_text("def one():\n    return 1\n")
        (tmp_path / "junit.xml").write_text(junit)
        tracker = Tracker(root, environment={"PATH": os.environ["PATH"]})
        return tracker, tracker.pre_loop(None)

    return start


@pytest.mark.parametrize(
    ("checks", "junit", "first", "asked"),
    [
        ({"tests": TESTS}, FAILS, FOR_EDITORS, QUESTION),
        ({"tests": TESTS}, PASSES, FOR_EDITORS, None),
        ({"tests": TESTS}, FAILS, "", None),
        ({"test-command": {"run": ["false"], "kind": "build"}}, "", FOR_EDITORS, "is this your test command? `false`"),
        ({"test-command": {"run": ["true"], "kind": "build"}}, "", FOR_EDITORS, None),
    ],
)
def test_a_guessed_command_that_passes_nothing_is_asked_about(tracker, checks, junit, first, asked):
    _, record = tracker(checks, junit, first)
    found = [note for note in record.notes if "is this your test command?" in note]
    assert [asked in note for note in found] == ([True] if asked else [])


def test_so_is_one_that_measures_nothing(tracker):
    with pytest.raises(ConfigError) as refused:
        tracker({"tests": TESTS}, "no report")
    assert QUESTION in str(refused.value)


DEEP = """import sys
def test_traced():
    assert sys.gettrace() is None and not sys.modules.get('coverage')
def test_fails():
    assert 0
"""


@pytest.mark.slow
def test_tests_that_fail_only_under_coverage_are_named(tmp_path):
    (tmp_path / "test_deep.py").write_text(DEEP)
    run = [sys.executable, "-m", "coverage", "run", "-m", "pytest", "-q", "--junitxml={reports}/j.xml"]
    checks = {"tests": {"run": run, "reports": ["{reports}/j.xml"], "env": {"COVERAGE_FILE": "{reports}/c"}}}
    (tmp_path / "ralph-tracker.yaml").write_text(json.dumps({"checks": checks}))
    environment = {"PATH": os.environ["PATH"], "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    record = Tracker(tmp_path, environment=environment).pre_loop(None)
    (note,) = [note for note in record.notes if "without coverage" in note]
    assert note.startswith("without coverage 1 more test would pass: test_deep::test_traced; take coverage out")
    assert "-m pytest -q" in note
