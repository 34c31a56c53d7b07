"""Weights as people write them, in grams."""

import re

UNITS = {"g": 1, "kg": 1000}


def parse(text):
    """Give the grams of '1.5kg' or '300 g'."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(kg|g)", text)
    if found is None:
        raise ValueError(f"not a weight: {text!r}")
    return round(float(found[1]) * UNITS[found[2]])


def show(grams):
    """Write 1500 as '1.50 kg'."""
    return f"{grams / 1000:.2f} kg"
