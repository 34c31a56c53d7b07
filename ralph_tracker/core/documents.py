"""What an iteration measured and was judged by, as documents: one mapping for YAML, JSON and the command line.

Each document is a TypedDict, which is its JSON Schema too (`ralph-tracker schema`).
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, NotRequired, TypedDict, get_args

from ralph_tracker.core.alert_types import Alert, AlertState
from ralph_tracker.core.decision import Action, Decision
from ralph_tracker.core.findings import Finding, Rerun, SeverityWord, SuppressionKind, Verdict
from ralph_tracker.core.integrity import IntegrityRecord
from ralph_tracker.core.metrics import METRICS, SECTIONS, Metrics, Usage, Value

SCHEMA_VERSION: Final = 1
SchemaVersion = Literal[1]
TESTS_LISTED: Final = 20
FINDINGS_LISTED: Final = 50
Document = dict[str, Any]
Numbers = dict[str, float]


if TYPE_CHECKING:  # mypy knows no TypedDict that is made; these are what their values say that was measured
    TestingDocument = dict[str, Value]
    QualityDocument = dict[str, Value]
    CodebaseDocument = dict[str, Value]
    UsageDocument = Numbers
else:

    def _measured(name: str, values: type, fields: Iterable[str]) -> type:
        """Return the document of some fields of a value that are None, and left out, where they are not known."""
        known = {field: get_args(values.__annotations__[field])[0] for field in fields}
        return TypedDict(name, known, total=False)

    TestingDocument, QualityDocument, CodebaseDocument = (
        _measured(f"{section.title()}Document", Metrics, [each.name for each in METRICS if each.section == section])
        for section in SECTIONS
    )
    UsageDocument = _measured("UsageDocument", Usage, Usage._fields)


class MetricsDocument(TypedDict, total=False):
    testing: TestingDocument
    quality: QualityDocument
    codebase: CodebaseDocument


class FindingDocument(TypedDict):
    """`line` stands in the new text, null where it is gone; `reference` is the iteration compared with."""

    rule: str
    severity: SeverityWord
    message: str
    file: str
    line: int | None
    test: str | None
    tests: list[str]
    old: str | None
    new: str | None
    reference: int | None
    failure: str | None
    command: str | None


class AlertFactsDocument(TypedDict):
    """What is said of an alert, whether or not an iteration on record has raised it."""

    severity: SeverityWord
    type: str
    message: str
    note: NotRequired[str]
    tests: NotRequired[list[str]]
    tests_total: NotRequired[int]
    findings: NotRequired[list[FindingDocument]]
    findings_total: NotRequired[int]


class AlertDocument(AlertFactsDocument):
    """An open alert is in short: its own record has the action, the note, the tests and the findings."""

    id: str
    action: NotRequired[str]
    triggered_at: str
    state: AlertState


class RerunDocument(TypedDict):
    """Earlier tests against this source: `references` maps files to the iteration whose form of them was run."""

    references: dict[str, int]
    files: list[str]
    whole: bool
    commands: list[str]
    duration_s: float
    tests: int
    failed: int
    flaky: list[str]
    problem: str | None


class SuppressionsDocument(TypedDict):
    """How many are new since the baseline; fewer than there were is below 0."""

    lint: int
    types: int
    coverage: int


class TrustDocument(TypedDict):
    """`union_rate` is the share of all tests ever seen that pass here, in percent."""

    verdict: Verdict
    verdict_recorded: NotRequired[Verdict]
    union_rate: float | None
    reruns: list[RerunDocument]
    findings: list[FindingDocument]
    findings_total: int
    tests_matched: int
    suppressions: SuppressionsDocument
    unread: dict[str, str]


class DecisionDocument(TypedDict):
    """`confidence` is 0 to 1; `target_iteration` is set for a rollback only."""

    action: Action
    target_iteration: int | None
    reason: str
    confidence: float
    alternatives: list[str]


class StoredDecisionDocument(DecisionDocument):
    """`rule` is the row of the decision table that decided."""

    rule: int


def metrics_document(metrics: Metrics) -> MetricsDocument:
    """Return what was measured in the three sections of the seed; absent values are left out."""
    measured, document = metrics.measured(), MetricsDocument()
    for section in SECTIONS:
        names = [spec.name for spec in METRICS if spec.section == section and spec.name in measured]
        if names:
            document[section] = {name: measured[name] for name in names}
    return document


def alert_document(alert: Alert, state: AlertState) -> AlertDocument:
    """Return an alert with everything that a person needs to act on it; long lists of tests are cut."""
    document: AlertDocument = {
        "id": alert.id,
        "severity": alert.severity.word,
        "type": alert.type,
        "message": alert.message,
        "action": alert.kind.action,
        "triggered_at": alert.triggered_at,
        "state": state,
    }
    if alert.note:
        document["note"] = alert.note
    if alert.tests:
        document["tests"] = sorted(alert.tests)[:TESTS_LISTED]
        document["tests_total"] = len(alert.tests)
    if alert.findings:
        document["findings"] = [finding_document(each) for each in alert.findings[:FINDINGS_LISTED]]
        document["findings_total"] = len(alert.findings)
    return document


def finding_document(finding: Finding) -> FindingDocument:
    """Return a finding with its place and both texts; long lists of tests are cut."""
    return {
        "rule": finding.rule,
        "severity": finding.severity.word,
        "message": finding.message,
        "file": finding.file,
        "line": finding.line,
        "test": finding.test,
        "tests": list(finding.tests[:TESTS_LISTED]),
        "old": finding.old,
        "new": finding.new,
        "reference": finding.against,
        "failure": finding.failure,
        "command": finding.command,
    }


def integrity_document(trust: IntegrityRecord | None) -> TrustDocument | None:
    """Return how far an iteration is believed, None where nobody compared its files and tests."""
    if trust is None:
        return None
    found = trust.found
    return {
        "verdict": trust.verdict,
        "union_rate": trust.union_rate,
        "reruns": [rerun_document(each) for each in found.reruns],
        "findings": [finding_document(each) for each in found.findings[:FINDINGS_LISTED]],
        "findings_total": len(found.findings),
        "tests_matched": len(found.matches),
        "suppressions": suppressions_document(found.suppressions),
        "unread": dict(found.unread),
    }


def rerun_document(rerun: Rerun) -> RerunDocument:
    """Return a run of earlier tests: which form of which files, by what command, what it gave."""
    return {
        "references": dict(rerun.references),
        "files": list(rerun.files[:TESTS_LISTED]),
        "whole": rerun.whole,
        "commands": list(rerun.commands),
        "duration_s": rerun.duration_s,
        "tests": rerun.tests,
        "failed": rerun.failed,
        "flaky": list(rerun.flaky[:TESTS_LISTED]),
        "problem": rerun.problem,
    }


def suppressions_document(counts: Mapping[SuppressionKind, int]) -> SuppressionsDocument:
    """Return how many suppressions of each kind are new since the baseline; fewer than there were is below 0."""
    return {"lint": counts.get("lint", 0), "types": counts.get("types", 0), "coverage": counts.get("coverage", 0)}


def open_alert_document(alert: Alert, state: AlertState) -> AlertDocument:
    """Return an open alert in short: its own record has the rest."""
    return {
        "id": alert.id,
        "severity": alert.severity.word,
        "type": alert.type,
        "message": alert.message,
        "triggered_at": alert.triggered_at,
        "state": state,
    }


def decision_document(decision: Decision) -> DecisionDocument:
    """Return the seed's recommendation, with what the orchestrator may try instead."""
    return {
        "action": decision.action,
        "target_iteration": decision.target_iteration,
        "reason": decision.reason,
        "confidence": decision.confidence,
        "alternatives": list(decision.alternatives),
    }


def stored_decision(decision: Decision) -> StoredDecisionDocument:
    """Return the decision as state.json holds it."""
    return {
        "action": decision.action,
        "reason": decision.reason,
        "confidence": decision.confidence,
        "target_iteration": decision.target_iteration,
        "alternatives": list(decision.alternatives),
        "rule": decision.rule,
    }
