"""mypy's two outputs, and what each cannot tell."""

import json

import pytest

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import TypeReport, Unreadable
from tests.tables import table

FOUND = "Found 1 error in 1 file (checked 3 source files)\n"
SUCCESS = "Success: no issues found in 3 source files\n"
ROW = "a.py:3: error: Wrong  [arg-type]\n"


def read(text: str, **more) -> TypeReport | Unreadable:
    result = registry.read(text.encode(), **more)
    assert isinstance(result, TypeReport | Unreadable)
    return result


def row(severity: str = "error", **more: object) -> str:
    place = {"file": "a.py", "line": 3, "column": 1}
    return json.dumps({**place, "message": "m", "hint": None, "code": "misc", "severity": severity, **more}) + "\n"


@table(
    "line",
    [
        "a.py:3: error: Wrong  [misc]",
        "a.py:3:7: error: Wrong",
        "a.py:3:7:3:9: error: Wrong",
        "a.py: error: Wrong",
        "C:\\box\\a.py:3: error: Wrong",
        "stubs/a.pyi:3: error: Wrong",
        "a dir/a.py:3: error: Wrong",
        "\x1b[1ma.py:3: \x1b[31merror:\x1b(B\x1b[m Wrong",
    ],
)
def test_a_finding_is_known_by_its_place_and_severity(line):
    assert read(f"{line}\n").errors == 1


def test_findings_are_counted_by_severity():
    report = read(f"{ROW}a.py:4: note: See\na.py:5: warning: Odd\n    return 1\n{FOUND}")
    assert report == TypeReport(errors=1, warnings=1, notes=1, skipped_lines=1, declared_errors=1)


def test_a_clean_run_says_so():
    assert read(SUCCESS) == TypeReport(declared_errors=0)
    assert read(f"a.py:4: note: See\n{SUCCESS}").notes == 1


def test_the_greater_of_the_summary_and_the_findings_counts():
    listed_less = read(f"{ROW}Found 3 errors in 2 files (checked 3 source files)\n")
    assert (listed_less.errors, listed_less.contradiction) == (3, "declared errors: 3, listed: 1")
    listed_more = read(ROW * 2 + FOUND)
    assert (listed_more.errors, listed_more.contradiction) == (2, "declared errors: 1, listed: 2")


def test_the_summaries_of_several_runs_add_up():
    assert read(ROW + FOUND + SUCCESS + ROW + FOUND) == TypeReport(errors=2, declared_errors=2)


def test_errors_that_kept_mypy_from_checking_are_told():
    report = read("a.py:3: error: Bad syntax  [syntax]\nFound 1 error in 1 file (errors prevented further checking)\n")
    assert report.stopped
    assert not read(ROW + FOUND).stopped


def test_text_without_a_summary_is_a_report_if_it_has_errors():
    assert read(ROW) == TypeReport(errors=1)
    assert isinstance(read("a.py:4: note: See\n"), Unreadable)


def test_text_that_ends_within_a_line_needs_its_summary():
    assert read(f"{ROW}{ROW[:-3]}").line == 2
    assert read(f"{ROW}{FOUND}".rstrip()).errors == 1


@table(
    "text",
    [
        "a.c:3:1: error: expected ';'\n",
        "error: nothing\n",
        "Found 2 errors in 2 files.\n",
        "usage: mypy [-h]\n",
        "There are no .py[i] files in directory '.'\n",
    ],
)
def test_what_others_write_is_not_taken_for_mypys(text):
    assert read(text) == Unreadable("not a report of a known format")


def test_text_that_is_called_mypys_and_holds_nothing_is_unreadable():
    assert "summary line is missing" in read("usage: mypy [-h]\n", format="mypy-text").why


def test_objects_are_counted_by_severity():
    report = read(row() + row("note") + row("warning") + row())
    assert report == TypeReport(errors=2, warnings=1, notes=1)


def test_lines_that_are_no_finding_are_skipped_and_counted():
    noise = 'checking\n\n{"other": 1}\n{"half\n'
    assert read(f"{noise}{row()}done\n") == TypeReport(errors=1, skipped_lines=4)


def test_windows_line_ends_are_no_matter():
    assert read(row().replace("\n", "\r\n") * 2) == TypeReport(errors=2)


def test_half_an_object_at_the_end_makes_it_unreadable():
    found = read(row() + row()[:-5])
    assert found == Unreadable("cut short: the last line is half an object", 2, len(row()) - 4)


def test_the_last_line_may_do_without_its_end():
    assert read((row() * 2).rstrip()) == TypeReport(errors=2)


@pytest.mark.parametrize("code", [None, "syntax"])
def test_fatal_errors_are_told(code):
    assert read(row(code=code)).stopped
    assert not read(row("note", code=code)).stopped


def test_a_summary_among_objects_counts():
    summary = "Found 2 errors in 1 file (errors prevented further checking)\n"
    report = read(row() + summary)
    assert report == TypeReport(
        errors=2, declared_errors=2, stopped=True, contradiction="declared errors: 2, listed: 1"
    )
    assert read(summary, format="mypy-json").errors == 2


def test_no_finding_among_lines_is_unreadable():
    assert read("one\ntwo\n", format="mypy-json") == Unreadable("no line is a finding of mypy in JSON")


@pytest.mark.parametrize("name", ["mypy-json", "mypy-text"])
def test_silence_is_unreadable_until_the_caller_knows_that_the_tool_succeeded(name):
    assert read("\n", format=name).empty
    assert registry.BY_NAME[name].silence == TypeReport()
