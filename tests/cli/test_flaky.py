"""`flaky` lists what does not always end the same; what the configuration puts into quarantine decides nothing."""

import json

import pytest

CONFIG = "codebase: {{keep: always}}\nquarantine: {{odd: {}}}\n"


def ended(**outcomes):
    ends = list(outcomes.values())
    counts = {"test_count": len(ends), "tests_passed": ends.count("passed"), "tests_failed": ends.count("failed")}
    return {"testing": counts, "tests": [{"id": name, "outcome": how} for name, how in outcomes.items()]}


@pytest.mark.parametrize(("until", "alerts"), [("2099-01-01", []), ("2001-01-01", ["working_tests_failing"])])
def test_one_in_quarantine_breaks_nothing_until_its_day(project, until, alerts):
    (project.root / "ralph-tracker.yaml").write_text(CONFIG.format(until))
    project.must("pre-loop", ended(a="passed", odd="passed"))
    record = project.must("post-iteration", ended(a="passed", odd="failed"), "--iteration", "1")["iteration_metrics"]
    assert [each["type"] for each in record["alerts"]] == alerts
    again = project.must("post-iteration", ended(a="passed", odd="failed"), "--iteration", "1")["iteration_metrics"]
    assert again["alerts"] == record["alerts"]
    told = project.ralph("flaky").out
    assert f"odd: passed 1 time, failed 1 time; quarantined in loops that begin before {until}" in " ".join(
        told.split()
    )
    project.must("post-loop")
    report = project.root / ".aiwg/ralph/ralph-001/reports/loop-report.md"
    assert "## Flaky Tests\n\n- odd: passed 1 time" in report.read_text()
    page = project.root / "page.html"
    project.ralph("report", "--html", page)
    assert "<li>odd: passed 1 time" in page.read_text()


def test_it_proposes_lines_that_the_configuration_takes(project):
    (project.root / "ralph-tracker.yaml").write_text("codebase: {keep: always}\n")
    project.must("pre-loop", ended(a="passed", odd="passed"))
    project.must("post-iteration", ended(a="passed", odd="failed"))
    told = project.ralph("flaky").out
    assert told.startswith("1 flaky test in loop ralph-001\n  odd: passed 1 time, failed 1 time\n")
    (project.root / "ralph-tracker.yaml").write_text(told[told.index("quarantine:") :])
    assert project.must("pre-loop", ended(a="passed", odd="failed"), "--new")
    (listed,) = project.ralph("flaky", "--json").json["tests"]
    assert (listed["test"], listed["passed"], listed["failed"]) == ("odd", 0, 1)


def test_without_one_it_says_so(running):
    assert running.ralph("flaky").out.startswith("0 flaky tests in loop ralph-001\n")


def test_a_day_that_is_none_is_refused(project, metrics_of):
    (project.root / "ralph-tracker.yaml").write_text(json.dumps({"quarantine": {"a": "soon"}}))
    complaint = project.hook("pre-loop", metrics_of()).complaint
    assert "quarantine.a" in complaint
    assert "write it as 2030-12-31" in complaint
