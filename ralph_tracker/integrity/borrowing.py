"""What tests get from other changed files of the tests: fixtures that replace, and what leads nowhere else."""

from collections.abc import Mapping

from ralph_tracker.integrity.changes import Side
from ralph_tracker.integrity.evidence import Evidence
from ralph_tracker.integrity.patterns import Pattern
from ralph_tracker.integrity.python.clocks import freezes, frozen_by_fixtures
from ralph_tracker.integrity.python.lending import lent_safely
from ralph_tracker.integrity.python.patches import Replaced
from ralph_tracker.integrity.python.replacing import replaced_by_fixtures
from ralph_tracker.integrity.source_tests import Unparsable


def replaced_by_shared(evidence: Evidence, replaces: Pattern) -> Mapping[str, Replaced]:
    """Return what the new or changed fixtures of shared files replace, by their names."""
    found: dict[str, Replaced] = {}
    for file in evidence.files:
        if not file.path.endswith("conftest.py") or file.new is None:
            continue
        if replaces.search(file.new.text) or freezes(file.new.text):
            try:
                found.update(replaced_by_fixtures(file.new.text, "" if file.old is None else file.old.text))
                for name, each in frozen_by_fixtures(file.new.text).items():
                    found[name] = {**found.get(name, {}), **each}
            except Unparsable:
                continue
    return {name: each for name, each in found.items() if each}


def lent_in(side: Side | None, evidence: Evidence, *, old: bool = False) -> frozenset[str]:
    """Return the names that changed files of the tests lend to one of them and that lead nowhere else.

    `old` says which side of them it is; nothing is lent to a text that is no program.
    """
    if side is None:
        return frozenset()
    others = evidence.once((lent_in, old), lambda: texts_of_tests(evidence, old=old))
    return side.once(lent_in, lambda: lent_safely(side.text, side.path, others)) if others else frozenset()


def texts_of_tests(evidence: Evidence, *, old: bool) -> Mapping[str, str]:
    """Return the changed Python files of the tests by their paths without the suffix."""
    sides = ((file.old if old else file.new) for file in evidence.files if file.is_test and file.language == "python")
    return {side.path.removesuffix(".py"): side.text for side in sides if side is not None and _is_helper(side)}


def _is_helper(side: Side) -> bool:
    """Tell whether a file of the tests holds no tests itself; one that is no program is none."""
    try:
        return not side.tests
    except Unparsable:
        return False
