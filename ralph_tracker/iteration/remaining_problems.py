"""Collect from the record of an iteration what holds it back: failing and lost tests, findings, uncovered lines."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from ralph_tracker.core.alerts import Alert
from ralph_tracker.core.known_tests import HELD_BACK, names_in_short
from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED, Metrics, TestResults, quantity
from ralph_tracker.errors import RecordError, StoreError
from ralph_tracker.formats.diagnostics import first_line
from ralph_tracker.iteration.listed_diagnostics import ListedDiagnostics, listed_diagnostics
from ralph_tracker.store.records import LoopRecords

SIZE_CAP: Final = 1_000_000
_SEPARATOR: Final = "::"
_DEFINES: Final = r"^\s*(?:async\s+)?(?:def|func|fn|function)\s+(?:\([^)]*\)\s*)?{}\b"


class SourceLine(NamedTuple):
    """A file, relative to the root with forward slashes, and a line in it (None: unknown)."""

    file: str
    line: int | None

    @property
    def text(self) -> str:
        """Return `file:line`, only the file where the line is unknown."""
        return self.file if self.line is None else f"{self.file}:{self.line}"


def place_of(root: Path, test: str) -> SourceLine | None:
    """Return the location of a test, None if its id names no file of the tree.

    An id names a file by its path (`tests/test_a.py::test_b`) or as a module (`tests.test_a.TestC::test_b`).
    """
    parts = test.split(_SEPARATOR)
    name = parts[-1].partition("[")[0]
    for part in parts[:-1] or parts:
        file = next((path for path in _candidates(part) if _is_file(root, path)), None)
        if file is not None:
            return SourceLine(file, _line(root / file, name))
    return None


def _candidates(part: str) -> list[str]:
    """Return the paths that a part of an id may mean: itself, or the module of a class, inner first."""
    words = part.split(".")
    modules = ["/".join(words[:end]) + ".py" for end in range(len(words), 0, -1)] if all(words) else []
    return [part, *modules]


def _is_file(root: Path, path: str) -> bool:
    """Return whether a path is a file of the tree; a link that leads out of the tree is not."""
    try:
        found = (root / path).resolve()
        return found.is_relative_to(root.resolve()) and found.is_file() and not Path(path).is_absolute()
    except (OSError, ValueError):
        return False  # no file has such a name


def _line(file: Path, name: str) -> int | None:
    try:
        text = file.read_text("utf-8", "replace") if file.stat().st_size <= SIZE_CAP else ""
    except OSError:
        return None
    defines = re.compile(_DEFINES.format(re.escape(name)))
    return next((number for number, line in enumerate(text.splitlines(), 1) if defines.match(line)), None)


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


class RemainingProblems(NamedTuple):
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
    listed: ListedDiagnostics | None = None


def remaining_problems(committed: LoopRecords, number: int, root: Path | None = None) -> RemainingProblems | None:
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
    # The test file that did not load may be in the report as a failing test too.
    reasons = set(measurement.not_loaded.values())
    said = {} if tests is None else tests.messages
    visible = [
        name for name in names if not name.startswith(HELD_BACK) and first_line(said.get(name, "")) not in reasons
    ]
    broken = {name for alert in alerts if alert.type in _BREAKS for name in alert.tests}
    return RemainingProblems(
        iteration=number,
        metrics=measurement.metrics,
        failing=None if tests is None else tuple(_failing(tests, visible, broken, root)),
        held_back=sum(name.startswith(HELD_BACK) for name in names),
        not_loaded=_without_held_back(measurement.not_loaded),
        lost=_without_held_back(_lost(alerts, tests)),
        listed=listed_diagnostics(committed, number),
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


SHOWN: Final = 5


def wrong_lines(committed: LoopRecords, number: int) -> tuple[str, ...]:
    """Return the failing tests with place and message, the lost ones, and what did not load; () if nothing is known."""
    try:
        problems = remaining_problems(committed, number)
    except (RecordError, StoreError):
        return ()
    if problems is None:
        return ()
    lines = build_lines(problems) + test_lines("failing", problems.failing or ()) + held_back_lines(problems)
    lines += [f"lost: {names_in_short(problems.lost)}"] if problems.lost else []
    return (*lines, *not_loading_lines(problems))


def test_lines(word: str, tests: Sequence[FailingTest]) -> list[str]:
    """Return the first tests with place and message, each after a word, and how many more there are."""
    rest = len(tests) - SHOWN
    return [f"{word}: {first_words(test)}" for test in tests[:SHOWN]] + ([f"{word}: {rest} more"] if rest > 0 else [])


def build_lines(problems: RemainingProblems) -> list[str]:
    """Return the first errors of builds and other commands that count by their exit status."""
    found = () if problems.listed is None else problems.listed.findings
    return [f"failing: {each.text}" for each in found if each.kind == "build"][:SHOWN]


def held_back_lines(problems: RemainingProblems) -> list[str]:
    """Return the number of held-back tests that fail, without their names."""
    return [f"failing: {quantity(problems.held_back, 'held-back test')}"] if problems.held_back else []


def not_loading_lines(problems: RemainingProblems) -> list[str]:
    """Return what does not load, each with its first error."""
    found = sorted(problems.not_loaded.items())
    loads = [why if why.startswith(what) else f"{what}: {why}" if why else what for what, why in found]
    return [f"does not load: {line}" for line in loads[:SHOWN]]
