"""Render the reports in Markdown from views and templates."""

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ralph_tracker.errors import ConfigError
from ralph_tracker.report import iteration_report as shipped
from ralph_tracker.report.text import for_markdown
from ralph_tracker.report.view import iteration_view

if TYPE_CHECKING:
    import jinja2

    from ralph_tracker.core.selection import Selection
    from ralph_tracker.report.selection_view import LoopStory


_PACKAGE: Final = Path(__file__).resolve().parent.parent
USER_FOLDER: Final = Path(".aiwg") / "ralph" / "templates"
SHIPPED: Final = (_PACKAGE / "templates", _PACKAGE.parent / "templates")


def render(template: str, values: Mapping[str, Any], root: Path | None = None) -> str:
    """Return the rendered template; the project at `root` may override it with its own.

    Raises ConfigError, in one line, for an invalid template of the user.
    """
    folders = ((root / USER_FOLDER),) if root is not None else ()
    try:
        return jinja_environment((*folders, *SHIPPED)).get_template(template).render(values)
    except Exception as error:
        if not has_own(template, root):
            raise  # a bug
        line, what = getattr(error, "lineno", None), getattr(error, "message", None)
        place = f"{template}, line {line}" if line else template
        what = what or f"{type(error).__name__}: {error}"
        raise ConfigError(f"template {place}: {what}; fix it or remove it from {USER_FOLDER}") from None


def has_own(template: str, root: Path | None) -> bool:
    """Return whether a project has its own template; False without a root, or if it cannot be accessed."""
    return root is not None and os.path.isfile(root / USER_FOLDER / template)  # noqa: PTH113  # never raises


@cache
def jinja_environment(folders: tuple[Path, ...]) -> "jinja2.Environment":
    """Return the environment for the templates in the folders, the first of a name winning."""
    import jinja2  # noqa: PLC0415  # 100 ms that only a report has to pay
    from jinja2.sandbox import SandboxedEnvironment  # noqa: PLC0415  # as above; the agent may write a template

    environment = SandboxedEnvironment(
        loader=jinja2.FileSystemLoader(folders),
        autoescape=jinja2.select_autoescape(enabled_extensions=("html", "html.j2"), default=False),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["md"] = for_markdown
    return environment


ITERATION_REPORT: Final = "iteration-report.md.j2"


def iteration_report(document: Mapping[str, Any], root: Path | None = None) -> str:
    """Return the report of one iteration, the specification's headings first."""
    view = iteration_view(document)
    if has_own(ITERATION_REPORT, root):
        return render(ITERATION_REPORT, {"it": view}, root)
    return shipped.render(view)


def output_selection(selection: "Selection", story: "LoopStory", root: Path | None = None) -> str:
    """Return the report of the selection."""
    from ralph_tracker.report.selection_view import selection_view  # noqa: PLC0415  # not needed for iterations

    return render("output-selection.md.j2", {"s": selection_view(selection, story)}, root)


def loop_report(selection: "Selection", story: "LoopStory", root: Path | None = None) -> str:
    """Return the report of the whole loop: a line per iteration, the peak marked, and all alerts."""
    from ralph_tracker.report.selection_view import selection_view  # noqa: PLC0415  # as above

    return render("loop-report.md.j2", {"s": selection_view(selection, story)}, root)
