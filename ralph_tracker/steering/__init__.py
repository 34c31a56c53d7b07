"""Steer a running session by its stream of events, independent of the agent.

Importing this package is cheap: each public name imports its module on first access.
"""

from typing import Any, Final

_WHERE: Final = {
    "Action": "session_continuation",
    "AgentCallbacks": "human_oversight",
    "AllAgree": "progress_evaluators",
    "Assignment": "plan_driver",
    "Checkpoint": "plan_driver",
    "CheckpointRules": "plan_driver",
    "ComplexityLimits": "session_continuation",
    "ComplexityThresholds": "session_continuation",
    "Continuation": "session_continuation",
    "ContinuationThresholds": "session_continuation",
    "Event": "session_events",
    "FileChanged": "session_events",
    "FileRead": "session_events",
    "Guidance": "session_continuation",
    "Interaction": "human_oversight",
    "InteractiveProgressEvaluator": "progress_evaluators",
    "LLMProgressEvaluator": "progress_evaluators",
    "LiveProgress": "plan",
    "Outcome": "human_oversight",
    "Parts": "session_continuation",
    "Person": "plan_driver",
    "PersonSaid": "session_events",
    "Plan": "plan",
    "PlanAdjustment": "plan_driver",
    "PlanCalls": "plan_driver",
    "PlanEnded": "plan_driver",
    "PlanState": "plan",
    "PlanTask": "plan",
    "PriorTaskContext": "plan_driver",
    "ProgressEvaluator": "progress_evaluators",
    "ProgressInfo": "progress_evaluators",
    "ProgressMetrics": "session_continuation",
    "ProgressMonitor": "progress_evaluators",
    "ProgressThresholds": "session_continuation",
    "QualityProgressEvaluator": "progress_evaluators",
    "QualityState": "progress_evaluators",
    "SessionProgress": "progress_evaluators",
    "SessionResponse": "progress_evaluators",
    "SimpleProgressEvaluator": "progress_evaluators",
    "Task": "plan",
    "TaskOutcome": "plan",
    "TaskProgressSummary": "plan",
    "TestsPassed": "session_events",
    "TokenBudget": "session_continuation",
    "ToolEnded": "session_events",
    "ToolLog": "human_oversight",
    "ToolStarted": "session_events",
    "TurnEnded": "session_events",
    "TurnVerdict": "session_continuation",
    "VerdictThresholds": "session_continuation",
    "apply_plan_adjustment": "plan_driver",
    "build_impl_prompt": "plan_driver",
    "checkpoint_rules": "plan_driver",
    "checkpoint_text": "human_oversight",
    "checkpoint_triggers": "plan_driver",
    "choice_of": "plan_driver",
    "classify_task_complexity": "session_continuation",
    "compute_progress_summary": "plan",
    "continuation_thresholds_of": "session_continuation",
    "digest_of": "session_events",
    "drive_plan": "plan_driver",
    "event_from_plain": "session_events",
    "event_to_plain": "session_events",
    "follow": "human_oversight",
    "format_adjustment": "plan_driver",
    "format_checkpoint": "plan_driver",
    "format_progress_summary": "plan",
    "hold_checkpoint": "human_oversight",
    "is_approval": "human_oversight",
    "is_cancel": "human_oversight",
    "new_plan_state": "plan",
    "parse_plan_revision": "plan_driver",
    "plan_revision_text": "plan_driver",
    "prior_task_contexts": "plan_driver",
    "read_events": "session_events",
    "run_evaluated": "progress_evaluators",
    "state_from_plain": "plan",
    "state_to_plain": "plan",
    "steer": "session_continuation",
}
__all__ = list(_WHERE)


def __getattr__(name: str) -> Any:  # noqa: ANN401  # whichever public name it is
    """Import the module of a public name on first access."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415  # as above

    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
