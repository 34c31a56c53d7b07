"""What tests get from other changed files of the tests: fixtures that replace, and what leads nowhere else."""

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ralph_tracker.integrity.changes import ChangedFile, Side
from ralph_tracker.integrity.evidence import Evidence
from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.clocks import freezes, frozen_by_fixtures
from ralph_tracker.integrity.python.patches import Replaced
from ralph_tracker.integrity.python.replacing import replaced_by_fixtures
from ralph_tracker.integrity.python.syntax import program
from ralph_tracker.integrity.relevance import defines_equal
from ralph_tracker.integrity.source_tests import Unparsable

if TYPE_CHECKING:
    from ralph_tracker.integrity.python.lending import Lenders

_OF_ANY: Final = Pattern(r"type\((\w+\.)*ANY\)", words=("ANY)",))


def replaced_by_shared(evidence: Evidence, replaces: Pattern) -> Mapping[str, Replaced]:
    """Return what the new or changed fixtures of shared files replace, by their names."""
    found: dict[str, Replaced] = {}
    for file in evidence.files:
        if not file.path.endswith("conftest.py") or file.new is None:
            continue
        if replaces.search(file.new.text) or freezes(file.new.text):
            try:
                found.update(replaced_by_fixtures(file.new.text, program(file.old)))
                for name, each in frozen_by_fixtures(file.new.text).items():
                    found[name] = {**found.get(name, {}), **each}
            except Unparsable:
                continue
    return {name: each for name, each in found.items() if each}


def lent_in(side: Side | None, evidence: Evidence, *, old: bool = False) -> frozenset[str]:
    """Return the names that changed files of the tests lend to one of them and that lead nowhere else.

    `old` says which side of them it is; nothing is lent to a text that is no program.
    """
    if side is None or not _texts_of_helpers(evidence, old=old):
        return frozenset()
    others = lenders_among(evidence, old=old)
    return side.once(lent_in, lambda: others.lent_safely(side.text, side.path))


def lenders_among(evidence: Evidence, *, old: bool) -> "Lenders":
    """Return the changed Python files of the tests that hold no tests themselves."""
    from ralph_tracker.integrity.python.lending import Lenders  # noqa: PLC0415  few changes have files that lend

    return evidence.once((lenders_among, old), lambda: Lenders(_texts_of_helpers(evidence, old=old)))


def _texts_of_helpers(evidence: Evidence, *, old: bool) -> Mapping[str, str]:
    def read() -> Mapping[str, str]:
        files = (file for file in evidence.files if file.is_test and file.language == "python")
        sides = ((file.old if old else file.new) for file in files)
        return {side.path.removesuffix(".py"): side.text for side in sides if side is not None and _is_helper(side)}

    return evidence.once((_texts_of_helpers, old), read)


def _is_helper(side: Side) -> bool:
    """Tell whether a file of the tests holds no tests itself; one that is no program is none.

    In a `conftest.py` nothing is collected, whatever its fixtures are called.
    """
    try:
        return side.path.endswith("conftest.py") or not side.tests
    except Unparsable:
        return False


def equal_names(evidence: Evidence) -> frozenset[str]:
    """Return the classes equal to everything that a test file has, or that another changed file has for it."""
    files = [each for each in evidence.files if each.new is not None and each.language == "python"]
    strictly = (equal_in(each.new.text) for each in files if each.new is not None)
    return frozenset[str]().union(*strictly, *(_loosened(each) for each in files if each.is_test))


def _loosened(file: ChangedFile) -> frozenset[str]:
    """Return the classes of a file that ask nothing of what they are compared with, and did not stand there so."""
    before = _loosely_in(file.old.text) if file.old is not None else frozenset[str]()
    return _loosely_in(file.new.text) - before if file.new is not None else before


def _loosely_in(text: str) -> frozenset[str]:
    if not defines_equal(text):
        return frozenset()
    from ralph_tracker.integrity.python.equal_kinds import loosely_equal  # noqa: PLC0415  few texts do

    try:
        return loosely_equal(text)
    except Unparsable:
        return frozenset()


@lru_cache(maxsize=256)
def equal_in(text: str) -> frozenset[str]:
    if not defines_equal(text) and not _OF_ANY.search(text):
        return frozenset()
    from ralph_tracker.integrity.python.equal_kinds import equal_to_everything  # noqa: PLC0415  few texts do

    try:
        return frozenset(name for name, _ in equal_to_everything(text))
    except Unparsable:
        return frozenset()
