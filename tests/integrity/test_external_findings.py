"""Each folder fixtures/integrity/<tool>/<case> holds what a real checker printed, and the findings read in it."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.core.integrity_result import Severity
from ralph_tracker.errors import InputError
from ralph_tracker.integrity.external_findings import TOOLS, read
from tests.tables import table

FIXTURES = Path(__file__).parents[2] / "fixtures" / "integrity"
CASES = sorted(path.parent for path in FIXTURES.glob("*/*/report.json"))
RUN = {"base": "1", "head": "2", "checkwash_version": "0.9.0"}


def checkwash(*findings, **other):
    """Make a document of checkwash; each finding is given by what it differs in."""
    usual = {
        "rule": "ASSERT_REMOVED",
        "severity": "high",
        "message": "test_lid: assertion removed",
        "path": "tests/test_box.py",
        "fingerprint": "ASSERT_REMOVED/tests/test_box.py/test_lid/v2:0",
    }
    whole = {"checkwash_findings_version": 2, "run": RUN, "findings": [usual | each for each in findings], **other}
    return json.dumps(whole).encode()


def tampercheck(*findings, **other):
    """Make a document of tampercheck; each finding is given by what it differs in."""
    usual = {"kind": "swallowed-error", "severity": "high", "path": "a.py", "line": 3, "evidence": "except: pass"}
    whole = {"schema": 1, "tool": "tampercheck", "version": "0.1.1", "findings": [usual | each for each in findings]}
    return json.dumps(whole | other).encode()


MAKING = {"checkwash": checkwash, "tampercheck": tampercheck}


def shown(finding):
    return {key: value for key, value in (finding._asdict() | {"severity": finding.severity.name}).items() if value}


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_what_a_real_checker_printed_is_read_as_expected(folder, bless):
    found = [shown(each) for each in read(folder.parent.name, (folder / "report.json").read_bytes())]
    expected = folder / "expected.json"
    if bless:
        expected.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    assert found == json.loads(expected.read_text(encoding="utf-8"))


@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_has_real_output_with_findings_and_without(tool):
    sizes = {len(read(tool, (folder / "report.json").read_bytes())) for folder in CASES if folder.parent.name == tool}
    assert 0 in sizes
    assert max(sizes) > 1


@table(
    ("tool", "told", "rule"),
    [
        ("checkwash", {"rule": "TOLERANCE_LOOSENED"}, "W"),
        ("checkwash", {"rule": "EXPECTED_VALUE_CHANGED"}, "W"),
        ("checkwash", {"rule": "TEST_DISABLED", "shape": "collection_control"}, "R5"),
        ("checkwash", {"rule": "TEST_DISABLED", "shape": "unit_removed"}, None),
        ("checkwash", {"rule": "TEST_DISABLED", "shape": "marker_added"}, None),
        ("checkwash", {"rule": "SCOPE_DRIFT"}, None),
        ("checkwash", {"severity": "info"}, None),
        ("checkwash", {"allowlisted": True}, "W"),
        ("tampercheck", {"kind": "test-deleted"}, None),
        ("tampercheck", {"kind": "test-filtered"}, "R5"),
        ("tampercheck", {"allowed": True, "reason": "it may fail"}, "W"),
        ("tampercheck", {"kind": "unconditional-success", "path": "tests/test_a.py", "evidence": "assert True"}, "W"),
        (
            "tampercheck",
            {"kind": "unconditional-success", "path": "tests/conftest.py", "evidence": "sys.exit(0)"},
            "R2",
        ),
        ("tampercheck", {"kind": "unconditional-success", "path": ".github/workflows/a.yml"}, "R5"),
    ],
)
def test_a_kind_of_finding_stands_for_one_row_or_for_none(tool, told, rule):
    found = read(tool, MAKING[tool](told))
    assert [each.rule for each in found] == ([] if rule is None else [rule])


@table(
    ("tool", "theirs", "ours"),
    [
        ("checkwash", "critical", Severity.CRITICAL),
        ("checkwash", "high", Severity.HIGH),
        ("checkwash", "warn", Severity.MEDIUM),
        ("tampercheck", "critical", Severity.CRITICAL),
        ("tampercheck", "high", Severity.HIGH),
        ("tampercheck", "medium", Severity.MEDIUM),
    ],
)
def test_their_severity_is_kept(tool, theirs, ours):
    (found,) = read(tool, MAKING[tool]({"severity": theirs}))
    assert found.severity is ours


def test_the_test_that_is_named_gets_its_ids_in_the_report():
    ids = {"tests.test_box.TestBox::test_lid[1]": "passed", "tests.test_box.TestBox::test_lid[2]": "passed"}
    others = {"tests.test_box::test_lid": "passed"}
    (found,) = read("checkwash", checkwash({"unit": "TestBox.test_lid"}), {**ids, **others})
    assert (found.test, found.tests) == ("TestBox::test_lid", tuple(ids))


@table("unit", ["<suite>", "<file>", None])
def test_what_is_about_no_single_test_names_none(unit):
    (found,) = read("checkwash", checkwash({"unit": unit}))
    assert (found.test, found.tests) == (None, ())


def test_one_that_moves_to_another_line_keeps_its_key():
    (first,), (second,) = (read("tampercheck", tampercheck({"line": line})) for line in (3, 30))
    assert (first.line, second.line) == (3, 30)
    assert first.key == second.key


def test_counts_that_move_do_not_change_the_key():
    counted = {"kind": "assertion-weakened", "line": None}
    (first,), (second,) = (
        read("tampercheck", tampercheck(counted | {"evidence": f"{number} assertion line(s) removed"}))
        for number in (1, 2)
    )
    assert first.key == second.key
    assert first.message != second.message


@table(
    ("tool", "data", "why"),
    [
        pytest.param("checkwash", b"", "not what it prints", id="empty"),
        pytest.param("checkwash", b"\xff\xfe", "not what it prints", id="no text"),
        pytest.param("checkwash", b"[" * 100_000, "not what it prints", id="too deep"),
        pytest.param("checkwash", checkwash({})[:-9], "not what it prints", id="cut"),
        pytest.param("checkwash", b'{"unread": []}', "not what it prints", id="a run that was refused"),
        pytest.param("checkwash", checkwash(checkwash_findings_version=3), "not what it prints", id="a later version"),
        pytest.param("checkwash", checkwash({"severity": "fatal"}), "findings[0].severity", id="an unknown severity"),
        pytest.param("checkwash", checkwash({"rule": "NEW"}), "version 0.9.0 tells of 'NEW'", id="an unknown rule"),
        pytest.param("checkwash", tampercheck({}), "checkwash check BASE..HEAD --format json", id="another tool"),
        pytest.param("tampercheck", checkwash({}), "tampercheck --from BASE --json", id="another tool, the other way"),
        pytest.param("tampercheck", tampercheck({"kind": "new"}), "version 0.1.1 tells of 'new'", id="an unknown kind"),
        pytest.param("tampercheck", tampercheck({"line": "3"}), "findings[0].line", id="a line that is no number"),
    ],
)
def test_another_document_is_refused_in_one_line_that_says_why(tool, data, why):
    with pytest.raises(InputError) as refused:
        read(tool, data)
    assert why in str(refused.value)
    assert f"integrity.tool {tool}" in str(refused.value)
    assert "\n" not in str(refused.value)


@given(tool=st.sampled_from(sorted(TOOLS)), data=st.binary() | st.text().map(str.encode))
def test_hostile_bytes_are_refused_and_nothing_else_is_raised(tool, data):
    with pytest.raises(InputError):
        read(tool, data)
