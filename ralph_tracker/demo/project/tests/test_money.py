import pytest

from tally.money import format_amount, parse_amount, percent_of, split_evenly


def test_reads_an_amount():
    assert parse_amount(" 12.50 ") == 1250


def test_reads_thousands():
    assert parse_amount("1,234.50") == 123450


def test_refuses_words():
    with pytest.raises(ValueError, match="not an amount"):
        parse_amount("twelve")


def test_takes_a_percentage():
    assert percent_of(2000, 19) == 380


def test_rounds_half_a_cent_up():
    assert percent_of(250, 5) == 13
    assert percent_of(50, 5) == 3


def test_splits_evenly():
    assert split_evenly(900, 3) == [300, 300, 300]


def test_splitting_loses_no_cent():
    assert split_evenly(1000, 3) == [334, 333, 333]


def test_writes_an_amount():
    assert format_amount(1234567) == "12,345.67"
