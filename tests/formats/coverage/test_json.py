"""Reports of coverage in JSON but coverage.py's: llvm-cov, Istanbul, SimpleCov."""

import json

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import CoverageReport, Unreadable
from tests.tables import table


def read(value: object, **more) -> CoverageReport | Unreadable:
    return registry.read(json.dumps(value).encode(), **more)


def lines(covered: object, total: object, percent: object = 50.0) -> dict[str, object]:
    return {"lines": {"count": total, "covered": covered, "percent": percent}}


def llvm(*exports: tuple[dict[str, object], list[dict[str, object]]]) -> dict[str, object]:
    data = [
        {"totals": total, "files": [{"filename": "a", "summary": file} for file in files]} for total, files in exports
    ]
    return {"data": data, "type": "llvm.coverage.json.export", "version": "2.0.1"}


@table(
    ("value", "expected", "said"),
    [
        (llvm((lines(1, 2), [lines(1, 2)])), (1, 2, 50.0), None),
        (llvm((lines(1, 2), [])), (1, 2, 50.0), None),
        (llvm((lines(1, 2), [lines(0, 1), lines(1, 4)])), (1, 2, 50.0), "declared lines: 1 of 2, listed: 1 of 5"),
        (llvm((lines(1, 2), []), (lines(2, 2, 100), [])), (3, 4, 75.0), None),
        (llvm((lines(0, 0, 0), [])), (0, 0, None), None),
    ],
    ids=["files", "totals", "contradicts", "exports", "nothing"],
)
def test_llvm_cov_is_its_totals_held_to_those_of_the_files(value, expected, said):
    report = read(value)
    assert (report.lines_covered, report.lines_total, report.percent, report.contradiction) == (*expected, said)


@table(
    "value",
    [
        llvm(),
        llvm((lines(3, 2), [])),
        llvm((lines(-1, 2), [])),
        llvm((lines(covered=True, total=2), [])),
        llvm((lines(1.5, 2), [])),
        llvm((lines(1, 2, 101), [])),
        llvm((lines(1, 2, None), [])),
        llvm(({}, [])),
        {"data": {}, "type": "llvm.coverage.json.export", "version": "2.0.1"},
    ],
)
def test_llvm_cov_with_other_numbers_is_unreadable(value):
    assert isinstance(read(value), Unreadable)


def test_another_export_is_not_llvm_covs():
    assert read({"data": [], "type": "other", "version": "1"}).why == "JSON, but no known report"
    assert isinstance(read({"data": [], "type": "other", "version": "1"}, format="llvm-cov-json"), Unreadable)


def part(covered: object, total: object, percent: object = 50) -> dict[str, object]:
    others = {name: {"total": 9, "covered": 9, "pct": 100} for name in ("statements", "functions", "branches")}
    return {"lines": {"total": total, "covered": covered, "skipped": 0, "pct": percent}} | others


@table(
    ("value", "expected", "said"),
    [
        ({"total": part(1, 2), "/a.js": part(1, 2)}, (1, 2, 50.0), None),
        ({"total": part(2, 3, 66.66), "/a.js": part(2, 3)}, (2, 3, 66.66), None),
        ({"total": part(1, 2)}, (1, 2, 50.0), None),
        ({"total": part(1, 2), "/a.js": part(1, 1)}, (1, 2, 50.0), "declared lines: 1 of 2, listed: 1 of 1"),
        ({"total": part(1, 4, 25), "/a.js": part(1, 2), "/.aiwg/ralph/r/a.js": part(0, 2)}, (1, 2, 50.0), None),
        ({"total": part(0, 0, "Unknown")}, (0, 0, None), None),
        ({"total": part(0, 0, 100)}, (0, 0, None), None),
    ],
    ids=["files", "cut-digits", "total", "contradicts", "kept of iterations", "unknown", "nothing"],
)
def test_istanbuls_summary_is_its_total_held_to_those_of_the_files(value, expected, said):
    report = read(value)
    assert (report.lines_covered, report.lines_total, report.percent, report.contradiction) == (*expected, said)


@table("total", [part(3, 2), part(-1, 2), part("1", 2), part(1, 2, 101), part(None, 2), {**part(1, 2), "lines": 1}])
def test_istanbuls_summary_with_other_numbers_is_unreadable(total):
    assert isinstance(read({"total": total}), Unreadable)


def test_istanbuls_summary_without_a_total_is_refused_by_name():
    assert read({"/a.js": part(1, 2)}, format="istanbul-summary") == Unreadable("the summary has no total")
    assert read({"/a.js": part(1, 2)}).why == "JSON, but no known report"


def final(hits: dict[str, object], **statements: object) -> dict[str, object]:
    places = {name: {"start": {"line": line, "column": 0}, "end": {}} for name, line in statements.items()}
    return {"/a.js": {"path": "/a.js", "statementMap": places, "s": hits, "fnMap": {}, "f": {}}}


def test_istanbuls_lines_are_those_on_which_a_statement_begins():
    report = read(final({"a": 0, "b": 2, "c": 0, "gone": 4}, a=1, b=1, c=2, d=3))
    assert report.files == {"/a.js": {1: True, 2: False}}
    assert (report.lines_covered, report.lines_total, report.percent) == (1, 2, 50.0)


@table("value", [final({"a": None}, a=1), final({"a": 1}, a="1"), final({"a": 1}, a=-1), final({"a": 1}, a=None)])
def test_istanbuls_statements_with_other_numbers_are_unreadable(value):
    assert isinstance(read(value), Unreadable)


@table(
    ("coverage", "files"),
    [
        ({"/a.rb": {"lines": [None, 1, 0, "ignored"]}}, {"/a.rb": {2: True, 3: False}}),
        ({"/a.rb": [None, 1, 0]}, {"/a.rb": {2: True, 3: False}}),
        ({"/a.rb": {"lines": [1], "branches": {}}}, {"/a.rb": {1: True}}),
    ],
    ids=["lines", "before-0.18", "branches"],
)
def test_simplecov_lists_a_number_a_line(coverage, files):
    assert read({"RSpec": {"coverage": coverage, "timestamp": 1}}).files == files


def test_simplecov_merges_the_commands_line_by_line():
    commands = {name: {"coverage": {"/a.rb": {"lines": rows}}} for name, rows in (("one", [1, 0]), ("two", [0, 0]))}
    report = read(commands)
    assert (report.lines_covered, report.lines_total) == (1, 2)


@table("rows", [{"lines": [1.5]}, {"lines": 1}, {}, "x", {"lines": [[]]}, {"lines": [True]}])
def test_simplecov_with_other_rows_is_unreadable(rows):
    assert isinstance(read({"RSpec": {"coverage": {"/a.rb": rows}}}), Unreadable)


def test_simplecovs_other_report_is_refused_with_what_to_do():
    report = read({"meta": {"simplecov_version": "0.22"}, "coverage": {}, "groups": {}})
    assert report.why.endswith("name coverage/.resultset.json instead")


@table("name", ["llvm-cov-json", "istanbul-summary", "istanbul-final", "simplecov"])
@table("data", [b"[1]", b"{", b'{"a": NaN}', b'{"a": 1}', b"[" * 100_000, b'{"a": "\xff"}', b"7"])
def test_what_is_something_else_is_unreadable_by_name(name, data):
    assert isinstance(registry.read(data, format=name), Unreadable)


def test_bytes_that_are_no_text_do_not_change_a_count():
    data = json.dumps(final({"a": 1}, a=1)).replace("/a.js", "/\\u00e9.js").encode().replace(b"\\u00e9", b"\xe9")
    assert registry.read(data).lines_covered == 1
