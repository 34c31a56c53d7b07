"""Read the old and new contents of files that differ between two kept trees."""

from collections.abc import Iterable

from ralph_tracker.integrity.changes import MAX_BYTES, FileChange
from ralph_tracker.store.iteration_files import IterationFiles
from ralph_tracker.store.snapshots.values import LINK_MODE, Change, as_utf8


def changed_files(keeper: IterationFiles, changes: Iterable[Change]) -> list[FileChange]:
    """Return both contents of each changed file, without links; large contents are cut."""
    looked_at = [change for change in changes if LINK_MODE not in {change.old_mode, change.new_mode}]
    contents = keeper.contents(looked_at, MAX_BYTES + 1)
    return [
        FileChange(
            as_utf8(change.path),
            None if change.old_id is None else contents[change.old_id],
            None if change.new_id is None else contents[change.new_id],
        )
        for change in looked_at
    ]
