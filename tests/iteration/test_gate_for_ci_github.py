"""The gate for GitHub Actions: annotations that are one command each, a summary that is only text."""

import re
from pathlib import PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ralph_tracker.core.alert_types import TYPE_BY_NAME, Alert
from ralph_tracker.core.integrity_result import Finding, Severity
from ralph_tracker.iteration.gate_for_ci import SHOWN, SUMMARY_CAP, Annotation, annotations, step_summary
from ralph_tracker.iteration.gate_worktree import gate_of
from ralph_tracker.measure.report_totals import MetricSource
from tests.tables import table

NAMES = {f"t{number:02d}": "passed" for number in range(30)}


def nowhere(_test):
    return None


def unescaped(text: str) -> str:
    for code, char in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
        text = text.replace(code, char)
    return text


# id: an annotation → its command
COMMANDS = {
    "place": (
        Annotation(level="error", title="T", message="m", file="a/b.py", line=3),
        "::error file=a/b.py,line=3,title=T::m",
    ),
    "no line": (Annotation(level="warning", title="T", message="m", file="a.py"), "::warning file=a.py,title=T::m"),
    "no place": (Annotation(level="notice", title="T", message="m"), "::notice title=T::m"),
    "message": (
        Annotation(level="error", title="T", message="100%: a,b\r\nc\n::warning::x"),
        "::error title=T::100%25: a,b%0A%0Ac%0A::warning::x",
    ),
    "properties": (
        Annotation(level="error", title="a::b, 50%\n", message="", file="x,line=1:.py"),
        "::error file=x%2Cline=1%3A.py,title=a%3A%3Ab%2C 50%25%0A::",
    ),
    "hidden characters": (
        Annotation(level="error", title="\x1b[1m", message="\u202eabc\x85"),
        "::error title=\\u001b[1m::\\u202eabc\\u0085",
    ),
}


@table("case", COMMANDS)
def test_an_annotation_is_one_command(case):
    annotation, command = COMMANDS[case]
    assert annotation.command == command


@given(title=st.text(), message=st.text(), file=st.none() | st.text())
def test_whatever_the_texts_hold_the_command_is_one_line_with_the_same_parts(title, message, file):
    command = Annotation(level="error", title=title, message=message, file=file).command
    assert len(command.splitlines()) == 1
    properties, separator, data = command.removeprefix("::error ").partition("::")
    assert separator == "::"
    assert [part.partition("=")[0] for part in properties.split(",")] == (
        ["title"] if file is None else ["file", "title"]
    )
    if message.isprintable():
        assert unescaped(data) == message


@pytest.fixture
def broken(driven):
    """Return a gate with 25 tests that fail now, one gone, and coverage that fell."""
    driven.start(tests=NAMES)
    later = {name: "failed" for name in NAMES if name < "t25"} | {f"t{number}": "passed" for number in range(25, 29)}
    return driven.gate(tests=later, coverage_percentage=70.0)


def test_a_test_is_annotated_where_it_stands(broken):
    found = annotations(broken, lambda test: ("tests/a.py", 7) if test == "t03" else None)
    (placed,) = [annotation for annotation in found if annotation.file]
    assert (placed.level, placed.title, placed.file, placed.line) == ("error", "Working tests failing", "tests/a.py", 7)
    assert placed.message.startswith("t03: Previously passing tests now failing")


def test_critical_and_class_are_errors_and_the_rest_warnings(broken):
    found = annotations(broken, nowhere)
    assert [(annotation.level, annotation.title) for annotation in found] == [
        ("error", "Test deletion"),
        ("error", "Working tests failing"),
        ("error", "Class regression"),
        ("warning", "Coverage regression"),
    ]


def test_what_gave_nothing_is_an_error(driven):
    driven.start()
    found = annotations(driven.gate(build_status=None), nowhere)
    assert [(a.level, a.title) for a in found] == [("error", "Not measured: build")]


def test_more_than_github_shows_is_counted(broken):
    found = annotations(broken, lambda test: ("tests/a.py", None))
    levels = [annotation.level for annotation in found]
    assert (levels.count("error"), levels.count("warning")) == (SHOWN, 1)
    assert found[-1] == Annotation(
        level="notice", title="ralph-tracker gate", message="and 17 errors more, not shown here"
    )


def test_the_summary_says_verdict_reasons_alerts_with_tests_and_numbers(broken):
    text = step_summary(broken).decode()
    assert text.startswith("## ralph-tracker gate: regression\n\nCompared with iteration 0 of ralph-001: regression, ")
    assert "\n### Why\n\n- test_deletion: Test count decreased from 30 to 29" in text
    assert "\n- **CRITICAL** working_tests_failing: " in text
    assert "\n### Now failing\n\n- t00\n" in text
    assert "\n- t07\n- and 17 more\n" in text
    assert "\n| Test Count | 29 | -1 |\n" in text
    assert "\n| Build | success | n/a |\n" in text


def test_the_summary_of_a_pass_says_what_was_accepted_and_gives_no_reason(driven):
    driven.start()
    driven.turn(lint_errors=None)
    driven.tracker.accept("it1-metric_missing-lint", "known")
    text = step_summary(driven.gate(lint_errors=None)).decode()
    assert text.startswith("## ralph-tracker gate: pass\n")
    assert "\n### Accepted\n\n- it1-metric_missing-lint: Lint could not be measured" in text
    assert "### Why" not in text
    assert "### Alerts" not in text


def test_the_summary_names_every_test_that_fails(driven):
    red = NAMES | {"t00": "failed"}
    driven.start(tests=red)
    text = step_summary(driven.gate(tests=red | {"t01": "failed"})).decode()
    assert "\n### Now failing\n\n- t01\n\n### Still failing\n\n- t00\n" in text
    assert "failing\n" not in step_summary(driven.gate(tests=NAMES)).decode()


def test_an_alert_that_is_still_open_says_since_when(driven):
    driven.start()
    driven.turn(test_count=9, tests_passed=9)
    assert "(open since iteration 1)" in step_summary(driven.gate(test_count=9, tests_passed=9)).decode()


HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "[x](https://a.example)",
    "a|b",
    "# h",
    "`c`",
    "\n## h",
    "::error::x",
    "@a $x$",
)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_in_the_summary_is_only_text(driven, name):
    driven.start(tests={**NAMES, name: "passed"})
    gate = driven.gate(tests=NAMES)
    gate = gate_of(gate.record, 0, {}, (MetricSource(name, None, name),))
    text = step_summary(gate).decode()
    tokens = MarkdownIt("js-default", {"html": True}).parse(text)
    kinds = {token.type for token in tokens} | {t.type for token in tokens for t in token.children or ()}
    assert not kinds & {"html_block", "html_inline", "link_open", "image", "code_inline", "fence"}
    assert [token.content for token in tokens if token.type == "inline" and token.content.startswith("h")] == []
    headings = [tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "heading_open"]
    assert headings == ["ralph-tracker gate: regression", "Why", "Alerts"]
    assert not re.search(r"^::", text, re.MULTILINE)


def test_a_summary_over_the_limit_is_cut_at_a_line_that_says_so(broken):
    whole = step_summary(broken)
    assert len(whole) < SUMMARY_CAP
    assert step_summary(broken, len(whole)) == whole
    cut = step_summary(broken, len(whole) - 1)
    assert len(cut) <= len(whole) - 1
    *kept, blank, last = cut.decode().splitlines()
    assert (blank, last) == ("", "_Cut here: a step summary holds 1 MiB; `ralph-tracker gate --json` has the rest._")
    assert whole.decode().startswith("".join(f"{line}\n" for line in kept))


def test_a_summary_of_thousands_of_tests_has_at_most_sixty_lines(driven):
    names = {f"tests/test_{number}.py::{'x' * 3000}": "passed" for number in range(4000)}
    driven.start(tests=names | {f"red{number}": "failed" for number in range(50)}, lint_errors=0)
    later = {name: "failed" for name in names if "9" in name} | {f"red{number}": "failed" for number in range(40)}
    text = step_summary(driven.gate(tests=later, coverage_percentage=1.0, lint_errors=90, file_count=1)).decode()
    assert 30 < len(text.splitlines()) <= 60
    assert max(map(len, text.splitlines())) < 600


@pytest.mark.parametrize("room", [0, 50, -5])
def test_no_room_at_all_gives_nothing(broken, room):
    assert step_summary(broken, room) == b""


def test_a_finding_is_shown_where_it_stands(driven):
    driven.start()
    finding = Finding(
        rule="R2", severity=Severity.CRITICAL, message="can never fail", file="tests/a.py", line=7, test="test_lid"
    )
    note = finding._replace(severity=Severity.MEDIUM, test=None, line=None, about="other")
    alert = Alert(kind=TYPE_BY_NAME["runner_forged"], iteration=1, message="m", findings=(finding, note))
    record = driven.gate().record._replace(alerts=(alert,))
    found = annotations(gate_of(record, 0, {}), nowhere, PurePath("packages/app"))
    assert [each.command for each in found] == [
        "::error file=packages/app/tests/a.py,line=7,title=Runner forged::test_lid: can never fail",
        "::warning file=packages/app/tests/a.py,title=Runner forged::can never fail",
    ]
