"""What readers of test reports share: cases gathered one by one, XML walked by local names, declared counts weighed."""

import math
from collections.abc import Iterable, Mapping
from typing import Final

from ralph_tracker.core.metrics import FAILED
from ralph_tracker.formats import markup, xml_numbers
from ralph_tracker.formats.adding import both
from ralph_tracker.formats.content import Content
from ralph_tracker.formats.damage import DamageError
from ralph_tracker.formats.tests import identity
from ralph_tracker.formats.tests.report import Counts, Declared, TestReport

ERROR: Final = "error"  # failed, and not by a failed assertion: set-up, tear-down, collection, a crash
WHOLE_RUN: Final = "(test run)"
_NAMED: Final = 5


class Cases:
    """Gather the cases of one report in its order; a second test of the same id gets an ordinal."""

    def __init__(self) -> None:
        self.outcomes: dict[str, str] = {}
        self._durations: dict[str, float] = {}
        self._in_error: set[str] = set()
        self._rerun: set[str] = set()
        self._flaky: set[str] = set()
        self._broken: set[str] = set()
        self._ordinals = identity.Ordinals()

    @property
    def failed(self) -> int:
        """Return how many failed, those in error included."""
        return sum(outcome == FAILED for outcome in self.outcomes.values())

    def add(
        self, case: str, outcome: str, seconds: float | None = None, *, rerun: bool = False, flaky: bool = False
    ) -> None:
        """Add a case that passed, failed, was skipped or ended in ERROR; `seconds` that are no duration are dropped."""
        case = identity.steady(case)
        if case in self.outcomes:
            case = self._ordinals.next(case, self.outcomes)
        self.outcomes[case] = FAILED if outcome == ERROR else outcome
        if outcome == ERROR:
            self._in_error.add(case)
        if seconds is not None and 0 <= seconds < math.inf:
            self._durations[case] = float(seconds)
        if rerun:
            self._rerun.add(case)
        if flaky:
            self._flaky.add(case)

    def add_broken(self, name: str) -> None:
        """Add what failed without being a test that ended."""
        self._broken.add(identity.steady(name))

    def report(
        self,
        declared: Declared | None = None,
        *,
        contradiction: str | None = None,
        note: str | None = None,
        unnamed: Counts | None = None,
        skipped_lines: int = 0,
    ) -> TestReport:
        """Return what was gathered, with what the report says of itself."""
        broken = (
            f"failed without a test of its own: {', '.join(sorted(self._broken)[:_NAMED])}" if self._broken else None
        )
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
        )


class Elements:
    """Walk one XML document: `opened` and `closed` are told the local names, `path` holds the open ones."""

    def __init__(self, content: Content) -> None:
        self.path: list[str] = []
        self._content = content

    def walk(self) -> None:
        """Read the document. Raises DamageError where it is malformed, nested too deep, or refused by `opened`."""
        self._content.stream(self._start, self._end, self.text)

    def opened(self, name: str, attributes: Mapping[str, str]) -> None:
        """Take an element; the last of `path` is the one around it."""

    def closed(self, name: str) -> None:
        """Take the end of an element; the last of `path` is the one around it."""

    def text(self, piece: str) -> None:
        """Take a piece of the characters between elements."""

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        local = markup.local_name(name)
        self.opened(local, attributes)
        self.path.append(local)
        limit = self._content.limits.max_depth
        if len(self.path) > limit:
            raise DamageError(f"elements are nested deeper than {limit}")

    def _end(self, _name: str) -> None:
        self.closed(self.path.pop())


def seconds(text: str | None) -> float | None:
    """Return a duration in seconds, its decimal sign a point or a comma; None for what is none."""
    try:
        return float((text or "").replace(",", "."))
    except ValueError:
        return None


def first_count(attributes: Mapping[str, str], *keys: str) -> int | None:
    """Return the first of these attributes that is there as a count; None where none is, or it is something else."""
    return next((xml_numbers.count(attributes, key) for key in keys if key in attributes), None)


def contradiction(
    declared: Declared, cases: Cases, also: Iterable[int] = (), *, failures_elsewhere: int = 0
) -> str | None:
    """Say where the declared counts are not those of the cases, None where they are.

    `also` are other numbers of tests that would fit, `failures_elsewhere` those that are declared and are no tests.
    """
    found = len(cases.outcomes)
    if declared.tests is not None and found not in (declared.tests, *also):
        return unlike("tests", declared.tests, found)
    bad = (declared.failures or 0) + (declared.errors or 0) - failures_elsewhere
    return unlike("failures and errors", bad, 0) if bad > 0 and not cases.failed else None


def unlike(what: str, declared: int, found: int) -> str:
    """Return the one line that tells a declared number from the one that was found."""
    return f"declared {what}: {declared}, found: {found}"
