"""ralph-tracker hook: the four phases of a loop."""

from pathlib import Path
from typing import Any, Final

import click

from ralph_tracker.cli.deciding import answer
from ralph_tracker.cli.options import loop_options
from ralph_tracker.cli.output import progress, say, say_json
from ralph_tracker.errors import EXIT_OK

MODES: Final = ("highest_quality_verified", "highest_quality", "most_recent_above_threshold")
APPLY: Final = ("output", "worktree", "branch", "none")

metrics_option = click.option(
    "--metrics",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Metrics that were measured already (YAML, JSON).",
)


class Phases(click.Group):
    """Take a phase with hyphens or with underscores."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the phase's command."""
        return super().get_command(ctx, cmd_name.replace("_", "-"))


@click.group("hook", cls=Phases)
def command() -> None:
    """Record and judge a loop, one phase after the other."""


def _tracker(root: Path, loop_id: str | None) -> Any:  # noqa: ANN401  # a Tracker, imported when it is needed
    from ralph_tracker.tracker import Tracker

    return Tracker(root, loop_id, progress=progress())


@command.command("pre-loop")
@loop_options
@metrics_option
@click.option("--new", is_flag=True, help="Abandon a loop that is still running.")
@click.option("--allow-missing", is_flag=True, help="Go on where the command of a check is not there.")
@click.option("--rebaseline", is_flag=True, help="End a loop that is still running, and start one linked to it.")
def pre_loop(
    root: Path,
    loop_id: str | None,
    as_json: bool,
    metrics: Path | None,
    new: bool,
    allow_missing: bool,
    rebaseline: bool,
) -> int:
    """Capture the baseline, iteration 0."""
    if new and rebaseline:
        raise click.UsageError("--new and --rebaseline exclude each other")
    record = _tracker(root, loop_id).pre_loop(metrics, new=new, rebaseline=rebaseline, allow_missing=allow_missing)
    _say_record(record, as_json)
    return EXIT_OK


@command.command("post-iteration", short_help="Record and judge the next iteration.")
@loop_options
@metrics_option
@click.option("--usage", type=click.Path(path_type=Path), metavar="FILE", help="What the iteration cost (YAML, JSON).")
@click.option("--blocked", metavar="WHY", help="The agent cannot go on without a person.")
@click.option(
    "--iteration", type=click.IntRange(min=1), metavar="N", help="The number; makes a repeated call harmless."
)
def post_iteration(  # one parameter an option
    root: Path,
    loop_id: str | None,
    as_json: bool,
    metrics: Path | None,
    usage: Path | None,
    blocked: str | None,
    iteration: int | None,
) -> int:
    """Record and judge the next iteration; a regression is no failure."""
    recorded = _tracker(root, loop_id).post_iteration(metrics, usage=usage, blocked=blocked, iteration=iteration)
    if not recorded.new and not as_json:
        say(f"Iteration {iteration} is on record already, nothing was changed")
    _say_record(recorded.record, as_json)
    return EXIT_OK


def _say_record(record: Any, as_json: bool) -> None:  # noqa: ANN401  # an IterationRecord
    if as_json:
        from ralph_tracker.core.documents import record_document

        say_json(record_document(record))
        return
    say(record.message)
    best = "" if record.best.iteration is None else f", best: iteration {record.best.iteration}"
    say(
        f"  {record.loop_id} iteration {record.iteration}: {record.classification}, "
        f"quality {record.quality_score:g}, adjusted {record.adjusted_score:g}{best}"
    )
    for alert in record.alerts:
        say(f"  {alert.kind.severity.name} {alert.id}: {alert.message}{f' ({alert.note})' if alert.note else ''}")
    if record.open_alerts:
        say(f"  still open: {', '.join(alert.id for alert in record.open_alerts[:5])}{_more(record.open_alerts, 5)}")
    step = "post-iteration" if record.is_baseline else "loop-decision"
    say(f"  next: ralph-tracker hook {step}")


def _more(items: Any, shown: int) -> str:  # noqa: ANN401  # any sized collection
    return f" and {len(items) - shown} more" if len(items) > shown else ""


@command.command("loop-decision", short_help="Say what to do next.")
@loop_options
@click.option("--apply", is_flag=True, help="Carry a rollback out, and leave with 0 then.")
def loop_decision(root: Path, loop_id: str | None, as_json: bool, apply: bool) -> int:
    """Say what to do next: exit code 0 continue, 10 stop, 11 rollback, 12 escalate."""
    return answer(root, loop_id, as_json=as_json, apply=apply)


@command.command("post-loop")
@loop_options
@click.option("--mode", type=click.Choice(MODES), help="How to select; else as configured.")
@click.option("--iteration", type=click.IntRange(min=0), metavar="N", help="Select this one, whatever the scores say.")
@click.option("--reason", metavar="WHY", help="Why; needed with --iteration.")
@click.option("--apply", type=click.Choice(APPLY), default="output", help="Where the files go.")
@click.option("--branch", metavar="NAME", help="The branch for --apply branch.")
def post_loop(  # one parameter an option
    root: Path,
    loop_id: str | None,
    as_json: bool,
    mode: Any,  # noqa: ANN401  # one of MODES
    iteration: int | None,
    reason: str | None,
    apply: Any,  # noqa: ANN401  # one of APPLY
    branch: str | None,
) -> int:
    """Select the output, report the loop and finish it."""
    closed = _tracker(root, loop_id).select_output(
        mode=mode, iteration=iteration, reason=reason, apply=apply, branch=branch
    )
    say_selection(closed, as_json=as_json)
    return EXIT_OK


def say_selection(closed: Any, *, as_json: bool) -> None:  # noqa: ANN401  # a Closed
    """Print what was selected, why where it needs a word, and where to read on."""
    if as_json:
        say_json(closed.document)
        return
    from ralph_tracker.report.selection_view import equal_ground

    selection = closed.selection
    say(selection.message)
    if selection.why_not_final:
        say(f"  {selection.why_not_final}")
    if line := equal_ground(selection):
        say(f"  {line}")
    if not selection.accepted:
        say(f"  below the acceptance threshold of {selection.threshold:g}")
    for problem in closed.problems:
        say(f"  {problem}")
    say(f"  {closed.applied}")
    say(f"  read: {', '.join(closed.files[1:])}")
