"""What a changed `conftest.py` decides for tests whose text stayed: stopped clocks, fixtures that lead nowhere."""

import ast
from collections.abc import Iterator
from typing import Final, NamedTuple

from ralph_tracker.integrity.borrowing import lenders_among
from ralph_tracker.integrity.changes import ChangedFile, Side
from ralph_tracker.integrity.evidence import Evidence
from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.claims import ALONE, CLOCK, LENT
from ralph_tracker.integrity.python.clocks import durations_in, frozen_anew
from ralph_tracker.integrity.source_tests import SourceTest, Unparsable

_STOPS: Final = Pattern(
    r"perf_counter|monotonic|freeze|travel|\btime\b|sleep|process_time", words=("time", "monotonic")
)
_READINGS: Final = frozenset({"perf_counter", "monotonic", "process_time", "time.time", "default_timer"})


class Told(NamedTuple):
    """Hold a claim of a test whose text stayed, and why it can only come out one way now."""

    test: SourceTest
    text: str
    line: int
    why: str


def told_of_unchanged(file: ChangedFile, evidence: Evidence) -> Iterator[Told]:
    """Yield the claims that a changed file of fixtures decides for tests that began to pass. Raises Unparsable."""
    if not file.path.endswith("conftest.py") or file.new is None or not evidence.any_began_to_pass:
        return
    old = None if file.old is None else file.old.text
    if _STOPS.search(file.new.text) and frozen_anew(old, file.new.text):
        yield from _durations(file, evidence)
    if file.old is not None:
        yield from _lent(file, file.old, evidence)


def _durations(file: ChangedFile, evidence: Evidence) -> Iterator[Told]:
    for side, test in _begun(file, evidence, _READINGS):
        if test.node is not None and any(each in test.text for each in ("time", "monotonic", "perf_counter")):
            for claim in durations_in(test.node, side.text):
                yield Told(test, ast.unparse(claim), claim.lineno, CLOCK)


def _lent(file: ChangedFile, old: Side, evidence: Evidence) -> Iterator[Told]:
    new = lenders_among(evidence, old=False).lent_to("", _below(file))
    names = new - lenders_among(evidence, old=True).lent_to("", _below(file)) if new else new
    names = frozenset(each for each in names if f"def {each}(" in old.text)
    if not names:
        return
    from ralph_tracker.integrity.python.rigging import claims_of  # noqa: PLC0415  where something is lent

    for side, test in _begun(file, evidence, names):
        if test.node is not None and any(each in test.text for each in names):
            for claim in claims_of(test.node, side.text, frozenset(), test.path, lent=names):
                if claim.rigged in {ALONE, LENT}:
                    yield Told(test, claim.text, claim.line, claim.rigged)


def _below(file: ChangedFile) -> str:
    """Return the path of a test that the fixtures of a file are for."""
    return file.path.removesuffix("conftest.py") + "test_"


def _begun(file: ChangedFile, evidence: Evidence, words: frozenset[str]) -> Iterator[tuple[Side, SourceTest]]:
    """Yield the tests below a file's folder that failed before and pass now, of files that hold one of the words."""
    folder = file.path.rpartition("/")[0]
    sides = [*evidence.tests_around(words), *(each.new for each in evidence.files if each.is_test and each.new)]
    for side in sides:
        if side.language != "python" or not side.path.startswith(f"{folder}/" if folder else ""):
            continue
        try:
            tests = side.tests if any(word in side.text for word in words) else ()
        except Unparsable:
            continue
        yield from ((side, test) for test in tests if evidence.passes_now(test))
