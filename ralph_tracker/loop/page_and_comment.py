"""Gather a loop for its page from what is kept, without writing anything."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from ralph_tracker.core.selection import Selection, select
from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.iteration.open_problems import wrong_lines
from ralph_tracker.loop.finish import Outcomes, contender_of, outcome_history, story_of
from ralph_tracker.loop.status import advice, selected
from ralph_tracker.report.changes import Change, matrix_of
from ralph_tracker.report.markdown import pull_request
from ralph_tracker.report.page import FilePatch, Live, page_view, render_page
from ralph_tracker.report.selection_view import LoopStory, selection_view
from ralph_tracker.report.text import decision_in_words
from ralph_tracker.store.iteration_files import IterationFiles
from ralph_tracker.store.loop_reader import LoopReader
from ralph_tracker.store.loop_records import Listed
from ralph_tracker.store.loop_status import Summary
from ralph_tracker.store.loop_store import LoopStore
from ralph_tracker.store.record_listing import RecordHistory
from ralph_tracker.store.snapshots.patch import FileChange

# What diffs may take of the page: iterations, bytes in all, and of one file.
DIFFS: Final = 40
DIFF_ROOM: Final = 1_500_000
_PATCH: Final = 40_000
_NOTES: Final = {"binary": "not text", "large": "too large to read"}


class Gathered(NamedTuple):
    """A loop as its page and its comment show it; `history` has the outcomes of each iteration."""

    summary: Summary
    selection: Selection
    story: LoopStory
    listed: Sequence[Listed]
    history: Sequence[Outcomes | None]


def gathered(store: LoopStore) -> Gathered:
    """Return a loop as it stands. Raises RecordError for one that cannot be read."""
    loop = LoopReader.read(store, lambda _: frozenset())
    summary = store.summary()
    scorer = store.state(summary, loop.config.thresholds).scorer
    rows, _ = store.rows()
    contenders = [contender_of(row, scorer) for row in rows]
    chosen = selected(store.paths) if summary.status == "finished" else None
    there = chosen is not None and any(c.iteration == chosen for c in contenders)
    selection = select(summary.loop_id, contenders, scorer, loop.config.thresholds, iteration=chosen if there else None)
    listed = list(RecordHistory(store).all())
    history = list(outcome_history(store.paths, summary.iteration))
    story = story_of(store, selection, rows, listed, summary, history)
    number = selection.selected.iteration
    now = advice(summary, number) or f"Best so far: iteration {number}."
    story = replace(story, advice=now, ended=summary.status == "finished")
    return Gathered(summary, selection, story, listed, history)


def loop_page(store: LoopStore, next_step: str, live: Live | None = None) -> str:
    """Return the page of a loop as HTML; `live` makes it one of `serve`. Raises RecordError as `gathered` does."""
    loop = gathered(store)
    view = page_view(
        loop.selection,
        loop.story,
        {record.number: record.document for record in loop.listed if record.document is not None},
        matrix_of(loop.story.changes, loop.history),
        tuple(_files(IterationFiles(store), loop.story.changes, loop.selection.selected.iteration)),
        status=loop.summary.status,
        decision=decision_in_words(loop.summary.decision),
        next_step=next_step,
    )
    return render_page(view, live)


def pull_request_comment(store: LoopStore, next_step: str) -> str:
    """Return a loop as the body of a pull request's comment, at most 60 lines. Raises RecordError as `gathered`."""
    loop = gathered(store)
    alerts = sorted(loop.summary.alerts, key=lambda alert: (alert["severity"], alert["type"]))
    return pull_request(
        selection_view(loop.selection, loop.story),
        wrong=wrong_lines(store, loop.summary.head),
        alerts=[f"{alert['severity']} {alert['type']}: {alert['message']}" for alert in alerts],
        decision=decision_in_words(loop.summary.decision),
        next_step=next_step,
    )


def _files(
    iteration_files: IterationFiles, changes: Sequence[Change], peak: int
) -> Iterator[tuple[int, tuple[FilePatch, ...]]]:
    """Yield the files that each iteration changed, in order; diffs for the peak and the last, while there is room."""
    wanted = sorted(
        (change for change in changes if change.files), key=lambda each: (each.iteration != peak, -each.iteration)
    )
    room, found = DIFF_ROOM, {}
    for change in wanted[:DIFFS]:
        command = f"ralph-tracker diff {change.before} {change.iteration}"
        try:
            patches = file_patches(iteration_files.file_changes(change.before, change.iteration), command)
        except (NoSnapshotError, StoreError) as error:
            patches = (FilePatch("", "", "", str(error)),)
        room -= sum(len(each.patch) for each in patches)
        if room < 0:
            break
        found[change.iteration] = patches
    for change in sorted(wanted, key=lambda each: each.iteration):
        command = f"ralph-tracker diff {change.before} {change.iteration}"
        plain = tuple(FilePatch(path, "", "", command) for path in change.files)
        yield change.iteration, found.get(change.iteration, plain)


def file_patches(files: Sequence[FileChange], command: str) -> tuple[FilePatch, ...]:
    """Return changed files as a page shows them; `command` is what shows a patch that is too long for it."""
    found = []
    for file in files:
        patch, note = file.patch or "", ""
        # What comes before the first hunk names the file again, unless that is all there is: a change of mode.
        patch = patch[max(0, patch.find("\n@@") + 1) :].rstrip("\n")
        if file.patch is None:
            note = _NOTES.get(file.content, "") or command
        elif len(patch) > _PATCH:
            patch, note = "", f"{len(patch)} characters: {command}"
        found.append(FilePatch(file.name, file.status, patch, note))
    return tuple(found)
