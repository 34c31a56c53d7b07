"""Collect from the record of an iteration what holds it back: failing and lost tests, findings, uncovered lines."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from ralph_tracker.core.alert_types import Alert
from ralph_tracker.core.known_tests import HELD_BACK
from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED, Metrics, TestResults
from ralph_tracker.formats.complaints import first_line
from ralph_tracker.iteration.listed_findings import ListedFindings, listed_findings
from ralph_tracker.iteration.places_of_tests import SourceLine, place_of
from ralph_tracker.store.records import LoopRecords

_BREAKS: Final = frozenset({"working_tests_failing", "flaky_test"})
_PYTEST_PLACE: Final = re.compile(r"(?P<file>[^\s:]+):(?P<line>\d{1,9}): (?P<what>\w+)$")
_PLACES: Final = (
    re.compile(r"File \"(?P<file>[^\"]+)\", line (?P<line>\d{1,9})"),
    re.compile(r"(?:^|[\s(\[,@])(?:file://)?(?P<file>[\w./@+-]*[\w+-]\.[A-Za-z]{1,6}):(?P<line>\d{1,9})\b"),
)
_LIBRARY: Final = re.compile(r"site-packages|dist-packages|/lib/python\d|node_modules|node:|/rustc/|^/")


class FailingTest(NamedTuple):
    """A failing test: where it fails, or else where it is defined (None: unknown), and why in the report's words.

    `message` has the first lines of the assertion without its place, "" for none. `is_broken` means that it passed
    earlier in this loop.
    """

    name: str
    place: SourceLine | None = None
    message: str = ""
    is_broken: bool = False


class Shortfalls(NamedTuple):
    """What holds an iteration back, as recorded.

    `failing` are the tests that fail, broken ones first; None if their names are unknown, then `metrics` has their
    number. Of the held-back ones only the number is given. `not_loaded` maps what did not build or load to its first
    error. `lost` maps the tests that are gone or skipped, and are held against the iteration, to their outcome before.
    `listed` are findings and uncovered lines, None if unknown.
    """

    iteration: int
    metrics: Metrics
    failing: tuple[FailingTest, ...] | None = None
    held_back: int = 0
    not_loaded: Mapping[str, str] = {}
    lost: Mapping[str, str] = {}
    listed: ListedFindings | None = None


def shortfalls(committed: LoopRecords, number: int, root: Path | None = None) -> Shortfalls | None:
    """Return what holds a recorded iteration back, None if its measurement is damaged.

    With `root`, whose files must be those of the iteration, a test that fails nowhere in particular is placed where it
    is defined. Raises RecordError if the lineage is damaged, StoreError if the system refuses.
    """
    found = committed.measurement(number)
    if found is None:
        return None
    measurement = found[0]
    alerts = _alerts_held(committed, number)
    tests = measurement.tests
    names = () if tests is None else [name for name, how in tests.outcomes.items() if how == FAILED]
    visible = [name for name in names if not name.startswith(HELD_BACK)]
    broken = {name for alert in alerts if alert.type in _BREAKS for name in alert.tests}
    return Shortfalls(
        iteration=number,
        metrics=measurement.metrics,
        failing=None if tests is None else tuple(_failing(tests, visible, broken, root)),
        held_back=len(names) - len(visible),
        not_loaded=_without_held_back(measurement.not_loaded),
        lost=_without_held_back(_lost(alerts, tests)),
        listed=listed_findings(committed, number),
    )


def _alerts_held(committed: LoopRecords, number: int) -> list[Alert]:
    """Return the alerts held against an iteration, without accepted ones."""
    accepted = {event["id"] for event in committed.acceptances()}
    return [alert for alert in committed.line(number)[0].open_alerts if alert.id not in accepted]


def _failing(tests: TestResults, names: list[str], broken: set[str], root: Path | None) -> Iterator[FailingTest]:
    for name in sorted(names, key=lambda name: (name not in broken, name)):
        said = tests.messages.get(name, "")
        place, message = split_message(said)
        if place is None and root is not None:
            place = place_of(root, name)
        yield FailingTest(name, place, message, name in broken)


def _lost(alerts: list[Alert], tests: TestResults | None) -> dict[str, str]:
    """Return the tests that alerts name and that neither pass nor fail now."""
    now = {} if tests is None else tests.outcomes
    named = {name: how for alert in alerts if alert.type not in _BREAKS for name, how in alert.tests.items()}
    return {name: how for name, how in sorted(named.items()) if now.get(name, SKIPPED) not in {PASSED, FAILED}}


def _without_held_back(named: Mapping[str, str]) -> dict[str, str]:
    return {name: said for name, said in named.items() if not name.startswith(HELD_BACK)}


def split_message(said: str) -> tuple[SourceLine | None, str]:
    """Return where a test failed according to its message, None if it does not say, and the rest of the message.

    A path of a library or outside of the project is no place.
    """
    lines = said.splitlines()
    last = _PYTEST_PLACE.match(lines[-1]) if lines else None
    if last is not None:
        place = SourceLine(last["file"], int(last["line"]))
        return (None if _LIBRARY.search(place.file) else place), "\n".join(lines[:-1]) or last["what"]
    for pattern in _PLACES:
        for found in pattern.finditer(said):
            if not _LIBRARY.search(found["file"]):
                return SourceLine(found["file"], int(found["line"])), said
    return None, said


def first_words(test: FailingTest) -> str:
    """Return a failing test in one line: `file:line name: message`."""
    place = "" if test.place is None else f"{test.place.text} "
    why = first_line(test.message)
    return f"{place}{test.name}{f': {why}' if why else ''}"
