"""Shared by the readers of test reports: collect cases one by one, and compare declared counts."""

import math
from collections.abc import Iterable, Mapping
from typing import Final

from ralph_tracker.core.metrics import FAILED
from ralph_tracker.formats import elements
from ralph_tracker.formats.first_error import first_error
from ralph_tracker.formats.sums import both
from ralph_tracker.formats.tests import identity
from ralph_tracker.formats.tests.messages import KEPT, message
from ralph_tracker.formats.tests.test_report import Counts, Declared, TestReport
from ralph_tracker.formats.unreadable import plausible

ERROR: Final = "error"  # failed other than by an assertion: set-up, tear-down, collection, a crash
WHOLE_RUN: Final = "(test run)"
_NAMED: Final = 5


class Cases:
    """The cases of one report in its order; a second test of the same id gets an ordinal."""

    def __init__(self) -> None:
        self.outcomes: dict[str, str] = {}
        self._durations: dict[str, float] = {}
        self._in_error: set[str] = set()
        self._rerun: set[str] = set()
        self._flaky: set[str] = set()
        self._broken: set[str] = set()
        self._messages: dict[str, str] = {}
        self._not_loaded: dict[str, str] = {}
        self._ordinals = identity.Ordinals()

    @property
    def failed(self) -> int:
        """Return how many failed, including errors."""
        return sum(outcome == FAILED for outcome in self.outcomes.values())

    def add(
        self,
        case: str,
        outcome: str,
        seconds: float | None = None,
        *,
        rerun: bool = False,
        flaky: bool = False,
        said: str | None = None,
    ) -> None:
        """Add a case that passed, failed, was skipped or ended in ERROR; invalid `seconds` are dropped.

        `said` is the report's full text about a failure.
        """
        case = identity.steady(case)
        if case in self.outcomes:
            case = self._ordinals.next(case, self.outcomes)
        self.outcomes[case] = FAILED if outcome == ERROR else outcome
        if outcome == ERROR:
            self._in_error.add(case)
        if said and outcome in (FAILED, ERROR) and len(self._messages) < KEPT and (short := message(said)):
            self._messages[case] = short
        if seconds is not None and 0 <= seconds < math.inf:
            self._durations[case] = float(seconds)
        if rerun:
            self._rerun.add(case)
        if flaky:
            self._flaky.add(case)

    def add_broken(self, name: str, said: str | None = None) -> None:
        """Add something that failed but is not a completed test; `said` as in `add`."""
        name = identity.steady(name)
        self._broken.add(name)
        if said and len(self._messages) < KEPT and (short := message(said)):
            self._messages[name] = short

    def add_not_loaded(self, place: str, said: str) -> None:
        """Add a file, package or suite whose tests could not be collected, with the tool's message."""
        if place not in self._not_loaded and len(self._not_loaded) < KEPT:
            self._not_loaded[place] = why_not_loaded(said)

    def report(
        self,
        declared: Declared | None = None,
        *,
        contradiction: str | None = None,
        note: str | None = None,
        unnamed: Counts | None = None,
        skipped_lines: int = 0,
    ) -> TestReport:
        """Return the report of the cases and its own declarations. Raises DamageError for absurdly many `unnamed`."""
        if unnamed is not None:
            plausible(unnamed.tests, "tests")
        broken = f"failed outside of its tests: {', '.join(sorted(self._broken)[:_NAMED])}" if self._broken else None
        return TestReport(
            outcomes=self.outcomes,
            durations=self._durations,
            in_error=frozenset(self._in_error),
            rerun=frozenset(self._rerun),
            flaky=frozenset(self._flaky),
            declared=declared or Declared(),
            contradiction=contradiction,
            note=both(note, broken),
            unnamed=unnamed or Counts(),
            broken=frozenset(self._broken),
            skipped_lines=skipped_lines,
            messages=self._messages,
            not_loaded=self._not_loaded,
        )


def why_not_loaded(said: str) -> str:
    """Return the first error line of a tool's message about a file it could not load, else its first line."""
    found = first_error(said)
    return found.line if found else (message(said).splitlines() or ["it says not why"])[0]


def seconds(text: str | None) -> float | None:
    """Return a duration in seconds, with a decimal point or comma; None if it is not a number."""
    try:
        return float((text or "").replace(",", "."))
    except ValueError:
        return None


def first_count(attributes: Mapping[str, str], *keys: str) -> int | None:
    """Return the first of these attributes that is present as a count; None without one, or if it is not a count."""
    return next((elements.count(attributes, key) for key in keys if key in attributes), None)


def contradiction(
    declared: Declared, cases: Cases, also: Iterable[int] = (), *, failures_elsewhere: int = 0
) -> str | None:
    """Return how the declared counts differ from the cases, None if they agree.

    `also` are other acceptable numbers of tests, `failures_elsewhere` declared failures that are not tests.
    """
    found = len(cases.outcomes)
    wrong = impossible(declared, found + failures_elsewhere)
    if wrong is not None:
        return wrong
    if declared.tests is not None and found not in (declared.tests, *also):
        return unlike("tests", declared.tests, found)
    bad = (declared.failures or 0) + (declared.errors or 0) - failures_elsewhere
    return unlike("failures and errors", bad, 0) if bad > 0 and not cases.failed else None


def impossible(declared: Declared, room: int) -> str | None:
    """Return which declared count cannot be true, None if all can: one below zero, or more bad tests than `room`."""
    for name, number in declared._asdict().items():
        if number is not None and number < 0:
            return f"declared {name}: {number}"
    bad = max(declared.failures or 0, declared.errors or 0)
    return f"declared failures: {bad}, found tests: {room}" if bad > room else None


def unlike(what: str, declared: int, found: int) -> str:
    """Return a line that compares a declared number with the number found."""
    return f"declared {what}: {declared}, found: {found}"
