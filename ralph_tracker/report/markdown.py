"""The reports in Markdown, from views and templates."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ralph_tracker.report import iteration_report as shipped
from ralph_tracker.report.resources import has_own, render
from ralph_tracker.report.view import iteration_view

if TYPE_CHECKING:
    from ralph_tracker.core.selection import Selection
    from ralph_tracker.report.selection_view import LoopStory

ITERATION_REPORT: Final = "iteration-report.md.j2"


def iteration_report(document: Mapping[str, Any], root: Path | None = None) -> str:
    """Return the report of one iteration, with the seed's headings first and ours below."""
    view = iteration_view(document)
    if has_own(ITERATION_REPORT, root):
        return render(ITERATION_REPORT, {"it": view}, root)
    return shipped.render(view)


def output_selection(selection: "Selection", story: "LoopStory", root: Path | None = None) -> str:
    """Return the selection in prose."""
    from ralph_tracker.report.selection_view import selection_view  # noqa: PLC0415  # iterations need none of it

    return render("output-selection.md.j2", {"s": selection_view(selection, story)}, root)


def loop_report(selection: "Selection", story: "LoopStory", root: Path | None = None) -> str:
    """Return the whole loop: every iteration in a line, the peak marked, what was raised."""
    from ralph_tracker.report.selection_view import selection_view  # noqa: PLC0415  # as above

    return render("loop-report.md.j2", {"s": selection_view(selection, story)}, root)
