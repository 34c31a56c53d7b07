"""Finish a loop after selection: write the document and both reports, and set its status."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ralph_tracker.config.yaml_io import dump_yaml
from ralph_tracker.core.best import Candidate
from ralph_tracker.core.codec import decode
from ralph_tracker.core.lineage import Scorer
from ralph_tracker.core.metrics import Metrics
from ralph_tracker.core.selection import Selection, SelectionCandidate, SelectionDocument, selection_document
from ralph_tracker.iteration.apply_selection import Applied, Placement
from ralph_tracker.iteration.remaining_problems import wrong_lines
from ralph_tracker.iteration.trust_listing import trusted_templates
from ralph_tracker.report.changes import Change, change_of
from ralph_tracker.report.iteration_view import new_alerts
from ralph_tracker.report.markdown import selection_reports
from ralph_tracker.report.selection_view import LoopStory, selection_view
from ralph_tracker.report.sentences import Setback
from ralph_tracker.store.iteration_files import COLLECTED
from ralph_tracker.store.layout import MANIFEST, LoopPaths
from ralph_tracker.store.loop_highlights import rolled_back
from ralph_tracker.store.loop_status import Summary
from ralph_tracker.store.loop_store import LoopStore
from ralph_tracker.store.outcome_history import Outcomes, changed_paths, outcome_history
from ralph_tracker.store.record_listing import Listed, RecordHistory


@dataclass(frozen=True, slots=True)
class FinishedLoop:
    """A selection with its document and report files; `problems` name what could not be read.

    `in_place` and `placement` are as in Applied.
    """

    selection: Selection
    document: SelectionDocument
    files: tuple[str, ...]
    problems: tuple[str, ...]
    applied: str
    in_place: bool | None = None
    placement: Placement | None = None


def contender_of(row: Mapping[str, Any], scorer: Scorer) -> SelectionCandidate:
    """Return an iteration as a candidate for selection, from its line of the trajectory."""
    candidate = decode(Candidate, row["candidate"])
    adjusted = scorer.score(candidate)
    return SelectionCandidate(candidate, row["timestamp"], Metrics(**row["metrics"]), adjusted)


def close(
    store: LoopStore,
    selection: Selection,
    rows: Sequence[Mapping[str, Any]],
    lost: Sequence[int],
    summary: Summary,
    applied: Applied,
    at: str,
    *,
    finish: bool,
) -> FinishedLoop:
    """Write selection.yaml and both reports, then mark the loop as finished if `finish`."""
    paths = store.paths
    # Side by side, so that each pack is opened once for both.
    read = list(zip(RecordHistory(store).all(), outcome_history(paths, summary.iteration), strict=True))
    listed, history = [record for record, _ in read], [outcomes for _, outcomes in read]
    problems = tuple(record.problem for record in listed if record.problem is not None)
    problems += tuple(f"iteration {number}: what was measured is damaged; it is left out" for number in lost)
    chosen = selection.selected.iteration
    if chosen in store.collected():
        problems += (COLLECTED.format(chosen),)
    story = replace(story_of(store, selection, rows, listed, summary, history), applied=applied.text, problems=problems)
    report = f"{paths.shown}/reports/output-selection.md"
    again = applied.verified_again
    document = selection_document(
        selection, paths.shown, applied.document, report, verified_again=again, unreadable=problems
    )
    store.write_text(paths.selection, dump_yaml(document))
    reports = selection_reports(selection_view(selection, story), trusted_templates(paths.root))
    store.write_text(paths.reports / "output-selection.md", reports.selection)
    store.write_text(paths.reports / "loop-report.md", reports.loop)
    store.append_event(
        {
            "event": "selection",
            "iteration": selection.selected.iteration,
            "mode": selection.mode,
            "reason": selection.override_reason,
            "at": at,
            "verified_again": again,
        }
    )
    if finish and summary.status != "finished":
        store.set_status(summary, "finished", at)
    files = (f"{paths.shown}/selection.yaml", report, f"{paths.shown}/reports/loop-report.md")
    return FinishedLoop(selection, document, files, problems, applied.text, applied.in_place, applied.placement)


def story_of(
    store: LoopStore,
    selection: Selection,
    rows: Sequence[Mapping[str, Any]],
    listed: Sequence[Listed],
    summary: Summary,
    history: Sequence[Outcomes | None],
) -> LoopStory:
    """Return what the reports of a loop tell besides the selection."""
    documents = (record.document for record in listed if record.document is not None)
    told = []
    for event in store.events():
        if event.get("event") == "accept":
            told.append(f"Accepted {event['id']}: {event['reason']}")
        if event.get("event") == "rollback":
            told.append(f"Rolled back to iteration {event['to']} after iteration {event['after']}")
    return LoopStory(
        rows={row["iteration"]: row for row in rows},
        applied="",
        total_cost=summary.cost_usd,
        alerts=tuple(alert for document in documents for alert in new_alerts(document)),
        events=tuple(dict.fromkeys(told)),
        problems=tuple(record.problem for record in listed if record.problem is not None),
        setbacks=tuple(Setback(*each) for each in rolled_back(store.paths)),
        wrong=wrong_lines(store, selection.selected.iteration),
        changes=tuple(loop_changes(store.paths, rows, history)),
    )


def loop_changes(
    paths: LoopPaths, rows: Sequence[Mapping[str, Any]], history: Sequence[Outcomes | None]
) -> Iterator[Change]:
    """Yield what each iteration changed, from its line of the trajectory and what is kept beside it."""
    kept = (paths.iteration(0) / MANIFEST).exists()
    for row in rows:
        number, before = row["iteration"], row.get("previous_iteration")
        if before is None:
            continue
        old, new = history[before], history[number]
        files = (kept and changed_paths(paths, number)) or ()
        if old is None or new is None or old is new:
            yield Change(number, before, files=files)
        else:
            was, now = old.beside(new)
            yield change_of(number, before, was, now, files)
