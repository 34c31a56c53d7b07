"""The iteration quality tracker for refine-until-done coding loops."""

from typing import TYPE_CHECKING, Any

from ralph_tracker.version import __version__

if TYPE_CHECKING:
    from ralph_tracker.core.alert_types import Alert
    from ralph_tracker.core.decision import Decision
    from ralph_tracker.core.integrity_result import Finding
    from ralph_tracker.core.metrics import Metrics, Usage
    from ralph_tracker.errors import RalphTrackerError, UntrustedError
    from ralph_tracker.records.iteration_record import IterationRecord
    from ralph_tracker.records.output_selection import Selection
    from ralph_tracker.records.questions import Question
    from ralph_tracker.tracker import loop_decision, post_iteration, post_loop, pre_loop

__all__ = [
    "Alert",
    "Decision",
    "Finding",
    "IterationRecord",
    "Metrics",
    "Question",
    "RalphTrackerError",
    "Selection",
    "UntrustedError",
    "Usage",
    "__version__",
    "loop_decision",
    "post_iteration",
    "post_loop",
    "pre_loop",
]

_WHERE = {
    "Alert": "core.alert_types",
    "Decision": "core.decision",
    "Finding": "core.integrity_result",
    "IterationRecord": "records.iteration_record",
    "Metrics": "core.metrics",
    "Question": "records.questions",
    "RalphTrackerError": "errors",
    "Selection": "records.output_selection",
    "UntrustedError": "errors",
    "Usage": "core.metrics",
    "loop_decision": "tracker",
    "post_iteration": "tracker",
    "post_loop": "tracker",
    "pre_loop": "tracker",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401  # whichever public name it is
    """Import a public name when it is first asked for: importing the package does nothing."""
    if name not in _WHERE:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    from importlib import import_module  # noqa: PLC0415  # as above

    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
