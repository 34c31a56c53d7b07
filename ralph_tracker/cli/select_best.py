"""ralph-tracker select-best: select the peak of the loop, not its last iteration."""

import sys
from collections.abc import Callable
from pathlib import Path

import click

from ralph_tracker.cli.hook import refuse_idle_branch, say_selection, step_after
from ralph_tracker.cli.next_step import of_loop
from ralph_tracker.cli.options import loop_options, quiet_option, selection_options, trust_option
from ralph_tracker.cli.terminal import flush, say_wrapped, tracker_of
from ralph_tracker.iteration.apply_iteration import Apply, Placement


@click.command("select-best")
@loop_options
@selection_options
@click.option("--yes", is_flag=True, help="Put it in place without asking; else a terminal shows the changes and asks.")
@quiet_option
@trust_option
def command(
    root: Path,
    loop_id: str | None,
    as_json: bool,
    mode: str | None,
    iteration: int | None,
    reason: str | None,
    apply: Apply,
    branch: str | None,
    *,
    verify: bool,
    yes: bool,
    trust: bool,
) -> None:
    """Select the best iteration and report it; a running loop continues.

    What would change in the working tree, files and tests, is printed before it is touched.
    """
    refuse_idle_branch(apply, branch)
    closed = tracker_of(root, loop_id, trust=trust).select_output(
        mode=mode,
        iteration=iteration,
        reason=reason,
        apply=apply,
        branch=branch,
        finish=False,
        verify=verify,
        approve=None if as_json else _approval(yes=yes),
    )
    is_shown = apply == "worktree"
    say_selection(
        closed,
        step_after(closed, "`ralph-tracker status` shows the loop"),
        loop=of_loop(loop_id),
        as_json=as_json,
        is_shown=is_shown,
    )


def _approval(*, yes: bool) -> Callable[[Placement], bool]:
    """Return what prints the changes, and asks at a terminal unless `yes`."""

    def approve(placement: Placement) -> bool:
        for line in placement.lines:
            say_wrapped(line)
        flush()
        if yes or not placement.files or not (sys.stdin.isatty() and sys.stdout.isatty()):
            return True
        return click.confirm("Change them? An undo id is kept.", default=False)

    return approve
