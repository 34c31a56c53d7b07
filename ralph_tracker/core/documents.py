"""Records as documents: the seed's shape, one mapping for YAML, JSON and the command line."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, get_args

from ralph_tracker.core.alert_types import Alert, AlertState
from ralph_tracker.core.decision import Decision
from ralph_tracker.core.findings import Finding, Rerun, SuppressionKind
from ralph_tracker.core.integrity import IntegrityRecord
from ralph_tracker.core.metrics import METRICS, SECTIONS, Metrics
from ralph_tracker.core.records import BestTracker, IterationRecord
from ralph_tracker.core.rounding import SCORE_DECIMALS, half_up

if TYPE_CHECKING:
    from ralph_tracker.core.selection import Contender, Selection

SCHEMA_VERSION: Final = 1
TESTS_LISTED: Final = 20
FINDINGS_LISTED: Final = 50
Document = dict[str, Any]


def record_document(record: IterationRecord) -> Document:
    """Return the record as the seed's `iteration_metrics` document."""
    document: Document = {"schema_version": SCHEMA_VERSION, "iteration_metrics": _iteration(record)}
    if record.is_baseline:
        document |= {"baseline_stored": True, "next_action": "await_iteration_1"}
    document["best_iteration_tracker"] = tracker_document(record.best, record)
    document["recommendation"] = decision_document(record.decision)
    document["message"] = record.message
    return document


def _iteration(record: IterationRecord) -> Document:
    document: Document = {
        "loop_id": record.loop_id,
        "iteration": record.iteration,
        "previous_iteration": record.previous,
        "timestamp": record.timestamp,
        "classification": record.classification,
    }
    document |= metrics_document(record.metrics)
    if not record.is_baseline:
        document["deltas"] = {
            "from_previous": dict(record.from_previous),
            "from_baseline": dict(record.from_baseline),
        }
    document |= {
        "quality_score": record.quality_score,
        "adjusted_score": record.adjusted_score,
        "adjusted_because": record.adjusted_because or None,
        "score": "given" if record.score_given else "computed",
        "breakdown": _rounded(record.dimensions),
        "weights": _rounded(record.weights),
        "components": _rounded(record.components),
        "evidence": half_up(record.evidence, SCORE_DECIMALS),
        "tests_ever_seen": record.tests_ever_seen,
        "verified": record.verified,
        "is_best_iteration": record.is_best,
        "alerts": [alert_document(a, _state(a, record, "new")) for a in record.alerts],
        "open_alerts": [carried_document(a, _state(a, record, "open")) for a in record.open_alerts],
        "closed_alerts": list(record.closed_alerts),
        "integrity": trust_document(record.integrity),
        "plan": None if record.plan is None else {"done": record.plan[0], "open": record.plan[1]},
        "usage": record.usage.measured() if record.usage else None,
        "blocked": record.blocked,
        "tree": record.tree,
        "notes": list(record.notes),
    }
    return document


def _rounded(values: Any) -> Document:  # noqa: ANN401  # a mapping of floats or None, whichever it holds
    return {name: None if value is None else half_up(value, SCORE_DECIMALS) for name, value in values.items()}


def _state(alert: Alert, record: IterationRecord, state: AlertState) -> AlertState:
    return "accepted" if alert.id in record.accepted else state


def metrics_document(metrics: Metrics) -> Document:
    """Return what was measured in the three sections of the seed; absent values are left out."""
    measured = metrics.measured()
    names = {section: [spec.name for spec in METRICS if spec.section == section] for section in SECTIONS}
    found = {s: {n: measured[n] for n in members if n in measured} for s, members in names.items()}
    return {section: values for section, values in found.items() if values}


def alert_document(alert: Alert, state: AlertState) -> Document:
    """Return an alert with everything that a person needs to act on it; long lists of tests are cut."""
    document: Document = {
        "id": alert.id,
        "severity": alert.severity.name,
        "type": alert.kind.name,
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


def finding_document(finding: Finding) -> Document:
    """Return a finding with its place and both texts; long lists of tests are cut."""
    return {
        "rule": finding.rule,
        "severity": finding.severity.name,
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


def trust_document(trust: IntegrityRecord | None) -> Document | None:
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


def rerun_document(rerun: Rerun) -> Document:
    """Return a run of earlier tests: which form of which files, by what command, what it gave."""
    return {
        **rerun._asdict(),
        "references": dict(rerun.references),
        "files": list(rerun.files[:TESTS_LISTED]),
        "commands": list(rerun.commands),
        "flaky": list(rerun.flaky[:TESTS_LISTED]),
    }


def suppressions_document(counts: Mapping[SuppressionKind, int]) -> Document:
    """Return how many suppressions of each kind are new since the baseline; fewer than there were is below 0."""
    return {kind: counts.get(kind, 0) for kind in get_args(SuppressionKind)}


def carried_document(alert: Alert, state: AlertState) -> Document:
    """Return an open alert in short: its own record has the rest."""
    return {
        "id": alert.id,
        "severity": alert.severity.name,
        "type": alert.kind.name,
        "message": alert.message,
        "triggered_at": alert.triggered_at,
        "state": state,
    }


def tracker_document(best: BestTracker, record: IterationRecord) -> Document:
    """Return the seed's best_iteration_tracker."""
    return {
        "current_best": None if best.iteration is None else f"iteration_{best.iteration}",
        "best_quality_score": best.score,
        "current_iteration_score": record.quality_score,
        "adjusted_best_quality_score": best.adjusted,
        "adjusted_current_iteration_score": record.adjusted_score,
        "best_is_verified": best.verified if best.iteration is not None else None,
    }


def decision_document(decision: Decision) -> Document:
    """Return the seed's recommendation, with what the orchestrator may try instead."""
    return {
        "action": decision.action,
        "target_iteration": decision.target_iteration,
        "reason": decision.reason,
        "confidence": decision.confidence,
        "alternatives": list(decision.alternatives),
    }


def selection_document(selection: "Selection", folder: str, applied: Document, report: str) -> Document:
    """Return the seed's best_output_selection document; `folder` is the loop's, as users see it."""
    selected, final = selection.selected, selection.final
    later = [c for c in selection.contenders if c.iteration > 0]
    return {
        "schema_version": SCHEMA_VERSION,
        "best_output_selection": {
            "loop_id": selection.loop_id,
            "total_iterations": selection.total_iterations,
            "selected_iteration": selected.iteration,
            "final_iteration": final.iteration,
            "mode": selection.mode,
            "accepted": selection.accepted,
            "verified": selected.candidate.verified,
            "integrity": selected.candidate.verdict,
            "override_reason": selection.override_reason,
            "quality_trajectory": {f"iteration_{c.iteration}": c.candidate.quality_score for c in later},
            "adjusted_quality_trajectory": {f"iteration_{c.iteration}": c.adjusted for c in later},
            "peak_by_quality_score": selection.peak_by_quality_score,
            "selection_criteria": _criteria(selection),
            "selected_iteration_details": _details(selected, folder),
            "comparison_to_final": _comparison(selection),
            "selection_rationale": list(selection.rationale),
            "degradation_analysis": {
                "degradation_started": _iteration_name(selection.degradation.started),
                "pattern": selection.degradation.pattern,
                "iterations_after_peak": selection.degradation.iterations_after_peak,
                "quality_loss": selection.degradation.loss,
            },
            "artifacts_applied": applied,
            "report_generated": report,
        },
        "message": selection.message,
    }


def _iteration_name(number: int | None) -> str | None:
    return None if number is None else f"iteration_{number}"


def _criteria(selection: "Selection") -> Document:
    recent = selection.mode == "most_recent_above_threshold"
    return {
        "primary": "most_recent_above_threshold" if recent else "highest_quality_score",
        "threshold": selection.threshold,
        "verification_required": selection.mode != "highest_quality",
    }


def _details(selected: "Contender", folder: str) -> Document:
    details: Document = {
        "iteration": selected.iteration,
        "quality_score": selected.candidate.quality_score,
        "adjusted_score": selected.adjusted,
        "timestamp": selected.timestamp,
    }
    details |= metrics_document(selected.metrics)
    details["artifacts_path"] = f"{folder}/iterations/iteration-{selected.iteration:03d}/"
    return details


def _comparison(selection: "Selection") -> Document:
    selected, final = selection.selected, selection.final
    return {
        "final_quality": final.candidate.quality_score,
        "selected_quality": selected.candidate.quality_score,
        "adjusted_final_quality": final.adjusted,
        "adjusted_selected_quality": selected.adjusted,
        "delta": selection.delta,
        "improvement_percentage": selection.improvement_percentage,
        "reason_final_not_selected": selection.why_not_final,
    }
