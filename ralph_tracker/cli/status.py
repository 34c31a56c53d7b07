"""ralph-tracker status: where the loop stands, and the next step."""

import os
from pathlib import Path
from typing import Final

import click

from ralph_tracker.cli.options import loop_options
from ralph_tracker.cli.output import say, say_json
from ralph_tracker.errors import LoopError
from ralph_tracker.store.standing import paths_of, summary_at
from ralph_tracker.store.summary import Summary

ALERTS_SHOWN: Final = 10


@click.command("status")
@loop_options
def command(root: Path, loop_id: str | None, as_json: bool) -> None:
    """Show where the loop stands, the best so far, open alerts and the next step."""
    try:
        summary = summary_at(paths_of(root, loop_id, os.environ))
    except LoopError:
        from ralph_tracker.cli.listing import listing  # only where AIWG wrote the loop

        found = listing(root, loop_id)
        if as_json:
            raise LoopError(
                f"loop {found.loop_id}: AIWG wrote it, and no status; read it with `ralph-tracker history --json`"
            ) from None
        _say_foreign(found.loop_id, len(found.records))
        return
    if as_json:
        say_json({**summary.plain(), "next_step": next_step(summary)})
        return
    _say(summary)


def _say_foreign(loop_id: str, count: int) -> None:
    say(f"loop {loop_id}: {count} records written by AIWG; read them with `ralph-tracker history`")


def _say(summary: Summary) -> None:
    say(f"loop {summary.loop_id}: {summary.status}, iteration {summary.iteration} ({summary.updated_at})")
    say(f"  last: {summary.classification}, quality {summary.quality_score:g}, adjusted {summary.adjusted_score:g}")
    if summary.best_iteration is None:
        say("  best: none yet")
    else:
        scores = f"quality {summary.best_quality_score:g}, adjusted {summary.best_adjusted_score:g}"
        say(f"  best: iteration {summary.best_iteration}, {scores}")
    cost = "unknown" if summary.cost_usd is None else f"${summary.cost_usd:.2f}"
    say(f"  cost: {cost}")
    worst_first = sorted(summary.alerts, key=lambda alert: (alert["severity"], alert["type"]))  # CRITICAL, HIGH, MEDIUM
    for alert in worst_first[:ALERTS_SHOWN]:
        say(f"  {alert['severity']} {alert['id']}: {alert['message']}")
    if len(summary.alerts) > ALERTS_SHOWN:
        say(f"  and {len(summary.alerts) - ALERTS_SHOWN} more alerts")
    for accepted in summary.accepted:
        say(f"  accepted: {accepted}")
    say(f"  decision: {summary.decision['action']}: {summary.decision['reason']}")
    say(f"  next: {next_step(summary)}")


def next_step(summary: Summary) -> str:
    """Return what to do now, in words or as a command."""
    if summary.status == "finished":
        return "read the reports, or select again with `ralph-tracker select-best`"
    if summary.status != "running":
        return "the loop was given up; `ralph-tracker hook pre-loop` starts another"
    action = summary.decision["action"]
    if action == "rollback" and summary.carried_out is None:
        return f"go back to iteration {summary.decision['target_iteration']}, or accept the alert"
    if action == "stop":
        return "`ralph-tracker hook post-loop`"
    if action == "escalate":
        return "a person looks; then go on, accept an alert, or `ralph-tracker hook post-loop`"
    return "let the agent work, then `ralph-tracker hook post-iteration`"
