"""Files are written whole or not at all, and what is not a file of the kind that is meant is refused in one line."""

import errno
import os
import time

import pytest

from ralph_tracker.config.load import load_config
from ralph_tracker.errors import ConfigError, InputError, StoreError
from ralph_tracker.measure.handed_in import read_metrics
from ralph_tracker.runner.saved_plan import read_plan_file
from ralph_tracker.safe_files import (
    MAX_INPUT,
    as_store_error,
    clear_staging,
    digest,
    file_digest,
    files_below,
    read_own_file,
    read_regular,
    sync_all,
    sync_below,
    write_new,
    write_whole,
)


class TestWholeFile:
    def test_replaces_what_was_there(self, tmp_path):
        path = tmp_path / "deep" / "er" / "file"
        write_whole(path, b"old and long")
        write_whole(path, b"new")
        assert path.read_bytes() == b"new"
        assert [entry.name for entry in path.parent.iterdir()] == ["file"]

    def test_can_be_read_by_others(self, tmp_path):
        write_whole(tmp_path / "file", b"")
        assert (tmp_path / "file").stat().st_mode & 0o777 == 0o644

    def test_leaves_nothing_behind_where_its_place_is_taken_by_a_folder(self, tmp_path):
        (tmp_path / "file").mkdir()
        with pytest.raises(IsADirectoryError):
            write_whole(tmp_path / "file", b"data")
        assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


class TestNewFile:
    def test_is_written_once_only(self, tmp_path):
        write_new(tmp_path / "file", b"first")
        with pytest.raises(FileExistsError):
            write_new(tmp_path / "file", b"second")
        assert (tmp_path / "file").read_bytes() == b"first"

    def test_is_never_written_through_a_link(self, tmp_path):
        (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(FileExistsError):
            write_new(tmp_path / "link", b"data")
        assert not (tmp_path / "elsewhere").exists()


class TestToldPlainly:
    @pytest.mark.parametrize(
        ("error", "line"),
        [
            (OSError(errno.ENOSPC, "No space left", "there"), "there: No space left, free some first; it was lost"),
            (OSError(errno.EIO, "Input/output error"), "here: Input/output error; it was lost"),
            (OSError("without a number"), "here: without a number; it was lost"),
        ],
        ids=["names its file", "names none", "has no words"],
    )
    def test_names_the_file_the_reason_and_what_it_means(self, tmp_path, error, line):
        with pytest.raises(StoreError) as refused, as_store_error(tmp_path / "here", "it was lost"):
            raise error
        assert str(refused.value).removeprefix(f"{tmp_path}/") == line

    def test_says_that_nothing_was_changed_where_nobody_says_more(self, tmp_path):
        with pytest.raises(StoreError, match="nothing was changed"), as_store_error(tmp_path):
            (tmp_path / "missing").read_bytes()

    def test_lets_other_errors_pass(self, tmp_path):
        with pytest.raises(KeyError), as_store_error(tmp_path):
            raise KeyError


class TestDigest:
    def test_is_that_of_the_bytes_or_of_a_links_text(self, tmp_path):
        (tmp_path / "file").write_bytes(b"data")
        (tmp_path / "link").symlink_to("data")
        assert {file_digest(tmp_path / "file"), file_digest(tmp_path / "link"), digest(b"data")} == {digest(b"data")}

    def test_covers_every_file_below_a_folder_and_links_as_such(self, tmp_path):
        (tmp_path / "a" / "b").mkdir(parents=True)
        (tmp_path / "a" / "b" / "file").touch()
        (tmp_path / "file").touch()
        (tmp_path / "link").symlink_to("a")
        assert files_below(tmp_path) == ["a/b/file", "file", "link"]


class TestSyncing:
    def test_raises_what_a_sync_raises_once_all_others_have_ended(self):
        synced: list[int] = []

        def sync(number: int) -> None:
            if number == 7:
                raise OSError(errno.EIO, "broken")
            synced.append(number)

        with pytest.raises(OSError, match="broken"):
            sync_all(sync, range(20))
        assert sorted(synced) == [number for number in range(20) if number != 7]

    def test_goes_on_where_no_more_threads_may_be_had(self, monkeypatch):
        def refuse(_thread: object) -> None:
            raise RuntimeError("can't start new thread")

        monkeypatch.setattr("threading.Thread.start", refuse)
        synced: list[int] = []
        sync_all(synced.append, range(20))
        assert sorted(synced) == list(range(20))

    def test_reaches_every_file_and_folder_below_and_follows_no_link(self, tmp_path, monkeypatch):
        (tmp_path / "in" / "deep").mkdir(parents=True)
        (tmp_path / "outside").write_text("not ours")
        for path in ("in/one", "in/deep/two"):
            (tmp_path / path).write_text("data")
        (tmp_path / "in" / "link").symlink_to(tmp_path / "outside")
        (tmp_path / "in" / "nowhere").symlink_to("gone")
        synced: list[int] = []
        monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
        sync_below(tmp_path / "in")
        wanted = ("in/deep/two", "in/deep", "in/one", "in")
        assert sorted(synced) == sorted((tmp_path / path).stat().st_ino for path in wanted)


class TestStaging:
    def test_is_empty_and_tells_whether_it_was_there(self, tmp_path):
        staging = tmp_path / "loop" / "tmp"
        assert not clear_staging(staging)
        (staging / "folder").mkdir()
        (staging / "folder" / "file").touch()
        assert clear_staging(staging)
        assert list(staging.iterdir()) == []
        assert os.access(staging, os.W_OK)


def test_a_file_is_read_and_a_link_to_one_of_the_same_folder(tmp_path):
    (tmp_path / "file").write_bytes(b"text")
    (tmp_path / "link").symlink_to("file")
    assert read_regular(tmp_path / "link", inside=tmp_path) == b"text"


def test_a_link_out_of_the_folder_is_refused_where_the_repository_names_it(tmp_path):
    (tmp_path / "secret").write_text("token")
    project = tmp_path / "project"
    project.mkdir()
    (project / "ralph-tracker.yaml").symlink_to("../secret")
    with pytest.raises(
        ConfigError, match=r"^ralph-tracker\.yaml: a link out of the project; put the file itself there$"
    ):
        load_config(project)
    assert read_regular(project / "ralph-tracker.yaml") == b"token"


@pytest.mark.parametrize("read", [read_regular, read_metrics, read_plan_file])
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path, read, kind):
    path = tmp_path / "given"
    os.mkfifo(path) if kind == "pipe" else path.symlink_to("/dev/zero")
    with pytest.raises(InputError, match=r"given: a pipe or a device, not a file; write it to a file first$"):
        read(path)


def test_a_file_beyond_the_limit_is_refused(tmp_path):
    with (tmp_path / "large").open("wb") as file:
        file.truncate(MAX_INPUT + 1)
    with pytest.raises(InputError, match=r"large: larger than 64 MiB; hand in less$"):
        read_regular(tmp_path / "large")


def test_a_missing_file_and_a_folder_are_errors_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        read_regular(tmp_path)


def test_a_sparse_file_of_any_size_is_refused_unread(tmp_path):
    path = tmp_path / "loop.yaml"
    with path.open("wb") as file:
        file.truncate(20 << 30)
    began = time.process_time()
    with pytest.raises(StoreError, match=r"loop.yaml: larger than 256 MiB, which no file of a loop is; move it away"):
        read_own_file(path)
    with pytest.raises(OSError, match="File too large"):
        file_digest(path, at_most=1 << 20)
    assert time.process_time() - began < 1
