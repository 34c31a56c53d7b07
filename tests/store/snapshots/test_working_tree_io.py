"""A tree is written durably: many files together, none named before all of them are on the disk."""

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ralph_tracker.store.snapshots.snapshot_types import FILE_MODE, LINK_MODE
from ralph_tracker.store.snapshots.working_tree_io import TreeSteps, TreeView, TreeWriter

from .projects import look, names

MANY = 250


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


def write_many(root: Path, count: int = MANY) -> None:
    with TreeWriter(root, durable=True) as writer:
        for number in range(count):
            writer.write(f"folder{number % 7}/{number}", FILE_MODE, [b"x"])
        writer.write("link", LINK_MODE, [b"folder0"])


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"))  # noqa: PTH208, PTH112


def test_more_files_than_go_together_all_come_and_nothing_stays_open(root: Path) -> None:
    before = descriptors()
    write_many(root)
    written = look(root)
    assert len(written) == MANY + 1
    assert written["folder3/3"] == ("file", False, b"x")
    assert written["link"] == ("link", False, b"folder0")
    assert descriptors() == before


@pytest.mark.parametrize(("count", "named"), [(20, 0), (120, 100)])
def test_where_the_disk_refuses_no_file_gets_a_name_and_no_temporary_stays(
    root: Path, monkeypatch: pytest.MonkeyPatch, count: int, named: int
) -> None:
    before, calls = descriptors(), []

    def sync(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == named + 3:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", sync)
        with pytest.raises(OSError, match="Input/output error"):
            write_many(root, count)
    found = [path for path in root.rglob("*") if not path.is_dir()]
    assert len(found) == named
    assert not [path for path in found if path.suffix == ".tmp"]
    assert descriptors() == before


def test_a_writer_that_is_left_by_an_error_names_nothing_more(root: Path) -> None:
    def stopped() -> Iterator[bytes]:
        yield b"x"
        raise KeyError

    writer = TreeWriter(root, durable=True)
    with writer, contextlib.suppress(KeyError):
        writer.write("a", FILE_MODE, stopped())
    assert names(root) == []
    with contextlib.suppress(KeyError), TreeWriter(root, durable=True) as writer:
        writer.write("a", FILE_MODE, [b"x"])
        writer.write("b", FILE_MODE, stopped())
    assert names(root) == []


def test_a_folder_that_is_gone_when_all_is_written_need_not_be_synced(root: Path) -> None:
    (root / "old/inner").mkdir(parents=True)
    (root / "old/inner/file").touch()
    with TreeWriter(root, durable=True) as writer:
        writer.remove("old/inner/file")
        assert writer.remove_folder("old/inner")
        assert writer.remove_folder("old")
        writer.write("old", LINK_MODE, [b"elsewhere"])
    assert look(root) == {"old": ("link", False, b"elsewhere")}


def test_a_folder_that_cannot_be_synced_is_an_error(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    writer = TreeWriter(root, durable=True)
    writer.make_folder("new")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", refuse)
        with pytest.raises(OSError, match="Input/output error"):
            writer.__exit__(None, None, None)


@pytest.mark.parametrize(
    ("folder", "created_in"),
    [("", []), ("a", []), ("a/b", []), ("a/new", ["a"]), ("new", [""]), ("a/b/new/er", ["a/b", "a/b/new"])],
)
def test_only_folders_in_which_one_was_created_have_changed(root: Path, folder: str, created_in: list[str]) -> None:
    (root / "a/b").mkdir(parents=True)
    steps = TreeSteps(root)
    with steps:
        assert os.path.samestat(os.fstat(steps.open(folder, make=True)), (root / folder).stat())
    assert sorted(steps.changed) == created_in


@pytest.mark.parametrize(
    ("path", "is_folder", "is_there"),
    [
        ("a", True, True),
        ("a/b", True, True),
        ("a/b/file", False, True),
        ("a/b/file/x", False, False),
        ("a/gone", False, False),
        ("l", False, True),
        ("l/b", False, False),
        ("l/b/file", False, False),
        ("a/link", False, True),
        ("a/link/file", False, False),
    ],
)
def test_a_view_follows_no_link_at_any_depth(root: Path, path: str, is_folder: bool, is_there: bool) -> None:  # noqa: FBT001
    (root / "a/b").mkdir(parents=True)
    (root / "a/b/file").touch()
    (root / "l").symlink_to("a")
    (root / "a/link").symlink_to("b")
    view = TreeView(root)
    assert view.is_folder(path) is is_folder
    assert (view.status(path) is not None) is is_there


@pytest.mark.parametrize(
    ("folder", "found"),
    [
        ("hollow", ["hollow"]),
        ("nested", ["nested/one/deep", "nested/two"]),
        ("full", None),
        ("full/inner", ["full/inner"]),
        ("full/file", None),
        ("linked", None),
        ("linked/link", None),
        ("gone", None),
        ("", None),
    ],
)
def test_the_innermost_folders_are_told_of_one_that_holds_no_file(
    root: Path, folder: str, found: list[str] | None
) -> None:
    for path in ("hollow", "nested/one/deep", "nested/two", "full/inner", "linked"):
        (root / path).mkdir(parents=True)
    (root / "full/file").touch()
    (root / "linked/link").symlink_to("../hollow")
    assert TreeView(root).empty_folders(folder) == found
