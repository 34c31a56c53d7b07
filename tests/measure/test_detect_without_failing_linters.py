"""A linter that cannot run is no part of what measures a project; one that finds errors is."""

import os

import pytest

from ralph_tracker.measure.detect import DetectedChecks, without_failing_linters
from ralph_tracker.measure.ecosystems.detected_ecosystem import Ecosystem


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        ("true", True),
        ("echo 'a.py:1:1: F401 unused'; exit 1", True),
        ("echo 'Cannot find plugin nope' >&2; exit 2", False),
        ("no-such-linter", False),
    ],
)
def test_it_is_left_out_with_the_reason(tmp_path, command, kept):
    tests = {"run": "touch ran; exit 1", "reports": ["-"]}
    checks = {"tests": tests, "lint": {"run": command, "reports": ["-"], "format": "flake8-text"}}
    found = DetectedChecks((Ecosystem("python"),), checks, ("before",))
    tried = without_failing_linters(found, tmp_path, {"PATH": os.environ["PATH"]})
    assert list(tried.checks) == (["tests", "lint"] if kept else ["tests"])
    assert tried.notes[0] == "before"
    assert [note.partition(":")[0] for note in tried.notes[1:]] == (
        [] if kept else ["lint is left out, it does not run here"]
    )
    assert not (tmp_path / "ran").exists()


def test_without_a_linter_nothing_runs(tmp_path):
    found = DetectedChecks((), {"tests": {"run": "touch ran", "reports": ["-"]}}, ())
    assert without_failing_linters(found, tmp_path, {}) is found
