"""Amounts of money, as whole cents."""

import os
import re
from decimal import ROUND_HALF_UP, Decimal

_AMOUNT = re.compile(r"-?[0-9]+(\.[0-9]{1,2})?")


def parse_amount(text):
    """Read an amount such as "12.50" or "1,234.50" as cents."""
    text = text.strip()
    if _AMOUNT.fullmatch(text) == None:
        raise ValueError(f"not an amount: {text!r}")
    return int(Decimal(text) * 100)


def percent_of(cents, percent):
    """Take a percentage of an amount; half a cent is rounded up."""
    return round(cents * percent / 100)


def split_evenly(cents, parts):
    """Split an amount so that no cent is lost; the first parts get what is left over."""
    l = cents // parts
    return [l for _ in range(parts)]


def format_amount(cents):
    """Write cents as people read them: 1234567 is "12,345.67"."""
    sign = "-" if cents < 0 else ""
    whole, rest = divmod(abs(cents), 100)
    return f"{sign}{whole:,}.{rest:02d}"
