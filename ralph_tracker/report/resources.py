"""The only place that finds a template: the user's folder, then the package, then the checkout."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ralph_tracker.errors import ConfigError
from ralph_tracker.report.escape import for_markdown

if TYPE_CHECKING:
    import jinja2

_PACKAGE: Final = Path(__file__).resolve().parent.parent
USER_FOLDER: Final = Path(".aiwg") / "ralph" / "templates"
SHIPPED: Final = (_PACKAGE / "templates", _PACKAGE.parent / "templates")


def render(template: str, values: Mapping[str, Any], root: Path | None = None) -> str:
    """Render a template; `root` is the project whose own templates go first.

    Raises ConfigError, in one line, for a template of the user that cannot be used.
    """
    folders = ((root / USER_FOLDER),) if root is not None else ()
    try:
        return _environment((*folders, *SHIPPED)).get_template(template).render(values)
    except Exception as error:
        if not any((folder / template).is_file() for folder in folders):
            raise  # ours
        line, what = getattr(error, "lineno", None), getattr(error, "message", None)
        place = f"{template}, line {line}" if line else template
        what = what or f"{type(error).__name__}: {error}"
        raise ConfigError(f"template {place}: {what}; mend it or remove it from {USER_FOLDER}") from None


@cache
def _environment(folders: tuple[Path, ...]) -> "jinja2.Environment":
    import jinja2  # noqa: PLC0415  # 100 ms that only a report has to pay
    from jinja2.sandbox import SandboxedEnvironment  # noqa: PLC0415  # as above; the agent may write a template too

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
