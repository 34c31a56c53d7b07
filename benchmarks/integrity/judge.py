"""Judge one change as the tracker does: the rules of the table over the diff, T1 and T2 over identities."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from cases import Case

from ralph_tracker.core.findings import SUSPICIOUS, Finding, Severity
from ralph_tracker.integrity.changes import FileChange, Side
from ralph_tracker.integrity.evidence import Outcomes
from ralph_tracker.integrity.examine import examine
from ralph_tracker.integrity.languages import is_test_path
from ralph_tracker.integrity.matching import matches
from ralph_tracker.integrity.python.syntax import tree_of

SKIPPED: Final = "skipped"


@dataclass(frozen=True, slots=True)
class Seen:
    """Hold one finding of any tool: the rows that it stands for, and what tells it from others."""

    rules: frozenset[str]
    severity: Severity
    file: str
    key: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """Hold what a tool said of one change; `cpu` in seconds; `failed` says why it said nothing."""

    seen: tuple[Seen, ...]
    verdict: str
    cpu: float
    failed: str = ""


def judged(case: Case) -> Judged:
    """Return what we find. Reading the archives and deriving the outcomes is not part of the time."""
    files = [FileChange(path, case.old.get(path), case.new.get(path)) for path in case.paths]
    if case.variant is None:  # its time is reported: nothing may be left over from the last one
        tree_of.cache_clear()
    started = time.process_time()
    examined = examine(files, Outcomes(case.before, case.after), around=partial(_unchanged_tests, case))
    gone = case.before.keys() - case.after.keys()
    added = case.after.keys() - case.before.keys()
    matched = matches(examined.evidence, gone, added) if gone else {}
    found = [*examined.findings, *_gone(case, set(gone) - matched.keys())]
    found += _skipped(case)
    cpu = time.process_time() - started
    return Judged(tuple(_seen(each) for each in found), verdict_of(found), cpu)


def _unchanged_tests(case: Case, words: frozenset[str]) -> Iterator[Side]:
    """Yield the test files that are the same in both trees and hold one of the words."""
    for path, data in case.new.items():
        if is_test_path(path) and case.old.get(path) == data and any(word.encode() in data for word in words):
            yield Side(path, data.decode("utf-8", "replace"))


def _seen(finding: Finding) -> Seen:
    return Seen(frozenset({finding.rule}), finding.severity, finding.file, finding.key, finding.message)


def _gone(case: Case, unmatched: set[str]) -> list[Finding]:
    fell = len(case.after) < len(case.before)
    severity = Severity.CRITICAL if fell else Severity.HIGH
    return [
        Finding(rule="T1", severity=severity, message="gone", file="", tests=(test,), about=test)
        for test in sorted(unmatched)
    ]


def _skipped(case: Case) -> list[Finding]:
    now = (test for test, ends in case.after.items() if ends == SKIPPED and case.before.get(test, SKIPPED) != SKIPPED)
    return [
        Finding(rule="T2", severity=Severity.HIGH, message="skipped now", file="", tests=(test,), about=test)
        for test in sorted(now)
    ]


def verdict_of(findings: Iterable[Finding]) -> str:
    """Return the verdict as the principles of the specification have it."""
    found = list(findings)
    if any(each.severity is Severity.CRITICAL for each in found):
        return "TAMPERED"
    if any(each.severity is Severity.HIGH or each.rule in SUSPICIOUS for each in found):
        return "SUSPECT"
    return "PASS"
