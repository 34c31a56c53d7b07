import datetime as dt

import pytest

from schedule.calendar import average_gap, month_later, next_workday


def test_next_workday():
    assert next_workday(dt.date(2024, 3, 5)) == dt.date(2024, 3, 6)


def test_next_workday_skips_the_weekend(friday):
    assert next_workday(friday) == dt.date(2024, 3, 11)


def test_month_later():
    assert month_later(dt.date(2024, 12, 15)) == dt.date(2025, 1, 15)


def test_month_later_at_its_end():
    assert month_later(dt.date(2024, 1, 31)) == dt.date(2024, 2, 29)


def test_average_gap(friday):
    days = [friday, friday + dt.timedelta(days=1), friday + dt.timedelta(days=4)]
    assert average_gap(days) == pytest.approx(2.0)
