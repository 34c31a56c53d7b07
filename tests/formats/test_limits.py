"""What is made to hurt is refused in a line that names the limit, in little time and memory."""

import time

import pytest

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import TestReport, Unreadable
from ralph_tracker.formats.report_content import DEFAULT_LIMITS, ReadLimits
from tests.tables import table

TAG = DEFAULT_LIMITS.max_tag
BOMB = b'<!DOCTYPE x [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><testsuite name="&b;"/>'
# id: bytes, why it is refused, line, column
HOSTILE = {
    "an attribute of 6 MB": (
        b'<testsuite>\n <testcase name="' + b"a" * 6_000_000 + b'"/></testsuite>',
        f"a tag or comment is longer than the limit of {TAG} bytes",
        2,
        2,
    ),
    "a tag without an end": (b"<testsuite " + b"a" * 6_000_000, "a tag or comment is longer than the limit of", 1, 1),
    "an entity bomb": (BOMB, "the document declares an entity (a)", 1, 25),
    "elements 200,000 deep": (b"<testsuite>" * 200_000, "elements are nested deeper than 256", 1, 2828),
    "arrays 200,000 deep": (b"[" * 200_000, "malformed JSON: nested too deep", None, None),
    "objects 200,000 deep": (b'{"a":' * 200_000, "malformed JSON: nested too deep", None, None),
}


@table(("data", "why", "line", "column"), HOSTILE.values(), ids=HOSTILE)
def test_what_is_hostile_is_refused_with_the_place(data, why, line, column):
    result = registry.read(data)
    assert isinstance(result, Unreadable)
    assert result.why.startswith(why)
    assert (result.line, result.column) == (line, column)


def test_a_report_of_more_bytes_than_the_limit_is_not_looked_at():
    limits = ReadLimits(max_bytes=100)
    assert registry.read(b" " * 101, limits=limits) == Unreadable("101 bytes are more than the limit of 100")
    assert DEFAULT_LIMITS.max_bytes < 200_000_000


# id: what may be long, as it is between tags
LONG = {
    "text": b"a" * TAG * 2,
    "a CDATA section": b"<![CDATA[" + b"a" * TAG * 2 + b"]]>",
    "a comment": b"<!--" + b"a" * (TAG - 10) + b"-->",
    "text with many tags after it": b"a" * TAG * 2 + b"<property name='x'/>" * 3,
}


@table("content", LONG.values(), ids=LONG)
def test_what_is_long_and_no_tag_is_read(content):
    report = registry.read(b"<testsuite><testcase name='x'/><system-out>" + content + b"</system-out></testsuite>")
    assert isinstance(report, TestReport)
    assert report.tests == 1


# The root, and the element below it, of every XML format.
XML = {
    "linter-junit": ("testsuites", "testsuite"),
    "junit": ("testsuites", "testsuite"),
    "robot": ("robot", "suite"),
    "nunit": ("test-run", "test-suite"),
    "xunitnet": ("assemblies", "assembly"),
    "trx": ("TestRun", "Results"),
    "cobertura": ("coverage", "packages"),
    "jacoco": ("report", "package"),
    "clover": ("coverage", "project"),
    "opencover": ("CoverageSession", "Modules"),
    "checkstyle": ("checkstyle", "file"),
}
SIZE = 6_000_000
# What is written between the root's tags.
LONG_TAGS = {
    "an attribute": lambda: b'<testsuite name="' + b"a" * SIZE + b'"/>',
    "many attributes": lambda: b"<testsuite " + b" ".join(b'a%d="1"' % number for number in range(800_000)) + b"/>",
    "an attribute of entities": lambda: b'<testsuite name="' + b"&lt;" * (SIZE // 4) + b'"/>',
    "a name": lambda: b"<" + b"a" * SIZE + b"/>",
    "a comment": lambda: b"<!--" + b"a" * SIZE + b"-->",
    "an instruction": lambda: b"<?a " + b"a" * SIZE + b"?>",
    "elements within elements": lambda: b"<a>" * (SIZE // 3),
}


@pytest.mark.parametrize("kind", LONG_TAGS)
def test_a_tag_of_many_megabytes_is_refused_in_under_a_second(kind):
    data = b"<testsuites>%b</testsuites>" % LONG_TAGS[kind]()
    start = time.process_time()
    result = registry.read(data, format="junit")
    assert isinstance(result, Unreadable)
    assert result.why.startswith(("a tag or comment is longer", "elements are nested deeper"))
    assert time.process_time() - start < 1


@pytest.mark.parametrize("name", XML)
def test_every_xml_format_has_the_limit_of_a_tag(name):
    root, inner = XML[name]
    data = f'<{root}><{inner} name="{"a" * 2_500_000}"/></{root}>'.encode()
    result = registry.read(data, format=name, limits=DEFAULT_LIMITS._replace(max_tag=100_000))
    assert isinstance(result, Unreadable)
    assert result.why.startswith("a tag or comment is longer")


def test_every_xml_format_is_among_them():
    assert XML.keys() == {each.name for each in registry.FORMATS if each.syntax == "xml"}


# What a report only declares, with nothing listed that would support it.
ABSURD = {
    "cobertura": '<coverage lines-covered="8" lines-valid="99999999999" line-rate="0.8"><sources/></coverage>',
    "cobertura below zero": '<coverage lines-covered="-8" lines-valid="10" line-rate="0.8"><sources/></coverage>',
    "jacoco": '<report><counter type="LINE" missed="-3" covered="9"/></report>',
    "jacoco of many": '<report><counter type="LINE" missed="99999999999" covered="9"/></report>',
    "opencover": '<CoverageSession><Summary visitedSequencePoints="-1" numSequencePoints="-1"/></CoverageSession>',
    "istanbul-summary": '{"total": {"lines": {"total": 99999999999, "covered": 9, "pct": 1}, "statements": {}, '
    '"functions": {}, "branches": {}}}',
    "coveragepy-json": '{"meta": {}, "files": {}, "totals": {"covered_lines": 9, "num_statements": 99999999999, '
    '"percent_covered": 1.0}}',
    "coveragepy-text": "Name Stmts Miss Cover\nTOTAL 99999999999 9 100%\n",
    "lcov": "SF:a\nLF:99999999999\nLH:9\nend_of_record\n",
    "lcov below zero": "SF:a\nLF:-1\nLH:-2\nend_of_record\n",
    "gocover": "mode: set\na.go:1.1,2.2 999999999 1\n",
    "pytest-text": "999999999 passed in 0.10s\n",
    "libtest-text": "running 999999999 tests\ntest result: ok. 999999999 passed; 0 failed; 0 ignored; 0 measured; 0\n",
    "pyright-json": '{"generalDiagnostics": [], "summary": {"filesAnalyzed": 1, "errorCount": 99999999999, '
    '"warningCount": 0}}',
    "mypy-text": "Found 999999999 errors in 1 file (checked 1 source file)\n",
    "tsc-text": "a.ts(1,2): error TS2304: x\nFound 999999999 errors.\n",
}


@table("text", ABSURD.values(), ids=ABSURD)
def test_a_count_that_no_project_has_is_no_measurement(text):
    result = registry.read(text.encode())
    assert isinstance(result, Unreadable)
    assert result.why.endswith((", it says, which cannot be", "lines are covered, it says", "-2 LH of -1 LF"))


# An absurd count of tests beside one that passed; {} is the number.
DECLARED = {
    "nunit": '<test-run total="{}"><test-case fullname="a" result="Passed"/></test-run>',
    "xunitnet": '<assemblies><assembly total="{}"><test type="a" name="b" result="Pass"/></assembly></assemblies>',
    "trx": '<TestRun><Results><UnitTestResult testName="a" outcome="Passed"/></Results>'
    '<ResultSummary outcome="Completed"><Counters total="{}"/></ResultSummary></TestRun>',
    "junit": '<testsuite tests="{}"><testcase name="a"/></testsuite>',
}


@table("text", DECLARED.values(), ids=DECLARED)
@table("number", ["-5", "99999999999", "9" * 40])
def test_an_impossible_number_of_tests_is_a_contradiction_and_the_cases_count(text, number):
    report = registry.read(text.format(number).encode())
    assert isinstance(report, TestReport)
    assert report.tests == report.passed == 1
    assert (report.contradiction or "").startswith("declared tests: ")


@table(
    ("text", "said"),
    [
        ('<test-run total="1" failed="7"><test-case fullname="a" result="Failed"/></test-run>', "7, found tests: 1"),
        (
            '<assemblies><assembly total="1" failed="7"><test name="b" result="Fail"/></assembly></assemblies>',
            "7, found tests: 1",
        ),
        (
            '{"numTotalTests": 1, "numFailedTests": 7, "testResults": [{"assertionResults": [{"status": "failed"}]}]}',
            "7, ",
        ),
    ],
)
def test_more_failures_than_tests_are_a_contradiction(text, said):
    report = registry.read(text.encode())
    assert isinstance(report, TestReport)
    assert report.failed == 1
    assert (report.contradiction or "").startswith(f"declared failures: {said}")
