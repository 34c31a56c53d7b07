"""Reports of coverage add up line by line where they have rows, else total by total."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.formats.coverage import coverage_builder
from ralph_tracker.formats.parsed_report import Block, CoverageReport, count_lines
from ralph_tracker.formats.report_content import DamageError
from tests.tables import table

FILES = st.dictionaries(
    st.sampled_from("abc"), st.dictionaries(st.integers(1, 6), st.booleans(), max_size=6), max_size=3
)


def totals(covered: int, total: int) -> CoverageReport:
    return coverage_builder.of_totals(coverage_builder.DeclaredTotals(covered=covered, total=total))


def test_the_same_file_in_two_shards_counts_once_and_a_line_is_covered_where_one_covers_it():
    one = coverage_builder.report({"a": {1: True, 2: False, 3: False}})
    two = coverage_builder.report({"a": {1: False, 2: True, 3: False}, "b": {1: True}})
    both = one + two
    assert both.files == {"a": {1: True, 2: True, 3: False}, "b": {1: True}}
    assert (both.lines_covered, both.lines_total, both.percent) == (3, 4, 75.0)


def test_adding_leaves_the_parts_as_they_are():
    one, two = coverage_builder.report({"a": {1: False}}), coverage_builder.report({"a": {1: True}})
    assert (one + two).lines_covered == 1
    assert one.files == {"a": {1: False}}


def test_blocks_of_the_same_place_count_once_with_their_statements():
    files = {"a.go": {Block("1.1,3.2", 4): False, Block("5.1,6.2", 2): True}}
    other = {"a.go": {Block("1.1,3.2", 4): True}}
    assert count_lines(files) == (2, 6)
    both = coverage_builder.report(files) + coverage_builder.report(other)
    assert (both.lines_covered, both.lines_total) == (6, 6)


@pytest.mark.parametrize("swapped", [False, True])
def test_where_one_has_no_rows_totals_add_up_and_rows_are_gone(swapped):
    one, two = coverage_builder.report({"a": {1: True}}), totals(1, 3)
    both = two + one if swapped else one + two
    assert (both.lines_covered, both.lines_total, both.percent, both.files) == (2, 4, 50.0, None)


def test_what_is_declared_adds_up_where_both_declare_and_contradictions_are_joined():
    one = coverage_builder.report({"a": {1: True}}, coverage_builder.DeclaredTotals(covered=5, total=9))
    two = coverage_builder.report(
        {"b": {1: True}}, coverage_builder.DeclaredTotals(covered=1, total=2), skipped_lines=3
    )
    both = one + two
    assert (both.declared_covered, both.declared_total, both.declared_percent) == (6, 11, None)
    assert both.contradiction == "declared lines: 5 of 9, listed: 1 of 1; declared lines: 1 of 2, listed: 1 of 1"
    assert both.skipped_lines == 3
    assert (one + coverage_builder.report({"b": {1: True}})).declared_total is None


@given(FILES, FILES)
def test_adding_is_the_same_in_either_order(one, two):
    both, other = (
        coverage_builder.report(one) + coverage_builder.report(two),
        coverage_builder.report(two) + coverage_builder.report(one),
    )
    assert (both.files, both.lines_covered, both.percent) == (other.files, other.lines_covered, other.percent)


@given(FILES)
def test_a_report_added_to_itself_is_itself(files):
    report = coverage_builder.report(files)
    assert report + report == report


@table(
    ("stated", "listed", "said"),
    [
        (coverage_builder.NOTHING, (1, 2), None),
        (coverage_builder.DeclaredTotals(covered=1, total=2), (1, 2), None),
        (coverage_builder.DeclaredTotals(covered=1), (1, 2), None),
        (coverage_builder.DeclaredTotals(total=3), (1, 2), "declared lines: ? of 3, listed: 1 of 2"),
        (coverage_builder.DeclaredTotals(covered=2), (1, 2), "declared lines: 2 of ?, listed: 1 of 2"),
        (coverage_builder.DeclaredTotals(percent=66.66), (2, 3), None),
        (coverage_builder.DeclaredTotals(percent=66.67), (2, 3), None),
        (coverage_builder.DeclaredTotals(percent=66.65), (2, 3), "declared: 66.65 % of the lines, listed: 66.67 %"),
        (coverage_builder.DeclaredTotals(percent=66.0, rounding=1), (2, 3), None),
        (coverage_builder.DeclaredTotals(percent=100.0), (0, 0), None),
    ],
)
def test_what_is_stated_is_held_to_what_is_listed(stated, listed, said):
    assert coverage_builder.contradiction(stated, *listed) == said


@table(
    ("stated", "counts"),
    [
        (coverage_builder.NOTHING, (0, 0, None)),
        (coverage_builder.DeclaredTotals(percent=50.0), (0, 0, None)),
        (coverage_builder.DeclaredTotals(covered=1), (0, 0, None)),
        (coverage_builder.DeclaredTotals(total=1), (0, 0, None)),
        (coverage_builder.DeclaredTotals(covered=0, total=0, percent=100.0), (0, 0, None)),
        (coverage_builder.DeclaredTotals(covered=1, total=2), (1, 2, 50.0)),
        (coverage_builder.DeclaredTotals(covered=1, total=3, percent=33.3), (1, 3, 33.3)),
        (coverage_builder.DeclaredTotals(covered=1, total=3, percent=33.3, of_lines=False), (0, 0, None)),
    ],
)
def test_without_rows_the_totals_count_and_half_a_total_is_no_data(stated, counts):
    report = coverage_builder.report({}, stated)
    assert (report.lines_covered, report.lines_total, report.percent) == counts
    assert (report.declared_covered, report.declared_total) == (stated.covered, stated.total)
    assert report.files is None


def test_more_covered_than_there_is_is_no_report():
    with pytest.raises(DamageError, match="3 of 2 lines are covered"):
        totals(3, 2)


def test_line_numbers_and_hits_are_what_they_say_or_damage():
    numbers, hits = coverage_builder.LineNumbers(), coverage_builder.Hits()
    assert [numbers[text] for text in ("7", "007", "1000000000000", "7")] == [7, 7, 10**12, 7]
    assert [hits[text] for text in ("0", "00", "3", "-2", "9" * 5000, "1,checksum", " 1\r", "1.5e+06", "0e0")] == [
        False,
        False,
        True,
        False,
        True,
        True,
        True,
        True,
        False,
    ]
    for text in ("", "-1", "1.5", "x", "١", "9" * 19):
        with pytest.raises(DamageError, match="is no line number"):
            numbers[text]
    for text in ("", "-", "1.5", "x", "--1", "=====", "١"):
        with pytest.raises(DamageError, match="is no number of hits"):
            hits[text]


def test_only_so_many_numbers_are_remembered():
    numbers, hits = coverage_builder.LineNumbers(), coverage_builder.Hits()
    for number in range(10_050):
        assert numbers[str(number)] == number
        assert hits[str(number)] is (number > 0)
    assert len(numbers) == len(hits) == 10_000
