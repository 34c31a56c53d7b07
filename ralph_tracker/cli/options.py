"""Define the options that several verbs share."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import click

from ralph_tracker import plugins
from ralph_tracker.cli.terminal import QUIET
from ralph_tracker.core.thresholds import SELECTION_MODES
from ralph_tracker.errors import nearest

Command = Callable[..., Any]
APPLY: Final = ("output", "worktree", "branch", "none")


class IterationNumber(click.IntRange):
    """Take the number of an iteration; with a leading zero, which could be octal, it is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:  # noqa: ANN401  # click gives any
        """Return the number. Raises BadParameter."""
        text = str(value).strip()
        if text[:1] == "0" and text != "0":
            self.fail(f"{text} begins with a zero: write {text.lstrip('0') or 0}", param, ctx)
        return int(super().convert(value, param, ctx))


def _safe_id(ctx: click.Context, option: click.Parameter, loop_id: str | None) -> str | None:
    """Refuse an unsafe id, also an empty one, which may come from an unset variable."""
    from ralph_tracker.store.layout import checked_loop_id

    del ctx, option
    return None if loop_id is None else checked_loop_id(loop_id)


def loop_options(command: Command) -> Command:
    """Add --root, --loop-id and --json."""
    as_json = click.option(
        "--json", "as_json", is_flag=True, help="Print JSON, as `ralph-tracker schema` describes it."
    )
    return place_options(as_json(command))


def place_options(command: Command) -> Command:
    """Add --root and --loop-id."""
    for option in (
        click.option(
            "--loop-id", metavar="ID", callback=_safe_id, help="The loop; else RALPH_LOOP_ID, else the current one."
        ),
        click.option("--root", type=click.Path(path_type=Path), default=Path(), help="The project's folder."),
    ):
        command = option(command)
    return command


def _be_quiet(ctx: click.Context, option: click.Parameter, value: bool) -> None:
    del option
    ctx.meta[QUIET] = value


quiet_option = click.option(
    "--quiet", is_flag=True, expose_value=False, callback=_be_quiet, help="Print the result alone, no progress."
)
trust_option = click.option(
    "--trust", is_flag=True, help="Accept what would run here, as `ralph-tracker trust` does; for CI."
)


class PluginChoice(click.Choice[str]):
    """Our choices, and those of plug-ins, which are looked up for any other name."""

    def __init__(self, what: str, group: plugins.Group, choices: Sequence[str]) -> None:
        super().__init__(choices)
        self.what, self.group = what, group

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in self.choices and value not in plugins.names(self.group):
            known = [*self.choices, *plugins.names(self.group)]
            self.fail(f"no {self.what} {value!r}{nearest(value, known)}", param, ctx)
        return value


mode_option = click.option(
    "--mode",
    type=PluginChoice("mode", "modes", SELECTION_MODES),
    metavar="MODE",
    help=f"How to select: {', '.join(SELECTION_MODES)}; else as configured.",
)
metrics_option = click.option(
    "--metrics",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Metrics that were measured already (YAML, JSON).",
)


def selection_options(command: Command) -> Command:
    """Add what selects the output, and says where its files go."""
    for option in (
        click.option("--verify", is_flag=True, help="First restore it to a temporary folder and measure it again."),
        click.option("--branch", metavar="NAME", help="The branch for --apply branch."),
        click.option("--apply", type=click.Choice(APPLY), default="output", help="Where the files go."),
        click.option("--reason", metavar="WHY", help="Why; needed with --iteration."),
        click.option(
            "--iteration", type=IterationNumber(min=0), metavar="N", help="Select this one, whatever the scores say."
        ),
        mode_option,
    ):
        command = option(command)
    return command
