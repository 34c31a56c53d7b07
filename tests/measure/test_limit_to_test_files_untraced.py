"""The command of the tests without what measures coverage."""

import shlex

import pytest

from ralph_tracker.measure.limit_to_test_files import untraced
from ralph_tracker.measure.run_checks import Check, command_text


@pytest.mark.parametrize(
    ("command", "bare"),
    [
        ("python -m coverage run --branch -m pytest -q", "python -m pytest -q"),
        ("python -m coverage run manage.py test", "python manage.py test"),
        ("uv run python helper.py out -m coverage run -m unittest", "uv run python helper.py out -m unittest"),
        ("python -m pytest --cov --cov-report= --cov=app -q", "python -m pytest -q"),
        (
            "node --experimental-test-coverage --test-reporter=lcov --test-reporter-destination=b --test",
            "node --test",
        ),
        ("node_modules/.bin/c8 --reporter=json mocha spec", "mocha spec"),
        ("jest --ci --coverage --coverageReporters=json --json", "jest --ci --json"),
        ("vitest run --coverage.enabled --coverage.reporter=json", "vitest run"),
        ("go test -json -coverprofile=x ./...", "go test -json ./..."),
        ("python -m pytest -q", None),
        ("coverage run -m pytest", None),
        ("c8", None),
    ],
)
def test_only_the_tracer_goes(command, bare):
    found = untraced(Check("tests", shlex.split(command), needs=("build",)))
    assert (None if found is None else command_text(found)) == bare
    assert found is None or found.needs == ()


def test_a_command_of_the_shell_is_left_alone():
    assert untraced(Check("tests", "python -m coverage run -m pytest")) is None
