"""Select the iteration that is the output of the loop, and compare it with the last one (semantics § 8).

As a document it is the seed's best_output_selection.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal, TypedDict

from ralph_tracker.codec import ValueObject, document_of
from ralph_tracker.core.integrity_result import Verdict
from ralph_tracker.core.metrics import SCORE_DECIMALS, Metrics, half_up, known_score, plain_number, quantity
from ralph_tracker.core.thresholds import SelectionMode, Thresholds
from ralph_tracker.core.walk import MODES, Mode, WalkedIteration, peak_by_quality
from ralph_tracker.records.iteration_record import (
    SCHEMA_VERSION,
    Document,
    MetricsDocument,
    Numbers,
    SchemaVersion,
)
from ralph_tracker.records.questions import Question
from ralph_tracker.short_text import percent

SOURCE: Final = "Per REF-015 (Self-Refine), select peak quality, not final iteration"
BREAKS: Final = 2
Pattern = Literal["none", "over_refinement", "fluctuating"]


class AppliedDocument(TypedDict):
    """Where the selected files came from and went to; nulls where nothing was applied, as the note says."""

    source: str | None
    destination: str | None
    files_copied: list[str]
    files_deleted: list[str]
    note: str


NOT_APPLIED: Final[AppliedDocument] = {
    "source": None,
    "destination": None,
    "files_copied": [],
    "files_deleted": [],
    "note": "",
}


class SelectionCandidate(ValueObject, document="iteration quality_score adjusted_score=adjusted timestamp"):
    """An iteration as seen by selection."""

    walked: WalkedIteration
    timestamp: str
    metrics: Metrics

    def to_dict(self) -> Document:
        """Return its scores and what was measured."""
        document: Document = ValueObject.to_dict(self)
        return {**document, **self.metrics.to_dict()}

    @property
    def known_score(self) -> float | None:
        """Return its believed score, None where nothing was measured: it counts as 0, but it is unknown."""
        return known_score(self.adjusted, self.metrics.known_values().values())

    @property
    def quality_score(self) -> float:
        """Return its quality_score."""
        return self.walked.quality_score

    @property
    def iteration(self) -> int:
        """Return the iteration's number."""
        return self.walked.iteration

    @property
    def adjusted(self) -> float:
        """Return its adjusted score."""
        return self.walked.score


class Degradation(ValueObject, document="degradation_started=since pattern iterations_after_peak quality_loss=loss"):
    """What happened after the peak; `started` is None and `loss` "0.00%" if the peak is the last.

    `loss` is a percentage of the selected score, None if that is 0.
    """

    pattern: Pattern
    started: int | None
    iterations_after_peak: int
    loss: str | None

    @property
    def since(self) -> str | None:
        """Return the first iteration after the peak, in the words of the specification."""
        return None if self.started is None else f"iteration_{self.started}"


class Selection(ValueObject, shown="loop_id mode iteration score accepted applied_to"):
    """The selected iteration and the reasons.

    `delta` and `improvement_percentage` compare adjusted scores (selected against final; the second is None if the
    final one is 0). `why_not_final` is None if the final one was selected. `accepted` says whether the selected score
    reaches the acceptance threshold. `passed_over` says why the latest iteration and the one with most passing tests
    were not selected. `questions` are those that the selected one leaves open. `override_reason` is a person's.
    `folder` is the loop's, as users see it. `applied` says where the files went; `report` is the
    path of the report. `verified_again` is whether it was measured again first; `chosen_because` is
    the mode's own reason; `unreadable` names what is damaged.
    """

    loop_id: str
    mode: SelectionMode
    contenders: tuple[SelectionCandidate, ...]
    selected: SelectionCandidate
    final: SelectionCandidate
    threshold: float
    accepted: bool
    delta: float
    improvement_percentage: float | None
    why_not_final: str | None
    degradation: Degradation
    rationale: tuple[str, ...]
    peak_by_quality_score: int
    passed_over: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
    override_reason: str | None = None
    folder: str = ""
    applied: AppliedDocument = NOT_APPLIED
    report: str = ""
    verified_again: bool = False
    chosen_because: str | None = None
    unreadable: tuple[str, ...] = ()

    @property
    def iteration(self) -> int:
        """Return the number of the selected iteration."""
        return self.selected.iteration

    @property
    def score(self) -> float:
        """Return the adjusted score of the selected iteration."""
        return self.selected.adjusted

    @property
    def applied_to(self) -> str | None:
        """Return where its files went, None if nowhere."""
        return self.applied["destination"]

    @property
    def message(self) -> str:
        """Return a one-line summary for an orchestrator."""
        chosen, final = self.selected.walked.quality_score, self.final.walked.quality_score
        return f"Selected iteration {self.selected.iteration} (quality: {chosen:.2f} vs final {final:.2f})"

    def to_dict(self) -> "SelectionDocument":
        """Return the seed's best_output_selection document."""
        selected, final = self.selected, self.final
        later = [c for c in self.contenders if c.iteration > 0]
        recent = self.mode == "most_recent_above_threshold"
        return {
            "schema_version": SCHEMA_VERSION,
            "best_output_selection": {
                "loop_id": self.loop_id,
                "total_iterations": final.iteration,
                "selected_iteration": selected.iteration,
                "final_iteration": final.iteration,
                "mode": self.mode,
                "accepted": self.accepted,
                "verified": selected.walked.verified,
                "integrity": selected.walked.verdict,
                "override_reason": self.override_reason,
                "quality_trajectory": {f"iteration_{c.iteration}": c.quality_score for c in later},
                "adjusted_quality_trajectory": {f"iteration_{c.iteration}": c.adjusted for c in later},
                "peak_by_quality_score": self.peak_by_quality_score,
                "selection_criteria": {
                    "primary": "most_recent_above_threshold" if recent else "highest_quality_score",
                    "threshold": self.threshold,
                    "verification_required": self.mode != "highest_quality",
                },
                "selected_iteration_details": {
                    **selected.to_dict(),
                    "artifacts_path": f"{self.folder}/iterations/iteration-{selected.iteration:03d}/",
                },
                "comparison_to_final": {
                    "final_quality": final.quality_score,
                    "selected_quality": selected.quality_score,
                    "adjusted_final_quality": final.adjusted,
                    "adjusted_selected_quality": selected.adjusted,
                    "delta": self.delta,
                    "improvement_percentage": self.improvement_percentage,
                    "reason_final_not_selected": self.why_not_final,
                },
                "selection_rationale": list(self.rationale),
                "passed_over": list(self.passed_over),
                "questions": [each.to_dict() for each in self.questions],
                "degradation_analysis": self.degradation.to_dict(),
                "artifacts_applied": self.applied,
                "report_generated": self.report,
                "verified_again": self.verified_again,
                "unreadable": list(self.unreadable),
            },
            "message": self.message,
        }


def select(
    loop_id: str,
    contenders: Sequence[SelectionCandidate],
    thresholds: Thresholds,
    *,
    mode: SelectionMode | None = None,
    choosing: Mode | None = None,
    iteration: int | None = None,
    reason: str | None = None,
) -> Selection:
    """Select among all iterations, including the baseline, which comes first; `iteration` overrides the choice.

    `choosing` is the function of a mode that is not ours.
    Raises KeyError if there is no such iteration, ValueError if there is none at all.
    """
    if not contenders:
        msg = "a loop without a baseline has nothing to select"
        raise ValueError(msg)
    by_number = {c.iteration: c for c in contenders}
    chosen_mode, why = mode or thresholds.selection.mode, None
    if iteration is None:
        chosen = (choosing or MODES[chosen_mode])([each.walked for each in contenders], thresholds)
        iteration, why = chosen.iteration, chosen.reason
    selected, final = by_number[iteration], contenders[-1]
    degradation = _degradation(contenders, selected)
    lead = selected.adjusted - final.adjusted
    return Selection(
        loop_id=loop_id,
        mode=chosen_mode,
        contenders=tuple(contenders),
        selected=selected,
        final=final,
        threshold=thresholds.score.acceptance,
        accepted=selected.adjusted >= thresholds.score.acceptance,
        delta=half_up(lead, SCORE_DECIMALS),
        improvement_percentage=half_up(lead / final.adjusted * 100, 1) if final.adjusted else None,
        why_not_final=_why_not_final(selected, final, why, is_by_mode=reason is None),
        degradation=degradation,
        rationale=(*filter(None, [why]), *_rationale(contenders, selected, degradation, reason)),
        peak_by_quality_score=peak_by_quality([each.walked for each in contenders]),
        passed_over=passed_over(contenders, selected),
        override_reason=reason,
        chosen_because=why,
    )


def passed_over(contenders: Sequence[SelectionCandidate], selected: SelectionCandidate) -> tuple[str, ...]:
    """Say in a line each why the latest iteration, and the one with most gains, were not taken."""
    later = [each for each in contenders if each.iteration and each.iteration != selected.iteration]
    if not later:
        return ()
    most = max(later, key=lambda each: (each.walked.passing, each.iteration))
    named = {contenders[-1].iteration: contenders[-1]} if contenders[-1] is not selected else {}
    if most.walked.passing > selected.walked.passing:
        named[most.iteration] = most
    return tuple(filter(None, (_why_passed_over(each, selected) for each in named.values())))


def _why_passed_over(each: SelectionCandidate, selected: SelectionCandidate) -> str | None:
    """Return the line on one, None where it is for a person's or a mode's choice alone that it was not taken."""
    refusal = each.walked.refusal
    more = each.walked.passing - selected.walked.passing
    label = f"{each.iteration} (+{quantity(more, 'test')})" if more > 0 else str(each.iteration)
    if refusal is None:
        was_followed = selected.walked.taken and (selected.walked.kept_before or 0) >= each.iteration
        return f"Not taken: {label}: a later iteration took its place" if was_followed else None
    fix = f": fix that and take {each.iteration}" if refusal.rule == BREAKS else ""
    return f"Not taken: {label} {refusal.why}{fix}"


def _why_not_final(
    selected: SelectionCandidate, final: SelectionCandidate, because: str | None, *, is_by_mode: bool
) -> str | None:
    """Return the first reason that holds, None if the final one was selected or no reason applies.

    `because` is the mode's own reason for the selected one. `is_by_mode` is False if a person named the iteration: then
    a tie is no reason.
    """
    last = final.walked
    why = None if last.refusal is None else f"Final iteration {last.refusal.why}"
    reasons = (
        (_is_degraded(selected, final), f"Quality degraded after iteration {selected.iteration}"),
        (not last.verified, "Final iteration is not verified"),
        (is_by_mode and why is not None, why),
        (is_by_mode and final.adjusted <= selected.adjusted, because or "Tie: the earlier iteration is kept"),
    )
    if selected.iteration == final.iteration:
        return None
    return next((reason for holds, reason in reasons if holds), None)


def _is_degraded(selected: SelectionCandidate, final: SelectionCandidate) -> bool:
    """Return whether the final score is known, and lower also where both are shown."""
    known = final.known_score
    return known is not None and known < selected.adjusted and percent(known) != percent(selected.adjusted)


def _degradation(contenders: Sequence[SelectionCandidate], selected: SelectionCandidate) -> Degradation:
    scores = [c.adjusted for c in contenders if c.iteration >= selected.iteration]
    after = len(scores) - 1
    if not after:
        return Degradation(pattern="none", started=None, iterations_after_peak=0, loss="0.00%")
    rises = any(later > earlier for earlier, later in pairwise(scores))
    loss = (scores[-1] - selected.adjusted) / selected.adjusted * 100 if selected.adjusted else None
    return Degradation(
        pattern="fluctuating" if rises else "over_refinement",
        started=selected.iteration + 1,
        iterations_after_peak=after,
        loss=None if loss is None else f"{half_up(loss, 2):.2f}%",
    )


def _rationale(
    contenders: Sequence[SelectionCandidate],
    selected: SelectionCandidate,
    degradation: Degradation,
    reason: str | None,
) -> tuple[str, ...]:
    number, metrics = selected.iteration, selected.metrics
    lines = [] if reason is None else [f"Selected by a person: {reason}"]
    quality = plain_number(selected.walked.quality_score)
    peak = max(c.adjusted for c in contenders)
    verb = "achieved peak quality" if selected.adjusted == peak else "has quality"
    lines.append(f"Iteration {number} {verb} ({quality})")
    passed, count, coverage = metrics.tests_passed, metrics.test_count, metrics.coverage_percentage
    if passed is not None and count:
        all_pass = metrics.tests_failed == 0 and passed == count
        skipped = f", {plain_number(metrics.tests_skipped)} skipped" if metrics.tests_skipped else ""
        lines.append(
            f"All tests passing ({passed}/{count})" if all_pass else f"Tests passing: {passed}/{count}{skipped}"
        )
    if coverage is not None:
        highest = max(c.metrics.coverage_percentage or 0.0 for c in contenders)
        word = "Highest coverage" if coverage == highest else "Coverage"
        lines.append(f"{word} ({plain_number(coverage)}%)")
    if degradation.started is not None and _is_degraded(selected, contenders[-1]):
        last = contenders[-1].iteration
        span = f"iteration {last}" if degradation.started == last else f"iterations {degradation.started}-{last}"
        lines.append(f"Quality degraded in {span}")
    verdict = selected.walked.verdict
    if verdict not in {None, "PASS"}:
        lines.append(f"Integrity: {verdict}; read its findings before you rely on it")
    if number != contenders[-1].iteration:
        lines.append(SOURCE)
    return tuple(lines)


class CriteriaDocument(TypedDict):
    primary: str
    threshold: float
    verification_required: bool


class ComparisonDocument(TypedDict):
    """`delta` and `improvement_percentage` compare adjusted scores; the second is null where the final one is 0."""

    final_quality: float
    selected_quality: float
    adjusted_final_quality: float
    adjusted_selected_quality: float
    delta: float
    improvement_percentage: float | None
    reason_final_not_selected: str | None


if TYPE_CHECKING:  # mypy knows no TypedDict that is made
    QuestionDocument = Document
    DegradationDocument = Document
    DetailsDocument = Document
else:
    QuestionDocument = document_of(
        Question, about="`otherwise` is the iteration to take if the answer is no, null without one; `accept` is a yes."
    )
    DegradationDocument = document_of(Degradation)

    class DetailsDocument(MetricsDocument):
        iteration: int
        quality_score: float
        adjusted_score: float
        timestamp: str
        artifacts_path: str


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
    passed_over: list[str]
    questions: list[QuestionDocument]
    degradation_analysis: DegradationDocument
    artifacts_applied: AppliedDocument
    report_generated: str
    verified_again: bool
    unreadable: list[str]


class SelectionDocument(TypedDict):
    schema_version: SchemaVersion
    best_output_selection: BestOutputDocument
    message: str
