"""A project without tests: what does not parse breaks it, and the first answer says how to get a test."""

import json
import os

import pytest

from ralph_tracker.cli.next_step import WORK, first_work
from ralph_tracker.tracker import Tracker

LINT = {"lint": {"run": "true", "reports": ["-"], "format": "flake8-text"}}
EMPTY = {"tests": {"run": "echo '<testsuite tests=\"0\"/>' > {reports}/j.xml", "reports": ["{reports}/j.xml"]}}
ONE = {"build": {"run": "true", "kind": "build"}}


@pytest.fixture
def begin(tmp_path):
    def start(checks):
        (tmp_path / "ralph-tracker.yaml").write_text(json.dumps({"checks": checks}))
        (tmp_path / "app.py").write_text("def one():\n    return 1\n")
        tracker = Tracker(tmp_path, environment={"PATH": os.environ["PATH"]})
        return tracker, tracker.pre_loop(None, allow_missing=True)

    return start


@pytest.mark.parametrize("checks", [LINT, EMPTY], ids=["no check of tests", "no test"])
def test_a_syntax_error_breaks_the_build_until_it_is_gone(begin, tmp_path, checks):
    tracker, _ = begin(checks)
    (tmp_path / "app.py").write_text("def one(:\n")
    broken = tracker.post_iteration(None).record
    (alert,) = [alert for alert in broken.alerts if alert.type == "build_broken"]
    assert "app.py:1: SyntaxError" in alert.message
    assert broken.decision.action == "rollback"
    (tmp_path / "app.py").write_text("def one():\n    return 2\n")
    mended = tracker.post_iteration(None).record
    assert not [alert for alert in (*mended.alerts, *mended.open_alerts) if alert.type == "build_broken"]


@pytest.mark.parametrize(
    ("checks", "file", "words"),
    [
        (EMPTY, None, "test_a.py with `def test_adds()"),
        (EMPTY, "package.json", "a.test.js"),
        (LINT, None, "`ralph-tracker init --update`"),
    ],
)
def test_the_next_step_of_a_baseline_without_tests_is_a_first_one(begin, tmp_path, checks, file, words):
    if file:
        (tmp_path / file).write_text("{}")
    _, record = begin(checks)
    assert words in first_work(record, tmp_path)
    assert ("init --update" in first_work(record, tmp_path)) is (checks is LINT)


def test_where_something_passes_or_fails_already_it_is_the_work(begin, tmp_path):
    _, record = begin(ONE)
    assert first_work(record, tmp_path) == WORK
