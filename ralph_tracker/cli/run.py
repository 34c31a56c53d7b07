"""ralph-tracker run: drive a loop with any agent that has a command."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import click

from ralph_tracker.cli.hook import say_selection, step_after
from ralph_tracker.cli.next_step import RESUME, next_if_interrupted, say_next
from ralph_tracker.cli.options import place_options, quiet_option, trust_option
from ralph_tracker.cli.plan import say_changed
from ralph_tracker.cli.terminal import is_quiet, person_here, say, tracker_of
from ralph_tracker.errors import EXIT_ESCALATE, EXIT_FAILURE, EXIT_INTERRUPTED, EXIT_OK
from ralph_tracker.runner.agent_commands import BACKENDS
from ralph_tracker.runner.plan_run import open_plan_run
from ralph_tracker.runner.run import RunRequest, open_run
from ralph_tracker.runner.saved_plan import read_plan
from ralph_tracker.runner.shared_terminal import Screen
from ralph_tracker.tracker import Tracker

_SENSELESS: Final = {
    "prompt_file": "--prompt-file: with --plan the tasks are the prompts; put shared text into `context:` of the plan",
    "apply": "--apply: with --plan the result of each task stays in the working tree; leave --apply out",
}
_APPLY: Final = ("output", "worktree", "none")
_LIMITS: Final = ("max_iterations", "max_cost_usd", "max_minutes", "target_score", "until")
_MINUTE_S: Final = 60.0
_POSITIVE: Final = click.FloatRange(min=0, min_open=True)


@click.command("run")
@place_options
@click.option("--backend", type=click.Choice(list(BACKENDS)), help="The usual command of that agent; see docs/run.md.")
@click.option("--continue", "keeps_session", is_flag=True, help="Keep one session of the --backend's client.")
@click.option("--prompt-file", metavar="FILE", help="The prompt for the agent; read again for each iteration.")
@click.option("--plan", type=click.Path(path_type=Path), metavar="FILE", help="Do the tasks of a plan, one by one.")
@click.option("--max-iterations", type=click.IntRange(min=1), metavar="N", help="Stop after N iterations.")
@click.option("--max-cost-usd", type=_POSITIVE, metavar="X", help="Stop once X USD are known to be spent.")
@click.option("--max-minutes", type=_POSITIVE, metavar="M", help="Stop after M minutes.")
@click.option("--target-score", type=click.FloatRange(0, 1), metavar="S", help="Stop once that score is reached.")
@click.option(
    "--until", type=click.Choice(("done", "green")), help="Green: stop once all tests pass and one was gained."
)
@click.option("--agent-minutes", type=_POSITIVE, metavar="M", help="Stop an agent run after M minutes; 60.")
@click.option(
    "--silence-minutes", type=_POSITIVE, metavar="M", help="Stop an agent run that prints nothing for M minutes."
)
@click.option("--retries", type=click.IntRange(min=0), metavar="N", help="Repeat a failed agent run up to N times; 3.")
@click.option(
    "--pause", type=click.FloatRange(min=0), metavar="S", help="Seconds before a repeat, doubled each time; 10."
)
@click.option(
    "--calls-per-hour", type=click.IntRange(min=1), metavar="N", help="Run the agent at most N times an hour."
)
@click.option("--apply", type=click.Choice(_APPLY), help="Where the files of the best iteration go; output.")
@click.option("--new", is_flag=True, help="Abandon a loop that is still running.")
@click.option(
    "--allow-missing", is_flag=True, help="Start even if a check's command is missing or tests cannot be measured."
)
@quiet_option
@trust_option
@click.option("--resume", is_flag=True, help="Continue an interrupted run.")
@click.argument("agent", nargs=-1, type=click.UNPROCESSED, metavar="-- AGENT COMMAND…")
def command(
    root: Path,
    loop_id: str | None,
    plan: Path | None,
    agent: tuple[str, ...],
    *,
    trust: bool,
    **options: Any,  # noqa: ANN401  # options
) -> int:
    """Let an agent refine the project until it is done, and select the best iteration.

    The agent gets its prompt on standard input, or where its command contains {prompt} or {prompt_file}: your prompt
    and the latest measurements. With --backend the words after `--` are added to that agent's command. Ctrl-C once
    finishes the iteration, twice stops now. With --plan each task has its own loop, until its checks pass.
    """
    if options["keeps_session"] and options["backend"] is None:
        raise click.UsageError("--continue: only a --backend is known to continue its session; name one")
    if options["backend"] is not None:
        agent = BACKENDS[options["backend"]].command(agent)
    if not agent and (plan is not None or not options["resume"]):
        raise click.UsageError("no agent command; give it after `--`, or name a --backend")
    asked = RunRequest(
        agent,
        _settings(options),
        {name: options[name] for name in _LIMITS if options[name] is not None},
        new=options["new"],
        allow_missing=options["allow_missing"],
        resume=options["resume"],
    )
    if plan is not None:
        refuse_senseless(loop_id, options)
        return run_plan(plan, tracker_of(root, None, trust=trust), asked, Screen(quiet=is_quiet()))
    screen = Screen(quiet=is_quiet())
    with open_run(tracker_of(root, loop_id, trust=trust), asked, screen) as run, _naming_next_step(screen, RESUME):
        outcome = run.drive()
        step = (
            f"{RESUME}, `ralph-tracker hook post-loop` selects and ends the loop"
            if outcome.closed is None
            else step_after(outcome.closed)
        )
        run.notify(outcome, step)
    say(f"{'Stopped' if outcome.how != 'escalate' else 'A person is needed'}: {outcome.reason}")
    if outcome.closed is None:
        say_next(step)
    else:
        say_selection(outcome.closed, step, as_json=False)
    return {"stop": EXIT_OK, "escalate": EXIT_ESCALATE, "asked": EXIT_INTERRUPTED}[outcome.how]


def _settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given settings of the run."""
    file, minutes, silence = options["prompt_file"], options["agent_minutes"], options["silence_minutes"]
    named = {
        "prompt_file": None if file is None else str(Path(file).absolute()),
        "agent_timeout_s": None if minutes is None else minutes * _MINUTE_S,
        "silence_s": None if silence is None else silence * _MINUTE_S,
        "retries": options["retries"],
        "pause_s": options["pause"],
        "apply": options["apply"],
        "calls_per_hour": options["calls_per_hour"],
        "backend": options["backend"] if options["keeps_session"] else None,
    }
    return {name: value for name, value in named.items() if value is not None}


def refuse_senseless(loop_id: str | None, options: Mapping[str, Any]) -> None:
    """Raise UsageError for options that cannot be used with a plan."""
    if loop_id is not None:
        raise click.UsageError("--loop-id: with --plan each task has its own loop; leave --loop-id out")
    for name, why in _SENSELESS.items():
        if options[name] is not None:
            raise click.UsageError(why)


def run_plan(file: Path, tracker: "Tracker", asked: "RunRequest", screen: Screen) -> int:
    """Run what is left of a plan, say how it ended, and return the exit code; raise as the tracker does."""
    say_changed(file, read_plan(file))
    person = person_here()
    step = f"run the same command again to continue; `ralph-tracker plan show {file}` shows the progress"
    with open_plan_run(file, tracker, asked, screen, person) as run, _naming_next_step(screen, step):
        outcome = run.drive()
    if outcome.ended.how == "done":
        say(f"The plan is done. {outcome.ended.reason}")
        failed = [each for each in outcome.ended.state.tasks if each.status == "failed"]
        for each in failed:
            why = each.outcome.reason if each.outcome else ""
            say(f"  failed: {each.id} ({each.task.title}){f': {why}' if why else ''}")
        if failed:
            say_next(
                "see its loop with `ralph-tracker history --loop-id ID`; continue with a plan of the remaining tasks"
            )
        return EXIT_FAILURE if failed else EXIT_OK
    by_person = outcome.was_asked or (outcome.ended.how == "aborted" and person is not None)
    say(f"{'Stopped' if by_person else 'A person is needed'}: {outcome.ended.reason}")
    say_next(step)
    return EXIT_INTERRUPTED if outcome.was_asked else EXIT_ESCALATE


@contextmanager
def _naming_next_step(screen: Screen, step: str) -> Iterator[None]:
    """End the agent's last line, and add the next step to the message of an interruption."""
    try:
        with next_if_interrupted(step):
            yield
    finally:
        screen.end()
