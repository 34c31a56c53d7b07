"""Apply the selected iteration to an output folder, the working tree or a branch, with a way to undo it."""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

from ralph_tracker.core.known_tests import HELD_BACK, names_in_short
from ralph_tracker.core.metrics import PASSED, quantity
from ralph_tracker.errors import CollectedError, InputError, NoSnapshotError, StoreError
from ralph_tracker.records.output_selection import AppliedDocument
from ralph_tracker.safe_files import AGAIN, as_store_error, file_digest, sync_below, sync_folder
from ralph_tracker.short_text import first_few
from ralph_tracker.store.iteration_snapshots import IterationSnapshots
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.read import SealedRecords
from ralph_tracker.store.snapshots.snapshot_types import Change, shown

Apply = Literal["output", "worktree", "branch", "none"]
NOTHING_KEPT: Final = (
    "nothing was applied: metrics were handed in and no files kept with them; set codebase.keep: always"
)
OUTPUT: Final = Path(".aiwg") / "output"
_AS_RECORDED: Final = "measured again already, with the same result"
_REVERSED: Final = {"A": "D", "D": "A"}


class ApplyResult(NamedTuple):
    """What was applied, in words and as a part of the selection document; `undo` undoes a restored tree.

    `verified_again` is whether the iteration was measured again first. `in_place` is whether the working tree is that
    iteration already; None if nothing was applied, or nothing kept. `placement` is what putting it in place changed or
    would change, None if that is unknown.
    """

    document: AppliedDocument
    text: str
    undo: str | None = None
    verified_again: bool = False
    in_place: bool | None = None
    placement: "Placement | None" = None

    def after(self, *, verifying: bool) -> "ApplyResult":
        """Return a copy marked as measured again first, if `verifying`."""
        return self._replace(text=f"{self.text}; {_AS_RECORDED}", verified_again=True) if verifying else self


class Placement(NamedTuple):
    """What putting an iteration in place would change in the working tree.

    `files` are paths with D (deleted), A (added), M (modified) or T (file or link) before them, D first. `gained` and
    `lost` are tests that pass there and not in the iteration `since`, which the working tree descends from, and the
    reverse.
    """

    number: int
    since: int
    files: tuple[str, ...]
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """Return it for people: the number of files with the first paths, then tests."""
        shown = first_few(self.files, 8)
        changes = f"applying it changes {quantity(len(self.files), 'file')} in the working tree: {shown}"
        lines = [changes if self.files else f"the working tree is iteration {self.number} already"]
        lines += [f"gained since iteration {self.since}: {names_in_short(self.gained)}"] if self.gained else []
        return (*lines, *([f"lost since iteration {self.since}: {names_in_short(self.lost)}"] if self.lost else []))


def placement_of(
    iteration_snapshots: IterationSnapshots, committed: SealedRecords, number: int, since: int
) -> Placement | None:
    """Return what putting an iteration in place would change; None if it keeps no files or they cannot be read."""
    try:
        iteration_snapshots.refuse_damaged(number)
        changes = iteration_snapshots.changes_since(number, iteration_snapshots.store.snapshot().tree)
        deleted = frozenset(iteration_snapshots.deletions(number))
    except (NoSnapshotError, StoreError):
        return None
    passing = [_passing_tests(committed, each) for each in (since, number)]
    now, then = passing if None not in passing else ([], [])
    done = ((_REVERSED.get(change.status, change.status), change.path) for change in changes)
    files = [(how, path) for how, path in done if how != "D" or path in deleted]
    files.sort(key=lambda each: each[0] != "D")
    return Placement(
        number,
        since,
        tuple(f"{how} {shown(path)}" for how, path in files),
        tuple(sorted(set(then or ()) - set(now or ()))),
        tuple(sorted(set(now or ()) - set(then or ()))),
    )


def _passing_tests(committed: SealedRecords, number: int) -> list[str] | None:
    """Return the tests that passed in an iteration, without held-back ones; None if their names are unknown."""
    found = committed.measurement(number)
    if found is None or found[0].tests is None:
        return None
    return [name for name, how in found[0].tests.outcomes.items() if how == PASSED and not name.startswith(HELD_BACK)]


def apply_iteration(
    iteration_snapshots: IterationSnapshots, number: int, how: Apply, branch: str | None = None
) -> ApplyResult:
    """Apply an iteration as output folder, working tree or branch.

    Seals and kept files are checked before, and what was written is compared after. A loop without files applies
    nothing and says so. Raises CollectedError if gc removed the files, StoreError for trouble with the disk or git, or
    damage; nothing is applied then.
    """
    source = f"{iteration_snapshots.paths.shown}/iterations/{iteration_snapshots.paths.iteration(number).name}/"
    if branch is not None and how != "branch":
        raise InputError(f"a branch was named ({shown(branch)}), which --apply branch makes, not {how}")
    if how == "none":
        return ApplyResult(
            _document(source, None, (), "nothing was applied, as asked"), "nothing was applied, as asked"
        )
    try:
        iteration_snapshots.refuse_damaged(number)
        changes = iteration_snapshots.differs_from_baseline(number)
    except CollectedError as error:
        raise CollectedError(f"{error}; nothing was applied, --apply none selects it anyway") from None
    except NoSnapshotError:
        return ApplyResult(_document(None, None, (), NOTHING_KEPT), NOTHING_KEPT)
    if how == "worktree":
        undo = iteration_snapshots.restore(number).undo
        # The loop may not be the current one.
        back = f"ralph-tracker restore --undo {undo} --loop-id {iteration_snapshots.paths.loop_id}"
        text = f"the working tree is iteration {number} now; undo with `{back}`"
        return ApplyResult(_document(source, ".", changes, text), text, undo)
    if how == "branch":
        name = branch or f"ralph/{iteration_snapshots.paths.loop_id}-{iteration_snapshots.paths.iteration(number).name}"
        is_new = iteration_snapshots.branch(number, name).is_new
        text = f"branch {name} has iteration {number}" + ("" if is_new else "; an earlier call made it")
        return ApplyResult(_document(source, name, changes, f"branch {name} made"), text)
    _write_output(iteration_snapshots, changes)
    gone = sum(change.status == "D" for change in changes)
    count = len(changes) - gone
    text = f"{quantity(count, 'changed file')} in {OUTPUT}/" if count else f"no changed files for {OUTPUT}/"
    text += f", {gone} deleted since the baseline" if gone else ""
    return ApplyResult(
        _document(source, f"{OUTPUT}/", changes, text), text, in_place=iteration_snapshots.is_in_place(number)
    )


def _write_output(iteration_snapshots: IterationSnapshots, changes: Sequence[Change]) -> None:
    """Write the files that differ from the baseline to a temporary folder, compare them, then rename it into place."""
    paths: LoopPaths = iteration_snapshots.paths
    target = paths.root / OUTPUT
    with as_store_error(target, AGAIN):
        paths.staging.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(dir=paths.staging))
        present = [change for change in changes if change.status != "D"]
        iteration_snapshots.store.write_changed(present, scratch / "new")
        for change in present:
            if file_digest(scratch / "new" / change.path) != change.new_id:
                raise StoreError(f"{shown(change.path)}: was not written as it is stored; run it again")
        sync_below(scratch / "new")
        if target.exists():
            target.rename(scratch / "old")
        try:
            (scratch / "new").rename(target)
        except OSError:
            if (scratch / "old").exists():
                (scratch / "old").rename(target)
            raise
        sync_folder(target.parent)
        shutil.rmtree(scratch)


def _document(source: str | None, destination: str | None, changes: Sequence[Change], note: str) -> AppliedDocument:
    return {
        "source": source,
        "destination": destination,
        "files_copied": [change.path for change in changes if change.status != "D"],
        "files_deleted": [change.path for change in changes if change.status == "D"],
        "note": note,
    }
