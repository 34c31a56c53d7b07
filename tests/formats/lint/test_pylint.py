"""Pylint's JSON reports and what it prints."""

import json

import pytest

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import LintReport, Unreadable
from tests.tables import table

RATED = "\n-----\nYour code has been rated at 7.00/10\n\n"


def message(kind: str, code: str) -> dict[str, object]:
    return {"type": kind, "module": "a", "symbol": "s", "message": "m", "message-id": code, "path": "a.py"}


def message2(kind: str, code: str) -> dict[str, object]:
    return {"type": kind, "module": "a", "symbol": "s", "message": "m", "messageId": code, "path": "a.py"}


def read(value: object, **more) -> LintReport | Unreadable:
    data = value.encode() if isinstance(value, str) else json.dumps(value).encode()
    result = registry.read(data, **more)
    assert isinstance(result, LintReport | Unreadable)
    return result


def report2(*messages: object, modules: int = 1, **counts: int) -> dict[str, object]:
    return {"messages": list(messages), "statistics": {"messageTypeCount": counts, "modulesLinted": modules}}


@table(
    ("kind", "severity"),
    [
        ("fatal", "error"),
        ("error", "error"),
        ("warning", "warning"),
        ("convention", "note"),
        ("refactor", "note"),
        ("info", "note"),
        ("odd", "warning"),
    ],
)
def test_the_type_of_a_message_is_its_severity(kind, severity):
    assert read([message(kind, "X1")]).findings == {("X1", severity): 1}
    assert read(report2(message2(kind, "X1"))).findings == {("X1", severity): 1}


def test_totals_that_are_not_what_is_listed_are_told():
    assert read(report2(message2("error", "E1"), error=1, warning=0)).contradiction is None
    report = read(report2(message2("error", "E1"), error=2, warning=1))
    assert report.contradiction == "declared: error 2, warning 1; listed: error 1"
    assert read(report2(error=1)).contradiction == "declared: error 1; listed: nothing"


def test_nothing_found_in_no_module_is_no_report():
    assert read(report2()) == LintReport()
    assert read(report2(message2("fatal", "F0001"), modules=0)).errors == 1
    result = read(report2(modules=0))
    assert result == Unreadable("Pylint linted no module", 1, json.dumps(report2(modules=0)).index("0}") + 1)


@pytest.mark.parametrize("value", [[message("error", "E1"), {}], {"messages": 1, "statistics": {}}])
def test_another_shape_is_unreadable(value):
    assert read(value).why.startswith("no report of Pylint: ")


@table(
    ("line", "code", "severity"),
    [
        ("a.py:1:0: C0114: Missing module docstring (missing-module-docstring)", "C0114", "note"),
        ("a.py:8:11: E0602: Undefined variable 'x' (undefined-variable)", "E0602", "error"),
        ("c:\\a b\\a.py:8:11: F0001: No module (fatal)", "F0001", "error"),
        ("a.py:1: [C0114(missing-module-docstring), ] Missing module docstring", "C0114", "note"),
        ("a.py:6: [W0612(unused-variable), area] Unused variable 'l'", "W0612", "warning"),
        ("a.py:1: [C0111] Missing docstring", "C0111", "note"),
        ("a.py:1: [C0111, func_1] Missing docstring", "C0111", "note"),
        ("a.py(1): [C0410(multiple-imports)] Multiple imports on one line", "C0410", "note"),
        ("a.py(1): [E0001(syntax-error)] Parsing failed: 'invalid syntax (a, line 1)'", "E0001", "error"),
        ("a b.py(5): [R0913(too-many-arguments)C.g] Too many arguments", "R0913", "note"),
        ("\x1b[1ma.py:8:11: E0602: \x1b[1;31mUndefined\x1b[0m (undefined-variable)", "E0602", "error"),
    ],
)
def test_a_printed_message(line, code, severity):
    for text in (f"************* Module a\n{line}\n", f"{line}\n    source\n    ^{RATED}", f"{RATED}{line}"):
        assert read(text).findings == {(code, severity): 1}


@pytest.mark.parametrize("line", ["a.py:1: [(unused-import), ] m", "a.py:1: [Z9999(new), ] m"])
def test_a_line_without_a_code_of_pylint_is_skipped(line):
    report = read(f"a.py:1:0: C0114: m (s)\n{line}\n\n")
    assert (report.results, report.skipped_lines) == (1, 1)


def test_the_best_rating_alone_is_a_clean_report():
    clean = "\n---\nYour code has been rated at 10.00/10 (previous run: 9.00/10, +1.00)\n"
    assert read(clean) == LintReport(skipped_lines=2)


@pytest.mark.parametrize("text", [RATED, f"E0602 a.py 8 Undefined variable{RATED}", f"{{'a': 1}}{RATED}"])
def test_messages_in_a_layout_of_their_own_are_no_clean_report(text):
    assert isinstance(read(text), Unreadable)


def test_text_that_ends_within_a_line_is_cut_short():
    result = read("a.py:1:0: C0114: m (s)\na.py:2:0: C01")
    assert result == Unreadable("cut short: the last line has no end, and pylint's rating is missing")


def test_text_of_something_else_is_no_report():
    assert read("hello\n", format="pylint-text") == Unreadable(
        "no line is a message of pylint; leave its layout as it is, or use --output-format=json"
    )
