"""Collect from the record of an iteration what is still wrong with it, for the agent, for people and as documents.

Failing and lost tests, the findings of linters, type checkers and builds by place, uncovered new lines; and
what integrity holds against it: its findings, missing tests, and their alerts.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypedDict

from ralph_tracker.codec import decode
from ralph_tracker.core.alert_types import TYPE_BY_NAME, Alert, StandingState
from ralph_tracker.core.integrity_alerts import raises_doubt
from ralph_tracker.core.integrity_result import Finding, Integrity, SeverityWord, Verdict
from ralph_tracker.core.known_tests import (
    HELD_BACK,
    STOPPED_RUN,
    describe_not_loaded,
    is_of_run,
    names_in_short,
)
from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED, Group, Metrics, quantity
from ralph_tracker.errors import LoopError, RecordError, StoreError
from ralph_tracker.formats.parsed_report import Diagnostic, first_line
from ralph_tracker.records.iteration_record import (
    SCHEMA_VERSION,
    Document,
    EarlierTestsDocument,
    FindingDocument,
    RerunDocument,
    SchemaVersion,
    SuppressionsDocument,
)
from ralph_tracker.records.quarantine import FlakyTest, Run, flaky_tests
from ralph_tracker.records.questions import Question, questions_of
from ralph_tracker.store.read import SealedRecords
from ralph_tracker.store.record_packs import kept_json

FINDINGS: Final = "findings.json"
# How the note begins on an iteration whose checks did not run.
SAME_AS: Final = "not_measured_again: "
# How it begins where some did not.
NOT_RUN: Final = "not_run_again: "
# Nobody reads more; the record says how many there are.
FINDINGS_KEPT: Final = 200
ListedKind = Literal["build", "types", "lint"]
_ORDER: Final[Mapping[str, int]] = {Group.BUILD: 0, Group.TYPES: 1, Group.LINT: 2}
SIZE_CAP: Final = 1_000_000
_BREAKS: Final = frozenset({"working_tests_failing", "flaky_test"})
_PLACES: Final = (
    re.compile(r"File \"(?P<file>[^\"]+)\", line (?P<line>\d{1,9})"),
    re.compile(r"(?:^|[\s(\[,@])(?:file://)?(?P<file>[\w./@+-]*[\w+-]\.[A-Za-z]{1,6}):(?P<line>\d{1,9})\b"),
)
_LIBRARY: Final = r"site-packages|dist-packages|/lib/python\d|node_modules|node:|/rustc/|^/"
SHOWN: Final = 5


class ListedDiagnostic(NamedTuple):
    """A finding of a linter, a type checker or a failed build; `is_ours` if it is on a line of this loop."""

    kind: ListedKind
    diagnostic: Diagnostic
    is_ours: bool = False

    @property
    def text(self) -> str:
        """Return `file:line code message`."""
        return self.diagnostic.text


class ListedDiagnostics(NamedTuple):
    """The kept findings, worst first, and how many of each kind were found.

    `uncovered` are the lines of this loop that no test runs, by path; None if coverage by line is unknown.
    """

    findings: tuple[ListedDiagnostic, ...] = ()
    counts: Mapping[str, int] = {}
    uncovered: Mapping[str, tuple[int, ...]] | None = None


def list_diagnostics(
    diagnostics: Iterable[tuple[Group, Diagnostic]],
    new_lines: Mapping[str, frozenset[int]],
    covered: Mapping[str, Mapping[int, bool]] | None,
) -> ListedDiagnostics:
    """Order the findings: those of the build, of this loop's lines, errors, then by place; keep the first 200.

    `covered` is as in TreeFacts, None if coverage was not measured. The same finding of two reports counts once.
    """
    found = []
    for group, each in dict.fromkeys(diagnostics):
        kind: Any = group.value
        found.append(ListedDiagnostic(kind, each, each.line in new_lines.get(each.file, ())))
    uncovered: dict[str, tuple[int, ...]] = {}
    for path, hits in sorted((covered or {}).items()):
        lines = tuple(sorted(line for line in new_lines.get(path, ()) if hits.get(line) is False))
        if lines and len(uncovered) < 100:
            uncovered[path] = lines[:1_000]
    counts: Counter[str] = Counter(each.kind for each in found)
    first = tuple(sorted(found, key=_rank)[:FINDINGS_KEPT])
    return ListedDiagnostics(first, counts, None if covered is None else uncovered)


def _rank(each: ListedDiagnostic) -> tuple[bool, bool, bool, int, str, int]:
    diagnostic = each.diagnostic
    is_warning = diagnostic.severity != "error"
    of_build = each.kind == "build"
    return not of_build, not each.is_ours, is_warning, _ORDER[each.kind], diagnostic.file, diagnostic.line or 0


def listed_document(found: ListedDiagnostics) -> dict[str, Any]:
    """Return the findings as they are kept."""
    return {
        "schema_version": SCHEMA_VERSION,
        "findings": [
            {"kind": each.kind, **each.diagnostic._asdict(), "is_ours": each.is_ours} for each in found.findings
        ],
        "counts": dict(found.counts),
        "uncovered": None if found.uncovered is None else {path: list(at) for path, at in found.uncovered.items()},
    }


def listed_diagnostics(committed: SealedRecords, number: int) -> ListedDiagnostics | None:
    """Return the findings of a recorded iteration.

    None if they are not known: metrics were handed in, an earlier version recorded it, or the file is damaged.
    """
    plain = kept_json(committed.paths, number, FINDINGS)
    try:
        uncovered = plain["uncovered"]
        found = []
        for each in plain["findings"]:
            diagnostic = Diagnostic(**{name: each[name] for name in Diagnostic._fields})
            found.append(ListedDiagnostic(each["kind"], diagnostic, bool(each["is_ours"])))
        return ListedDiagnostics(
            tuple(found),
            {str(kind): int(count) for kind, count in plain["counts"].items()},
            None if uncovered is None else {str(path): tuple(map(int, at)) for path, at in uncovered.items()},
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def questions_in(committed: SealedRecords, number: int) -> tuple[Question, ...]:
    """Return the open questions of an iteration. Raises RecordError if its state is damaged."""
    accepted = {event["id"] for event in committed.acceptances()}
    alerts = committed.line(number)[0].open_alerts
    return questions_of(alert for alert in alerts if alert.id not in accepted)


def flaky_in(committed: SealedRecords, quarantine: Mapping[str, str]) -> tuple[FlakyTest, ...]:
    """Return the flaky tests of a loop and those in quarantine, by what each iteration that ran its checks showed."""
    runs = []
    for number in range(committed.summary().iteration + 1):
        found = committed.measurement(number)
        if found is None or found[0].tests is None or any(note.startswith(SAME_AS) for note in found[0].notes):
            continue
        measured, tests = found[0], found[0].tests
        runs.append(Run(measured.tree, {**tests.outcomes, **measured.quarantined}, tests.flaky))
    return flaky_tests(runs, quarantine)


class SourceLine(NamedTuple):
    """A file, relative to the root with forward slashes, and a line in it (None: unknown)."""

    file: str
    line: int | None

    @property
    def text(self) -> str:
        """Return `file:line`, only the file where the line is unknown."""
        return self.file if self.line is None else f"{self.file}:{self.line}"


def source_line_of(root: Path, test: str) -> SourceLine | None:
    """Return the location of a test, None if its id names no file of the tree.

    An id names a file by its path (`tests/test_a.py::test_b`) or as a module (`tests.test_a.TestC::test_b`).
    """
    parts = test.split("::")
    name = parts[-1].partition("[")[0]
    for part in parts[:-1] or parts:
        # A part may mean itself, or the module of a class, inner first.
        words = part.split(".")
        modules = ["/".join(words[:end]) + ".py" for end in range(len(words), 0, -1)] if all(words) else []
        file = next((path for path in (part, *modules) if _is_file(root, path)), None)
        if file is None:
            continue
        try:
            text = (root / file).read_text("utf-8", "replace") if (root / file).stat().st_size <= SIZE_CAP else ""
        except OSError:
            return SourceLine(file, None)
        defines = re.compile(rf"^\s*(?:async\s+)?(?:def|func|fn|function)\s+(?:\([^)]*\)\s*)?{re.escape(name)}\b")
        return SourceLine(file, next((at for at, line in enumerate(text.splitlines(), 1) if defines.match(line)), None))
    return None


def _is_file(root: Path, path: str) -> bool:
    """Return whether a path is a file of the tree; a link that leads out of the tree is not."""
    try:
        found = (root / path).resolve()
        return found.is_relative_to(root.resolve()) and found.is_file() and not Path(path).is_absolute()
    except (OSError, ValueError):
        return False  # no file has such a name


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


def remaining_problems(committed: SealedRecords, number: int, root: Path | None = None) -> RemainingProblems | None:
    """Return what holds a recorded iteration back, None if its measurement is damaged.

    With `root`, whose files must be those of the iteration, a test that fails nowhere in particular is placed where it
    is defined. Raises RecordError if the lineage is damaged, StoreError if the system refuses.
    """
    found = committed.measurement(number)
    if found is None:
        return None
    measurement = found[0]
    accepted = {event["id"] for event in committed.acceptances()}
    alerts = [alert for alert in committed.line(number)[0].open_alerts if alert.id not in accepted]
    tests = measurement.tests
    now = {} if tests is None else tests.outcomes
    names = [name for name, how in now.items() if how == FAILED]
    # The test file that did not load may be in the report as a failing test too.
    reasons = set(measurement.not_loaded.values())
    said = {} if tests is None else tests.messages
    visible = [
        name for name in names if not name.startswith(HELD_BACK) and first_line(said.get(name, "")) not in reasons
    ]
    broken = {name for alert in alerts if alert.type in _BREAKS for name in alert.tests}
    failing = []
    for name in sorted(visible, key=lambda name: (name not in broken, name)):
        place, message = split_message(said.get(name, ""))
        if place is None and root is not None:
            place = source_line_of(root, name)
        failing.append(FailingTest(name, place, message, name in broken))
    # What alerts name and what neither passes nor fails now.
    named = {name: how for alert in alerts if alert.type not in _BREAKS for name, how in alert.tests.items()}
    lost = {name: how for name, how in sorted(named.items()) if now.get(name, SKIPPED) not in {PASSED, FAILED}}
    return RemainingProblems(
        iteration=number,
        metrics=measurement.metrics,
        failing=None if tests is None else tuple(failing),
        held_back=sum(name.startswith(HELD_BACK) for name in names),
        not_loaded=_without_held_back(measurement.not_loaded),
        lost=_without_held_back(lost),
        listed=listed_diagnostics(committed, number),
    )


def _without_held_back(named: Mapping[str, str]) -> dict[str, str]:
    return {name: said for name, said in named.items() if not name.startswith(HELD_BACK)}


def split_message(said: str) -> tuple[SourceLine | None, str]:
    """Return where a test failed according to its message, None if it does not say, and the rest of the message.

    A path of a library or outside of the project is no place.
    """
    lines = said.splitlines()
    last = re.match(r"(?P<file>[^\s:]+):(?P<line>\d{1,9}): (?P<what>\w+)$", lines[-1]) if lines else None
    if last is not None:
        place = SourceLine(last["file"], int(last["line"]))
        return (None if re.search(_LIBRARY, place.file) else place), "\n".join(lines[:-1]) or last["what"]
    for pattern in _PLACES:
        for found in pattern.finditer(said):
            if not re.search(_LIBRARY, found["file"]):
                return SourceLine(found["file"], int(found["line"])), said
    return None, said


def first_words(test: FailingTest) -> str:
    """Return a failing test in one line: `file:line name: message`."""
    place = "" if test.place is None else f"{test.place.text} "
    why = first_line(test.message)
    return f"{place}{test.name}{f': {why}' if why else ''}"


def wrong_lines(committed: SealedRecords, number: int) -> tuple[str, ...]:
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
    """Return what does not load, each with its first error, and the runs that failed as a whole."""
    return [
        f"{_state_of(what)}: {describe_not_loaded(what, why)}"
        for what, why in sorted(once_each(problems.not_loaded).items())[:SHOWN]
    ]


def once_each(not_loaded: Mapping[str, str]) -> dict[str, str]:
    """Return what did not load without runs whose error is that of a file."""
    files = {why for place, why in not_loaded.items() if not is_of_run(place)}
    return {
        place: why
        for place, why in not_loaded.items()
        if not is_of_run(place) or not any(each and each in why for each in files)
    }


def _state_of(place: str) -> str:
    """Return in a word what is wrong with a place of what did not load."""
    if place.endswith(STOPPED_RUN):
        return "not run"
    return "failing" if is_of_run(place) else "does not load"


class OpenAlert(NamedTuple):
    """An alert that is held against an iteration, with its state."""

    alert: Alert
    state: StandingState


class FindingsView(NamedTuple):
    """All that is held against an iteration.

    `verdict` is the current one, after acceptances. `pass_rate` is in percent, None if unknown. `findings` are the open
    ones with their alert (None for an older alert that was not kept); `tests` are alerts about tests missing or
    skipped. `not_loaded` says what did not load, with its first error.
    """

    document: Mapping[str, Any]
    verdict: Verdict
    pass_rate: float | None
    found: Integrity
    findings: tuple[tuple[Finding, OpenAlert | None], ...]
    tests: tuple[OpenAlert, ...]
    not_loaded: tuple[str, ...] = ()


def open_findings(committed: SealedRecords, document: Mapping[str, Any]) -> FindingsView:
    """Return what is held against an iteration. Raises LoopError if its files and tests were not compared."""
    record = document["iteration_metrics"]
    number, trust = record["iteration"], record.get("integrity")
    measured = committed.measurement(number)
    found = None if measured is None else measured[0].integrity
    if trust is None or measured is None or found is None:
        raise LoopError(
            f"iteration {number}: its files and tests were not compared, because its metrics were handed in and no "
            "files are stored; set codebase.keep: always for the next loop"
        )
    held = {each.alert.id: each for each in _held(committed, record, found)}
    by_key = {
        finding.key: each for each in held.values() for finding in each.alert.findings if each.state != "accepted"
    }
    by_key |= {finding.stamp: each for each in held.values() for finding in each.alert.findings}
    return FindingsView(
        document=document,
        verdict=trust["verdict"],
        pass_rate=(record.get("testing") or {}).get("pass_rate"),
        found=found,
        findings=tuple((finding, by_key.get(finding.stamp, by_key.get(finding.key))) for finding in found.findings),
        tests=tuple(each for each in held.values() if each.alert.tests and not each.alert.findings),
        not_loaded=tuple(
            why if is_of_run(what) else f"{what} does not load: {why}"
            for what, why in sorted(measured[0].not_loaded.items())
        ),
    )


def _held(committed: SealedRecords, record: Mapping[str, Any], found: Integrity) -> Iterator[OpenAlert]:
    """Yield the integrity alerts that an iteration raised or inherited, accepted ones marked as such.

    Those that it raised for findings come first, from its record, since later records may lack them.
    """
    number = record["iteration"]
    for raised in record["alerts"]:
        kind = TYPE_BY_NAME[raised["type"]]
        findings = tuple(each for each in found.findings if kind.rule == each.rule)
        if findings:
            alert = Alert(kind=kind, iteration=number, message=raised["message"], findings=findings)
            yield OpenAlert(alert, "accepted" if raised["state"] == "accepted" else "new")
    accepted = {event["id"]: event["alert"] for event in committed.acceptances()}
    for plain in accepted.values():
        alert = decode(Alert, plain)
        if raises_doubt(alert) and alert.iteration <= number:
            yield OpenAlert(alert, "accepted")
    for alert in committed.line(number)[0].open_alerts:
        if raises_doubt(alert) and alert.id not in accepted:
            yield OpenAlert(alert, "new" if alert.iteration == number else "open")


if TYPE_CHECKING:  # mypy knows no TypedDict that is made
    HeldFindingDocument = Document
else:

    class HeldFindingDocument(FindingDocument):
        alert: str | None
        state: StandingState


class HeldTestsDocument(TypedDict):
    """`tests` maps those that are gone or skipped to their outcome before."""

    alert: str
    state: StandingState
    type: str
    severity: SeverityWord
    message: str
    tests: dict[str, str]


class IntegrityDocument(TypedDict):
    """`pass_rate` is in percent; `earlier_tests` is null where earlier tests cannot be run."""

    schema_version: SchemaVersion
    loop_id: str
    iteration: int
    verdict: Verdict
    pass_rate: float | None
    quality_score: float
    adjusted_score: float
    reruns: list[RerunDocument]
    findings: list[HeldFindingDocument]
    tests: list[HeldTestsDocument]
    earlier_tests: EarlierTestsDocument | None
    suppressions: SuppressionsDocument
    unread: dict[str, str]


def open_findings_document(view: FindingsView) -> IntegrityDocument:
    """Return it as a document, nothing cut."""
    record, found = view.document["iteration_metrics"], view.found.to_dict()
    return {
        "schema_version": SCHEMA_VERSION,
        "loop_id": record["loop_id"],
        "iteration": record["iteration"],
        "verdict": view.verdict,
        "pass_rate": view.pass_rate,
        "quality_score": record["quality_score"],
        "adjusted_score": record["adjusted_score"],
        "reruns": found["reruns"],
        "findings": [
            {
                **finding.to_dict(),
                "tests": list(finding.tests),
                "alert": None if held is None else held.alert.id,
                "state": "open" if held is None else held.state,
            }
            for finding, held in view.findings
        ],
        "tests": [
            {
                "alert": held.alert.id,
                "state": held.state,
                "type": held.alert.type,
                "severity": held.alert.severity.word,
                "message": held.alert.message,
                "tests": dict(held.alert.tests),
            }
            for held in view.tests
        ],
        "earlier_tests": found["earlier_tests"],
        "suppressions": found["suppressions"],
        "unread": found["unread"],
    }
