"""Bytes that a format cannot hold, and lines around a report, change no count."""

import json

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import Unreadable
from tests.tables import table

CASES = (
    '<testsuite tests="2"><testcase name="x"><failure message="m">{}</failure></testcase><testcase name="y"/>'
    "</testsuite>"
)
DECLARED = '<?xml version="1.0" encoding="{}"?>'
# id: the bytes of a report of two tests, one of which failed
STRAY = {
    "a colour": CASES.format("\x1b[31mred\x1b[0m").encode(),
    "a colour by reference": CASES.format("&#27;[31mred&#x1B;[0m").encode(),
    "NUL": CASES.format("a\0b").encode(),
    "NUL by reference": CASES.format("a&#0;b").encode(),
    "NUL after the end": CASES.encode() + b"\0" * 100,
    "NUL between elements": CASES.replace('><testcase name="y', '>\0<testcase name="y').encode(),
    "half of a character by reference": CASES.format("&#xD83D;&#55357;&#xFFFE;&#65535;").encode(),
    "no character": CASES.format("\ufffe").encode(),
    "cp1252 in UTF-8": (DECLARED.format("UTF-8") + CASES.format("café")).encode("cp1252"),
    "cp1252 without a declaration": CASES.format("café").encode("cp1252"),
    "UTF-8 declared as ASCII": (DECLARED.format("us-ascii") + CASES.format("café")).encode(),
    "UTF-8 declared as UTF-16": (DECLARED.format("utf-16") + CASES.format("café")).encode(),
    "a byte without a character in cp1252": (DECLARED.format("windows-1252") + CASES.format("")).encode()
    + b"<!--\x81-->",
    "several bytes a character": (DECLARED.format("shift_jis") + CASES.format("テスト\x1b")).encode("shift_jis"),
    "half of a character in UTF-7": (DECLARED.format("utf-7") + CASES.format("a+33M-")).encode(),
    "UTF-16 with a control character": CASES.format("a\x07").encode("utf-16"),
}


@table("data", STRAY.values(), ids=STRAY)
def test_what_xml_cannot_hold_changes_no_count(data):
    report = registry.read(data)
    assert not isinstance(report, Unreadable), report
    assert list(report.outcomes.values()) == ["failed", "passed"]


def test_a_colour_leaves_nothing_in_the_message():
    assert registry.read(STRAY["a colour"]).messages == {"x": "m\nred"}


def test_references_to_what_xml_can_hold_stay():
    assert registry.read(CASES.format("a&#10;&#39;b&#x9;&#x1F600;").encode()).messages == {"x": "m\na\n'b\t😀"}


JEST = json.dumps(
    {
        "numTotalTests": 1,
        "testResults": [{"name": "a.test.js", "assertionResults": [{"status": "passed", "title": "b"}]}],
    }
)
INDENTED = json.dumps(json.loads(JEST), indent=2)
BANNER = "\n> shop@1.0.0 test\n> jest --json\n\n"
JUNIT = '<?xml version="1.0"?>\n<testsuites>\n<testsuite>\n<testcase name="b"/>\n</testsuite>\n</testsuites>'
# id: the text around a report of one test
AROUND = {
    "npm's lines": (BANNER, "\n"),
    "times in brackets": ("[10:32:11] Starting 'test'...\n", "\n[10:32:14] Finished\n"),
    "yarn's lines": ("yarn run v1.22\n$ jest --json\n", "\nDone in 1.20s.\n"),
    "a line before": ("Debugger attached.\n", ""),
    "a line after": ("", "\nnpm notice New version\n"),
    "white space": ("\r\n  ", "\r\n\r\n"),
}


@table(("before", "after"), AROUND.values(), ids=AROUND)
@table("text", [JEST, INDENTED, JUNIT])
def test_lines_around_a_report_are_no_part_of_it(before, after, text):
    for data in ((before + text + after).encode(), (before + text + after).encode("utf-16")):
        for name in (None, "junit" if text == JUNIT else "jest-json"):
            report = registry.read(data, format=name)
            assert not isinstance(report, Unreadable), report
            assert report.tests == report.passed == 1


@table("text", [JEST, INDENTED, JUNIT])
@table("before", ["", BANNER])
def test_of_several_reports_in_one_text_none_is_chosen(before, text):
    assert isinstance(registry.read(f"{before}{text}\n{text}\n".encode()), Unreadable)


@table("text", [INDENTED, JUNIT])
def test_a_report_cut_short_below_other_lines_is_none(text):
    for end in range(len(text)):
        assert isinstance(registry.read((BANNER + text[:end]).encode()), Unreadable), text[:end]


def test_findings_below_other_lines_have_their_places():
    ruff = [{"code": "F401", "filename": "a.py", "location": {"row": 3}, "end_location": None, "message": "m"}]
    data = f"$ ruff check\n{json.dumps(ruff)}\n".encode()
    for name in (None, "ruff-json"):
        assert [each.text for each in registry.diagnostics(data, format=name)] == ["a.py:3 F401 m"]
    assert registry.diagnostics(b"$ ruff check\n{}\n") == ()
