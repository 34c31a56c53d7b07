"""What the reports show of integrity: the verdict, the findings, what could not be looked into."""

from ralph_tracker.report.iteration_view import FINDINGS_SHOWN, iteration_view
from ralph_tracker.report.markdown_reports import iteration_report
from tests.tables import table

FINDING = {
    "rule": "W",
    "severity": "MEDIUM",
    "message": "it asks for less",
    "file": "tests/test_a|b.py",
    "line": 7,
    "test": "test_lid",
    "old": "assert x == 1",
    "new": "assert `x` or True",
}


def record(**trust):
    told = {"verdict": "SUSPECT", "findings": [FINDING], "findings_total": 1, "unread": {}}
    return {"iteration_metrics": {"iteration": 3, "integrity": {**told, **trust}}}


def test_the_verdict():
    assert "- **Integrity**: SUSPECT\n" in iteration_report(record())


def test_each_finding_with_its_place_and_both_texts():
    text = iteration_report(record())
    assert "### Integrity\n" in text
    assert "**MEDIUM** W tests/test_a\\|b.py:7, test_lid: it asks for less\n" in text
    assert "    - old: assert x == 1\n" in text
    assert "    - new: assert \\`x\\` or True\n" in text


def test_many_are_cut_and_counted():
    text = iteration_report(record(findings=[FINDING] * 30, findings_total=70))
    assert text.count("it asks for less") == FINDINGS_SHOWN
    assert f"- and {70 - FINDINGS_SHOWN} more: `ralph-tracker integrity 3`\n" in text


def test_files_that_were_not_looked_into_are_named():
    assert "### Not Checked\n\n- big.py: larger than 2 MB\n" in iteration_report(
        record(findings=[], unread={"big.py": "larger than 2 MB"})
    )


@table("trust", [None, {}])
def test_nothing_is_said_where_nobody_compared(trust):
    document = {"iteration_metrics": {"iteration": 3, "integrity": trust}}
    assert iteration_view(document).integrity == ""
    assert "Integrity" not in iteration_report(document)
