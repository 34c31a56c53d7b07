"""ralph-tracker status: show the status of the loop and the next step."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click

from ralph_tracker.cli.next_step import next_step, say_next
from ralph_tracker.cli.options import loop_options
from ralph_tracker.cli.terminal import WIDTH, say, say_json, say_wrapped
from ralph_tracker.errors import LoopError
from ralph_tracker.iteration.explain import facts_of, kept_point
from ralph_tracker.iteration.open_problems import wrong_lines
from ralph_tracker.loop.status import (
    REPAIR,
    StatusDocument,
    decision_now,
    highest_before,
    is_carried_out,
    missing_files,
    state_sentence,
)
from ralph_tracker.report.escaping import short_names
from ralph_tracker.report.wording import decision_in_words, known_money, score_in_words, without_repeats
from ralph_tracker.short_text import shorten
from ralph_tracker.store.export_queue import unsent_warnings
from ralph_tracker.store.find import find_loop
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.read import SealedRecords
from ralph_tracker.store.restore_mark import interrupted_document, interrupted_restore
from ralph_tracker.store.summary import (
    INTERRUPTED,
    Summary,
    interrupted_iteration,
    summary_at,
    unrecorded_iteration,
)

ALERTS_SHOWN: Final = 5


@click.command("status")
@loop_options
def command(root: Path, loop_id: str | None, as_json: bool) -> None:
    """Show the status of the loop, the best iteration so far, open alerts and the next step."""
    try:
        paths = find_loop(root, loop_id, os.environ)
    except LoopError:
        _say_foreign(root, loop_id, as_json=as_json)
        return
    if as_json:
        say_json(document_at(paths))
        return
    summary = summary_at(paths)
    begun, interrupted, missing = unrecorded_iteration(paths, summary), interrupted_restore(paths), missing_files(paths)
    _print_status(summary, begun, paths)
    if interrupted is not None:
        say_wrapped(f"{interrupted.what} was interrupted; undo id {interrupted.undo_ids.undo}", indent=2)
    if missing is not None:
        say_wrapped(f"files: {missing}; {REPAIR}", indent=2)
    for sentence in unsent_warnings(paths):
        say_wrapped(f"export: {sentence}", indent=2)
    say_next(next_step(summary, begun, paths))


def document_at(paths: LoopPaths) -> StatusDocument:
    """Return the state of a loop and the next step. Raises RecordError as `summary_at` does."""
    summary = summary_at(paths)
    begun = unrecorded_iteration(paths, summary)
    return {
        **summary.plain(),
        "unrecorded": begun,
        "interrupted_restore": interrupted_document(interrupted_restore(paths)),
        "missing_files": missing_files(paths),
        "next_step": next_step(summary, begun, paths),
    }


def _say_foreign(root: Path, loop_id: str | None, *, as_json: bool) -> None:
    """Show a loop that AIWG wrote. Raises LoopError if there is no loop at all."""
    from ralph_tracker.store.records_to_show import listing  # parsers of documents, a third of the time of `status`

    found = listing(root, loop_id)
    if as_json:
        raise LoopError(
            f"loop {found.loop_id}: AIWG wrote it, and no status; read it with `ralph-tracker history --json`"
        )
    say(f"loop {found.loop_id}: {len(found.all())} records written by AIWG; read them with `ralph-tracker history`")


def _print_status(summary: Summary, begun: int | None, paths: LoopPaths) -> None:
    say(f"loop {summary.loop_id}: {summary.status}, iteration {summary.iteration} ({summary.updated_at})")
    say_wrapped(state_sentence(summary, paths), indent=2)
    if (number := interrupted_iteration(paths)) is not None:
        say(f"  {INTERRUPTED.format(number)}")
    elif begun is not None:
        say(f"  iteration {begun} was begun and is not on record")
    is_current = summary.head == summary.iteration
    if not is_current:
        goes_on = "; the next iteration continues from it" if summary.status == "running" else ""
        say_wrapped(f"the working tree was set back to iteration {summary.head}{goes_on}", indent=2)
    committed = SealedRecords(paths)
    for line in wrong_lines(committed, summary.head):
        say_wrapped(line, indent=2, colour="red")
    if is_current:  # what an iteration did that was rolled back is no longer in the files
        if summary.integrity not in {None, "PASS"} and summary.iteration:
            say(f"  integrity: {summary.integrity}; `ralph-tracker integrity` says why")
        _say_alerts(summary, committed)
    for accepted in summary.accepted:
        say(f"  accepted: {accepted}")
    if summary.status == "running" and (is_current or is_carried_out(summary)):
        say_wrapped(f"decision: {_decision(summary, paths)}", indent=2)
    best = None if summary.best_iteration is None else (summary.best_iteration, summary.best_adjusted_score)
    highest = highest_before(committed, summary.iteration)
    shown = kept_point(paths, summary.iteration).score
    words = score_in_words(shown, None, best, summary.iteration, highest)
    say(f"  {words}" if is_current else f"  iteration {summary.iteration}: {words}")
    if summary.cost_usd is not None:
        say(f"  cost: {known_money(summary.cost_usd, is_partial=committed.has_unknown_costs())}")


def _decision(summary: Summary, paths: LoopPaths) -> str:
    """Return the decision in words: without the alerts that were printed before it."""
    decision: Any = summary.decision
    if decision["action"] == "rollback" and not is_carried_out(summary):
        return decision_in_words({**decision, "reason": decision["reason"].partition(": ")[0]})
    return decision_now(summary, paths)


def raised_in(alert: Mapping[str, Any]) -> int:
    """Return the iteration that raised an alert, 0 if that is unknown."""
    at = str(alert.get("triggered_at", "")).rpartition("_")[2]
    return int(at) if at.isdecimal() else 0


def _say_alerts(summary: Summary, committed: SealedRecords) -> None:
    facts = facts_of(committed, summary.iteration, None)
    worst_first = sorted(summary.alerts, key=lambda alert: (alert["severity"], -raised_in(alert), alert["type"]))
    # More than two get a line each.
    is_long = len(worst_first) > 2
    for alert in worst_first[:ALERTS_SHOWN]:
        message = without_repeats(alert["message"], facts.tests, facts.errors)
        line = f"{alert['severity']} {alert['id']}: {message}"
        if is_long:
            say(f"  {shorten(short_names(line), WIDTH - 2)}", alert["severity"])
        else:
            say_wrapped(line, indent=2, colour=alert["severity"])
    if len(worst_first) > ALERTS_SHOWN:
        say(f"  and {len(worst_first) - ALERTS_SHOWN} more alerts; `ralph-tracker history --alerts` names iterations")
