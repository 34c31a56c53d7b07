"""Steer a running session by its stream of events, independent of the agent.

Importing this package is cheap: each public name imports its module on first access.
"""

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ralph_tracker.steering.human_oversight import (
        AgentCallbacks as AgentCallbacks,
        Interaction as Interaction,
        Outcome as Outcome,
        ToolLog as ToolLog,
        checkpoint_text as checkpoint_text,
        follow as follow,
        hold_checkpoint as hold_checkpoint,
        is_approval as is_approval,
        is_cancel as is_cancel,
    )
    from ralph_tracker.steering.plan import (
        LiveProgress as LiveProgress,
        Plan as Plan,
        PlanState as PlanState,
        PlanTask as PlanTask,
        Task as Task,
        TaskOutcome as TaskOutcome,
        TaskProgressSummary as TaskProgressSummary,
        compute_progress_summary as compute_progress_summary,
        format_progress_summary as format_progress_summary,
        new_plan_state as new_plan_state,
        state_from_plain as state_from_plain,
        state_to_plain as state_to_plain,
    )
    from ralph_tracker.steering.plan_driver import (
        Assignment as Assignment,
        Checkpoint as Checkpoint,
        CheckpointRules as CheckpointRules,
        Person as Person,
        PlanAdjustment as PlanAdjustment,
        PlanCalls as PlanCalls,
        PlanEnded as PlanEnded,
        PriorTaskContext as PriorTaskContext,
        apply_plan_adjustment as apply_plan_adjustment,
        build_impl_prompt as build_impl_prompt,
        checkpoint_rules as checkpoint_rules,
        checkpoint_triggers as checkpoint_triggers,
        choice_of as choice_of,
        drive_plan as drive_plan,
        format_adjustment as format_adjustment,
        format_checkpoint as format_checkpoint,
        parse_plan_revision as parse_plan_revision,
        plan_revision_text as plan_revision_text,
        prior_task_contexts as prior_task_contexts,
    )
    from ralph_tracker.steering.progress_evaluators import (
        AllAgree as AllAgree,
        InteractiveProgressEvaluator as InteractiveProgressEvaluator,
        LLMProgressEvaluator as LLMProgressEvaluator,
        ProgressEvaluator as ProgressEvaluator,
        ProgressInfo as ProgressInfo,
        ProgressMonitor as ProgressMonitor,
        QualityProgressEvaluator as QualityProgressEvaluator,
        QualityState as QualityState,
        SessionProgress as SessionProgress,
        SessionResponse as SessionResponse,
        SimpleProgressEvaluator as SimpleProgressEvaluator,
        run_evaluated as run_evaluated,
    )
    from ralph_tracker.steering.session_continuation import (
        Action as Action,
        ComplexityLimits as ComplexityLimits,
        ComplexityThresholds as ComplexityThresholds,
        Continuation as Continuation,
        ContinuationThresholds as ContinuationThresholds,
        Guidance as Guidance,
        Parts as Parts,
        ProgressMetrics as ProgressMetrics,
        ProgressThresholds as ProgressThresholds,
        TokenBudget as TokenBudget,
        TurnVerdict as TurnVerdict,
        VerdictThresholds as VerdictThresholds,
        classify_task_complexity as classify_task_complexity,
        continuation_thresholds_of as continuation_thresholds_of,
        steer as steer,
    )
    from ralph_tracker.steering.session_events import (
        Event as Event,
        FileChanged as FileChanged,
        FileRead as FileRead,
        PersonSaid as PersonSaid,
        TestsPassed as TestsPassed,
        ToolEnded as ToolEnded,
        ToolStarted as ToolStarted,
        TurnEnded as TurnEnded,
        digest_of as digest_of,
        event_from_plain as event_from_plain,
        event_to_plain as event_to_plain,
        read_events as read_events,
    )

_NAMES: Final = {
    "human_oversight": (
        "AgentCallbacks Interaction Outcome ToolLog checkpoint_text follow hold_checkpoint is_approval is_cancel"
    ),
    "plan": (
        "LiveProgress Plan PlanState PlanTask Task TaskOutcome TaskProgressSummary compute_progress_summary "
        "format_progress_summary new_plan_state state_from_plain state_to_plain"
    ),
    "plan_driver": (
        "Assignment Checkpoint CheckpointRules Person PlanAdjustment PlanCalls PlanEnded PriorTaskContext "
        "apply_plan_adjustment build_impl_prompt checkpoint_rules checkpoint_triggers choice_of drive_plan "
        "format_adjustment format_checkpoint parse_plan_revision plan_revision_text prior_task_contexts"
    ),
    "progress_evaluators": (
        "AllAgree InteractiveProgressEvaluator LLMProgressEvaluator ProgressEvaluator ProgressInfo "
        "ProgressMonitor QualityProgressEvaluator QualityState SessionProgress SessionResponse "
        "SimpleProgressEvaluator run_evaluated"
    ),
    "session_continuation": (
        "Action ComplexityLimits ComplexityThresholds Continuation ContinuationThresholds Guidance Parts "
        "ProgressMetrics ProgressThresholds TokenBudget TurnVerdict VerdictThresholds "
        "classify_task_complexity continuation_thresholds_of steer"
    ),
    "session_events": (
        "Event FileChanged FileRead PersonSaid TestsPassed ToolEnded ToolStarted TurnEnded digest_of "
        "event_from_plain event_to_plain read_events"
    ),
}
_WHERE: Final = dict(sorted((name, module) for module, names in _NAMES.items() for name in names.split()))
__all__ = list(_WHERE)


def __getattr__(name: str) -> Any:  # noqa: ANN401  # whichever public name it is
    """Import the module of a public name on first access."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415  # as above

    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
