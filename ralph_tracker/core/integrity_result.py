"""The findings of an iteration's integrity check, as values."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, Final, Literal, cast, get_args

from ralph_tracker.codec import ValueObject

Verdict = Literal["PASS", "SUSPECT", "TAMPERED", "UNPROVEN"]
SuppressionKind = Literal["lint", "types", "coverage"]
SeverityWord = Literal["CRITICAL", "HIGH", "MEDIUM"]
# As many tests and findings a document lists; it has their count beside them.
TESTS_LISTED: Final = 20
FINDINGS_LISTED: Final = 50
# Found by running earlier tests again; such findings are checked in every later iteration by another run.
RERUN_RULES: Final = ("failure_hidden", "green_by_edit", "demand_changed", "outcome_forged", "unproven")
# A failing test that went together with the code that it called.
REMOVED_WITH_CODE: Final = "removed_with_code"
# A test named by an open finding of these rules is not believed, even if it passes (semantics § 0).
_DISBELIEVING: Final = frozenset({"green_by_edit", "outcome_forged", "unproven", "R1", "R2", "R3", "R4"})


def is_clean(verdict: Verdict | None) -> bool:
    """Return whether an iteration counts; SUSPECT does, since it only asks a person (semantics § 0)."""
    return verdict in {None, "PASS", "SUSPECT"}


class Severity(IntEnum):
    """Lower is worse, so that sorting puts the worst first."""

    CRITICAL = 0
    HIGH = 1
    MEDIUM = 2

    @property
    def word(self) -> SeverityWord:
        """Return its name, as documents have it."""
        return cast("SeverityWord", self.name)  # mypy knows the name of one member, not of any


class Finding(
    ValueObject,
    document="rule severity message file line test tests old new reference=against failure command",
    shown="rule severity place message",
):
    """One fact about a change that makes a score less believable.

    `rule` is its row of integrity.md, `file` is relative to the root, `line` refers to the new text (None: removed).
    `test` is the test's name in the source (`TestBox::test_lid`), None if it is about no single one; `tests` are its
    ids in the report, () if unknown. `old` and `new` are the texts before and now, None without one. `against` is the
    iteration compared with; for a re-run, the one that the tests were taken from. `about` distinguishes it from other
    findings of the same rule, file and test. `failure` is the output of the re-run tests, `command` what runs them
    again; None if nothing was run.
    """

    rule: str
    severity: Severity
    message: str
    file: str
    line: int | None = None
    test: str | None = None
    tests: tuple[str, ...] = ()
    old: str | None = None
    new: str | None = None
    against: int | None = None
    about: str = ""
    failure: str | None = None
    command: str | None = None

    @property
    def place(self) -> str:
        """Return the file and line for display."""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    @property
    def key(self) -> str:
        """Return its identity across iterations; without the line, because lines move."""
        return "|".join((self.rule, self.file, self.test or "", self.about))

    @property
    def is_question(self) -> bool:
        """Return whether a person is asked about it; MEDIUM ones are notes."""
        return self.severity <= Severity.HIGH

    @property
    def stamp(self) -> str:
        """Return what an acceptance covers: this finding with its current text; a further change counts as new."""
        return f"{self.key}|{self.new or ''}"

    @property
    def disbelieved(self) -> tuple[str, ...]:
        """Return the tests that are not believed because of it; none for a note."""
        return self.tests if self.rule in _DISBELIEVING and self.is_question else ()

    def to_dict(self) -> dict[str, Any]:
        """Return its document; a long list of tests is cut."""
        document: dict[str, Any] = ValueObject.to_dict(self)
        return {**document, "tests": document["tests"][:TESTS_LISTED]}


class Rerun(ValueObject, shown="files tests failed problem"):
    """One run of earlier tests against the source of an iteration.

    `references` maps the files put over the source to the iteration they were taken from. `files` are the test files
    that were run (all if `whole`), `commands` what ran them. `tests` and `failed` count the report; `flaky` names tests
    that failed and then passed. `problem` says why there is no result, else None; `is_interrupted` that it is the
    machine's doing (a full disk), not that of the tree.
    """

    references: Mapping[str, int]
    files: tuple[str, ...]
    whole: bool = False
    commands: tuple[str, ...] = ()
    duration_s: float = 0.0
    tests: int = 0
    failed: int = 0
    flaky: tuple[str, ...] = ()
    problem: str | None = None
    is_interrupted: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return its document; long lists of files and tests are cut."""
        document: dict[str, Any] = ValueObject.to_dict(self)
        return {**document, **{name: document[name][:TESTS_LISTED] for name in ("files", "flaky")}}


class EarlierTests(ValueObject):
    """What the earlier tests show on this iteration's source, by the names that the reports have.

    `against` is the kept iteration. `held`: believed there and gone, edited or skipped here, and the earlier form
    passes. `retired`: believed there and gone, and so is what it called. `fixed`: failed before, and its earlier form
    passes here. `met`: passes here in a form that is new, and that form fails on the kept iteration's source.
    `no_gain`: passes here and is not a gain.
    """

    against: int
    held: frozenset[str] = frozenset()
    retired: frozenset[str] = frozenset()
    fixed: frozenset[str] = frozenset()
    met: frozenset[str] = frozenset()
    no_gain: frozenset[str] = frozenset()

    def to_dict(self) -> dict[str, int]:
        """Return how many tests of each kind there are."""
        return {name: value if isinstance(value, int) else len(value) for name, value in self._asdict().items()}


class Integrity(ValueObject):
    """The result of comparing the files and running the earlier tests of one iteration.

    `findings` are the new ones and the earlier ones that still hold. `earlier` is what earlier tests show; empty sets
    where nothing had to be run, None where nothing can be run: then names and counts alone decide. `suppressions`
    counts those that are new since the baseline; `blanket` are the kinds with a new one for a whole file, which the
    judge counts by what it hides. `unread` says why a file could not be examined. `references` maps each test file that
    was edited while green to the iteration with the form that is still run. `reruns` are the runs of earlier tests, ()
    if none was due.
    """

    findings: tuple[Finding, ...] = ()
    earlier: EarlierTests | None = None
    suppressions: Mapping[SuppressionKind, int] = {}
    blanket: frozenset[SuppressionKind] = frozenset()
    unread: Mapping[str, str] = {}
    references: Mapping[str, int] = {}
    reruns: tuple[Rerun, ...] = ()

    @property
    def retired(self) -> frozenset[str]:
        """Return the tests that went together with what they called."""
        return frozenset() if self.earlier is None else self.earlier.retired

    @property
    def unproven(self) -> str | None:
        """Return why a required run of earlier tests gave no result, None if all did."""
        return next((each.problem for each in self.reruns if each.problem is not None), None)

    def to_dict(self) -> dict[str, Any]:
        """Return what was found; `earlier_tests` is None where none can be run."""
        return {
            "reruns": [each.to_dict() for each in self.reruns],
            "findings": [each.to_dict() for each in self.findings[:FINDINGS_LISTED]],
            "findings_total": len(self.findings),
            "earlier_tests": None if self.earlier is None else self.earlier.to_dict(),
            "suppressions": {kind: self.suppressions.get(kind, 0) for kind in get_args(SuppressionKind)},
            "unread": dict(self.unread),
        }


NOTHING_FOUND: Final = Integrity()
