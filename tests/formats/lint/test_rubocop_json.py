"""RuboCop's JSON: what makes a run fail is at least a warning, and what it corrected is no finding."""

import json

import pytest

from ralph_tracker.formats import registry
from ralph_tracker.formats.registry import diagnostics


def report(severity, *, corrected=False, count=1):
    place = {"start_line": 3}
    offense = {"severity": severity, "cop_name": "Style/A", "message": "m", "corrected": corrected, "location": place}
    files = [{"path": "a.rb", "offenses": [offense]}]
    document = {"metadata": {"rubocop_version": "1"}, "files": files, "summary": {"offense_count": count}}
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("severity", "counts"),
    [
        ("fatal", (1, 0, 0)),
        ("error", (1, 0, 0)),
        ("convention", (0, 1, 0)),
        ("refactor", (0, 1, 0)),
        ("info", (0, 0, 1)),
    ],
)
def test_severities_are_those_at_which_it_fails(severity, counts):
    found = registry.read(report(severity))
    assert (found.errors, found.warnings, found.notes) == counts
    places = [(each.file, each.line, each.code) for each in diagnostics(report(severity))]
    assert places == ([] if severity == "info" else [("a.rb", 3, "Style/A")])


def test_what_it_corrected_is_no_finding_and_a_wrong_sum_is_said():
    assert registry.read(report("error", corrected=True)).results == 0
    assert "declared offenses: 2, listed: 1" in registry.read(report("error", count=2)).contradiction


def test_a_run_over_no_file_is_no_report():
    summary = {"offense_count": 0, "inspected_file_count": 0}
    document = {"metadata": {"rubocop_version": "1"}, "files": [], "summary": summary}
    assert registry.read(json.dumps(document).encode()).why == "RuboCop inspected no file"
