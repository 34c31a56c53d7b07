import pytest

from schedule.durations import human, parse
from tests.helpers import check_round_trip


def test_parse():
    assert parse("1h30m") == 5400


def test_parse_days():
    assert parse("2d") == 172800


def test_parse_refuses_an_unknown_unit():
    with pytest.raises(ValueError, match="5y"):
        parse("5y")


@pytest.mark.parametrize("text", ["45s", "10m", "2h5m"])
def test_round_trip(text):
    check_round_trip(text)


def test_human_of_nothing():
    assert human(0) == "0s"
