"""What integrity finds of one iteration, as values: the rules that find it lie above, in `integrity/`."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Final, Literal, NamedTuple

Verdict = Literal["PASS", "SUSPECT", "TAMPERED", "UNPROVEN"]
SuppressionKind = Literal["lint", "types", "coverage"]
# Our own rules compare the files, no other tool (integrity.tool).
BUILTIN: Final = "builtin"
# A test that a finding of these rules names does not count as passing (semantics § 2).
DISCOUNTING: Final = frozenset({"T4", "T5", "T6", "T7", "T8", "T12", "U1"})
# MEDIUM findings of these rules make an iteration SUSPECT; those of the others only tell (integrity.md, Principles).
SUSPICIOUS: Final = frozenset({"T7", "T12"})


def is_clean(verdict: Verdict | None) -> bool:
    """Tell whether nothing is held against an iteration; while nobody compares, each is clean (semantics § 0)."""
    return verdict in {None, "PASS"}


class Severity(IntEnum):
    """Lower is worse, so that sorting puts the worst first."""

    CRITICAL = 0
    HIGH = 1
    MEDIUM = 2


class Finding(NamedTuple):
    """Hold one fact about a change that makes a score less believable.

    `rule` is its row of integrity.md (T3 … G3), `file` is relative to the root, `line` stands in the new text (None: it
    is gone). `test` is the test's name as the source has it (`TestBox::test_lid`), None where it is about no single
    one; `tests` are its ids in the report, () where unknown. `old` and `new` are the texts before and now, None where
    there is none. `against` is the iteration that it was compared with, None where that is not known. `about` tells it
    from other findings of its rule, file and test, and stays the same while it stands.
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


class Integrity(NamedTuple):
    """Hold what a comparison of files and tests found of one iteration.

    `compared_with` are the iterations that it was compared with. `matches` maps a test of theirs that is gone from the
    report to the ids that stand for it now (renamed, moved, merged or split); to () where it was no test, but a module
    that could not be collected and can be now, or a helper with the name of a test. `suppressions` counts those that
    are new since the baseline. `unread` says why a file could not be looked into.
    """

    findings: tuple[Finding, ...] = ()
    matches: Mapping[str, tuple[str, ...]] = {}
    suppressions: Mapping[SuppressionKind, int] = {}
    unread: Mapping[str, str] = {}
    compared_with: tuple[int, ...] = ()

    @property
    def no_tests(self) -> frozenset[str]:
        """Return the ids that are gone and were no tests."""
        return frozenset(gone for gone, news in self.matches.items() if not news)


NOTHING_FOUND: Final = Integrity()
