"""Steer a running session by its stream of events, independent of the agent.

Importing this package is cheap: each public name imports its module on first access.
"""

from typing import Any, Final

_WHERE: Final = {
    "Action": "continuation",
    "AgentCallbacks": "session_callbacks",
    "AllAgree": "evaluators",
    "Assignment": "plan_driver",
    "Checkpoint": "plan_driver",
    "CheckpointRules": "plan_driver",
    "ComplexityLimits": "continuation",
    "ComplexityThresholds": "continuation",
    "Continuation": "continuation",
    "ContinuationThresholds": "continuation",
    "Event": "events",
    "FileChanged": "events",
    "FileRead": "events",
    "Guidance": "continuation",
    "Interaction": "session_callbacks",
    "InteractiveProgressEvaluator": "evaluators",
    "LLMProgressEvaluator": "evaluators",
    "LiveProgress": "progress",
    "Outcome": "session_callbacks",
    "Parts": "continuation",
    "Person": "plan_driver",
    "PersonSaid": "events",
    "Plan": "plan",
    "PlanAdjustment": "plan",
    "PlanCalls": "plan_driver",
    "PlanEnded": "plan_driver",
    "PlanState": "plan",
    "PlanTask": "plan",
    "PriorTaskContext": "plan_driver",
    "ProgressEvaluator": "progress",
    "ProgressInfo": "progress",
    "ProgressMetrics": "continuation",
    "ProgressMonitor": "evaluators",
    "ProgressThresholds": "continuation",
    "QualityProgressEvaluator": "evaluators",
    "QualityState": "evaluators",
    "SessionProgress": "progress",
    "SessionResponse": "evaluators",
    "SimpleProgressEvaluator": "evaluators",
    "Task": "plan",
    "TaskOutcome": "plan",
    "TaskProgressSummary": "progress",
    "TestsPassed": "events",
    "TokenBudget": "continuation",
    "ToolEnded": "events",
    "ToolLog": "session_callbacks",
    "ToolStarted": "events",
    "TurnEnded": "events",
    "TurnVerdict": "continuation",
    "VerdictThresholds": "continuation",
    "apply_plan_adjustment": "plan",
    "build_impl_prompt": "plan_driver",
    "checkpoint_rules": "plan_driver",
    "checkpoint_text": "session_callbacks",
    "checkpoint_triggers": "plan_driver",
    "choice_of": "plan_driver",
    "classify_task_complexity": "continuation",
    "compute_progress_summary": "progress",
    "continuation_thresholds_of": "continuation",
    "digest_of": "events",
    "drive_plan": "plan_driver",
    "event_from_plain": "events",
    "event_to_plain": "events",
    "follow": "session_callbacks",
    "format_adjustment": "plan",
    "format_checkpoint": "plan_driver",
    "format_progress_summary": "progress",
    "hold_checkpoint": "session_callbacks",
    "is_approval": "session_callbacks",
    "is_cancel": "session_callbacks",
    "new_plan_state": "plan",
    "parse_plan_revision": "plan",
    "plan_revision_text": "plan",
    "prior_task_contexts": "plan_driver",
    "read_events": "events",
    "run_evaluated": "evaluators",
    "state_from_plain": "plan",
    "state_to_plain": "plan",
    "steer": "continuation",
}
__all__ = list(_WHERE)


def __getattr__(name: str) -> Any:  # noqa: ANN401  # whichever public name it is
    """Import the module of a public name on first access."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415  # as above

    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
