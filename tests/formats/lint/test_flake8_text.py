"""What flake8 and pycodestyle print; what looks like it and is another tool's."""

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import LintReport, Unreadable
from ralph_tracker.formats.report_content import Content
from tests.tables import table

FINDING = "a.py:1:1: F401 'os' imported but unused\n"


def read(text: str, **more) -> LintReport | Unreadable:
    result = registry.read(text.encode(), **more)
    assert isinstance(result, LintReport | Unreadable)
    return result


@table(
    ("line", "expected"),
    [
        ("./a.py:66:121: E501 line too long (143 > 120 characters)", ("E501", "error")),
        ("a.py:66:121: W292 no newline at end of file", ("W292", "warning")),
        ("a.py:1:1: F401 'os' imported but unused", ("F401", "error")),
        ("a.py:1:1: C901 'f' is too complex (12)", ("C901", "warning")),
        ("a.py:1:1: ABC123 plugin", ("ABC123", "warning")),
        ("C:\\src dir\\a.py:1:1: E999 SyntaxError: invalid syntax", ("E999", "error")),
        ("a.py:7: [F401] 'db' imported but unused", ("F401", "error")),
        (
            "\x1b[1ma.py\x1b[m\x1b[36m:\x1b[m1\x1b[36m:\x1b[m1\x1b[36m:\x1b[m \x1b[1m\x1b[31mF401\x1b[m m",
            ("F401", "error"),
        ),
    ],
)
@table("end", ["\n", "\r\n", ""])
def test_a_finding(line, expected, end):
    assert read(line + end) == LintReport(findings={expected: 1})


def test_other_lines_are_skipped_and_counted():
    report = read(f"{FINDING}import os\n^\n\n1     F401 'os' imported but unused\n1\n")
    assert report == LintReport(findings={("F401", "error"): 1}, skipped_lines=4)


@table(
    "line",
    [
        "a.py:1:12: invalid-syntax: Expected a parameter",
        "a.py:1:1: SyntaxError: x",
        "a.py:3: error: Incompatible types  [assignment]",
    ],
)
def test_a_finding_of_another_tool_among_them_makes_it_unreadable(line):
    assert read(f"{FINDING}{line}\n") == Unreadable("a finding, but not of flake8", 2)


def test_a_syntax_error_that_ruff_writes_as_pylint_does_counts():
    report = read("b.py:1: [CPY001] Missing\na.py:1: [invalid-syntax] Expected a parameter\n")
    assert report == LintReport(findings={("CPY001", "warning"): 1, ("invalid-syntax", "error"): 1})


@table("end", ["Found 1 error.\n", "Found 2 errors (1 fixed, 1 remaining).\n", "[*] 1 fixable with --fix\n"])
def test_the_output_of_ruff_is_not_taken_for_it(end):
    assert registry.recognise(Content((FINDING + end).encode())) in (None, registry.BY_NAME["ruff-text"])


@table(
    "text",
    [
        "main.go:3:5: exported var V should have comment\n",
        "a.c:1:2: error: x\n",
        "Gemfile:4:1: C: Extra blank line detected.\n",
        "a.py:1: B404[bandit]: LOW: Consider\n",
        "pet.proto:42:10:Field name\n",
        "a.yml:1:1: [error] wrong\n",
        "  a.py:1:1: F401 indented\n",
    ],
)
def test_the_output_of_others_is_not_taken_for_it(text):
    assert read(text) == Unreadable("not a report of a known format")


def test_half_a_finding_at_the_end_is_cut_short():
    assert read(f"{FINDING}b.py:1") == Unreadable("cut short: the last line is half a finding", 2)


def test_no_finding_is_no_report():
    assert read("hello\n", format="flake8-text") == Unreadable("no line is a finding of flake8")
