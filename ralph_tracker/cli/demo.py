"""ralph-tracker demo: a whole loop on a sample project, with a scripted agent and real measurements."""

import shutil
from pathlib import Path
from typing import Any

import click

from ralph_tracker.cli import history
from ralph_tracker.cli.hook import say_selection
from ralph_tracker.cli.output import flush, say
from ralph_tracker.demo import sample
from ralph_tracker.demo.sample import refine
from ralph_tracker.iteration.apply_selection import OUTPUT
from ralph_tracker.report.sentences import percent
from ralph_tracker.tracker import Tracker

WHERE = (
    ("one report an iteration", "reports"),
    ("the whole loop", "reports/loop-report.md"),
    ("why this iteration", "reports/output-selection.md"),
)


@click.command("demo")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="A new folder; else a temporary one.",
)
@click.option("--keep/--no-keep", default=True, help="Keep the folder to look around in (the default), or remove it.")
def command(folder: Path | None, keep: bool) -> None:
    """Run a demo loop: a scripted agent refines a small Python library, measured by pytest, coverage and ruff.

    The agent makes real edits, deletes a test on the way, and continues after the best iteration.
    """
    root = sample.make_project(folder)
    try:
        tracker = _show(root, sample)
    finally:
        if not keep:
            shutil.rmtree(root)
    say()
    if keep:
        _say_where(tracker)
    else:
        say(f"{root} was removed, as asked")


def _show(root: Path, sample: Any) -> Any:  # noqa: ANN401  # the module, imported when it is needed; a Tracker

    say(f"A scripted agent refines a small Python library in {root}")
    python = sample.python_with_tools(root, _say_now)
    sample.configure(root, python)
    _say_now(f"pytest, coverage and ruff measure it, with {python}")
    say()
    tracker = Tracker(root, environment=sample.environment(), trust=True)
    baseline = tracker.pre_loop(None)
    say("it.  score   what the agent did → what the tracker said")
    _say_line(baseline, "the library as it was found")
    turn = None
    for turn in refine(tracker, sample.agent()):
        _say_turn(turn)
    say()
    say(f"Stopped: {turn.decision.reason if turn and turn.ends else 'the agent has nothing left to do'}")
    _select(tracker, baseline.loop_id)
    return tracker


def _say_turn(turn: Any) -> None:  # noqa: ANN401  # a Turn
    _say_line(turn.record, turn.did)
    for alert in turn.record.alerts:
        say(f"             {alert.severity.name} {alert.id}: {alert.message}")
    if turn.carried_out:
        say(f"             rolled back: the working tree is iteration {turn.decision.target_iteration} again")
    flush()


def _say_line(record: Any, did: str) -> None:  # noqa: ANN401  # an IterationRecord
    _say_now(f"{record.iteration:>3}  {percent(record.adjusted_score):<6}  {did} → {record.message}")


def _say_now(line: str) -> None:
    say(line)
    flush()


def _select(tracker: Any, loop_id: str) -> None:  # noqa: ANN401  # a Tracker

    say_selection(tracker.select_output(apply="output"), as_json=False)
    say()
    click.get_current_context().invoke(history.command, root=tracker.root, loop_id=loop_id, as_json=False)


def _say_where(tracker: Any) -> None:  # noqa: ANN401  # a Tracker

    loop = tracker.store().paths.folder
    for what, path in WHERE:
        say(f"{what + ':':<28}{loop / path}")
    say(f"{'its files, ready to take:':<28}{tracker.root / OUTPUT}")
    say(f"{'continue from here:':<28}ralph-tracker status --root {tracker.root}")
