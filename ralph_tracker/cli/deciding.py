"""`hook loop-decision`: state.json and nothing heavy, since a runner asks after every iteration."""

import os
from pathlib import Path
from typing import Final

from ralph_tracker.cli.columns import say_wrapped
from ralph_tracker.cli.next_step import next_step, say_next
from ralph_tracker.cli.output import say, say_json
from ralph_tracker.errors import EXIT_ESCALATE, EXIT_OK, EXIT_ROLLBACK, EXIT_STOP
from ralph_tracker.store.standing import paths_of, refuse_unrecorded, running, summary_at

EXIT_OF: Final = {"continue": EXIT_OK, "stop": EXIT_STOP, "rollback": EXIT_ROLLBACK, "escalate": EXIT_ESCALATE}


def answer(root: Path, loop_id: str | None, *, as_json: bool, apply: bool) -> int:
    """Print the stored decision and return its exit code; `apply` carries a rollback out, and 0 follows.

    Raises as `Tracker.loop_decision` does.
    """
    paths = paths_of(root, loop_id, os.environ)
    summary = running(summary_at(paths))
    refuse_unrecorded(paths, summary)
    decision = {key: value for key, value in summary.decision.items() if key != "rule"}
    restored = None if summary.carried_out is None else summary.carried_out["target"]
    rollback = apply and decision["action"] == "rollback"
    if rollback and restored is None:
        from ralph_tracker.tracker import Tracker

        Tracker(root, loop_id).loop_decision(apply=True)
        restored = decision["target_iteration"]
    if as_json:
        say_json(decision)
        return EXIT_OK if rollback else EXIT_OF[decision["action"]]
    say_wrapped(f"{decision['action']} ({decision['confidence']:.2f}): {decision['reason']}")
    for alternative in decision["alternatives"]:
        say(f"  or: {alternative}")
    if restored is not None:
        say(f"  iteration {restored} is restored; the next iteration goes on from it")
        summary = summary._replace(head=restored)
    say_next(next_step(summary, None, paths))
    return EXIT_OK if rollback else EXIT_OF[decision["action"]]
