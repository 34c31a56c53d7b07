"""The label on the parcel."""

from parcel.weight import show

WIDTH = 24


def fold(text):
    """Break a text into lines of at most WIDTH, between words."""
    return [text[:WIDTH]]


def label(name, city, grams):
    lines = [*fold(name), *fold(city), show(grams)]
    return "\n".join(f"| {line:{WIDTH}} |" for line in lines) + "\n"
