"""A loop without a configuration measures with what is found; a file that comes later changes what it says, no more."""

import pytest

from ralph_tracker.cli.app import run

# Knows one tool, and that finds nothing.
PYTHON = """#!/bin/sh
case "$1" in
  -c) echo '["ruff", "3.12.1"]' ;;
  -m) echo '[]' ;;
esac
"""


@pytest.fixture
def found(workshop):
    """Return a running loop whose only check was found."""
    (workshop.root / "ralph-tracker.yaml").unlink()
    workshop.write(".venv/bin/python", PYTHON).chmod(0o755)
    workshop.start()
    return workshop


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("version: 1\n", []),
        ("loop: {max_iterations: 9}\n", ["loop.max_iterations"]),
        ("checks: {lint: {run: other}}\n", ["checks.lint"]),
    ],
    ids=["nothing", "a limit", "checks"],
)
def test_a_configuration_that_comes_later_is_told_by_what_it_changes(found, text, changed):
    found.write("ralph-tracker.yaml", text)
    alerts = [alert for alert in found.turn().alerts if alert.type == "config_changed"]
    assert bool(alerts) == bool(changed)
    assert all(key in alerts[0].message for key in changed)
    assert all("checks" not in alert.message for alert in alerts if "checks.lint" not in changed)


def test_init_in_the_middle_of_a_loop_changes_nothing(found, capsys):
    assert run(["init", "--yes", "--root", str(found.root)]) == 0
    assert "ralph-tracker.yaml written" in capsys.readouterr().out
    assert found.turn().alerts == ()
