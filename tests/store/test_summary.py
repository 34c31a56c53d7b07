"""Where a loop stands, read without a lock and without heavy imports."""

import json
import shutil
import subprocess
import sys

import pytest

from ralph_tracker.errors import LoopError, NewerSchemaError, NotRecordedError, RecordError
from ralph_tracker.loop.status import rolled_back
from ralph_tracker.store.summary import (
    attempted_iteration,
    latest_iteration,
    refuse_unrecorded,
    require_running,
    summary_at,
)


class TestSummary:
    def test_is_what_state_json_says(self, driven):
        driven.start()
        driven.turn()
        assert summary_at(driven.paths).plain() == json.loads(driven.paths.state.read_bytes()) | {
            "alerts": (),
            "accepted": (),
        }

    @pytest.mark.parametrize("data", [b"", b"{", b"{}", None], ids=["empty", "truncated", "another", "deleted"])
    def test_is_made_again_where_that_is_damaged(self, driven, data):
        driven.start()
        driven.turn(lint_errors=3)
        before = summary_at(driven.paths)
        driven.paths.state.unlink() if data is None else driven.paths.state.write_bytes(data)
        assert summary_at(driven.paths) == before

    def test_is_made_again_where_that_is_behind(self, driven):
        driven.start()
        behind = driven.paths.state.read_bytes()
        driven.turn(lint_errors=3)
        expected = summary_at(driven.paths)
        driven.paths.state.write_bytes(behind)
        assert summary_at(driven.paths) == expected

    def test_knows_of_a_rollback_and_of_the_end(self, driven):
        driven.start()
        driven.turn()
        driven.turn()
        driven.roll_back(1)
        driven.tracker.select_output()
        driven.paths.state.unlink()
        summary = summary_at(driven.paths)
        assert (summary.head, summary.carried_out, summary.status) == (1, {"target": 1, "after": 2}, "finished")

    def test_is_refused_where_a_newer_version_wrote_it(self, driven):
        driven.start()
        driven.paths.state.write_bytes(b'{"schema_version": 2}')
        with pytest.raises(
            NewerSchemaError, match=r"state.json: written by a newer ralph-tracker \(schema 2, this one"
        ):
            summary_at(driven.paths)

    def test_is_refused_where_nothing_can_be_read(self, driven):
        driven.start()
        driven.turn()
        driven.paths.state.unlink()
        (driven.paths.iteration(1) / "state.json").unlink()
        with pytest.raises(
            RecordError, match=r"^iteration 1: .* is damaged; copy it back from a backup, or start anew with"
        ):
            summary_at(driven.paths)

    def test_is_refused_where_no_iteration_is_there(self, driven):
        with pytest.raises(RecordError, match="no iteration is on record; run `ralph-tracker hook pre-loop` first"):
            summary_at(driven.paths)


class TestRunning:
    def test_loop_is_let_pass(self, driven):
        driven.start()
        assert require_running(summary_at(driven.paths)).loop_id == "ralph-001"

    def test_is_said_of_no_loop_that_has_ended(self, driven):
        driven.start()
        driven.tracker.select_output()
        with pytest.raises(LoopError, match="loop ralph-001 is finished; start another one with"):
            require_running(summary_at(driven.paths))


class TestMarkOfAnAttempt:
    @pytest.mark.parametrize(
        ("mark", "number"),
        [
            (None, None),
            (b'{"iteration":2}', 2),
            (b"", None),
            (b"[]", None),
            (b"{}", None),
            (b'{"iteration":"2"}', None),
        ],
        ids=["none", "a number", "empty", "a list", "no number", "text"],
    )
    def test_is_a_number_where_it_can_be_read(self, driven, mark, number):
        driven.start()
        if mark is not None:
            driven.paths.attempt.write_bytes(mark)
        assert attempted_iteration(driven.paths) == number

    @pytest.mark.parametrize(("number", "refused"), [(0, False), (1, False), (2, True)])
    def test_refuses_to_decide_while_that_iteration_is_not_on_record(self, driven, number, refused):
        driven.start()
        driven.turn()
        driven.paths.attempt.write_bytes(b'{"iteration":%d}' % number)
        if not refused:
            refuse_unrecorded(driven.paths, summary_at(driven.paths))
            return
        with pytest.raises(NotRecordedError, match=r"^iteration 2 was not recorded; run `ralph-tracker hook post-it"):
            refuse_unrecorded(driven.paths, summary_at(driven.paths))

    def test_says_nothing_once_the_iteration_is_there_although_the_state_is_behind(self, driven):
        driven.start()
        behind = summary_at(driven.paths)
        driven.turn()
        driven.paths.attempt.write_bytes(b'{"iteration":1}')
        refuse_unrecorded(driven.paths, behind)


def test_reading_where_a_loop_stands_imports_nothing_heavy(driven):
    driven.start()
    code = (
        "import sys; from pathlib import Path; from ralph_tracker.store import find, summary;"
        f"summary.summary_at(find.find_loop(Path({str(driven.root)!r}), None, {{}}));"
        "print(sorted({'pydantic', 'yaml', 'click', 'jinja2', 'git', 'ralph_tracker.core'} & sys.modules.keys()))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "[]\n"


FAR = 999_999_999
# name: what a clone brings
FAR_OFF = {
    "an empty folder": lambda paths: paths.iteration(FAR).mkdir(),
    "a copy of a record": lambda paths: shutil.copytree(paths.iteration(1), paths.iteration(FAR)),
    "a pack": lambda paths: (paths.packs.mkdir(), paths.pack(FAR).touch()),
    "a state": lambda paths: paths.state.write_bytes(
        paths.state.read_bytes().replace(b'"iteration":1,', b'"iteration":%d,' % FAR)
    ),
    "an event": lambda paths: paths.events.write_text(f'{{"event":"rollback","to":0,"after":{FAR}}}\n'),
}


@pytest.mark.parametrize("what", FAR_OFF)
def test_a_number_that_no_iteration_can_have_is_no_range(driven, what):
    driven.start()
    driven.turn()
    FAR_OFF[what](driven.paths)
    assert latest_iteration(driven.paths) == 1
    assert summary_at(driven.paths).iteration == 1
    assert [each.iteration for each in rolled_back(driven.paths)] == ([1] if what == "an event" else [])
    assert driven.turn().iteration == 2


def test_a_long_loop_with_few_folders_left_keeps_its_numbers(driven):
    driven.start()
    for number in (*range(9_000, 9_100),):
        driven.paths.iteration(number).mkdir()
    assert latest_iteration(driven.paths) == 9_099
