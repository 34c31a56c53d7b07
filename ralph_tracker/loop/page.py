"""Gather a loop for its page from what is kept, without writing anything."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from ralph_tracker.core.metrics import Group
from ralph_tracker.core.selection import Selection, select
from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.loop.finish import contender_of, story_of
from ralph_tracker.report.changes import Change
from ralph_tracker.report.outcome_matrix import matrix_of
from ralph_tracker.report.page import FilePatch, page_view, render_page
from ralph_tracker.store.iteration_files import IterationFiles
from ralph_tracker.store.loop_reader import LoopReader
from ralph_tracker.store.loop_status import Summary
from ralph_tracker.store.loop_store import LoopStore
from ralph_tracker.store.loop_story import advice, selected
from ralph_tracker.store.outcome_history import outcome_history
from ralph_tracker.store.record_listing import RecordHistory

# What diffs may take of the page: iterations, bytes in all, and of one file.
DIFFS: Final = 40
DIFF_ROOM: Final = 1_500_000
_PATCH: Final = 40_000
_NOTES: Final = {"binary": "not text", "large": "too large to read"}


def loop_page(store: LoopStore, next_step: str) -> str:
    """Return the page of a loop as HTML. Raises RecordError for a loop that cannot be read."""
    loop = LoopReader.read(store, _no_groups)
    summary = store.summary()
    scorer = store.state(summary, loop.config.rules).scorer
    rows, _ = store.rows()
    contenders = [contender_of(row, scorer) for row in rows]
    chosen = selected(store.paths) if summary.status == "finished" else None
    there = chosen is not None and any(c.iteration == chosen for c in contenders)
    selection = select(summary.loop_id, contenders, scorer, loop.config.rules, iteration=chosen if there else None)
    listed = list(RecordHistory(store).all())
    history = list(outcome_history(store.paths, summary.iteration))
    story = story_of(store, selection, rows, listed, summary, history)
    story = replace(story, advice=_advice(summary, selection))
    decision = summary.decision
    view = page_view(
        selection,
        story,
        {record.number: record.document for record in listed if record.document is not None},
        matrix_of(story.changes, history),
        tuple(_files(IterationFiles(store), story.changes, selection.selected.iteration)),
        status=summary.status,
        decision=f"{decision['action']} ({decision['confidence']:.2f}): {decision['reason']}",
        next_step=next_step,
    )
    return render_page(view)


def _no_groups(_: object) -> frozenset[Group]:
    return frozenset()


def _advice(summary: Summary, selection: Selection) -> str:
    given = advice(summary, selection.selected.iteration)
    return given or f"Best so far: iteration {selection.selected.iteration}."


def _files(keeper: IterationFiles, changes: Sequence[Change], peak: int) -> Iterator[tuple[int, tuple[FilePatch, ...]]]:
    """Yield the files that each iteration changed, in order; diffs for the peak and the last, while there is room."""
    wanted = sorted(
        (change for change in changes if change.files), key=lambda each: (each.iteration != peak, -each.iteration)
    )
    room, found = DIFF_ROOM, {}
    for change in wanted[:DIFFS]:
        patches = _patches(keeper, change)
        room -= sum(len(each.patch) for each in patches)
        if room < 0:
            break
        found[change.iteration] = patches
    for change in sorted(wanted, key=lambda each: each.iteration):
        command = f"ralph-tracker diff {change.before} {change.iteration}"
        plain = tuple(FilePatch(path, "", "", command) for path in change.files)
        yield change.iteration, found.get(change.iteration, plain)


def _patches(keeper: IterationFiles, change: Change) -> tuple[FilePatch, ...]:
    try:
        files = keeper.file_changes(change.before, change.iteration)
    except (NoSnapshotError, StoreError) as error:
        return (FilePatch("", "", "", str(error)),)
    command = f"ralph-tracker diff {change.before} {change.iteration}"
    return tuple(
        FilePatch(file.path, file.status, *_fitting(file.patch, _NOTES.get(file.content, ""), command))
        for file in files
    )


def _fitting(patch: str | None, why: str, command: str) -> tuple[str, str]:
    """Return a patch and no note, or no patch and why."""
    if patch is None:
        return "", why or command
    return (patch, "") if len(patch) <= _PATCH else ("", f"{len(patch)} characters: {command}")
