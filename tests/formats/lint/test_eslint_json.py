"""ESLint's JSON report: messages by severity and rule, suppressed ones apart."""

import json

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import LintReport, Unreadable
from tests.tables import table


def file(*messages: dict[str, object], **more: object) -> dict[str, object]:
    return {"filePath": "/a.js", "messages": list(messages), **more}


def read(value: object, **more) -> LintReport | Unreadable:
    result = registry.read(json.dumps(value).encode(), **more)
    assert isinstance(result, LintReport | Unreadable)
    return result


@table(
    ("message", "expected"),
    [
        ({"ruleId": "semi", "severity": 2}, ("semi", "error")),
        ({"ruleId": "semi", "severity": 1}, ("semi", "warning")),
        ({"ruleId": None, "severity": 1}, ("", "warning")),
        ({"ruleId": None, "severity": 2, "fatal": True}, ("fatal", "error")),
        ({"ruleId": None, "severity": 1, "fatal": True}, ("fatal", "error")),
        ({"ruleId": "semi", "severity": 2, "fatal": False}, ("semi", "error")),
        ({"message": "m"}, ("", "none")),
    ],
)
def test_the_severity_of_a_message(message, expected):
    assert read([file(message)]).findings == {expected: 1}
    assert read({"results": [file(message)], "metadata": {}}).findings == {expected: 1}


def test_suppressed_messages_stand_apart():
    report = read([file({"ruleId": "semi", "severity": 2}, suppressedMessages=[{}, {}]), file()])
    assert (report.results, report.suppressed) == (1, 2)


def test_totals_that_are_not_what_is_listed_are_told():
    error = {"ruleId": "semi", "severity": 2}
    assert read([file(error, errorCount=1, warningCount=0), file(errorCount=0, warningCount=0)]).contradiction is None
    report = read([file(error, errorCount=3, warningCount=0)])
    assert (report.errors, report.contradiction) == (
        1,
        "declared errors: 3, warnings: 0; listed errors: 1, warnings: 0",
    )
    assert read([file(error, errorCount="3")]).contradiction is None


def test_no_message_is_a_clean_report():
    assert read([file()]) == LintReport()
    assert read([], format="eslint-json") == LintReport()


@table(
    "value", [[file(), {"filePath": "b.js"}], {"results": 1, "metadata": {}}, [file() | {"messages": [1]}], [file(), 1]]
)
def test_another_shape_is_unreadable_and_says_where(value):
    result = read(value)
    assert isinstance(result, Unreadable)
    assert result.why.startswith("no report of ESLint: ")
    assert (result.line, result.column) > (0, 0)
