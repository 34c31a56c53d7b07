"""Files are there whole or not at all: damaged is None, unreadable an error, a refusal of the system one line."""

import errno
import json
import os
import resource
import signal
from pathlib import Path

import pytest

from ralph_tracker.errors import StoreError
from ralph_tracker.store.safe_files import (
    append_line,
    as_store_error,
    clear_staging,
    digest,
    file_digest,
    files_below,
    read_bytes,
    read_json,
    read_lines,
    sync_below,
    to_json,
    write_new,
    write_whole,
)
from tests.tables import table

FULL = Path("/dev/full")


def lines(path):
    return [json.loads(line) for line in path.read_bytes().splitlines()]


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

    def test_is_made_in_a_staging_folder_where_one_is_named(self, tmp_path, cut_short):
        staging = tmp_path / "staging"
        write_whole(tmp_path / "place" / "file", b"1", staging)
        end = cut_short(tmp_path, lambda: write_whole(tmp_path / "place" / "file", b"22", staging), 6)
        assert end.killed
        assert (tmp_path / "place" / "file").read_bytes() == b"1"
        assert [entry.name for entry in (tmp_path / "place").iterdir()] == ["file"]
        assert len(list(staging.iterdir())) == 1

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


class TestAppendedLine:
    @pytest.mark.parametrize(
        ("before", "kept"),
        [
            (b"", []),
            (b'{"n":1}\n', [1]),
            (b'{"n":1}\n{"n":2}\n', [1, 2]),
            (b'{"n":1}\n{"n":2}', [1]),
            (b'{"n":1}\n{', [1]),
            (b'{"n":1', []),
        ],
        ids=["empty", "one", "two", "no newline", "torn", "only torn"],
    )
    def test_follows_the_last_whole_one(self, tmp_path, before, kept):
        (tmp_path / "log").write_bytes(before)
        append_line(tmp_path / "log", {"n": 9})
        assert lines(tmp_path / "log") == [*({"n": n} for n in kept), {"n": 9}]

    def test_begins_the_file_and_its_folder(self, tmp_path):
        append_line(tmp_path / "deep" / "er" / "log", {"text": "line\nbreak"})
        assert lines(tmp_path / "deep" / "er" / "log") == [{"text": "line\nbreak"}]

    def test_is_taken_back_where_the_disk_is_full_halfway(self, tmp_path, together):
        path = tmp_path / "log"
        append_line(path, {"n": 1})

        def append_on_a_full_disk():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))
            append_line(path, {"n": 2, "text": "x" * 100})

        together(append_on_a_full_disk)
        (refusal,) = together.wait()
        assert refusal.errno == errno.EFBIG
        assert path.read_bytes() == b'{"n":1}\n'

    @pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is always full")
    def test_is_refused_by_a_full_disk(self):
        with pytest.raises(OSError, match="No space left on device"):
            append_line(FULL, {"n": 1})

    def test_is_taken_back_where_it_cannot_be_made_durable(self, tmp_path, cut_short):
        path = tmp_path / "log"
        append_line(path, {"n": 1})
        total = cut_short(tmp_path, lambda: append_line(path, {"n": 2})).points
        path.write_bytes(b'{"n":1}\n')
        for at in range(2, total + 1):  # the first makes a folder that is there
            assert isinstance(cut_short(tmp_path, lambda: append_line(path, {"n": 2}), at, kill=False).error, OSError)
            assert path.read_bytes() == b'{"n":1}\n'


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


class TestJson:
    @table(
        ("document", "data"),
        [
            ({"b": 1, "a": [1.5, None]}, b'{"b":1,"a":[1.5,null]}'),
            ("ü", b'"\xc3\xbc"'),
            ("\ud800", b'"\xed\xa0\x80"'),
            ("a\nb", b'"a\\nb"'),
        ],
        ids=["in its own order", "utf-8", "a lone surrogate", "one line"],
    )
    def test_is_one_line_that_reads_back_as_it_was(self, document, data):
        assert to_json(document) == data
        assert json.loads(to_json(document)) == document

    @pytest.mark.parametrize("number", [float("nan"), float("inf")])
    def test_takes_no_number_that_json_has_not(self, number):
        with pytest.raises(ValueError, match="not JSON compliant"):
            to_json(number)


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
        assert synced == [(tmp_path / path).stat().st_ino for path in wanted]


class TestStaging:
    def test_is_empty_and_tells_whether_it_was_there(self, tmp_path):
        staging = tmp_path / "loop" / "tmp"
        assert not clear_staging(staging)
        (staging / "folder").mkdir()
        (staging / "folder" / "file").touch()
        assert clear_staging(staging)
        assert list(staging.iterdir()) == []
        assert os.access(staging, os.W_OK)


class TestDocument:
    @pytest.mark.parametrize(
        ("data", "document"),
        [
            (b'{"a": 1}', {"a": 1}),
            (b'"\xed\xa0\x80"', "\ud800"),
            (b"", None),
            (b'{"a": 1', None),
            (b"\xff\xfe", None),
            (b"[" * 100_000, None),
            (b"1" * 5000, None),
        ],
        ids=["whole", "lone surrogate", "empty", "truncated", "no text", "nested without end", "endless number"],
    )
    def test_is_none_where_it_is_damaged(self, tmp_path, data, document):
        (tmp_path / "file").write_bytes(data)
        assert read_json(tmp_path / "file") == document

    @pytest.mark.parametrize("place", ["missing", "file/below", "."], ids=["absent", "below a file", "a folder"])
    def test_is_none_where_there_is_none(self, tmp_path, place):
        (tmp_path / "file").touch()
        assert read_json(tmp_path / place) is None
        assert read_bytes(tmp_path / place) is None
        assert read_lines(tmp_path / place) == []

    def test_is_an_error_in_one_line_where_the_system_refuses(self, tmp_path):
        (tmp_path / "loop").symlink_to("loop")
        with pytest.raises(StoreError, match=r"loop: cannot be read \(.*\); fix that and try again") as refused:
            read_json(tmp_path / "loop")
        assert refused.value.__cause__ is None
        assert errno.ELOOP

    def test_is_no_other_file_that_a_clone_leads_to(self, tmp_path):
        (tmp_path / "another").write_text("{}")
        (tmp_path / "link").symlink_to("another")
        (tmp_path / "device").symlink_to("/dev/zero")
        os.mkfifo(tmp_path / "pipe")
        with (tmp_path / "large").open("wb") as file:
            file.truncate((256 << 20) + 1)
        for name in ("link", "device", "pipe", "large"):
            with pytest.raises(StoreError, match=rf"{name}: (cannot be read \(.*\)|larger than 256 MiB)"):
                read_json(tmp_path / name)


class TestLines:
    @pytest.mark.parametrize(
        ("data", "found"),
        [
            (b"", []),
            (b"1\n2\n", [1, 2]),
            (b"1\n2", [1]),
            (b"1\n{\n3\n", [1, None, 3]),
            (b"1\n\n2\n", [1, 2]),
            (b'"\xed\xa0\x80"\n', ["\ud800"]),
        ],
        ids=["none", "two", "torn", "damaged between", "empty between", "lone surrogate"],
    )
    def test_are_those_that_are_whole_and_none_for_damaged_ones(self, tmp_path, data, found):
        (tmp_path / "log").write_bytes(data)
        assert read_lines(tmp_path / "log") == found
