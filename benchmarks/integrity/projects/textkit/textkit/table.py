"""Tables of plain text, there and back."""


def to_text(rows):
    """Put cells of a column under each other, two spaces apart."""
    widths = [max(len(str(cell)) for cell in column) for column in zip(*rows, strict=True)]
    lines = ("  ".join(str(cell).ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def from_text(text):
    return [line.split("  ") for line in text.split("\n")]


class Version:
    """A version such as 1.10.2, to be compared."""

    def __init__(self, text):
        self.parts = tuple(text.split("."))

    def __eq__(self, other):
        return self.parts == other.parts

    def __lt__(self, other):
        return self.parts < other.parts
