"""On which day something is due."""

import datetime as dt

HOLIDAYS = {(1, 1), (12, 25)}


def is_workday(day):
    return day.weekday() < 5 and (day.month, day.day) not in HOLIDAYS


def next_workday(day):
    """Find the first workday after that day."""
    day += dt.timedelta(days=1)
    return day if is_workday(day) else day + dt.timedelta(days=1)


def month_later(day):
    """Find the same day of the next month, or its last one."""
    year, month = (day.year + 1, 1) if day.month == 12 else (day.year, day.month + 1)
    return day.replace(year=year, month=month)


def average_gap(days):
    """Take the mean of the days between one and the next."""
    gaps = [(after - before).days for before, after in zip(days, days[1:], strict=False)]
    return sum(gaps) / len(gaps) if gaps else 0.0
