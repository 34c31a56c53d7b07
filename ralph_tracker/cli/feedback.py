"""ralph-tracker feedback: print what an agent should know of the last iteration, for any loop in a shell."""

import os
from collections.abc import Mapping
from pathlib import Path

import click

from ralph_tracker.cli.options import place_options
from ralph_tracker.cli.terminal import say_text


@click.command("feedback")
@place_options
def command(root: Path, loop_id: str | None) -> None:
    """Print what the agent should know of the last iteration, as `run` and the hooks tell it.

    Failing tests, findings and questions, what was rolled back and why, what is left of the limits, and how the loop
    ends. Put it into the next prompt of a loop of your own.
    """
    say_text(feedback_text(root, loop_id, os.environ) + "\n")


def feedback_text(root: Path, loop_id: str | None, environment: Mapping[str, str], *, with_rules: bool = True) -> str:
    """Return the feedback on the last iteration of a loop. Raises LoopError if there is none."""
    from ralph_tracker.agents.feedback import feedback_of
    from ralph_tracker.iteration.measure_iteration import configured_by
    from ralph_tracker.store.configured_loop import ConfiguredLoop
    from ralph_tracker.store.find import find_loop
    from ralph_tracker.store.write import LoopStore

    store = LoopStore(find_loop(root, loop_id, environment))
    return feedback_of(ConfiguredLoop.read(store, configured_by), root, with_rules=with_rules)
