"""Reports of coverage in text: LCOV, Go's coverprofile, coverage.py's table and its data."""

import pytest

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import Block, CoverageReport, Unreadable
from tests.tables import table


def read(text: str, **more) -> CoverageReport | Unreadable:
    return registry.read(text.encode(), **more)


def counts(report: CoverageReport | Unreadable) -> tuple[int, int, int]:
    assert isinstance(report, CoverageReport), report
    return report.lines_covered, report.lines_total, report.skipped_lines


def record(*lines: str, file: str = "a.c") -> str:
    return "\n".join([f"SF:{file}", *lines, "end_of_record", ""])


@table(
    ("text", "expected", "said"),
    [
        (record("DA:1,1", "DA:2,0"), (1, 2, 0), None),
        (record("DA:1,1,checksum", "DA:1000000000000,0"), (1, 2, 0), None),
        (record("DA:1,0", "DA:1,3", "DA:1,0"), (1, 1, 0), None),
        (record("DA:1,-1"), (0, 1, 0), None),
        (record("DA:1,1", "LF:1", "LH:1").replace("\n", "\r\n"), (1, 1, 0), None),
        (record("DA:1,1", "LF:3", "LH:2"), (1, 1, 0), "declared lines: 2 of 3, listed: 1 of 1"),
        (record("DA:1,1", "LF:x"), (1, 1, 0), None),
        (record("DA:1,1", "DA:2", "DA:x,1", "DA:3,x", "DA:"), (1, 1, 4), None),
        ("DA:9,1\n" + record("DA:1,1") + "DA:9,1\n", (1, 1, 2), None),
        (record("DA:1,0", "LF:1", "LH:0") + record("DA:1,1", "LF:1", "LH:1"), (1, 1, 0), None),
        (record("DA:1,0") + record("DA:1,1", file="b.c"), (1, 2, 0), None),
        (record("LF:8", "LH:3"), (3, 8, 0), None),
        (record("LF:8", "LH:3") + record("DA:1,1", "LF:1", "LH:1", file="b.c"), (4, 9, 0), None),
        (
            record("LF:8", "LH:3") + record("DA:1,1", "LF:2", "LH:1"),
            (4, 9, 0),
            "declared lines: 4 of 10, listed: 4 of 9",
        ),
        (record("LF:0", "LH:0"), (0, 0, 0), None),
        (record(), (0, 0, 0), None),
        ("TN:\n" + record("FN:1,f", "", "DA:1,1"), (1, 1, 0), None),
        (record("DA:1,1") + "EOF\n", (1, 1, 0), None),
        (record("DA:1,1").rstrip(), (1, 1, 0), None),
    ],
)
def test_lcov_counts_its_rows_by_file_and_takes_totals_where_a_record_has_none(text, expected, said):
    report = read(text)
    assert (counts(report), report.contradiction) == (expected, said)


def test_lcov_keeps_rows_only_where_all_records_have_them():
    rows, totals = record("DA:1,1", "LF:1", "LH:1"), record("LF:8", "LH:3", file="b.c")
    assert read(rows).files == {"a.c": {1: True}}
    assert read(rows + totals).files is None
    assert (read(rows + totals).declared_covered, read(rows + totals).declared_total) == (4, 9)


@table(
    ("text", "why"),
    [
        ("SF:a.c\nDA:1,1\n", "cut short: the record of a.c has no end"),
        (record("DA:1,1") + "SF:b.c\nDA:1,1\nend_of_rec\n", "cut short: the record of b.c has no end"),
        ("SF:a.c\nDA:1,1\n" + record("DA:1,1", file="b.c"), "the record of a.c has no end"),
        (record("DA:x,1", "DA:2"), "no row can be read, 2 are damaged"),
        (record("LF:8"), "the record of a.c states no LH of 8 LF"),
        (record("LF:8", "LH:9"), "the record of a.c states 9 LH of 8 LF"),
    ],
)
def test_lcov_that_is_damaged_is_no_smaller_report(text, why):
    assert read(text) == Unreadable(why)


@pytest.mark.parametrize("rest", ["S", "SF:b.c\nDA:1,1\nend_of_rec", "SF:b.c\nDA:1,1"])
def test_lcov_whose_last_line_has_no_end_is_cut_short(rest):
    text = record("DA:1,1") + rest
    assert read(text) == Unreadable("cut short: the last line has no end", text.count("\n") + 1)


def test_a_text_without_records_is_no_lcov():
    assert read("hello\n", format="lcov") == Unreadable("no record is that of a file")
    for text in ("SF: a story\n", "DA:1,1\n", "end_of_record\n"):
        assert read(text).why == "not a report of a known format"


BLOCK = "example.org/a b/x.go:3.14,5.2 2 {}\n"


@table(
    ("text", "expected"),
    [
        ("mode: set\n" + BLOCK.format(1), (2, 2, 0)),
        ("mode: atomic\r\n" + BLOCK.format(0).replace("\n", "\r\n"), (0, 2, 0)),
        ("mode: count\n" + BLOCK.format(0) + BLOCK.format(7) + BLOCK.format(0), (2, 2, 0)),
        ("mode: set\n" + BLOCK.format(1) + "mode: set\n\n" + BLOCK.format(0), (2, 2, 0)),
        ("mode: set\n" + BLOCK.format(1) + "x.go:1.1,2.2 1\nnoise\n", (2, 2, 2)),
        ("mode: set\nx.go:1.1,2.2 0 1\n", (0, 0, 0)),
        ("mode: set\n", (0, 0, 0)),
    ],
)
def test_go_counts_statements_once_a_block(text, expected):
    report = read(text)
    assert counts(report) == expected
    assert (report.percent is None) is (expected[1] == 0)


def test_go_names_files_and_blocks():
    assert read("mode: set\n" + BLOCK.format(1)).files == {"example.org/a b/x.go": {Block("3.14,5.2", 2): True}}


@table(
    ("text", "why"),
    [
        ("mode: set\nx.go:1.1,2.2 1 12", Unreadable("cut short: the last line has no end", 2)),
        ("mode: set\nx.go:1.1,", Unreadable("cut short: the last line has no end", 2)),
        ("mode: set\nnoise\n", Unreadable("no line is a block of statements, 1 are something else")),
        ("mode: other\n" + BLOCK.format(1), Unreadable("not a report of a known format")),
    ],
)
def test_go_that_is_damaged_is_no_smaller_report(text, why):
    assert read(text) == why


def summary_table(total: str, header: str = "Name   Stmts   Miss  Cover   Missing") -> str:
    return f"{header}\n------\na.py  4  1  75%   3\n------\n{total}\n"


WITH_BRANCHES = "Name   Stmts   Miss Branch BrPart  Cover"


@table(
    ("text", "expected", "said"),
    [
        (summary_table("TOTAL  8  2  75%"), (6, 8, 75.0, 75.0), None),
        (summary_table("TOTAL  8  2  75.00%"), (6, 8, 75.0, 75.0), None),
        (summary_table("TOTAL  3  1  66%"), (2, 3, 66.0, 66.0), None),
        (summary_table("TOTAL  3  1  60%"), (2, 3, 60.0, 60.0), "declared: 60.00 % of the lines, listed: 66.67 %"),
        (summary_table("TOTAL  8  2  4  2  70%", WITH_BRANCHES), (6, 8, 75.0, 70.0), None),
        (summary_table("TOTAL  0  0  100%"), (0, 0, None, 100.0), None),
        ("  " + summary_table("  TOTAL  8  2  75%\r"), (6, 8, 75.0, 75.0), None),
        ("collected\n\n" + summary_table("TOTAL  8  2  75%") + "\n5 files skipped", (6, 8, 75.0, 75.0), None),
    ],
    ids=["lines", "precise", "rounded", "contradicts", "branches", "nothing", "indented", "among-others"],
)
def test_the_table_of_coverage_py_is_its_total(text, expected, said):
    report = read(text)
    assert counts(report)[:2] == expected[:2]
    assert (report.percent, report.declared_percent, report.contradiction) == (*expected[2:], said)


@table(
    ("text", "why"),
    [
        (summary_table("TOTAL  8  2"), "the table of coverage.py has no row TOTAL"),
        (summary_table("a.py  8  2  75%"), "the table of coverage.py has no row TOTAL"),
        (summary_table("TOTAL  8  9  0%"), "9 of 8 statements are missed, it says"),
        (summary_table("TOTAL  8  2  750%"), "750.0 % is no percentage"),
        (summary_table("TOTAL  8  2  75%") * 2, "it holds 2 tables, of which none is the whole"),
    ],
)
def test_a_table_without_one_total_is_no_report(text, why):
    report = read(text)
    assert isinstance(report, Unreadable)
    assert report.why.startswith(why)


def test_what_is_no_table_is_refused_by_name():
    assert read("hello", format="coveragepy-text").why.startswith("the table of coverage.py has no row TOTAL")


@pytest.mark.parametrize("data", [b"SQLite format 3\0", b"!coverage.py: This is a private format"])
def test_the_data_of_coverage_py_is_refused_with_what_to_do(data):
    report = registry.read(data)
    assert isinstance(report, Unreadable)
    assert report.why.endswith("write a report with `coverage json`")
