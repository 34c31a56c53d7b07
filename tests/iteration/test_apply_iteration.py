"""Applying an iteration, with a stand-in for what keeps its files."""

from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import pytest

from ralph_tracker.errors import InputError, NoSnapshotError, StoreError
from ralph_tracker.iteration.apply_iteration import NOTHING_KEPT, apply_iteration
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.restore_mark import UndoIds
from ralph_tracker.store.snapshots.snapshot_types import Change
from ralph_tracker.store.snapshots.user_repository import Branch


@dataclass
class FakeFiles:
    """Keep one iteration in a dictionary; `written` is what export writes in its place."""

    paths: LoopPaths
    files: dict[str, bytes]
    written: dict[str, bytes] = field(default_factory=dict)
    gone: tuple[str, ...] = ()
    refusal: Exception | None = None
    asked: set[int] = field(default_factory=set)
    done: list[tuple[object, ...]] = field(default_factory=list)

    def refuse_damaged(self, number: int) -> None:
        self.asked.add(number)
        if self.refusal:
            raise self.refusal

    def differs_from_baseline(self, number: int) -> tuple[Change, ...]:
        self.asked.add(number)
        here = (Change(path, "M", "100644", "100644", len(d), sha256(d).hexdigest()) for path, d in self.files.items())
        return (*here, *(Change(path, "D", "100644", None, None, None) for path in self.gone))

    def write_changed(self, changes: list[Change], destination: Path) -> None:
        destination.mkdir()
        for change in changes:
            (destination / change.path).write_bytes({**self.files, **self.written}[change.path])

    @property
    def store(self) -> "FakeFiles":
        return self

    def restore(self, number: int) -> UndoIds:
        self.done.append(("restore", number))
        return UndoIds("undo-0123456789ab")

    def is_in_place(self, number: int) -> bool:
        return number == 0

    def branch(self, number: int, name: str) -> Branch:
        self.done.append(("branch", number, name))
        return Branch("c0ffee", is_new=True)


@pytest.fixture
def iteration_snapshots(tmp_path: Path) -> FakeFiles:
    return FakeFiles(LoopPaths(tmp_path, "ralph-001"), {"a.txt": b"a", "b.txt": b"b"}, gone=("c.txt",))


@pytest.mark.parametrize(
    ("how", "destination", "text", "done"),
    [
        ("none", None, "nothing was applied, as asked", []),
        ("output", ".aiwg/output/", "2 changed files in .aiwg/output/, 1 deleted since the baseline", []),
        ("worktree", ".", "restore --undo undo-0123456789ab", [("restore", 3)]),
        (
            "branch",
            "ralph/ralph-001-iteration-003",
            "has iteration 3",
            [("branch", 3, "ralph/ralph-001-iteration-003")],
        ),
    ],
)
def test_an_iteration_goes_where_it_is_asked_for(iteration_snapshots, how, destination, text, done):
    applied = apply_iteration(iteration_snapshots, 3, how)
    assert applied.document["destination"] == destination
    assert text in applied.text
    assert iteration_snapshots.done == done
    assert iteration_snapshots.asked <= {3}
    assert applied.undo == ("undo-0123456789ab" if how == "worktree" else None)


def test_what_is_there_and_what_is_gone_are_listed_apart(iteration_snapshots):
    document = apply_iteration(iteration_snapshots, 3, "output").document
    assert (document["files_copied"], document["files_deleted"]) == (["a.txt", "b.txt"], ["c.txt"])


@pytest.mark.parametrize("how", ["output", "worktree", "none"])
def test_a_branch_that_nothing_would_make_is_refused(iteration_snapshots, how):
    with pytest.raises(InputError, match=rf"a branch was named \(peak\), which --apply branch makes, not {how}"):
        apply_iteration(iteration_snapshots, 3, how, "peak")
    assert (iteration_snapshots.done, iteration_snapshots.asked) == ([], set())


@pytest.mark.parametrize("how", ["output", "worktree", "branch"])
def test_damage_is_refused_before_anything_is_applied(iteration_snapshots, how):
    iteration_snapshots.refusal = StoreError("iteration 3: what is kept is damaged")
    with pytest.raises(StoreError, match="damaged"):
        apply_iteration(iteration_snapshots, 3, how)
    assert iteration_snapshots.done == []
    assert not (iteration_snapshots.paths.root / ".aiwg/output").exists()


@pytest.mark.parametrize("how", ["output", "worktree", "branch"])
def test_a_loop_without_files_applies_nothing_and_says_so(iteration_snapshots, how):
    iteration_snapshots.refusal = NoSnapshotError("none")
    applied = apply_iteration(iteration_snapshots, 3, how)
    assert (applied.text, applied.document["destination"], iteration_snapshots.done) == (NOTHING_KEPT, None, [])


def test_files_that_were_written_wrong_do_not_replace_the_output_folder(iteration_snapshots):
    apply_iteration(iteration_snapshots, 3, "output")
    iteration_snapshots.written = {"b.txt": b"torn"}
    with pytest.raises(StoreError, match=r"b\.txt: was not written as it is stored"):
        apply_iteration(iteration_snapshots, 3, "output")
    assert (iteration_snapshots.paths.root / ".aiwg/output/b.txt").read_bytes() == b"b"
