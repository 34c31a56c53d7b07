"""Bytes in, a report or Unreadable out, whatever the bytes."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import CoverageReport, LintReport, TestReport, TypeReport, Unreadable
from ralph_tracker.formats.report_content import Content
from tests.tables import table

FIXTURES = Path(__file__).parents[2] / "fixtures" / "reports"
REAL = [path.read_bytes() for path in sorted(FIXTURES.glob("*/*/report.*"))]
RESULTS = TestReport | CoverageReport | LintReport | TypeReport | Unreadable
FORMATS = st.sampled_from([None, *registry.BY_NAME])


@given(st.binary(), FORMATS)
def test_arbitrary_bytes_never_raise(data, name):
    assert isinstance(registry.read(data, format=name), RESULTS)


@given(st.text(), st.sampled_from(["utf-8-sig", "utf-16"]), FORMATS)
def test_arbitrary_text_never_raises(text, encoding, name):
    data = text.encode(encoding, errors="surrogatepass")
    assert isinstance(registry.read(data, format=name), RESULTS)


@given(st.sampled_from(REAL), st.data(), FORMATS)
def test_real_reports_with_damage_never_raise(data, draw, name):
    start = draw.draw(st.integers(0, len(data)))
    end = draw.draw(st.integers(start, min(len(data), start + 40)))
    damaged = data[:start] + draw.draw(st.binary(max_size=20)) + data[end:]
    assert isinstance(registry.read(damaged, format=name), RESULTS)


@table("data", [b"", b" \r\n\t", b"\n" * 5000, b"\xef\xbb\xbf", b"\xff\xfe", b"\xff\xfe \x00\n\x00"])
@table("name", [None, *registry.BY_NAME])
def test_nothing_is_empty_and_never_a_report(data, name):
    assert registry.read(data, format=name) == Unreadable("empty")


@table(
    ("name", "line"),
    [
        ("flake8-text", "a.py:1:2: E501 line too long"),
        ("pylint-text", "a.py:1:2: C0114: Missing module docstring (missing-module-docstring)"),
        ("mypy-text", 'a.py:1: error: Name "x" is not defined  [name-defined]'),
        ("tsc-text", "a.ts(1,2): error TS2304: Cannot find name 'x'."),
    ],
)
def test_a_document_that_holds_a_line_of_text_output_is_not_that_output(name, line):
    sniff = registry.BY_NAME[name].sniff
    assert sniff(Content(f"{line}\n".encode()))
    assert not sniff(Content(f"{{\n{line}\n}}".encode()))


def test_white_space_before_a_report_is_no_matter():
    assert registry.read(b"\n" * 5000 + b"[]") == LintReport()


@table(
    ("data", "why"),
    [
        (b"hello", "not a report of a known format"),
        (b"<a><b/></a>", "XML with the root <a>, no known report"),
        (b"<a", "malformed XML: unclosed token"),
        (b"<!-- nothing -->", "malformed XML: no element found"),
        (b"{", "malformed JSON: Expecting property name enclosed in double quotes"),
        (b"[1, 2]", "JSON, but no known report"),
        (b'{"meta": 1}', "JSON, but no known report"),
        (b"[" * 100_000, "malformed JSON: nested too deep"),
        (b"[" + b"9" * 5000 + b"]", "malformed JSON: Exceeds the limit"),
    ],
)
def test_what_is_no_report_says_why(data, why):
    result = registry.read(data)
    assert isinstance(result, Unreadable)
    assert result.why.startswith(why)


def test_a_format_that_does_not_exist_suggests_the_nearest():
    assert registry.read(b"[]", format="ruf-json").why == "no format is called 'ruf-json'; did you mean ruff-json?"
    assert registry.read(b"[]", format="?").why.startswith("no format is called '?'; known are linter-junit, ")


def test_formats_have_distinct_names():
    assert len(registry.BY_NAME) == len(registry.FORMATS)


def test_a_real_report_looks_like_one_format_only():
    for data in REAL:
        content = Content(data)
        names = [each.name for each in registry.candidates(content) if each.sniff(content)]
        assert len(names) <= 1 or names in ALIKE


# What a linter writes is JUnit, too; ruff's annotations repeat its own lines.
ALIKE = (["linter-junit", "junit"], ["github-text", "flake8-text"])


@pytest.mark.parametrize(
    ("data", "syntax"),
    [
        pytest.param(b"<a><b/></a>", "document", id="XML"),
        pytest.param(b'{"a": 1}', "document", id="JSON"),
        pytest.param(b"all is well\n", "text", id="text"),
        pytest.param(b"<a><b/>", None, id="half of XML"),
        pytest.param(b'{"a": ', None, id="half of JSON"),
        pytest.param(b'<testsuite tests="0"/>', None, id="a report"),
        pytest.param(b" \n", None, id="nothing"),
    ],
)
def test_what_is_no_report_is_a_document_or_text_where_it_is_whole(data, syntax):
    assert registry.foreign_syntax(data) == syntax


@pytest.mark.parametrize(
    ("data", "place"), [(b"\n <a><b/></a>", (2, 2)), (b"no report\n", (None, None))], ids=["a document", "text"]
)
def test_an_examined_file_has_the_place_where_its_document_begins(data, place):
    found = registry.examine(data).result
    assert isinstance(found, Unreadable)
    assert (found.line, found.column) == place


@table(
    ("kind", "report"),
    [("tests", TestReport), ("lint", LintReport), ("types", TypeReport), (None, LintReport)],
    ids=["tests", "lint", "types", "not said"],
)
def test_junit_of_a_suite_called_like_a_linter_is_read_as_its_check_is_said_to_be(kind, report):
    of_ruff = b'<testsuites><testsuite name="ruff"><testcase name="t"><failure/></testcase></testsuite></testsuites>'
    assert isinstance(registry.read(of_ruff, kind=kind), report)
