"""Ruff's text and lines, and the JSON of Bandit, Biome and oxlint: a partial or foreign report is never a clean one."""

import json

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import LintReport, Unreadable
from tests.tables import table


def read(text: object, **more):
    return registry.read((text if isinstance(text, str) else json.dumps(text)).encode(), **more)


CONCISE = "a.py:2:8: F401 [*] `os` imported but unused\nb.py:1:10: invalid-syntax: Expected `)`\n"
FULL = "F401 [*] `os` imported but unused\n --> a.py:2:8\n  |\n2 | import os\n  |        ^^\nhelp: Remove it\n\n"
# id: text, findings
RUFF = {
    "concise": (CONCISE + "Found 2 errors.\n[*] 1 fixable with `--fix`.\n", 2),
    "full": (FULL + "Found 1 error.\n", 1),
    "after fixes": (FULL + "Found 3 errors (2 fixed, 1 remaining).\n", 1),
    "two runs": (CONCISE + "Found 2 errors.\n" + FULL + "Found 1 error.\n", 3),
    "clean": ("All checks passed!\n", 0),
}


@table(("text", "results"), RUFF.values(), ids=RUFF)
def test_ruffs_text_has_as_many_errors_as_it_ends_with(text, results):
    report = read(text)
    assert isinstance(report, LintReport), report
    assert report.results == report.errors == results


@table("text", [CONCISE + "Found 3 errors.\n", CONCISE, "warning: no files\nAll checks passed!\n"])
def test_ruffs_text_of_which_not_all_is_read_is_no_report(text):
    assert isinstance(read(text, format="ruff-text"), Unreadable)


def test_ruffs_findings_have_their_place():
    data = (CONCISE + FULL + "Found 3 errors.\n").encode()
    assert [each.text for each in registry.diagnostics(data)] == [
        "a.py:2 F401 `os` imported but unused",
        "b.py:1 invalid-syntax Expected `)`",
        "a.py:2 F401 `os` imported but unused",
    ]


LINE = json.dumps({"code": None, "filename": "a.py", "location": {"row": 3}, "end_location": {}, "message": "m"})


def test_lines_of_ruff_among_others_count():
    assert read(f"$ ruff\n{LINE}\n{LINE}\ndone\n").findings == {("invalid-syntax", "error"): 2}


@table("text", [f'{LINE}\n{{"other": 1}}\n', f"{LINE}\n{LINE[:30]}"])
def test_an_object_that_is_no_finding_of_ruff_makes_it_unreadable(text):
    assert isinstance(read(text), Unreadable)


BANDIT = {"errors": [], "generated_at": "", "metrics": {"_totals": {}, "a.py": {}}, "results": []}


@table(
    ("severity", "counts"), [("HIGH", (1, 0, 0)), ("MEDIUM", (0, 1, 0)), ("LOW", (0, 0, 1)), ("UNDEFINED", (0, 1, 0))]
)
def test_a_finding_is_as_grave_as_bandit_says(severity, counts):
    found = read({**BANDIT, "results": [{"test_id": "B602", "issue_severity": severity}]})
    assert (found.errors, found.warnings, found.notes) == counts


@table(
    "change",
    [{"errors": [{"filename": "a.py"}]}, {"results": None}, {"results": [7]}, {"metrics": {"_totals": {}}}],
)
def test_what_is_no_whole_report_of_bandit_is_unreadable(change):
    assert read(BANDIT) == LintReport()
    assert isinstance(read({**BANDIT, **change}), Unreadable)


def biome(errors: int, warnings: int, *listed: str, checked: int = 1) -> dict[str, object]:
    summary = {"changed": 0, "unchanged": checked, "errors": errors, "warnings": warnings, "infos": 0}
    found = [{"severity": word, "category": "c", "message": "m", "location": {"path": "a.js"}} for word in listed]
    return {"summary": summary, "diagnostics": found, "command": "lint"}


@table(
    ("report", "findings"),
    [
        (biome(1, 1, "error", "warning"), {("c", "error"): 1, ("c", "warning"): 1}),
        (
            biome(30, 2, "error", "warning"),
            {("c", "error"): 1, ("c", "warning"): 1, ("", "error"): 29, ("", "warning"): 1},
        ),
        (biome(0, 0), {}),
        (biome(0, 0, "information"), {("c", "note"): 1}),
    ],
)
def test_findings_that_biome_only_counts_count_too(report, findings):
    assert read(report).findings == findings


@table("report", [biome(0, 0, checked=0), {**biome(0, 0), "summary": {}}, biome(10**12, 0)])
def test_a_run_of_biome_over_no_file_is_no_report(report):
    assert isinstance(read(report), Unreadable)


def oxlint(files: int, **found: object) -> dict[str, object]:
    return {
        "diagnostics": [{"message": "m", "severity": "warning", "filename": "a.js", **found}],
        "number_of_files": files,
    }


@table("labels", [None, [], [{"span": {"line": 3}}]])
def test_a_finding_of_oxlint_may_have_no_line(labels):
    assert read(oxlint(1, labels=labels)).warnings == 1
    line = ":3" if labels else ""
    found = registry.diagnostics(json.dumps(oxlint(1, labels=labels)).encode())
    assert [each.text for each in found] == [f"a.js{line} m"]


def test_a_run_of_oxlint_over_no_file_is_no_report():
    assert read({"diagnostics": [], "number_of_files": 0}).why == "oxlint checked no file"
    assert read({"diagnostics": [], "number_of_files": 1}) == LintReport()
