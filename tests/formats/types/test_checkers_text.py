"""The text of ty, Pyrefly and Pyright, and Pyrefly's JSON: what is not read whole is not measured."""

import json

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import TypeReport, Unreadable
from tests.tables import table


def read(text: str, **more):
    return registry.read(text.encode(), **more)


def counts(report):
    assert isinstance(report, TypeReport), report
    return report.errors, report.warnings, report.notes


TY = "a.py:8:16: error[invalid-return] m\nb.py:1:2: warning[possibly-unbound] m\n"
TY_FULL = "error[invalid-return]: m\n --> a.py:8:16\n  |\n8 | return 1\n\n"
TY_FULL += "info[revealed-type]: Revealed type\n --> a.py:9:1\n\n"
PYREFLY = "ERROR a.py:1:10-11: m [bad-return]\n WARN b.py:2:3-4: m [deprecated]\n"
PYREFLY_FULL = "ERROR m [bad-return]\n --> a.py:1:10\n  |\n1 | x\n  | ^\n"
PYRIGHT = '/p/a.py\n  /p/a.py:6:24 - error: Type "int"\n    is not "str" (reportReturnType)\n'
PYRIGHT += "  /p/a.py:7:1 - warning: m (reportX)\n"
# id: text, errors, warnings, notes
TEXTS = {
    "ty, concise": (f"{TY}Found 2 diagnostics\n", (1, 1, 0)),
    "ty, full": (f"{TY_FULL}Found 2 diagnostics\n", (1, 0, 1)),
    "Pyrefly": (PYREFLY, (1, 1, 0)),
    "Pyrefly, full": (PYREFLY_FULL, (1, 0, 0)),
    "Pyrefly with its number": (f"{PYREFLY} INFO 1 error\n", (1, 1, 0)),
    "Pyright": (f"{PYRIGHT}1 error, 1 warning, 0 informations\n", (1, 1, 0)),
    "basedpyright": (f"{PYRIGHT}1 error, 1 warning, 3 notes\n", (1, 1, 3)),
    "Pyright, clean": ("0 errors, 0 warnings, 0 informations \n", (0, 0, 0)),
}


@table(("text", "expected"), TEXTS.values(), ids=TEXTS)
def test_the_findings_of_a_checker_are_counted(text, expected):
    assert counts(read(text)) == expected
    assert counts(read(f"\x1b[1m{text}\x1b[0m".replace("\n", "\r\n"))) == expected


NOT_WHOLE = {
    "ty found more": ("ty-text", f"{TY}Found 3 diagnostics\n"),
    "ty has no end": ("ty-text", TY),
    "Pyrefly found more": ("pyrefly-text", f"{PYREFLY} INFO 1,200 errors\n"),
    "Pyrefly is cut short": ("pyrefly-text", PYREFLY[:-3]),
    "nothing of Pyrefly": ("pyrefly-text", "hello\n"),
    "Pyright has no end": ("pyright-text", PYRIGHT),
    "Pyright found no file": ("pyright-text", "No source files found.\n0 errors, 0 warnings, 0 informations\n"),
}


@table(("name", "text"), NOT_WHOLE.values(), ids=NOT_WHOLE)
def test_a_text_that_is_not_read_whole_is_not_measured(name, text):
    assert isinstance(read(text, format=name), Unreadable)


def test_the_greater_number_of_pyright_counts():
    report = read(f"{PYRIGHT}3 errors, 1 warning, 0 informations\n")
    assert (report.errors, report.contradiction) == (3, "declared errors: 3, listed: 1")


@table(
    ("text", "shown"),
    [
        (f"{TY}Found 2 diagnostics\n", ["a.py:8 invalid-return m", "b.py:1 possibly-unbound m"]),
        (f"{TY_FULL}Found 2 diagnostics\n", ["a.py:8 invalid-return m"]),
        (PYREFLY, ["a.py:1 bad-return m", "b.py:2 deprecated m"]),
        (PYREFLY_FULL, ["a.py:1 bad-return m"]),
        (f"{PYRIGHT}1 error, 1 warning, 0 informations\n", ['/p/a.py:6 Type "int"', "/p/a.py:7 reportX m"]),
    ],
)
def test_findings_have_their_places(text, shown):
    assert [each.text for each in registry.diagnostics(text.encode())] == shown


def pyrefly(**change: object) -> str:
    return json.dumps(
        {"errors": [{"line": 1, "path": "a.py", "name": "n", "description": "m", "severity": "error"} | change]}
    )


@table(("change", "expected"), [({}, (1, 0, 0)), ({"severity": "warn"}, (0, 1, 0)), ({"severity": "info"}, (0, 0, 1))])
def test_pyreflys_json_is_counted_by_severity(change, expected):
    assert counts(read(pyrefly(**change))) == expected


@table("text", ['{"errors": [7]}', '{"errors": {}}', '{"errors": [], "data": null}', pyrefly()[:-5]])
def test_another_list_of_errors_is_none_of_pyrefly(text):
    assert isinstance(read(text), Unreadable)
