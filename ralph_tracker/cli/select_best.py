"""ralph-tracker select-best: select the peak of the loop, not its last iteration."""

from pathlib import Path
from typing import Any

import click

from ralph_tracker.cli.answers import tracker_of
from ralph_tracker.cli.hook import APPLY, mode_option, refuse_idle_branch, say_selection
from ralph_tracker.cli.options import loop_options, trust_option


@click.command("select-best")
@loop_options
@mode_option
@click.option("--iteration", type=click.IntRange(min=0), metavar="N", help="Select this one, whatever the scores say.")
@click.option("--reason", metavar="WHY", help="Why; needed with --iteration.")
@click.option("--apply", type=click.Choice(APPLY), default="output", help="Where the files go.")
@click.option("--branch", metavar="NAME", help="The branch for --apply branch.")
@click.option("--verify", is_flag=True, help="Restore it beside the project and measure it again before.")
@trust_option
def command(
    root: Path,
    loop_id: str | None,
    as_json: bool,
    mode: Any,  # noqa: ANN401  # one of SELECTION_MODES
    iteration: int | None,
    reason: str | None,
    apply: Any,  # noqa: ANN401  # one of APPLY
    branch: str | None,
    *,
    verify: bool,
    trust: bool,
) -> None:
    """Select the best iteration and report it; a running loop continues."""
    refuse_idle_branch(apply, branch)
    closed = tracker_of(root, loop_id, trust=trust).select_output(
        mode=mode, iteration=iteration, reason=reason, apply=apply, branch=branch, finish=False, verify=verify
    )
    say_selection(closed, "`ralph-tracker status` says where the loop stands", as_json=as_json)
