"""The page's example of metrics handed in, over three iterations: the selected one is what a person would take."""

import copy
from pathlib import Path

import yaml

from ralph_tracker.tracker import Tracker

PAGE = Path(__file__).resolve().parents[2] / "docs/metrics.md"


def test_the_example_selects_the_iteration_in_which_all_tests_pass(tmp_path, blocks):
    example = next(yaml.safe_load(block.text) for block in blocks(PAGE) if block.file == "metrics.yaml")
    assert 0 < len(example["tests"]) < example["testing"]["test_count"]

    def metrics(passed, lint_errors, outcome="passed"):
        document = copy.deepcopy(example)
        document["testing"] |= {"tests_passed": passed, "tests_failed": 10 - passed}
        document["quality"]["lint_errors"] = lint_errors
        document["tests"][0]["outcome"] = outcome
        return document

    tracker = Tracker(tmp_path, environment={})
    tracker.pre_loop(metrics(passed=8, lint_errors=8))
    tracker.post_iteration(metrics(passed=10, lint_errors=4))
    worse = tracker.post_iteration(metrics(passed=7, lint_errors=2, outcome="failed")).record
    (alert,) = worse.alerts
    assert alert.type == "working_tests_failing"
    assert alert.note == "passed 10→7, failed 0→3; failing: tests/test_login.py::test_logout"
    assert tracker.loop_decision().decision.target_iteration == 1
    tracker.post_iteration(metrics(passed=9, lint_errors=0))
    assert tracker.select_output().selection.selected.iteration == 1
