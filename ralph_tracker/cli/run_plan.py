"""ralph-tracker run --plan: the tasks of a plan, one loop after another."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ralph_tracker.cli.next_step import say_next
from ralph_tracker.cli.output import say
from ralph_tracker.errors import EXIT_ESCALATE, EXIT_FAILURE, EXIT_INTERRUPTED, EXIT_OK

if TYPE_CHECKING:
    from ralph_tracker.runner.beginning import Asked
    from ralph_tracker.runner.screen import Screen
    from ralph_tracker.steering.plan import PlanState
    from ralph_tracker.tracker import Tracker

_SENSELESS: Final = {
    "prompt_file": "--prompt-file: the prompts of a plan are its tasks; put it into `context:` of the plan",
    "apply": "--apply: what a task of a plan comes to is left in the working tree; leave it out",
}
_LOOP_ID: Final = "--loop-id: each task of a plan is a loop of its own; leave it out"
_GO_ON: Final = "the same command goes on, `ralph-tracker plan show {file}` tells how far it has come"


def refuse_senseless(loop_id: str | None, options: Mapping[str, Any]) -> None:
    """Raise UsageError for what says nothing together with a plan."""
    if loop_id is not None:
        raise click.UsageError(_LOOP_ID)
    for name, why in _SENSELESS.items():
        if options[name] is not None:
            raise click.UsageError(why)


def run_plan(file: Path, tracker: "Tracker", asked: "Asked", screen: "Screen") -> int:
    """Run what is left of a plan, say how it ended, and return the exit code; raise as the tracker does."""
    from ralph_tracker.cli.plan import say_changed
    from ralph_tracker.cli.plan_person import person_here
    from ralph_tracker.runner.plans import plan_opened
    from ralph_tracker.store.plan_files import read_plan

    say_changed(file, read_plan(file))
    person = person_here()
    with plan_opened(file, tracker, asked, screen, person) as run:
        outcome = run.drive()
    if outcome.ended.how == "done":
        return _say_done(outcome.ended.state, outcome.ended.reason)
    by_person = outcome.was_asked or (outcome.ended.how == "aborted" and person is not None)
    say(f"{'Stopped' if by_person else 'A person is needed'}: {outcome.ended.reason}")
    say_next(_GO_ON.format(file=file))
    return EXIT_INTERRUPTED if outcome.was_asked else EXIT_ESCALATE


def _say_done(state: "PlanState", reason: str) -> int:
    say(f"The plan is done. {reason}")
    failed = [each for each in state.tasks if each.status == "failed"]
    for each in failed:
        why = each.outcome.reason if each.outcome else ""
        say(f"  failed: {each.id} ({each.task.title}){f': {why}' if why else ''}")
    if failed:
        say_next("look at its loop with `ralph-tracker history --loop-id ID`; a plan of what is left goes on from here")
    return EXIT_FAILURE if failed else EXIT_OK
