"""The iteration quality tracker for refine-until-done coding loops."""

from typing import TYPE_CHECKING, Any

from ralph_tracker.version import __version__

if TYPE_CHECKING:
    from ralph_tracker.core.decision import Decision
    from ralph_tracker.errors import RalphTrackerError, UntrustedError
    from ralph_tracker.records.iteration_record import IterationRecord
    from ralph_tracker.records.output_selection import Selection
    from ralph_tracker.tracker import loop_decision, post_iteration, post_loop, pre_loop

__all__ = [
    "Decision",
    "IterationRecord",
    "RalphTrackerError",
    "Selection",
    "UntrustedError",
    "__version__",
    "loop_decision",
    "post_iteration",
    "post_loop",
    "pre_loop",
]

_WHERE = {
    "Decision": "core.decision",
    "IterationRecord": "records.iteration_record",
    "RalphTrackerError": "errors",
    "Selection": "records.output_selection",
    "UntrustedError": "errors",
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
