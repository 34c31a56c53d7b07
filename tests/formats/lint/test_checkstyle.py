"""Checkstyle's XML, from linters of many languages."""

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import LintReport, Unreadable
from tests.tables import table


def xml(inner: str) -> bytes:
    return f'<?xml version="1.0"?><checkstyle version="4.3"><file name="a">{inner}</file></checkstyle>'.encode()


@table(
    ("attributes", "expected"),
    [
        ('severity="error" source="s.C"', ("s.C", "error")),
        ('severity="warning" source="s"', ("s", "warning")),
        ('severity="info" source="s"', ("s", "note")),
        ('severity="ignore" source="s"', ("s", "none")),
        ('severity="error"', ("", "error")),
        ('source="E501"', ("E501", "error")),
        ('severity="odd" source="W1"', ("W1", "warning")),
    ],
)
def test_a_finding(attributes, expected):
    assert registry.read(xml(f'<error line="1" {attributes}/>')) == LintReport(findings={expected: 1})


def test_a_file_that_could_not_be_checked_is_an_error():
    report = registry.read(xml("<exception><![CDATA[trace]]></exception>"))
    assert report == LintReport(findings={("exception", "error"): 1})


def test_a_prefix_is_no_matter_and_no_file_is_clean():
    assert (
        registry.read(b'<c:checkstyle xmlns:c="u"><c:file><c:error source="s"/></c:file></c:checkstyle>').warnings == 1
    )
    assert registry.read(b"<checkstyle/>") == LintReport()


@table("cut", [15, 30, -1, -20])
def test_half_a_report_is_none(cut):
    whole = b'<checkstyle><file name="a"><error/></file></checkstyle>'
    result = registry.read(whole[:cut])
    assert isinstance(result, Unreadable)
    assert result.line == 1
