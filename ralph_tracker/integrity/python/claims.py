"""What an assertion of a Python test says, why it can only come out one way, and whether that counts."""

import re
from typing import Final, NamedTuple

EQUAL: Final = "compared with an object that is equal to everything"
MOCKED: Final = "what is asserted about was replaced in the test"
CLOCK: Final = "the clock that a duration is taken by stands still"
BUILTIN: Final = "the builtin that it is asked by was replaced in the test"
HOLLOW: Final = "what it is asked by says yes whatever it is given"
OWN: Final = "what is asserted about is defined by the tests"
SET: Final = "what is asserted about was assigned in the test"
LENT: Final = "what is asserted about comes from the tests' own files alone"
HELD: Final = "what is asserted about is given by the test itself"
ALONE: Final = "the test asks nothing but itself"
RAISED: Final = "what has to be raised is raised by the test"
CHOSEN: Final = "what is expected is put in where it is not the answer"
EMPTIED: Final = "what is asserted about was emptied in the test"
AGAIN: Final = "what is expected is taken from what is asserted about"
SELF: Final = "what is asserted about is compared with itself"
# What is no more than weak where another test asks the same.
OF_ITSELF: Final = frozenset({HELD, ALONE, EMPTIED, SELF, LENT})
# Whoever says `f() or []` has no answer in mind.
TRIVIAL: Final = frozenset({"None", "True", "False", "0", "1", "''", "b''", "[]", "()", "{}", "set()", "0.0"})


class Claim(NamedTuple):
    """Hold one assertion: its text, the name of what it is about, and why it can only come out one way.

    `sides` are the texts of what it compares, and of what their names are bound to; `fixed`: one of these always comes
    to the same.
    """

    text: str
    line: int
    subject: str
    rigged: str | None
    sides: frozenset[str] = frozenset()
    fixed: bool = False


def is_told(each: Claim, gone: list[Claim]) -> bool:
    """Tell whether a claim counts: a value of the test's own is nothing where nothing else was asked about before."""
    if each.rigged == RAISED:
        return any(claim.text.partition(":")[0] == each.text.partition(":")[0] for claim in gone)
    if each.rigged in {HELD, CHOSEN, EMPTIED}:
        return any(claim.text == each.text or _shares(claim, each) for claim in gone)
    if each.rigged == AGAIN:
        return any(claim.fixed and (_shares(claim, each) or claim.subject == each.subject) for claim in gone)
    if each.rigged == OWN and each.subject.startswith("self.") and any(_shares(claim, each) for claim in gone):
        return True
    if each.rigged in {ALONE, LENT, SELF}:
        return any(claim.subject for claim in gone)
    return each.rigged not in {OWN, SET} or any(is_alike(claim, each) and claim.subject for claim in gone)


def _shares(old: Claim, new: Claim) -> bool:
    """Tell whether a claim that is gone compared with the same, or asked the same, in other words."""
    return bool(old.subject) and bool((old.sides & new.sides) - TRIVIAL)


def is_alike(old: Claim, new: Claim) -> bool:
    """Tell whether a claim was about the same: the same text, the same function is asked, or none is any more."""
    asked, was = new.subject.rpartition(".")[2], old.subject.rpartition(".")[2]
    if new.rigged == ALONE or old.text == new.text or was == asked or not asked:
        return True
    return new.rigged in {EQUAL, BUILTIN, HOLLOW} and bool(was) and re.search(rf"\b{was}\b", new.text) is not None
