"""ralph-tracker hook: the four phases of a loop."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from ralph_tracker.cli.hook_output import answer, record_next, say_record
from ralph_tracker.cli.next_step import MEASURES_AGAIN, next_if_interrupted, of_loop, say_next
from ralph_tracker.cli.options import (
    IterationNumber,
    loop_options,
    metrics_option,
    quiet_option,
    selection_options,
    trust_option,
)
from ralph_tracker.cli.terminal import say, say_json, say_wrapped, tracker_of
from ralph_tracker.errors import EXIT_OK
from ralph_tracker.records.questions import Question


class Phases(click.Group):
    """A group that accepts phases with hyphens or underscores."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the phase's command."""
        return super().get_command(ctx, cmd_name.replace("_", "-"))


@click.group("hook", cls=Phases)
def command() -> None:
    """Record and judge a loop, phase by phase."""


@command.command("pre-loop")
@loop_options
@metrics_option
@click.option("--new", is_flag=True, help="Abandon a loop that is still running.")
@click.option(
    "--allow-missing", is_flag=True, help="Start even if a check's command is missing or tests cannot be measured."
)
@click.option("--rebaseline", is_flag=True, help="End a loop that is still running, and start one linked to it.")
@quiet_option
@trust_option
def pre_loop(
    root: Path,
    loop_id: str | None,
    as_json: bool,
    metrics: Path | None,
    new: bool,
    allow_missing: bool,
    rebaseline: bool,
    trust: bool,
) -> int:
    """Record the baseline, iteration 0."""
    if new and rebaseline:
        raise click.UsageError("--new and --rebaseline exclude each other")
    tracker = tracker_of(root, loop_id, trust=trust)
    with next_if_interrupted(MEASURES_AGAIN):
        record = tracker.pre_loop(metrics, new=new, rebaseline=rebaseline, allow_missing=allow_missing)
    say_record(record, root, as_json=as_json)
    return EXIT_OK


@command.command("post-iteration", short_help="Record and judge the next iteration.")
@loop_options
@metrics_option
@click.option("--usage", type=click.Path(path_type=Path), metavar="FILE", help="What the iteration cost (YAML, JSON).")
@click.option("--blocked", metavar="WHY", help="The agent cannot continue without a person.")
@click.option(
    "--iteration", type=IterationNumber(min=1), metavar="N", help="Its number; makes it safe to repeat the call."
)
@click.option("--fresh", is_flag=True, help="Run the checks even if nothing changed since they ran.")
@click.option(
    "--fail-early",
    is_flag=True,
    help="Run the tests that failed last first; while they fail, run and record nothing else, and exit with 3.",
)
@quiet_option
@trust_option
def post_iteration(  # one parameter per option
    root: Path,
    loop_id: str | None,
    as_json: bool,
    metrics: Path | None,
    usage: Path | None,
    blocked: str | None,
    iteration: int | None,
    *,
    fresh: bool,
    fail_early: bool,
    trust: bool,
) -> int:
    """Record and judge the next iteration; a regression is not an error."""
    if fail_early and (as_json or metrics is not None):
        raise click.UsageError("--fail-early excludes --json and --metrics: it may record nothing")
    return record_next(
        root,
        loop_id,
        as_json=as_json,
        metrics=metrics,
        usage=usage,
        blocked=blocked,
        iteration=iteration,
        fresh=fresh,
        fail_early=fail_early,
        trust=trust,
    )


@command.command("loop-decision", short_help="Say what to do next.")
@loop_options
@click.option("--apply", is_flag=True, help="Carry out a rollback, and exit with 0 then.")
def loop_decision(root: Path, loop_id: str | None, as_json: bool, apply: bool) -> int:
    """Say what to do next: exit code 0 continue, 10 stop, 11 rollback, 12 escalate."""
    return answer(root, loop_id, as_json=as_json, apply=apply)


@command.command("post-loop")
@loop_options
@selection_options
@quiet_option
@trust_option
def post_loop(  # one parameter per option
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
) -> int:
    """Select the output, write the reports and finish the loop."""
    refuse_idle_branch(apply, branch)
    closed = tracker_of(root, loop_id, trust=trust).select_output(
        mode=mode, iteration=iteration, reason=reason, apply=apply, branch=branch, verify=verify
    )
    say_selection(closed, step_after(closed), loop=of_loop(loop_id), as_json=as_json)
    return EXIT_OK


def refuse_idle_branch(apply: str, branch: str | None) -> None:
    """Raise UsageError for a branch name that would not be used."""
    if branch is not None and apply != "branch":
        raise click.UsageError(f"--branch needs --apply branch, not {apply}")


def step_after(closed: Any, step: str = "`ralph-tracker hook pre-loop` starts another loop") -> str:  # noqa: ANN401  # a FinishedLoop
    """Return the next step after a selection: to put it in place where the working tree is another one, else `step`."""
    if closed.in_place is None:
        return step
    number = closed.selection.selected.iteration
    if closed.in_place:
        return f"the working tree is iteration {number} already; {step}"
    return "`ralph-tracker select-best --apply worktree` puts it in place"


def say_questions(questions: Iterable[Question], loop: str = "") -> None:
    """Print what only a person can say, with the commands that answer it; `loop` names another than the current one."""
    for question in questions:
        say_wrapped(f"Question: {question.sentence(loop)}", hang=4)


def say_selection(
    closed: Any,  # noqa: ANN401  # a FinishedLoop
    step: str = "",
    *,
    loop: str = "",
    as_json: bool,
    is_shown: bool = False,
) -> None:
    """Print the questions, the selection with its facts, where the reports are, and the next step.

    What changes in the working tree is printed unless it `is_shown` already, or is in place. `loop` is the option that
    names another loop than the current one.
    """
    if as_json:
        say_json(closed.selection.to_dict())
        return
    from ralph_tracker.report.loop_view import candidate_in_words, why_others_are_not_taken, why_peaks_differ
    from ralph_tracker.short_text import percent

    selection = closed.selection
    chosen, final = selection.selected, selection.final
    commits = {at: f", commit {commit}" for at, commit in closed.commits.items() if commit}
    facts = [f"iteration {chosen.iteration}{commits.get(chosen.iteration, '')}: {candidate_in_words(chosen)}"]
    if final.iteration != chosen.iteration:
        last = f"iteration {final.iteration}, the last{commits.get(final.iteration, '')}"
        facts.append(f"{last}: {candidate_in_words(final)}")
    because = None if selection.chosen_because == selection.why_not_final else selection.chosen_because
    facts += filter(None, (why_peaks_differ(selection), because))
    if not selection.accepted:
        facts.append(f"below the acceptance threshold of {percent(selection.threshold)}")
    say_questions(selection.questions, loop)
    say(selection.message)
    for line in (*facts, *why_others_are_not_taken(selection), *closed.problems, closed.applied):
        say_wrapped(line, indent=2)
    if closed.placement is not None and not is_shown and not closed.in_place:
        for line in closed.placement.lines:
            say_wrapped(line, indent=2)
    for file in closed.files[1:]:
        say(f"  read: {file}")
    if step:
        say_next(step)
