"""Checks as a configuration has them become checks that can run."""

import pytest

from ralph_tracker.config.load import config_of
from ralph_tracker.errors import ConfigError
from ralph_tracker.measure.run_checks import Check, configured_checks, parse_duration
from tests.tables import table


def test_a_plain_check_has_the_defaults():
    document = config_of({"checks": {"lint": {"run": ["ruff", "check"]}}}, None).document
    assert configured_checks(document) == (Check(name="lint", run=["ruff", "check"]),)


def test_every_key_of_a_check_arrives():
    section = {
        "run": "make test",
        "kind": "tests",
        "reports": ["{reports}/a.xml"],
        "format": "junit",
        "cwd": "api",
        "env": {"A": "1"},
        "needs": ["build"],
        "timeout": "90s",
        "held_back": "../acceptance",
    }
    checks = configured_checks({"checks": {"unit": section, "build": {"run": ["make"]}}})
    assert [check.name for check in checks] == ["build", "unit"]
    assert checks[1] == Check(
        name="unit",
        run="make test",
        kind="tests",
        reports=("{reports}/a.xml",),
        format="junit",
        cwd="api",
        env={"A": "1"},
        needs=("build",),
        timeout_s=90,
        held_back="../acceptance",
    )


def test_no_checks_are_none():
    assert configured_checks({}) == ()


@table(
    ("limit", "expected"),
    [(5, 5), ("5", 5), ("90s", 90), ("15m", 900), ("1.5 h", 5400), (" 2 m ", 120), (0.5, 0.5)],
)
def test_a_time_limit_is_read(limit, expected):
    assert parse_duration("checks.lint.timeout", limit) == expected


@table("limit", ["", "soon", "0", "0m", "-5", "5d", "1e3", "nan", "inf", "５m5"])
def test_what_is_no_time_is_refused_with_what_to_write(limit):
    with pytest.raises(ConfigError, match=r"checks\.lint\.timeout: .* is no time; write seconds, or 90s, 15m, 1h"):
        parse_duration("checks.lint.timeout", limit)
