"""Ask every rule about every changed file of one comparison."""

import gc
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from ralph_tracker.core.findings import Finding
from ralph_tracker.integrity.changes import ChangedFile, FileChange, opened
from ralph_tracker.integrity.evidence import Evidence, Outcomes, TestsAround
from ralph_tracker.integrity.source_tests import NoProgram, Unparsable
from ralph_tracker.integrity.table import RULES, Rule

_TOO_DEEP = "is nested too deeply"
_UNREAD = (Unparsable, RecursionError, MemoryError)


class Examined(NamedTuple):
    """Hold what was found in one comparison, by what it was found, and why a file could not be looked into."""

    findings: tuple[Finding, ...]
    unread: Mapping[str, str]
    evidence: Evidence


@contextmanager
def _uncollected() -> Iterator[None]:
    """Leave the garbage collector out: nothing here holds itself, and to look through all of it again frees nothing."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():  # else what somebody froze would thaw
            gc.freeze()
            gc.unfreeze()  # what came meanwhile is among the old now, and is not looked through at once
        gc.enable()


@_uncollected()
def examine(
    changes: Iterable[FileChange],
    outcomes: Outcomes | None = None,
    rules: Iterable[Rule] = RULES,
    around: TestsAround | None = None,
) -> Examined:
    """Return the findings of one comparison in the order of files and rules, each key once.

    `around` finds test files that did not change. No content of a file makes it fail.
    """
    files, unread = [], _Unread()
    changes = tuple(changes)
    for change in changes:
        file = opened(change)
        if isinstance(file, str):
            unread.note(change.path, Unparsable(file))
        else:
            files.append(file)
    evidence = Evidence(files, outcomes, around)
    rules = tuple(rules)
    found: dict[str, Finding] = {}
    for file in files:
        try:
            _read(file)
        except _UNREAD as error:
            unread.note(file.path, error)
        for rule in (each for each in rules if each.looks_at(file)):
            try:
                found |= {each.key: each for each in rule.find(file, evidence) if each.key not in found}
            except _UNREAD as error:
                unread.note(file.path, error)
    if unread.may_run and rules:
        found |= {each.key: each for each in _hidden(changes, unread, evidence)}
    return Examined(tuple(found.values()), unread.reasons, evidence)


class _Unread:
    """Hold why files could not be looked into, and which of them may run all the same."""

    def __init__(self) -> None:
        self.reasons: dict[str, str] = {}
        self.may_run: set[str] = set()

    def note(self, path: str, error: Exception) -> None:
        self.reasons[path] = str(error) if isinstance(error, Unparsable) else _TOO_DEEP
        if not isinstance(error, NoProgram):
            self.may_run.add(path)


def _hidden(changes: Iterable[FileChange], unread: _Unread, evidence: Evidence) -> Iterator[Finding]:
    from ralph_tracker.integrity.hidden import hidden  # noqa: PLC0415  hardly any file is

    def is_unread(change: FileChange) -> bool:
        return bool(examine([change]).unread)

    for change in changes:
        if change.path in unread.may_run:
            yield from hidden(change, unread.reasons[change.path], evidence, is_unread)


def _read(file: ChangedFile) -> None:
    """Read a file and the tests in it, as pairs pass over what cannot be read, and rules that ask see none of it."""
    for side in file.sides():
        _ = side.tests
    if file.new is not None and file.language == "python":
        from ralph_tracker.integrity.python.syntax import tree_of  # noqa: PLC0415  for this language only

        tree_of(file.new.text)
