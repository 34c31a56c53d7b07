"""Where a run stands is kept, read back as it was, and refused in one line where it is damaged."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.core.metrics import Usage
from ralph_tracker.errors import NewerSchemaError, RecordError, StoreError
from ralph_tracker.runner.saved_run import RunProgress, RunSettings, add_usages, read_progress
from ralph_tracker.store.layout import RUN, LoopPaths

WHOLE = RunProgress(
    "ralph-001",
    RunSettings(("agent", "ä", "{prompt}"), "/PROMPT.md", 60.0, 5.0, 1, 0.5, "worktree"),
    iteration=4,
    phase="measure",
    tried=2,
    at_work=True,
    waited_s=1.5,
    usage=Usage(cost_usd=0.25, turns=3),
    notes=("agent: crashed",),
    blocked="a login",
    session="s-1",
    told=Usage(input_tokens=7),
    models=("opus",),
)


@pytest.fixture
def paths(tmp_path):
    made = LoopPaths(tmp_path, "ralph-001")
    made.folder.mkdir(parents=True)
    return made


@pytest.mark.parametrize(
    "progress", [WHOLE, RunProgress("ralph-001", RunSettings(("agent",)))], ids=["all", "the first"]
)
def test_it_is_read_as_it_was_written(paths, progress):
    assert progress.write(paths) == progress
    assert read_progress(paths) == progress


def test_a_loop_that_no_run_has_driven_has_none(paths):
    assert read_progress(paths) is None


def test_the_next_iteration_begins_with_nothing_of_this_one():
    lasting = {"session": "s-1", "told": WHOLE.told, "models": WHOLE.models}
    assert WHOLE.next_iteration() == RunProgress("ralph-001", WHOLE.settings, 5, **lasting)


DAMAGE = {
    "no JSON": b"{",
    "empty": b"",
    "another document": b"[]",
    "a key too few": json.dumps({"schema_version": 1, "loop_id": "ralph-001"}).encode(),
    "an unknown phase": b"phase",
    "an iteration that is none": b"iteration",
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_one_is_named(paths, name):
    WHOLE.write(paths)
    file = paths.folder / RUN
    plain = json.loads(file.read_text())
    changed = {b"phase": plain | {"phase": "sleep"}, b"iteration": plain | {"iteration": 0}}.get(DAMAGE[name])
    file.write_bytes(DAMAGE[name] if changed is None else json.dumps(changed).encode())
    with pytest.raises(RecordError, match=r"ralph-001/run\.json: damaged; give the agent's command again"):
        read_progress(paths)


def test_one_of_a_newer_version_is_not_taken_for_damage(paths):
    WHOLE.write(paths)
    file = paths.folder / RUN
    file.write_text(json.dumps(json.loads(file.read_text()) | {"schema_version": 99}))
    with pytest.raises(NewerSchemaError):
        read_progress(paths)


def test_a_disk_that_refuses_is_told_in_one_line(paths):
    (paths.folder / RUN).mkdir()
    with pytest.raises(StoreError, match=r"Is a directory; .*run --resume"):
        WHOLE.write(paths)


AMOUNTS = st.none() | st.integers(0, 1000)
USAGES = st.builds(
    Usage, cost_usd=AMOUNTS, input_tokens=AMOUNTS, output_tokens=AMOUNTS, turns=AMOUNTS, duration_s=AMOUNTS
)


@given(USAGES, USAGES)
def test_usages_add_up_to_what_is_known(one, other):
    both = add_usages(one, other)
    assert both == add_usages(other, one)
    for name in ("cost_usd", "input_tokens", "output_tokens", "turns", "duration_s"):
        known = [value for value in (getattr(one, name), getattr(other, name)) if value is not None]
        assert getattr(both, name) == (sum(known) if known else None)
