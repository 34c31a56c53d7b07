"""Documents are read whole or as None where they are damaged; a line is appended whole or not at all."""

import errno
import json
import os
import resource
import signal
from pathlib import Path

import pytest

from ralph_tracker.errors import StoreError
from ralph_tracker.safe_files import read_own_file
from ralph_tracker.store.json_documents import append_line, read_json, read_lines, to_json
from tests.tables import table

FULL = Path("/dev/full")


def lines(path):
    return [json.loads(line) for line in path.read_bytes().splitlines()]


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
        assert read_own_file(tmp_path / place) is None
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
