"""Examining one comparison: what it does to the process that asks."""

import gc
from collections.abc import Iterator
from weakref import ref

import pytest

from ralph_tracker.integrity.changes import FileChange
from ralph_tracker.integrity.examine import examine

CHANGE = FileChange("tests/test_box.py", b"def test_lid():\n    assert lid()\n", b"def test_lid():\n    assert True\n")


class BrokenError(RuntimeError):
    """Be what nobody expects of a rule."""


@pytest.fixture(autouse=True)
def _collecting() -> Iterator[None]:
    before = gc.isenabled()
    yield
    (gc.enable if before else gc.disable)()


def changes(seen: list[bool], ends_in: type[Exception] | None = None) -> Iterator[FileChange]:
    """Yield a change, having noted whether the collector runs meanwhile."""
    seen.append(gc.isenabled())
    yield CHANGE
    if ends_in is not None:
        raise ends_in


class TestCollector:
    def test_it_rests_meanwhile_and_runs_again(self):
        gc.enable()
        seen: list[bool] = []
        assert examine(changes(seen)).findings
        assert (seen, gc.isenabled()) == ([False], True)

    def test_it_runs_again_whatever_happened(self):
        gc.enable()
        with pytest.raises(BrokenError):
            examine(changes([], BrokenError))
        assert gc.isenabled()

    def test_whoever_has_turned_it_off_finds_it_so(self):
        gc.disable()
        assert examine(changes([])).findings
        assert not gc.isenabled()

    def test_it_has_nothing_to_do_afterwards(self):
        gc.disable()
        examined = examine(changes([]))
        held = [ref(side) for file in examined.evidence.files for side in file.sides()]
        assert len(held) == 2
        del examined
        assert [each() for each in held] == [None, None]


class TestUnread:
    @pytest.mark.parametrize(
        ("path", "text", "why"),
        [
            ("box.py", b"def (:\n", "line 1: invalid syntax"),
            ("tests/test_box.py", b"def test_lid(:\n    assert lid()\n", "line 1: invalid syntax"),
            ("box.py", b"lid = " + b"(" * 3000 + b")" * 3000, "line 1: too many nested parentheses"),
            ("box.py", b"lid = 1\0\n", "holds NUL bytes"),
            ("box.py", b"lid = 1\n" * 300_000, "larger than 2 MB"),
            ("box.py", b"lid = '" + b"a" * 10_000_000 + b"'\n", "larger than 2 MB"),
        ],
        ids=["no program", "no program with tests", "deep", "NUL bytes", "large", "a long line"],
    )
    def test_what_nobody_can_read_has_a_reason(self, path, text, why):
        """Whether a rule would have asked or not."""
        assert examine([FileChange(path, b"lid = 1\n", text)]).unread == {path: why}

    def test_what_was_no_program_before_has_none(self):
        assert examine([FileChange("box.py", b"def (:\n", b"lid = 1\n")]).unread == {}

    def test_another_language_is_not_asked(self):
        assert examine([FileChange("box.txt", b"", b"def (:\n")]).unread == {}
