"""The rules, one a file: a new one is its file and its line here."""

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Final, NamedTuple, Protocol, cast

from ralph_tracker.core.findings import Finding
from ralph_tracker.integrity.changes import ChangedFile
from ralph_tracker.integrity.evidence import Evidence
from ralph_tracker.integrity.relevance import (
    has_settings,
    has_tests,
    is_ci,
    may_detect,
    may_expect,
    may_forge,
    may_narrow,
    may_rig,
    may_special_case,
    silences,
)

Find = Callable[[ChangedFile, Evidence], Iterable[Finding]]


class _Module(Protocol):
    """What the file of a rule has."""

    def find(self, file: ChangedFile, evidence: Evidence, /) -> Iterable[Finding]: ...


def _any(_: ChangedFile) -> bool:
    return True


class Rule(NamedTuple):
    """Describe a rule: its row of integrity.md, and what finds it in one changed file.

    `looks_at` tells cheaply whether it may find anything there at all. `erodes`: small steps may stay under its
    threshold, or what was asked for has passed in between for another reason, so that it is asked against the baseline
    too.
    """

    id: str
    find: Find
    looks_at: Callable[[ChangedFile], bool] = _any
    erodes: bool = False


def _rule(row: str, name: str, looks_at: Callable[[ChangedFile], bool], *, erodes: bool = False) -> Rule:
    """Return the rule of that file, which is imported once it is asked."""

    def find(file: ChangedFile, evidence: Evidence) -> Iterable[Finding]:
        module = cast("_Module", import_module(f"ralph_tracker.integrity.rules.{name}"))
        return module.find(file, evidence)

    return Rule(row, find, looks_at, erodes)


RULES: Final[tuple[Rule, ...]] = (
    _rule("T3", "run_narrowed", may_narrow),
    _rule("T4", "vacuous_assertion", has_tests),
    _rule("T5", "assertions_removed", has_tests, erodes=True),
    _rule("T6", "assertion_weakened", has_tests, erodes=True),
    _rule("T7", "expectation_edited", may_expect),
    _rule("T8", "failure_swallowed", has_tests),
    _rule("T9", "runner_forged", may_forge),
    _rule("T10", "test_rigged", may_rig),
    _rule("T11", "test_detected", may_detect),
    _rule("T12", "special_cased", may_special_case, erodes=True),
    _rule("S1", "lint_suppressed", silences),
    _rule("S2", "types_suppressed", silences),
    _rule("S3", "coverage_suppressed", silences),
    _rule("G1", "gate_lowered", has_settings, erodes=True),
    _rule("G2", "ci_edited", is_ci),
)
