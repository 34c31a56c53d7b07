"""How grave a finding is: the tool's word, else the code."""

from ralph_tracker.formats.diagnostics import code_text, overridden_severity, severity_of, severity_of_word
from tests.tables import table


@table(
    ("words", "expected"),
    [
        (["error", "Error", "FATAL", "critical", "high"], "error"),
        (["warning", "WARN", "medium"], "warning"),
        (["note", "info", "information", "style", "help", "hint", "low", "convention", "refactor"], "note"),
        (["none", "ignore"], "none"),
        (["", "odd", None, 2, True, ["error"]], None),
    ],
)
def test_a_word_that_is_given(words, expected):
    assert {severity_of_word(word) for word in words} == {expected}


@table(
    ("code", "expected"),
    [
        ("E501", "error"),
        ("F0001", "error"),
        ("W291", "warning"),
        ("C0114", "warning"),
        ("ERA001", "warning"),
        ("errcheck", "warning"),
        ("F", "warning"),
        ("", "warning"),
    ],
)
def test_without_a_word_the_code_decides(code, expected):
    assert severity_of(None, code) == severity_of("", code) == expected
    assert severity_of("info", code) == "note"


@table(("code", "expected"), [("E1", "E1"), (2086, "2086"), (None, ""), ({}, "")])
def test_a_code_is_text(code, expected):
    assert code_text(code) == expected


def test_nothing_is_overridden_without_a_fitting_prefix():
    assert overridden_severity("E1", {}) is None
    assert overridden_severity("E1", {"E10": "note", "W": "error"}) is None
    assert overridden_severity("E1", {"": "note"}) == "note"
