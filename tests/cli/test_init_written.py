"""Checks are added to a configuration that a person has edited, and nothing else of it changes."""

import pytest

from ralph_tracker.cli.init import config_text, with_added_checks
from ralph_tracker.config.yaml_io import load_yaml
from ralph_tracker.errors import ConfigError

LINT = {"lint": {"run": ["ruff", "check"], "reports": ["-"]}}
NAME = "ralph-tracker.yaml"


@pytest.mark.parametrize(
    ("before", "added"),
    [
        ("checks:\n  tests:\n    run: make\nloop: {max_iterations: 3}\n", "checks:\n  tests:\n    run: make\n  lint:"),
        ("checks:\n    tests: {run: make}  # ours\n\n# below\n", "# ours\n    lint:\n      run:"),
        ("checks:\n  tests:\n    run: |\n      make\n      more\n", "      more\n  lint:"),
        ("version: 1", "version: 1\nchecks:\n  lint:"),
        ("", "checks:\n  lint:"),
        ("# only this\n", "# only this\nchecks:\n  lint:"),
    ],
    ids=["a section after it", "comments", "a block of text", "none, no line end", "empty", "a comment"],
)
def test_checks_are_added_where_the_others_are(before, added):
    text = with_added_checks(before, LINT, NAME)
    assert added in text
    assert load_yaml(text, NAME)["checks"]["lint"] == LINT["lint"]
    kept = [line for line in text.splitlines() if line in before.splitlines()]
    assert kept == before.splitlines()


@pytest.mark.parametrize("before", ["{version: 1}", "checks: {tests: {run: make}}\n", "checks:\n", "checks: {}\n"])
def test_what_cannot_be_added_to_line_by_line_is_left_alone(before):
    with pytest.raises(ConfigError, match="add them by hand, or use --force"):
        with_added_checks(before, LINT, NAME)


def test_nothing_to_add_changes_nothing():
    assert with_added_checks("{a: 1}", {}, NAME) == "{a: 1}"


def test_templates_are_comments_that_become_checks_without_their_marks():
    text = config_text(LINT, ["# Why:\ntests:\n  run: make junit\n"])
    assert load_yaml(text, NAME) == {"version": 1, "checks": LINT}
    shown = text[text.index("# Why:") :].splitlines()[1:]
    uncommented = text + "\n".join(line.removeprefix("# ") for line in shown)
    assert load_yaml(uncommented, NAME)["checks"]["tests"] == {"run": "make junit"}
