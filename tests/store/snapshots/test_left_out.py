"""What could not be read is listed, and a restore leaves alone all that lies below what was not kept."""

import pytest

from ralph_tracker.store.snapshots.exclusions import UNREADABLE
from ralph_tracker.store.snapshots.snapshot_types import Snapshot, SnapshotLimits

from .projects import Project


def named(kept: Snapshot, reason: str) -> list[str]:
    """Return the paths that are listed with a reason."""
    return [skip.path for skip in kept.skipped if skip.reason == reason]


# name: the path that loses its rights, the rights that it keeps, what is listed
CLOSED = {
    "folder without any": ("src", 0, ["src/"]),
    "folder within": ("src/deep", 0, ["src/deep/"]),
    "folder that lists names only": ("src", 0o400, ["src/b.py", "src/deep/"]),
    "folder that cannot be listed": ("src", 0o300, ["src/"]),
    "file": ("src/b.py", 0, ["src/b.py"]),
    "new folder": ("new", 0, ["new/"]),
}


@pytest.mark.parametrize("case", CLOSED)
def test_what_cannot_be_read_is_listed_and_a_later_restore_leaves_it_alone(case, project: Project, as_user) -> None:
    path, rights, listed = CLOSED[case]
    store = project.make_store()
    store.snapshot()
    project.write("new/file.txt", "never kept\n")
    place = project.root / path
    before = place.stat().st_mode
    place.chmod(rights)
    kept = as_user(lambda: project.store().snapshot())
    place.chmod(before)
    assert named(kept, UNREADABLE) == listed
    assert not [each for each in store.paths(kept.commit) if each.startswith(tuple(listed))]
    later = project.look()
    store.snapshot()
    as_user(lambda: project.store().restore(kept.commit))
    assert project.look() == later


def test_a_branch_keeps_what_head_has_below_what_could_not_be_read(project: Project, as_user) -> None:
    store = project.make_store()
    (project.root / "src").chmod(0)
    kept = as_user(lambda: project.store().snapshot())
    (project.root / "src").chmod(0o755)
    store.branch(kept.commit, "kept")
    assert "src/deep/c.py" in project.git("ls-tree", "-r", "--name-only", "kept").split()


def test_a_restore_into_a_folder_that_cannot_be_read_is_refused_before_it_began(project: Project, as_user) -> None:
    store = project.make_store()
    first = store.snapshot()
    project.write("src/deep/c.py", "changed\n")
    project.write("a.txt", "changed\n")
    before = project.look()
    (project.root / "src").chmod(0)
    refused = as_user(lambda: project.store().restore(first.commit))
    (project.root / "src").chmod(0o755)
    assert str(refused) == "src cannot be read, nothing was changed: make it readable, then restore again"
    assert project.look() == before


def test_a_folder_in_the_place_of_a_file_that_was_not_kept_stays(project: Project) -> None:
    store = project.make_store(limits=SnapshotLimits(max_file_bytes=50))
    project.write("big", "too big\n" * 20)
    first = store.snapshot()
    project.remove("big")
    project.write("big/small", "kept\n")
    store.snapshot()
    store.restore(first.commit)
    assert (project.root / "big/small").read_text() == "kept\n"
