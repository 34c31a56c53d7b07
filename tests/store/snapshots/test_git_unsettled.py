"""An edit that keeps size and time of modification is seen, also within the second in which git looked at the file."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ralph_tracker.store.git.unsettled import Unsettled
from ralph_tracker.store.snapshots import Limits, SnapshotStore

from .projects import Project

YEAR_2001 = 978_307_200_000_000_000
SECOND = 1_000_000_000


def aged(file: Path) -> None:
    """Give a file an old time of modification, as an unpacked or copied one has it."""
    os.utime(file, ns=(YEAR_2001, YEAR_2001))


def edit(file: Path, text: str) -> None:
    """Change a file, keep its size and put its time back."""
    status = file.stat()
    assert len(text) == status.st_size
    file.write_text(text)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def after_the_first_snapshot(project: Project, store: SnapshotStore) -> None:
    store.snapshot()


def after_many_snapshots(project: Project, store: SnapshotStore) -> None:
    for number in range(5):
        edit(project.root / "a.txt", f"on{number}\n")
        store.snapshot()


def after_a_change_of_its_mode(project: Project, store: SnapshotStore) -> None:
    store.snapshot()
    (project.root / "a.txt").chmod(0o755)
    store.snapshot()


def after_it_took_the_place_of_another(project: Project, store: SnapshotStore) -> None:
    store.snapshot()
    aged(project.write("other", "new\n"))
    (project.root / "other").replace(project.root / "a.txt")
    store.snapshot()


def after_a_restore(project: Project, store: SnapshotStore) -> None:
    kept = store.snapshot()
    edit(project.root / "a.txt", "two\n")
    store.restore(kept.commit)


def after_a_look_at_files_over_the_limit(project: Project, store: SnapshotStore) -> None:
    os.utime(project.root / "src/big.bin")
    aged(project.root / "a.txt")
    store.snapshot()


def at_once(project: Project, store: SnapshotStore) -> None:
    """Edit it before anything but the making of the store has looked at it."""


@pytest.mark.parametrize(
    "before",
    [
        at_once,
        after_the_first_snapshot,
        after_many_snapshots,
        after_a_change_of_its_mode,
        after_it_took_the_place_of_another,
        after_a_restore,
        after_a_look_at_files_over_the_limit,
    ],
)
def test_an_edit_of_the_same_size_and_time_is_seen_at_once(
    project: Project, before: Callable[[Project, SnapshotStore], None]
) -> None:
    project.write("src/big.bin", b"x" * 3000)
    project.commit()
    aged(project.root / "a.txt")
    store = project.make_store(Limits(max_file_bytes=2000))
    before(project, store)
    edit(project.root / "a.txt", "eno\n")
    assert project.store().read(project.store().snapshot().tree, "a.txt") == b"eno\n"
    edit(project.root / "a.txt", "neo\n")
    assert store.read(store.snapshot().tree, "a.txt") == b"neo\n"


@pytest.fixture
def unsettled(project: Project) -> Callable[[], Unsettled]:
    """Return what remembers the files of a project, as a new call has it."""
    (project.folder / "info").mkdir(parents=True)
    return lambda: Unsettled(project.folder, project.root)


@pytest.fixture
def changed_at(project: Project) -> int:
    """Return when a file of the project changed last (ns)."""
    return (project.root / "a.txt").stat().st_ctime_ns


class TestUnsettled:
    @pytest.mark.parametrize(
        ("later", "is_altered"),
        [(-1, True), (0, True), (1, False), (SECOND, False)],
        ids=["changed since", "changed in the same moment", "changed in the same second", "changed long before"],
    )
    def test_a_file_is_altered_where_git_may_have_seen_another_one(self, unsettled, changed_at, later, is_altered):
        unsettled().note(["a.txt"], changed_at + later)
        assert unsettled().altered() == (["a.txt"] if is_altered else [])

    def test_one_that_changes_in_the_second_in_which_git_looked_is_altered_until_git_has_looked_again(
        self, project, unsettled, changed_at
    ):
        unsettled().note(["a.txt"], changed_at + 1)
        while unsettled().moment() <= changed_at:
            pass
        edit(project.root / "a.txt", "two\n")
        for _ in range(2):
            assert unsettled().altered() == ["a.txt"]
        later = unsettled()
        later.altered()
        later.note(["a.txt"], later.moment() + SECOND)
        assert unsettled().altered() == []

    def test_what_is_remembered_goes_with_its_second(self, project, unsettled, changed_at):
        unsettled().note(["a.txt", "run.sh"], changed_at + 1)
        assert (project.folder / "info/unsettled").stat().st_size
        unsettled().note([], changed_at + 2 * SECOND)
        assert not (project.folder / "info/unsettled").stat().st_size

    def test_one_that_is_gone_is_altered(self, project, unsettled, changed_at):
        unsettled().note(["a.txt", "g\nh\udcff"], changed_at + 1)
        project.remove("a.txt")
        assert unsettled().altered() == ["a.txt", "g\nh\udcff"]

    @pytest.mark.parametrize("left", ["", "[", '[["a.txt", [1, 2', "7", "[7]"])
    def test_what_was_left_half_written_is_as_good_as_nothing(self, project, unsettled, left):
        (project.folder / "info/unsettled").write_text(left)
        assert unsettled().altered() == []
