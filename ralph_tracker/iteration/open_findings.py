"""Collect what is held against a recorded iteration: its findings, missing tests, and their alerts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from ralph_tracker.core.alerts import TYPE_BY_NAME, Alert, StandingState
from ralph_tracker.core.codec import decode
from ralph_tracker.core.findings import Finding, Integrity, SeverityWord, Verdict
from ralph_tracker.core.integrity_verdict import raises_doubt
from ralph_tracker.core.iteration_record import (
    SCHEMA_VERSION,
    FindingDocument,
    RerunDocument,
    SchemaVersion,
    SuppressionsDocument,
    finding_document,
    rerun_document,
    suppressions_document,
)
from ralph_tracker.core.metrics import half_up
from ralph_tracker.errors import LoopError
from ralph_tracker.store.records import LoopRecords


@dataclass(frozen=True, slots=True)
class OpenAlert:
    """An alert that is held against an iteration, with its state."""

    alert: Alert
    state: StandingState


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenFindings:
    """All that is held against an iteration.

    `verdict` is the current one, `recorded` that of the record; they differ after acceptances. Rates are in percent,
    None if unknown; the union rate is relative to every test seen by now. `findings` are the open ones with their alert
    (None for an older alert that was not kept); `tests` are alerts about tests missing or skipped. `not_loaded` says
    what did not load, with its first error.
    """

    document: Mapping[str, Any]
    verdict: Verdict
    recorded: Verdict
    pass_rate: float | None
    union_rate: float | None
    found: Integrity
    findings: tuple[tuple[Finding, OpenAlert | None], ...]
    tests: tuple[OpenAlert, ...]
    not_loaded: tuple[str, ...] = ()


def open_findings(committed: LoopRecords, document: Mapping[str, Any]) -> OpenFindings:
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
    held = {each.alert.id: each for each in (*_finding_alerts(record, found), *_held(committed, number))}
    by_key = {
        finding.key: each for each in held.values() for finding in each.alert.findings if each.state != "accepted"
    }
    by_key |= {finding.stamp: each for each in held.values() for finding in each.alert.findings}
    return OpenFindings(
        document=document,
        verdict=trust["verdict"],
        recorded=trust.get("verdict_recorded", trust["verdict"]),
        pass_rate=(record.get("testing") or {}).get("pass_rate"),
        union_rate=_union_rate(committed, number),
        found=found,
        findings=tuple((finding, by_key.get(finding.stamp, by_key.get(finding.key))) for finding in found.findings),
        tests=tuple(each for each in held.values() if each.alert.tests and not each.alert.findings),
        not_loaded=tuple(f"{what} does not load: {why}" for what, why in sorted(measured[0].not_loaded.items())),
    )


def _union_rate(committed: LoopRecords, number: int) -> float | None:
    """Return the pass rate over all tests that the loop has seen by now, without accepted removals."""
    measured = committed.measurement(number)
    seen_at = committed.after(committed.summary().iteration).get("seen_at")
    if measured is None or measured[0].tests is None or not isinstance(seen_at, int):
        return None
    share = committed.seen(seen_at).passing_share(measured[0].tests)
    return None if share is None else half_up(share * 100, 1)


def _finding_alerts(record: Mapping[str, Any], found: Integrity) -> Iterator[OpenAlert]:
    """Yield the alerts raised for findings of an iteration, from its record, since later records may lack them."""
    for raised in record["alerts"]:
        kind = TYPE_BY_NAME[raised["type"]]
        findings = tuple(each for each in found.findings if kind.rule == each.rule)
        if findings:
            alert = Alert(kind=kind, iteration=record["iteration"], message=raised["message"], findings=findings)
            yield OpenAlert(alert, "accepted" if raised["state"] == "accepted" else "new")


def _held(committed: LoopRecords, number: int) -> Iterator[OpenAlert]:
    """Yield the integrity alerts that an iteration raised or inherited, accepted ones marked as such."""
    accepted = {event["id"]: event["alert"] for event in committed.acceptances()}
    for plain in accepted.values():
        alert = decode(Alert, plain)
        if raises_doubt(alert) and alert.iteration <= number:
            yield OpenAlert(alert, "accepted")
    for alert in committed.line(number)[0].open_alerts:
        if raises_doubt(alert) and alert.id not in accepted:
            yield OpenAlert(alert, "new" if alert.iteration == number else "open")


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
    """`verdict` is the one of now, `verdict_recorded` that of the record; rates are in percent."""

    schema_version: SchemaVersion
    loop_id: str
    iteration: int
    verdict: Verdict
    verdict_recorded: Verdict
    pass_rate: float | None
    union_rate: float | None
    quality_score: float
    adjusted_score: float
    reruns: list[RerunDocument]
    findings: list[HeldFindingDocument]
    tests: list[HeldTestsDocument]
    matched: dict[str, list[str]]
    suppressions: SuppressionsDocument
    unread: dict[str, str]


def open_findings_document(view: OpenFindings) -> IntegrityDocument:
    """Return it as a document, nothing cut."""
    record = view.document["iteration_metrics"]
    return {
        "schema_version": SCHEMA_VERSION,
        "loop_id": record["loop_id"],
        "iteration": record["iteration"],
        "verdict": view.verdict,
        "verdict_recorded": view.recorded,
        "pass_rate": view.pass_rate,
        "union_rate": view.union_rate,
        "quality_score": record["quality_score"],
        "adjusted_score": record["adjusted_score"],
        "reruns": [rerun_document(each) for each in view.found.reruns],
        "findings": [
            {
                **finding_document(finding),
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
        "matched": {gone: list(news) for gone, news in view.found.matches.items()},
        "suppressions": suppressions_document(view.found.suppressions),
        "unread": dict(view.found.unread),
    }
