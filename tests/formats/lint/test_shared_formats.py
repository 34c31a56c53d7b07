"""Formats that several linters and type checkers write: JUnit, GitLab's code quality, GitHub's annotations."""

import json

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import LintReport, TestReport, TypeReport, Unreadable
from tests.tables import table


def read(text: str, **more):
    return registry.read(text.encode(), **more)


def counts(report: LintReport | TypeReport) -> tuple[int, int, int]:
    assert not isinstance(report, Unreadable), report
    return report.errors, report.warnings, report.notes


def suite(
    child: str, name: str = "a.py", root: str = 'name="ruff"', case: str = 'name="org.ruff.F401" line="3"'
) -> str:
    return f'<testsuites {root}><testsuite name="{name}"><testcase {case}>{child}</testcase></testsuite></testsuites>'


PROPERTY = '<properties><property name="severity" value="{}"/></properties>'
FAILURE = '<failure message="m">line 3, col 1, m</failure>'
# id: the case, errors, warnings and notes
SEVERITIES = {
    "none said": (suite(FAILURE), (1, 0, 0)),
    "a property": (suite(PROPERTY.format("warning") + FAILURE), (0, 1, 0)),
    "oxlint's failure": (suite(FAILURE, root='name="Oxlint"'), (0, 1, 0)),
    "oxlint's error": (suite('<error message="m"/>', root='name="Oxlint"'), (1, 0, 0)),
    "Bandit's type": (suite('<error type="MEDIUM" message="m"/>', name="bandit", root=""), (0, 1, 0)),
    "ESLint's word": (suite("<failure>line 1, col 3, Warning - m</failure>", root='package="org.eslint"'), (0, 1, 0)),
    "Biome's number of errors": (suite(FAILURE, root='name="Biome" errors="0"'), (0, 1, 0)),
    "nothing failed": (suite(""), (0, 0, 0)),
    "skipped": (suite("<skipped/>"), (0, 0, 0)),
}


@table(("text", "expected"), SEVERITIES.values(), ids=SEVERITIES)
@table("kind", [None, "lint", "types"])
def test_a_failed_case_of_a_linter_is_a_finding(text, expected, kind):
    report = read(text, kind=kind)
    assert counts(report) == expected
    assert isinstance(report, TypeReport if kind == "types" else LintReport)


OF_ANY_TOOL = suite('<failure type="warning">m</failure>', root="", case='name="errcheck" classname="a.go:12:3"')


@table(("kind", "shape"), [(None, TestReport), ("tests", TestReport), ("lint", LintReport), ("types", TypeReport)])
def test_what_junit_of_any_other_tool_is_says_its_check(kind, shape):
    report = read(OF_ANY_TOOL, kind=kind)
    assert isinstance(report, shape)
    if shape is not TestReport:
        assert counts(report) == (0, 1, 0)


PLACES = {
    "ruff": (suite(FAILURE), "a.py:3 F401 m"),
    "golangci-lint": (OF_ANY_TOOL.replace('"a.py"', '"a.go"'), "a.go:12 errcheck m"),
    "Bandit": (
        suite(
            '<error type="LOW" message="m">Test ID: B307 Severity: MEDIUM\nLocation ./m.py:8</error>',
            name="bandit",
            root="",
            case='classname="./m.py" name="blacklist"',
        ).replace("LOW", "HIGH"),
        "./m.py:8 B307 m",
    ),
}


@table(("text", "shown"), PLACES.values(), ids=PLACES)
def test_a_finding_has_its_place_and_its_rule(text, shown):
    assert [each.text for each in registry.diagnostics(text.encode(), kind="lint")] == [shown]


MYPY = suite(
    '<failure message="mypy produced messages">a.py:1: error: x  [misc]\na.py:2: error: y  [misc]\n'
    "a.py:3: note: z</failure>",
    name="mypy",
    root="",
    case='name="mypy-py3_13-linux"',
)


def test_a_case_of_mypy_holds_all_that_it_prints():
    assert counts(read(MYPY, kind="types")) == (2, 0, 1)
    long = MYPY.replace("a.py:1", "a" * 70_000 + ".py:1")
    assert read(long, kind="types").why.startswith("mypy's output is too long for JUnit")


def test_another_root_is_no_junit():
    assert isinstance(read("<other/>", format="linter-junit"), Unreadable)


def quality(severity: object, check: object = "F401", **location: object) -> str:
    place = {"path": "a.py", **(location or {"lines": {"begin": 3}})}
    return json.dumps(
        [{"check_name": check, "description": "m", "fingerprint": "f", "severity": severity, "location": place}]
    )


QUALITY = {
    "ruff's error": (quality("major"), (1, 0, 0)),
    "ruff's warning": (quality("minor"), (0, 1, 0)),
    "an information": (quality("info"), (0, 0, 1)),
    "a blocker": (quality("blocker"), (1, 0, 0)),
    "Biome's warning": (quality("major", "lint/suspicious/noVar"), (0, 1, 0)),
    "Biome's error": (quality("critical", "lint/suspicious/noVar"), (1, 0, 0)),
    "oxlint's warning": (quality("major", "typescript(no-var)"), (0, 1, 0)),
    "oxlint's syntax error": (quality("critical", ""), (1, 0, 0)),
    "no severity": (quality(None, "no-var"), (0, 1, 0)),
}


@table(("text", "expected"), QUALITY.values(), ids=QUALITY)
@table("kind", [None, "lint", "types"])
def test_a_code_quality_issue_is_as_grave_as_its_tool_means(text, expected, kind):
    assert counts(read(text, kind=kind)) == expected


@table("location", [{"lines": {"begin": 3}}, {"positions": {"begin": {"line": 3, "column": 1}}}])
def test_a_code_quality_issue_has_its_place(location):
    found = registry.diagnostics(quality("major", **location).encode())
    assert [each.text for each in found] == ["a.py:3 F401 m"]


@table(("kind", "shape"), [(None, LintReport), ("lint", LintReport), ("types", TypeReport)])
def test_an_empty_list_is_clean_for_what_it_is_said_to_be_of(kind, shape):
    assert read("[]", kind=kind) == shape()


@table("kind", ["tests", "coverage"])
def test_an_empty_list_tells_nothing_of_tests(kind):
    assert read("[]", kind=kind) == Unreadable(f"an empty list, which tells nothing of {kind}")


ANNOTATIONS = {
    "ruff": (
        "::error title=ruff (F401),file=/p/a.py,line=3,col=8::a.py:3:8: F401 m",
        "/p/a.py:3 F401 a.py:3:8: F401 m",
    ),
    "Pylint": ("::warning file=a.py,line=3,endline=,col=0,title=W0611::Unused, yes", "a.py:3 W0611 Unused, yes"),
    "escaped": ("::error file=a%2Cb.py,line=3,title=x%3Ay::50%25%0Ahelp", "a,b.py:3 x:y 50%"),
}


@table(("line", "shown"), ANNOTATIONS.values(), ids=ANNOTATIONS)
def test_an_annotation_has_its_place_and_its_rule(line, shown):
    data = f"hello\n{line}\n".encode()
    assert [each.text for each in registry.diagnostics(data)] == [shown]
    assert (registry.read(data).results, registry.read(data).skipped_lines) == (1, 1)


def test_annotations_are_counted_by_their_words():
    lines = "".join(f"::{word} file=a,title=b::m\n" for word in ("error", "warning", "notice", "debug"))
    assert counts(read(lines)) == (1, 1, 1)
    assert counts(read(lines, kind="types")) == (1, 1, 1)


@table("text", ["::error file=a,title=b::m", "::error::no place\n", "::error file=a::no rule\n"])
def test_other_annotations_are_no_report(text):
    assert isinstance(read(text, format="github-text"), Unreadable)


ISSUE = "##vso[task.logissue type={};sourcepath=a%3Bb.py;linenumber=3;code=F401;]Unused%5D\n"


def test_an_issue_of_azure_has_its_place_and_its_rule():
    data = f"hello\n{ISSUE.format('error')}".encode()
    assert [each.text for each in registry.diagnostics(data)] == ["a;b.py:3 F401 Unused]"]
    assert (registry.read(data).results, registry.read(data).skipped_lines) == (1, 1)
    assert counts(read(ISSUE.format("error") + ISSUE.format("warning"), kind="types")) == (1, 1, 0)


@table("text", [ISSUE.format("error").rstrip(), "##vso[task.logissue type=error;]no place\n", "##vso[task.complete]\n"])
def test_other_commands_of_azure_are_no_report(text):
    assert isinstance(read(text, format="azure-text"), Unreadable)


def of_reviewdog(severity: object = None, code: object = None) -> dict:
    place = {"path": "a.py", "range": {"start": {"line": 3, "column": 1}}}
    return {"message": "m", "location": place, "severity": severity, "code": code}


@table(
    ("source", "whole", "severity", "expected"),
    [
        ("x", None, "ERROR", (1, 0, 0)),
        ("x", "ERROR", "INFO", (0, 0, 1)),
        ("x", "ERROR", None, (1, 0, 0)),
        ("x", None, None, (0, 1, 0)),
        ("x", None, 1, (1, 0, 0)),
        ("ruff", "WARNING", None, (1, 0, 0)),
    ],
)
def test_a_diagnostic_of_reviewdog_is_as_grave_as_it_or_the_report_says(source, whole, severity, expected):
    found = of_reviewdog(severity, {"value": "no-eval"})
    report = {"source": {"name": source}, "severity": whole, "diagnostics": [found]}
    assert counts(read(json.dumps(report))) == expected
    listed = registry.diagnostics(json.dumps(report).encode())
    assert [each.text for each in listed] == ["a.py:3 no-eval m"] * (1 - expected[2])
    line = json.dumps({**found, "severity": severity or whole, "source": {"name": source}})
    if source != "ruff":
        assert counts(read(line)) == expected


def test_a_line_of_ruff_for_reviewdog_is_an_error():
    assert counts(read(json.dumps({**of_reviewdog(), "source": {"name": "ruff"}}))) == (1, 0, 0)


@table("line", ['{"message": "m", "location": 7}', "{half"])
def test_a_line_that_is_no_diagnostic_makes_the_report_unreadable(line):
    assert isinstance(read(f"{json.dumps(of_reviewdog())}\n{line}\n", format="rdjson-lines"), Unreadable)


GROUPED = "a.py:\n  1:8  F401 [*] `os` imported\n\nb:c.py:\n  4:5  invalid-syntax: unexpected\n\nFound {} errors.\n"


def test_ruff_s_findings_by_group_have_the_file_above_them():
    assert counts(read(GROUPED.format(2))) == (2, 0, 0)
    texts = [each.text for each in registry.diagnostics(GROUPED.format(2).encode())]
    assert texts == ["a.py:1 F401 `os` imported", "b:c.py:4 invalid-syntax unexpected"]
    assert isinstance(read(GROUPED.format(3)), Unreadable)
