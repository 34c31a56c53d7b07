"""The selection as a document: the seed's best_output_selection."""

from collections.abc import Sequence
from typing import TypedDict

from ralph_tracker.core.documents import SCHEMA_VERSION, MetricsDocument, Numbers, SchemaVersion, metrics_document
from ralph_tracker.core.findings import Verdict
from ralph_tracker.core.selection import Pattern, Selection, SelectionCandidate


class CriteriaDocument(TypedDict):
    primary: str
    threshold: float
    verification_required: bool


class DetailsDocument(MetricsDocument):
    iteration: int
    quality_score: float
    adjusted_score: float
    timestamp: str
    artifacts_path: str


class ComparisonDocument(TypedDict):
    """`delta` and `improvement_percentage` compare adjusted scores; the second is null where the final one is 0."""

    final_quality: float
    selected_quality: float
    adjusted_final_quality: float
    adjusted_selected_quality: float
    delta: float
    improvement_percentage: float | None
    reason_final_not_selected: str | None


class DegradationDocument(TypedDict):
    degradation_started: str | None
    pattern: Pattern
    iterations_after_peak: int
    quality_loss: str | None


class AppliedDocument(TypedDict):
    """Where the selected files came from and went to; nulls where nothing was applied, as the note says."""

    source: str | None
    destination: str | None
    files_copied: list[str]
    files_deleted: list[str]
    note: str


class BestOutputDocument(TypedDict):
    loop_id: str
    total_iterations: int
    selected_iteration: int
    final_iteration: int
    mode: str
    accepted: bool
    verified: bool
    integrity: Verdict | None
    override_reason: str | None
    quality_trajectory: Numbers
    adjusted_quality_trajectory: Numbers
    peak_by_quality_score: int
    selection_criteria: CriteriaDocument
    selected_iteration_details: DetailsDocument
    comparison_to_final: ComparisonDocument
    selection_rationale: list[str]
    degradation_analysis: DegradationDocument
    artifacts_applied: AppliedDocument
    report_generated: str
    verified_again: bool
    unreadable: list[str]


class SelectionDocument(TypedDict):
    schema_version: SchemaVersion
    best_output_selection: BestOutputDocument
    message: str


def selection_document(
    selection: Selection,
    folder: str,
    applied: AppliedDocument,
    report: str,
    *,
    verified_again: bool = False,
    unreadable: Sequence[str] = (),
) -> SelectionDocument:
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
            "verified_again": verified_again,
            "unreadable": list(unreadable),
        },
        "message": selection.message,
    }


def _iteration_name(number: int | None) -> str | None:
    return None if number is None else f"iteration_{number}"


def _criteria(selection: Selection) -> CriteriaDocument:
    recent = selection.mode == "most_recent_above_threshold"
    return {
        "primary": "most_recent_above_threshold" if recent else "highest_quality_score",
        "threshold": selection.threshold,
        "verification_required": selection.mode != "highest_quality",
    }


def _details(selected: SelectionCandidate, folder: str) -> DetailsDocument:
    return {
        "iteration": selected.iteration,
        "quality_score": selected.candidate.quality_score,
        "adjusted_score": selected.adjusted,
        "timestamp": selected.timestamp,
        **metrics_document(selected.metrics),
        "artifacts_path": f"{folder}/iterations/iteration-{selected.iteration:03d}/",
    }


def _comparison(selection: Selection) -> ComparisonDocument:
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
