"""The state of a loop: in a sentence, and as the document of `status`, with what is missing of its kept files.

The sentence needs only the few iterations that matter, so that it is fast in a long loop.
"""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypedDict

from ralph_tracker.codec import document_of
from ralph_tracker.core.integrity_result import Verdict
from ralph_tracker.core.metrics import known_score
from ralph_tracker.errors import RecordError
from ralph_tracker.iteration.explain import kept_point
from ralph_tracker.records.iteration_record import AlertDocument, SchemaVersion, StoredDecisionDocument
from ralph_tracker.report.wording import Setback, decision_in_words, loop_sentence, point_of
from ralph_tracker.store.json_documents import read_json, read_lines
from ralph_tracker.store.layout import MANIFEST, REPLAYED, RUN, LoopPaths
from ralph_tracker.store.read import SealedRecords
from ralph_tracker.store.restore_mark import InterruptedRestoreDocument
from ralph_tracker.store.snapshots.snapshot_types import ITERATIONS, OBJECTS, RULES
from ralph_tracker.store.summary import Summary, latest_iteration, state_after

REPAIR: Final = "`ralph-tracker verify` lists what is lost, `ralph-tracker verify --repair` rebuilds what it can"


def is_of_the_loop(paths: LoopPaths, rollback: Mapping[str, Any]) -> bool:
    """Return whether a rollback belongs to the loop: candidates that are compared descend from the base without one."""
    return "undo" in rollback or "edits" in rollback or not (paths.folder / REPLAYED).exists()


def rolled_back(paths: LoopPaths) -> tuple[Setback, ...]:
    """Return the iterations that rollbacks left behind, oldest first; a rollback that was undone leaves none.

    Each rollback leaves all iterations after its target; of several without an iteration between them the last counts.
    """
    left: set[int] = set()
    earlier: set[int] = set()
    latest: int | None = None
    recorded = latest_iteration(paths) if os.path.lexists(paths.events) else 0
    for event in read_lines(paths.events):
        if (
            isinstance(event, dict)
            and event.get("event") == "rollback"
            and isinstance(event.get("to"), int)
            and isinstance(event.get("after"), int)
            and is_of_the_loop(paths, event)
        ):
            if event["after"] != latest:
                earlier, latest = left, event["after"]
            left = (earlier | {*range(max(event["to"], 0) + 1, min(event["after"], recorded) + 1)}) - {event["to"]}
    found = []
    for number in sorted(left):
        summary = state_after(paths, number).get("summary")
        alerts = (summary.get("alerts") or ()) if isinstance(summary, dict) else ()
        new = (each for each in alerts if isinstance(each, dict) and each.get("state") == "new")
        found.append(
            Setback(number, tuple(str(each.get("type")) for each in new if each.get("severity") == "CRITICAL"))
        )
    return tuple(found)


def selected_iteration(paths: LoopPaths) -> int | None:
    """Return the iteration that was selected last, None before a selection."""
    events = (event for event in reversed(read_lines(paths.events)) if isinstance(event, dict))
    numbers = (event.get("iteration") for event in events if event.get("event") == "selection")
    return next((number for number in numbers if isinstance(number, int)), None)


def is_warned(paths: LoopPaths) -> bool:
    """Return whether a run goes on although its loop stalls: the agent is warned before the loop ends."""
    run = read_json(paths.folder / RUN)
    return isinstance(run, dict) and bool(run.get("stalls")) and run.get("phase") in {"agent", "measure", "decide"}


def decision_now(summary: Summary, paths: LoopPaths) -> str:
    """Return the decision of a loop in words, "" once it has ended."""
    if summary.status != "running":
        return ""
    if is_carried_out(summary):
        return f"rollback to iteration {summary.head}, carried out"
    words = decision_in_words(summary.decision)
    if summary.decision["action"] != "stop" or not is_warned(paths):
        return words
    return f"{words.partition(': ')[2]}: the agent was warned, and the run goes on"


def is_carried_out(summary: Summary) -> bool:
    """Return whether the stored decision is a rollback that was carried out, not another restore."""
    return (summary.decision["action"], summary.decision["target_iteration"]) == ("rollback", summary.head)


def advice(summary: Summary, selected: int | None, paths: LoopPaths) -> str:
    """Return what to do with the loop, in a short sentence; "" while it simply goes on."""
    best = summary.best_iteration
    if summary.status in {"abandoned", "rebaselined"}:
        return ""
    action = summary.decision["action"]
    if summary.status == "finished" or (action == "stop" and not is_warned(paths)):
        taken = best if selected is None else selected
        return "" if taken is None else f"Take iteration {taken}."
    if action == "rollback" and summary.carried_out is None:
        return f"Go back to iteration {summary.decision['target_iteration']}."
    return "A person has to decide." if action == "escalate" else ""


def state_sentence(summary: Summary, paths: LoopPaths) -> str:
    """Return the state of the loop as a sentence."""
    numbers = {0, summary.iteration} | ({summary.best_iteration} - {None})
    points = {number: point_of(*kept_point(paths, number)) for number in numbers if number is not None}
    best = None if summary.best_iteration is None else points[summary.best_iteration]
    now = points[summary.iteration]
    return loop_sentence(points[0], best, now, rolled_back(paths), advice(summary, selected_iteration(paths), paths))


def scores_of(records: SealedRecords, best: int | None = None) -> list[tuple[int, float | None]]:
    """Return the scores of a loop by iteration, thinned to a few hundred; [] if they cannot be read.

    None is where nothing was measured. `best` is never left out.
    """
    try:
        rows, _ = records.rows()
    except RecordError:
        return []
    every = max(1, len(rows) // 400)
    last = len(rows) - 1
    kept = [row for at, row in enumerate(rows) if at % every == 0 or at == last or row["iteration"] == best]
    return [(row["iteration"], known_score(row["walked"]["score"], row["metrics"].values())) for row in kept]


def highest_before(records: SealedRecords, number: int) -> float | None:
    """Return the highest score of the iterations before one, None if none is known."""
    return records.after(number - 1).get("highest") if number else None


def missing_files(paths: LoopPaths) -> str | None:
    """Return what of the kept files is missing at a glance, None if nothing is; no content is read.

    The latest iteration is named last: while a writer is at work, or was killed, it may have no name yet.
    """
    if not (paths.iteration(0) / MANIFEST).exists():
        seal = read_json(paths.iteration(0) / "seal.json")
        files = seal.get("files") if isinstance(seal, dict) else None
        if not isinstance(files, dict) or MANIFEST not in files:
            return None  # nor was it there when the baseline was sealed
    numbers = range(latest_iteration(paths) + 1)
    if not (paths.store / RULES).is_file() or not (paths.store / OBJECTS).is_dir():
        return f"the store of the kept files is missing or damaged ({paths.shown}/store)"
    named = {path.name for path in (paths.store / ITERATIONS).glob("*")}
    lost = {number for number in numbers if str(number) not in named}
    if lost and paths.staging.is_dir():
        lost.discard(numbers[-1])
    if lost:
        for event in read_lines(paths.events):
            if isinstance(event, dict) and event.get("event") == "gc" and isinstance(event.get("iterations"), list):
                lost.difference_update(event["iterations"])
    if not lost:
        return None
    shown = ", ".join(map(str, sorted(lost)))
    return f"the snapshots of iterations {shown} are missing in {paths.shown}/store"


if TYPE_CHECKING:  # mypy knows no TypedDict that is made
    StatusDocument = dict[str, Any]
else:
    # `unrecorded` was begun and is not on record. `missing_files` says what of the kept files is missing at a glance,
    # null if nothing is; `verify` looks at all.
    StatusDocument = document_of(
        Summary,
        {
            "schema_version": SchemaVersion,
            "unrecorded": int | None,
            "interrupted_restore": InterruptedRestoreDocument | None,
            "missing_files": str | None,
            "next_step": str,
        },
        names={
            "StoredDecisionDocument": StoredDecisionDocument,
            "AlertDocument": AlertDocument,
            "Verdict": Verdict,
        },
    )


class LoopsDocument(TypedDict):
    """All loops of a project; `unreadable` says by id why a loop cannot be read."""

    loops: list[StatusDocument]
    unreadable: dict[str, str]
