"""Examining one comparison: what it does to the process that asks."""

import gc
from collections.abc import Iterator

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
