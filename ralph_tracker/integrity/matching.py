"""Which ids of a report stand for those that vanished from it."""

import re
from collections.abc import Hashable, Iterable, Mapping
from functools import partial
from typing import Final

from ralph_tracker.core.metrics import FAILED
from ralph_tracker.integrity.cases import StandIns, holding, holds_all, in_turn
from ralph_tracker.integrity.evidence import Evidence
from ralph_tracker.integrity.moves import Moves
from ralph_tracker.integrity.naming import Parts, Reported, ReportId, owner_parts, split_id
from ralph_tracker.integrity.pairing import TestPair
from ralph_tracker.integrity.source_tests import SourceTest, is_empty, is_helper, is_suite

_NUMBER: Final = re.compile(r"\d+")
_DIGITS: Final = 12  # numbers are ordered as such up to here


def matches(evidence: Evidence, gone: Iterable[str], added: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """Return, for the ids that are gone, those among the added that stand for them now; all of several have to hold.

    What was no test is matched with none. What the source says goes first. Ids that it does not know are matched by
    their own parts.
    """
    vanished = _ordered(gone, evidence.outcomes.before)
    new = _ordered(added, evidence.outcomes.after)
    helpers = _helpers(evidence, vanished) if vanished else []
    vanished = [test for test in vanished if test not in helpers]
    if not vanished or not new:
        return dict.fromkeys(helpers, ())
    collected = [*_collected(vanished, new, evidence.outcomes.before), *helpers]
    vanished = [test for test in vanished if test not in collected]
    by_source = _BySource(evidence, vanished, new)
    taken = {each for ids in by_source.found.values() for each in ids}
    by_parts = _by_parts(
        (test for test in vanished if test not in by_source.told), (test for test in new if test not in taken)
    )
    return by_source.found | by_parts | dict.fromkeys(collected, ())


def _collected(gone: Iterable[str], new: Iterable[str], before: Mapping[str, str]) -> list[str]:
    """Return what was no test, but a module that could not be collected, where its tests are there now."""
    modules = [test for test in gone if before.get(test) == FAILED and not split_id(test).owner and "[" not in test]
    return [module for module in modules if any(each.startswith((f"{module}::", f"{module}.")) for each in new)]


def _helpers(evidence: Evidence, vanished: Iterable[str]) -> list[str]:
    """Return what was collected for its name only: it does nothing, gathers tests, or others want what it returns."""
    lost = frozenset(vanished)
    texts = {file.path: file.old.text for file in evidence.files if file.old is not None}
    olds = (pair.old for pair in evidence.pairs if pair.new is None and pair.old is not None)
    known = (old for old in olds if old.node is not None)
    helpers = (old for old in known if _is_no_test(old, texts.get(old.path, "")))
    return [each for old in helpers for each in evidence.ids_of(old) if each in lost]


def _is_no_test(test: SourceTest, text: str) -> bool:
    return is_empty(test) or is_suite(test) or is_helper(test, text)


class _BySource:
    """Match the ids of tests that stand in the changed files; `told` are those of which the source says all."""

    def __init__(self, evidence: Evidence, gone: Iterable[str], added: Iterable[str]) -> None:
        self.found: StandIns = {}
        self.told: set[str] = set()
        self._gone = {test: position for position, test in enumerate(gone)}
        self._added = {test: position for position, test in enumerate(added)}
        self._lost = Reported(self._gone)
        self._before = _reported(evidence, evidence.outcomes.before, self._gone)
        self._after = _reported(evidence, evidence.outcomes.after, self._added)
        for pair in sorted(evidence.pairs, key=_place):
            self._match(pair)

    def _match(self, pair: TestPair) -> None:
        gone = [(old, ids) for old in pair.olds if (ids := self._vanished(old))]
        if not gone:
            return
        new = dict.fromkeys(each for test in pair.news for each in self._new(test))
        for old, ids in gone:
            if new or not pair.how:
                self.told.update(ids)
            if new and pair.new is not None:
                self.found |= _stand_ins(pair, old, pair.new, ids, tuple(new))

    def _vanished(self, test: SourceTest) -> list[str]:
        if not self._lost.may_hold(test.path, test.name):
            return []
        found = (each for each in self._before.ids_of(test.path, test.name) if each in self._gone)
        return sorted((each for each in found if each not in self.found), key=self._gone.__getitem__)

    def _new(self, test: SourceTest) -> list[str]:
        found = (each for each in self._after.ids_of(test.path, test.name) if each in self._added)
        return sorted(found, key=self._added.__getitem__)


def _reported(evidence: Evidence, outcomes: Mapping[str, str], more: Mapping[str, int]) -> Reported:
    """Return what looks the ids of one report up, and further ones that it does not hold."""
    return evidence.reported.among(outcomes) if more.keys() <= outcomes.keys() else Reported({**outcomes, **more})


def _stand_ins(pair: TestPair, old: SourceTest, now: SourceTest, gone: list[str], new: tuple[str, ...]) -> StandIns:
    if pair.parts:
        return {test: _of_parameters(test, new) for test in gone}
    unparametrized = len(gone) == 1 and not split_id(gone[0]).parameters
    if pair.others or (unparametrized and len(new) > 1):
        return holding(old, now, gone, new)
    if len(new) == 1 and not split_id(new[0]).parameters and holds_all(old, now):
        return dict.fromkeys(gone, new)
    return in_turn(gone, new)


def _of_parameters(test: str, new: tuple[str, ...]) -> tuple[str, ...]:
    parameters = split_id(test).parameters
    return tuple(each for each in new if split_id(each).parameters == parameters) or new


def _by_parts(gone: Iterable[str], new: Iterable[str]) -> StandIns:
    """Match ids of the same function and parameters, the closest owner first, then the parameters of one function."""
    moves = Moves(gone, new)
    if not moves.gone or not moves.new:
        return {}
    ids = {test: split_id(test) for test in (*moves.gone, *moves.new)}
    owners = {test: owner_parts(each) for test, each in ids.items()}

    def leaf(test: str) -> Hashable:
        return ids[test][1:]

    held = {**_siblings(moves.gone, owners, ids), **_siblings(moves.new, owners, ids)}
    for depth in range(max(map(len, owners.values())), 0, -1):
        moves.by_unique(partial(_tail, owners, ids, depth))
    moves.by_unique(lambda test: (owners[test][:-1], leaf(test)))
    moves.by_unique(lambda test: (held[test], leaf(test)))
    moves.by_unique(leaf)
    moves.by_owner(owners.__getitem__, leaf)
    found: StandIns = {old: (each,) for old, each in moves.found.items()}
    for old, each in moves.groups(lambda test: (owners[test], ids[test].function)):
        bare = len(old) == 1 and not ids[old[0]].parameters
        found |= {old[0]: tuple(each)} if bare else in_turn(old, each)
    return found


def _tail(owners: Mapping[str, Parts], ids: Mapping[str, ReportId], depth: int, test: str) -> Hashable:
    """Return the last parts of the owner with function and parameters; None where it has fewer."""
    owner = owners[test]
    return (owner[len(owner) - depth :], ids[test][1:]) if len(owner) >= depth else None


def _siblings(tests: Iterable[str], owners: Mapping[str, Parts], ids: Mapping[str, ReportId]) -> dict[str, Hashable]:
    """Return, for each test, all that its owner lost or gained with it: what a renamed class is known by."""
    groups: dict[Parts, list[str]] = {}
    for test in tests:
        groups.setdefault(owners[test], []).append(test)
    return {
        test: siblings
        for group in groups.values()
        for siblings in [frozenset(ids[each][1:] for each in group)]
        for test in group
    }


def _ordered(tests: Iterable[str], reported: Iterable[str]) -> list[str]:
    """Return tests in the order of their report, those it does not hold last, by their numbers and names."""
    waiting = frozenset(tests)
    known = [test for test in dict.fromkeys(reported) if test in waiting]
    return known + sorted(waiting.difference(known), key=lambda test: (_NUMBER.sub(_padded, test), test))


def _padded(number: re.Match[str]) -> str:
    return number[0].zfill(_DIGITS)


def _place(pair: TestPair) -> tuple[str, int, str]:
    test = pair.new or pair.old
    return ("", 0, "") if test is None else (test.path, test.line, test.name)
