"""ralph-tracker accept: mark an alert as accepted, with a reason."""

from pathlib import Path
from typing import TypedDict

import click

from ralph_tracker.cli.next_step import next_step, say_next
from ralph_tracker.cli.options import loop_options
from ralph_tracker.cli.terminal import say_json, say_wrapped
from ralph_tracker.records.iteration_record import DecisionDocument
from ralph_tracker.report.wording import decision_in_words
from ralph_tracker.tracker import Tracker


class AcceptanceDocument(TypedDict):
    """`at` and `reason` are those of the first time; `accepted_with` are alerts of the same removal of tests.

    `decision` is the one of now.
    """

    accepted: str
    accepted_with: list[str]
    reason: str
    at: str
    best_iteration: int | None
    decision: DecisionDocument


@click.command("accept")
@click.argument("alert_id", metavar="ID")
@loop_options
@click.option("--reason", required=True, metavar="WHY", help="Why the alert is accepted; it is kept and shown.")
def command(alert_id: str, root: Path, loop_id: str | None, as_json: bool, reason: str) -> None:
    """Accept alert ID, so that it no longer counts; the decision is recomputed, the records are not changed."""
    tracker = Tracker(root, loop_id)
    before = {event["id"] for event in tracker.store().acceptances()}
    summary = tracker.accept(alert_id, reason)
    events = tracker.store().acceptances()
    own = next(event for event in events if event["id"] == alert_id)
    others = [event["id"] for event in events if event.get("with") == alert_id]
    decision = summary.recommendation
    if as_json:
        document: AcceptanceDocument = {
            "accepted": alert_id,
            "accepted_with": others,
            "reason": own["reason"],
            "at": own["at"],
            "best_iteration": summary.best_iteration,
            "decision": decision,
        }
        say_json(document)
        return
    said = f"{alert_id} was accepted already, at {own['at']}" if alert_id in before else f"Accepted {alert_id}"
    say_wrapped(f"{said}: {own['reason']}")
    if others:
        say_wrapped(f"also accepted, because the same removal raised it: {', '.join(others)}", indent=2)
    say_wrapped(f"decision now: {decision_in_words(decision)}", indent=2)
    say_next(next_step(summary, None, tracker.store().paths))
