"""Small JSON files, read without heavy imports: damaged is None, unreadable is an error."""

import errno
import os

import pytest

from ralph_tracker.errors import StoreError
from ralph_tracker.store.safe_read import read_bytes, read_json, read_lines


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
