"""Steer a session while it runs: everything here folds one stream of its events and knows no agent.

Importing this package does nothing: each name brings its own module when it is first asked for.
"""

from typing import Any, Final

_WHERE: Final = {
    "Action": "continuation",
    "AgentCallbacks": "callbacks",
    "AllAgree": "evaluating",
    "Assignment": "driving",
    "Checkpoint": "checkpoints",
    "CheckpointRules": "checkpoints",
    "ComplexityLimits": "continuation_rules",
    "Continuation": "continuation",
    "ContinuationRules": "continuation_rules",
    "Event": "events",
    "FileChanged": "events",
    "FileRead": "events",
    "Guidance": "guidance",
    "Interaction": "callbacks",
    "InteractiveProgressEvaluator": "interactive",
    "LLMProgressEvaluator": "evaluators",
    "LiveProgress": "summary",
    "Outcome": "callbacks",
    "Parts": "continuation_rules",
    "Person": "driving",
    "PersonSaid": "events",
    "Plan": "plan",
    "PlanAdjustment": "revision",
    "PlanCalls": "driving",
    "PlanEnded": "driving",
    "PlanState": "plan",
    "PlanTask": "plan",
    "PriorTaskContext": "forwarding",
    "ProgressEvaluator": "progress_info",
    "ProgressInfo": "progress_info",
    "ProgressMetrics": "continuation_metrics",
    "ProgressMonitor": "evaluating",
    "QualityProgressEvaluator": "evaluators",
    "QualityState": "evaluators",
    "SessionProgress": "progress_info",
    "SessionResponse": "evaluating",
    "SimpleProgressEvaluator": "evaluators",
    "Task": "plan",
    "TaskOutcome": "plan",
    "TaskProgressSummary": "summary",
    "TestsPassed": "events",
    "TokenBudget": "continuation_rules",
    "ToolEnded": "events",
    "ToolLog": "tool_log",
    "ToolStarted": "events",
    "TurnEnded": "events",
    "Verdict": "continuation",
    "apply_plan_adjustment": "revision",
    "begun": "plan",
    "build_impl_prompt": "forwarding",
    "checkpoint_rules": "checkpoints",
    "checkpoint_text": "cancelling",
    "checkpoint_triggers": "checkpoints",
    "choice_of": "checkpoints",
    "classify_task_complexity": "continuation_complexity",
    "compute_progress_summary": "summary",
    "continuation_rules_of": "continuation_rules",
    "digest_of": "events",
    "drive_plan": "driving",
    "event_from_plain": "events",
    "event_to_plain": "events",
    "follow": "callbacks",
    "format_adjustment": "revision",
    "format_checkpoint": "checkpoints",
    "format_progress_summary": "summary",
    "hold_checkpoint": "cancelling",
    "is_approval": "cancelling",
    "is_cancel": "cancelling",
    "parse_plan_revision": "revision",
    "plan_revision_text": "revision",
    "prior_task_contexts": "forwarding",
    "read_events": "events",
    "run_evaluated": "evaluating",
    "state_from_plain": "plan_document",
    "state_to_plain": "plan_document",
    "steer": "continuation",
}
__all__ = list(_WHERE)


def __getattr__(name: str) -> Any:  # noqa: ANN401  # whichever public name it is
    """Import a public name when it is first asked for."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415  # as above

    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
