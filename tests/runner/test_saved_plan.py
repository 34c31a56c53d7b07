"""A plan goes on from the state that is kept beside its file, out of reach of snapshots and rollbacks."""

import json
import subprocess

import pytest

from ralph_tracker.errors import InputError, NewerSchemaError, RecordError, StoreError
from ralph_tracker.runner.saved_plan import plan_held, read_plan, state_path, write_plan_state
from ralph_tracker.steering import state_to_plain
from ralph_tracker.store.snapshots.exclusions import folder_reason

PLAN = "tasks:\n- {id: a, title: A}\n- {id: b, title: B}\n"


@pytest.fixture
def plan(tmp_path):
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN)
    return path


def ids(kept):
    return [each.id for each in kept.state.tasks]


def test_a_plan_that_nothing_was_kept_of_begins(plan):
    kept = read_plan(plan)
    assert (ids(kept), kept.has_changed) == (["a", "b"], False)


def test_it_goes_on_as_it_was_kept(plan):
    state = read_plan(plan).state
    write_plan_state(plan, state_to_plain(state._replace(tasks=state.tasks[1:], current="b")))
    kept = read_plan(plan)
    assert (ids(kept), kept.state.current, kept.has_changed) == (["b"], "b", False)


def test_the_state_is_beside_the_plan_where_no_snapshot_takes_it(plan):
    kept = state_path(plan)
    assert kept.is_relative_to(plan.parent)
    assert folder_reason(kept.relative_to(plan.parent).parts[0])


def test_git_passes_the_state_over(plan):
    write_plan_state(plan, state_to_plain(read_plan(plan).state))
    subprocess.run(["git", "init", "-q"], cwd=plan.parent, check=True)
    shown = subprocess.run(["git", "status", "--porcelain"], cwd=plan.parent, check=True, capture_output=True)
    assert shown.stdout == b"?? plan.yaml\n"


def test_two_plans_of_one_folder_have_two_states(plan):
    assert state_path(plan) != state_path(plan.with_suffix(".yml"))


def test_a_plan_that_was_changed_goes_on_as_begun_and_that_is_told(plan):
    write_plan_state(plan, state_to_plain(read_plan(plan).state))
    plan.write_text(PLAN + "- {id: c, title: C}\n")
    kept = read_plan(plan)
    assert (ids(kept), kept.has_changed) == (["a", "b"], True)
    plan.write_text("# only a comment\n" + PLAN)
    assert not read_plan(plan).has_changed


def test_a_state_of_an_older_version_still_loads(plan):
    write_plan_state(plan, {"tasks": [{"id": 1, "title": "One", "status": "complete"}, {"id": 2, "title": "Two"}]})
    kept = read_plan(plan)
    assert (ids(kept), [task.id for task in kept.state.pending], kept.has_changed) == (["1", "2"], ["2"], False)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"tasks": 5}', b"\xff"])
def test_a_damaged_state_is_named(plan, data):
    state_path(plan).parent.mkdir(parents=True)
    state_path(plan).write_bytes(data)
    with pytest.raises(RecordError, match=r"plan\.yaml\.json: damaged \(.*\); fix it, or remove it"):
        read_plan(plan)


def test_one_of_a_newer_version_is_not_taken_for_damage(plan):
    write_plan_state(plan, {"schema_version": 99, "tasks": []})
    with pytest.raises(NewerSchemaError):
        read_plan(plan)


def test_a_disk_that_refuses_is_told_in_one_line(plan):
    state_path(plan).mkdir(parents=True)
    with pytest.raises(StoreError, match="the state of the plan is as it was before"):
        write_plan_state(plan, json.loads('{"tasks": []}'))


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (None, r"plan\.yaml: No such file or directory; name a YAML file with tasks"),
        (b"\xff", r"plan\.yaml: not UTF-8 \(byte 0\)"),
        (b"tasks: [", r"plan\.yaml: line \d+, column \d+: "),
        (b"task: []", r"plan\.yaml: tasks: is missing"),
    ],
    ids=["missing", "not text", "not YAML", "no plan"],
)
def test_a_file_that_is_no_plan_is_refused(plan, data, says):
    plan.unlink()
    if data is not None:
        plan.write_bytes(data)
    with pytest.raises(InputError, match=says):
        read_plan(plan)


def test_only_one_works_on_a_plan(plan):
    with (
        plan_held(plan, "run"),
        pytest.raises(StoreError, match=r"in use by process \d+ \(run\)"),
        plan_held(plan, "plan edit"),
    ):
        pass


def test_git_sees_no_file_of_ours_even_if_a_plan_was_only_held(plan):
    with plan_held(plan, "run"):
        pass
    assert (state_path(plan).parent / ".gitignore").read_text() == "*\n"


@pytest.mark.parametrize("name", [".aiwg", ".aiwg/plans"])
def test_a_folder_that_is_a_link_is_refused_before_anything_is_written(plan, tmp_path_factory, name):
    other = tmp_path_factory.mktemp("other")
    (plan.parent / name).parent.mkdir(exist_ok=True)
    (plan.parent / name).symlink_to(other)
    with pytest.raises(StoreError, match=r"a symbolic link, which no part of a loop is; remove it"):
        read_plan(plan)
    with pytest.raises(StoreError, match=r"a symbolic link"), plan_held(plan, "run"):
        pass
    assert list(other.iterdir()) == []
