"""What a Python test does besides what it asserts, and whether it does otherwise than before."""

from typing import Final

from ralph_tracker.integrity.pairing import TestPair
from ralph_tracker.integrity.patterns import Pattern

_NO_STATEMENT: Final = ("def ", "async def ", "#", "@")
_NO_DEED: Final = ("#", "import ", "from ")
_CHOOSES: Final = Pattern(
    r"\b(or|and|if)\b|\.(get|pop)\(|\b(getattr|next|max|min)\(|[\])]\[|lambda|:=",
    words=(" or ", " and ", " if ", "get(", "pop", "getattr(", "next(", "max(", "min(", "][", ")[", "lambda", ":="),
)


def does_otherwise(pair: TestPair) -> bool:
    """Tell whether a test that was there does, or gets, something else before it asserts."""
    if pair.old is None or pair.new is None:
        return False
    if pair.old.text == pair.new.text:
        return True
    old, new = ({each.strip() for each in test.text.split("\n")} for test in (pair.old, pair.new))
    return any(each and "assert" not in each and not each.startswith(_NO_STATEMENT) for each in old ^ new) or any(
        _CHOOSES.search(each) for each in new - old
    )


def bare(text: str) -> list[str]:
    """Return the lines of a test without what it imports and what is said about it."""
    return [line for each in text.split("\n") if (line := each.strip()) and not line.startswith(_NO_DEED)]
