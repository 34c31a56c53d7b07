"""Sealed records are read-only while checks run, and a check that rewrote some is named."""

import json

import pytest

from ralph_tracker.store.layout import ProjectPaths
from ralph_tracker.store.record_guard import RecordGuard

SEALED = b'{"a":1}'


@pytest.fixture
def paths(tmp_path):
    found = ProjectPaths(tmp_path).loop("one")
    for file in (
        found.iteration(0) / "metrics.json",
        found.iteration(0) / "output" / "tests.stdout",
        found.record(0),
        found.loop_file,
        found.continuation,
        found.state,
    ):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(SEALED)
    return found


def mode(path):
    return path.stat().st_mode & 0o777


def test_only_what_is_sealed_is_read_only_and_only_meanwhile(paths):
    sealed = [paths.iteration(0) / "metrics.json", paths.record(0), paths.loop_file, paths.continuation]
    written_again = [paths.state, paths.iteration(0) / "output" / "tests.stdout"]
    with RecordGuard(paths).read_only():
        assert [mode(path) for path in sealed] == [0o444] * 4
        assert [mode(path) for path in written_again] == [0o644] * 2
    assert {mode(path) for path in (*sealed, *written_again)} == {0o644}


def test_what_a_check_rewrote_is_put_back_and_the_check_is_named(paths):
    guard = RecordGuard(paths)
    first, second = paths.iteration(0) / "metrics.json", paths.record(0)
    with guard.read_only():
        guard.put_back("lint")
        for path in (first, second):
            path.chmod(0o644)
            path.write_text(json.dumps(json.loads(SEALED), indent=1))
        guard.put_back("format")
        guard.put_back("tests")
    assert {first.read_bytes(), second.read_bytes()} == {SEALED}
    (note,) = guard.notes
    assert note == (
        "records_changed_by_checks: format rewrote .aiwg/ralph/one/progress/iteration-000-baseline.yaml and 1 more, "
        "put back as recorded; exclude .aiwg from the files that it formats"
    )


def test_what_is_gone_stays_gone_and_what_was_only_touched_is_no_change(paths):
    guard = RecordGuard(paths)
    with guard.read_only():
        paths.loop_file.unlink()
        (paths.iteration(0) / "metrics.json").touch()
        guard.put_back("clean")
    assert not paths.loop_file.exists()
    assert guard.notes == []


def test_without_records_there_is_nothing_to_guard(tmp_path):
    guard = RecordGuard(ProjectPaths(tmp_path).loop("one"))
    with guard.read_only():
        guard.put_back("tests")
    assert guard.notes == []
