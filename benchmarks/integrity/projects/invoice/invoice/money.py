"""Amounts of money, kept in cents."""

import re
from decimal import Decimal

_AMOUNT = re.compile(r"(-?)(\d+)(?:[.,](\d{1,2}))?")


def parse(text):
    """Give the cents of '12.50', '12,5' or '12'."""
    match = _AMOUNT.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"not an amount: {text!r}")
    sign, whole, part = match.groups()
    cents = int(whole) * 100 + int(part or "0")
    return -cents if sign else cents


def show(cents):
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d}"


def share(cents, percent):
    """Take that many percent, half a cent rounded up."""
    return int(Decimal(cents) * Decimal(percent) / 100)
