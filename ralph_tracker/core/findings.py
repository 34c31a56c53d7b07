"""What integrity finds of one iteration, as values."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Final, Literal, NamedTuple, cast

Verdict = Literal["PASS", "SUSPECT", "TAMPERED", "UNPROVEN"]
SuppressionKind = Literal["lint", "types", "coverage"]
SeverityWord = Literal["CRITICAL", "HIGH", "MEDIUM"]
# Our own rules look at the change, no other tool (integrity.tool).
BUILTIN: Final = "builtin"
# What the re-run of earlier tests shows; these findings are asked again, by running, in every later iteration.
RERUN_RULES: Final = ("failure_hidden", "green_by_edit", "demand_changed", "outcome_forged")
REMOVED_WITH_CODE: Final = "removed_with_code"
# A test that a standing finding of these rules names is not believed, though it passes (semantics § 0).
_DISBELIEVING: Final = frozenset({*RERUN_RULES, "R2", "R4"})


def is_clean(verdict: Verdict | None) -> bool:
    """Tell whether an iteration counts; SUSPECT is a question to a person, no ban (semantics § 0)."""
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


class Finding(NamedTuple):
    """One fact about a change that makes a score less believable.

    `rule` is its row of integrity.md, `file` is relative to the root, `line` stands in the new text (None: it is gone).
    `test` is the test's name as the source has it (`TestBox::test_lid`), None where it is about no single one; `tests`
    are its ids in the report, () where unknown. `old` and `new` are the texts before and now, None where there is none.
    `against` is the iteration that it was compared with: of a re-run, the one whose form of the tests was run. `about`
    tells it from other findings of its rule, file and test, and stays the same while it stands. `failure` is what the
    tests said when they were run again, `command` what runs them again; None where nothing was run.
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
        """Return where it is, as a person reads it."""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    @property
    def key(self) -> str:
        """Return what it is known by from one iteration to the next; lines move, so they take no part."""
        return "|".join((self.rule, self.file, self.test or "", self.about))

    @property
    def stamp(self) -> str:
        """Return what a person accepts: this finding with the text of now, so that a further step is another one."""
        return f"{self.key}|{self.new or ''}"

    @property
    def disbelieved(self) -> tuple[str, ...]:
        """Return the tests that it takes from those believed; a note takes none."""
        return self.tests if self.rule in _DISBELIEVING and self.severity <= Severity.HIGH else ()


class Rerun(NamedTuple):
    """One run of earlier tests against the source of an iteration.

    `references` maps the files that were put over the source to the iteration whose form of them was run. `files` are
    the test files that were run (all where `whole`), `commands` what ran them. `tests` and `failed` count the report;
    `flaky` names tests that failed and then passed. `problem` says why it gave nothing, None where it did.
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


class Integrity(NamedTuple):
    """What comparing the files and running the earlier tests found of one iteration.

    `findings` are the new ones and those of earlier iterations that still stand. `matches` maps a test that is gone
    from the report to the ids that stand for it now (renamed, moved, merged or split); to () where it was no test, or
    went together with the code that it was about. `suppressions` counts those that are new since the baseline. `unread`
    says why a file could not be looked into. `references` maps each file that decides about tests and is not in its
    reference form to the iteration that has that form. `reruns` are the runs of earlier tests, () where none was due.
    """

    findings: tuple[Finding, ...] = ()
    matches: Mapping[str, tuple[str, ...]] = {}
    suppressions: Mapping[SuppressionKind, int] = {}
    unread: Mapping[str, str] = {}
    references: Mapping[str, int] = {}
    reruns: tuple[Rerun, ...] = ()

    @property
    def no_tests(self) -> frozenset[str]:
        """Return the ids that are gone and count for no iteration: no tests, or retired with their code."""
        return frozenset(gone for gone, news in self.matches.items() if not news)

    @property
    def removed_with_code(self) -> frozenset[str]:
        """Return the tests that went with the code that they were about, red ones too."""
        return frozenset(test for each in self.findings if each.rule == REMOVED_WITH_CODE for test in each.tests)

    @property
    def unproven(self) -> str | None:
        """Say why earlier tests that had to be run again gave nothing, None where nothing is open."""
        return next((each.problem for each in self.reruns if each.problem is not None), None)


NOTHING_FOUND: Final = Integrity()
