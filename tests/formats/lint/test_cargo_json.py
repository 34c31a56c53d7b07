"""What cargo writes with --message-format=json."""

import json

import pytest

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import LintReport, Unreadable
from tests.tables import table

FINISHED = {"reason": "build-finished", "success": True}
FAILED = {"reason": "build-finished", "success": False}
ARTIFACT = {"reason": "compiler-artifact", "fresh": True}
SPANS = [{"line_start": 1}]


def message(level: object = "warning", code: object = None, spans: object = SPANS) -> dict[str, object]:
    owner = {"code": code} if isinstance(code, str) else code
    return {"reason": "compiler-message", "message": {"level": level, "code": owner, "spans": spans, "message": "m"}}


def lines(*values: object) -> str:
    return "".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in values)


def read(*values: object, cut: int | None = None) -> LintReport | Unreadable:
    result = registry.read(lines(*values)[:cut].encode())
    assert isinstance(result, LintReport | Unreadable)
    return result


@table(
    ("found", "expected"),
    [
        (message("warning", "dead_code"), {("dead_code", "warning"): 1}),
        (message("error", "E0308"), {("E0308", "error"): 1}),
        (message("error"), {("", "error"): 1}),
        (message("error: internal compiler error"), {("", "error"): 1}),
        (message("note", "x"), {("x", "note"): 1}),
        (message("help", "x"), {("x", "note"): 1}),
        (message(None, "x"), {("x", "warning"): 1}),
        (message("warning", "x", []), {("x", "warning"): 1}),
        (message("warning", {"code": None}), {("", "warning"): 1}),
        (message("warning", 7), {("", "warning"): 1}),
        (message("warning", None, []), {}),
        (message("error", None, None), {}),
    ],
)
def test_a_finding_has_a_place_or_a_code(found, expected):
    assert read(ARTIFACT, found, FINISHED) == LintReport(findings=expected)


def test_lines_that_are_no_message_of_cargo_are_skipped_and_counted():
    report = read("   Compiling a v0.1.0", message("warning", "x"), '{"reason": "other"}', "{", "", FINISHED)
    assert report == LintReport(findings={("x", "warning"): 1}, skipped_lines=3)


def test_a_finding_in_two_targets_counts_twice():
    assert read(message("warning", "x"), message("warning", "x"), FINISHED).warnings == 2


def test_a_build_that_failed_without_an_error_that_counts_is_no_report():
    assert read(message("error", "E1"), FAILED).errors == 1
    why = "the build failed, and no error has a location; see cargo's other output"
    assert read(message("warning", "x"), message("error", None, []), FAILED) == Unreadable(why)
    assert read(FINISHED, FAILED, FINISHED) == Unreadable(why)


@pytest.mark.parametrize(("end", "why"), [(-20, "cut short: the last line is half an object"), (-1, None)])
def test_an_end_within_an_object_is_cut_short(end, why):
    result = read(message("warning", "x"), message("warning", "x"), cut=end)
    assert isinstance(result, Unreadable) is (why is not None)
    assert why is None or result.why == why


def test_an_end_within_another_line_is_cut_short_unless_the_build_has_finished():
    why = "cut short: the message with which cargo ends is missing"
    assert read(message("warning", "x"), "warning: build", cut=-1) == Unreadable(why, 2)
    assert read(message("warning", "x"), FINISHED, "warning: build", cut=-1).warnings == 1


def test_newer_cargos_end_with_a_message():
    newer = message("warning", "x") | {"target": {"name": "a", "test": True}}
    assert read(newer) == Unreadable("cut short: the message with which cargo ends is missing", 2)
    assert read(newer, FINISHED).warnings == 1
    assert read(message("warning", "x") | {"target": {"name": "a"}}).warnings == 1


def test_a_message_without_a_message_is_unreadable():
    assert read({"reason": "compiler-message"}) == Unreadable("a compiler-message without a message")


def test_text_of_something_else_is_no_report():
    assert registry.read(b"hello\n", format="cargo-json") == Unreadable("no line is a message of cargo")
    assert read({"reason": ["x"]}) == Unreadable("JSON, but no known report")
