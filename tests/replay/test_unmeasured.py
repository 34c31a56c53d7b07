"""What could not be measured is said at once, is no baseline, is never taken, and is measured again the next time."""

import json
import os
import re

import jsonschema
import pytest

from ralph_tracker.cli.schema import SCHEMAS, schema_of
from ralph_tracker.errors import NothingMeasuredError
from ralph_tracker.replay.replay import read_replay_journal

REPORT = {"reports": ["{reports}/junit.xml"]}


@pytest.fixture
def mended(branch, tmp_path):
    """Have the tool of the checks crash until the returned file is there, in which each other run leaves a line."""
    file = tmp_path / "licence"
    branch.running(f"test -e {file} || {{ echo 'error: no licence' >&2; exit 3; }}; echo . >> {file}")
    return file


def taken(out):
    return [line for line in out.splitlines() if line.startswith("Take ")]


@pytest.mark.parametrize("words", [("replay", "v0..HEAD~3"), ("compare", "HEAD~3", "--base", "v0")])
def test_where_nothing_was_measured_there_is_one_line_and_no_answer_until_it_is_mended(branch, ralph, mended, words):
    for more in ((), ("--json",)):
        code, out, err = ralph(*words, *more)
        assert (code, taken(out), err.count("\n")) == (1, [], 1)
        assert "Tests could not be measured: " in err
        assert "error: no licence" in err
        assert err.endswith("; fix that, then the same command measures again\n")
    mended.touch()
    code, out, err = ralph(*words)
    assert (code, len(taken(out)), err) == (0, 1, "")
    assert len(mended.read_text()) == len(".\n") * 2


def test_a_base_that_cannot_be_measured_is_told_at_once_and_the_first_that_can_be_is_the_baseline(branch, ralph):
    branch.running("test -e ready || { echo 'error: not ready' >&2; exit 3; }")
    for subject in ("Not yet", "Still not"):
        branch.step(subject, passing=3)
    first = branch.step("Ready", {"ready": ""}, passing=4)
    last = branch.step("More", passing=5)
    said = []
    replay = branch.replay("HEAD~4..HEAD")
    turns = replay.turns(said.append)
    assert next(turns).commit.sha == first
    why = "check `tests` did not write {reports}/junit.xml (exit 3 after N s); it said: error: not ready"
    base = replay.commits[0]
    assert [re.sub(r"after \d+\.\d s", "after N s", line) for line in said] == [
        f"{base.short} is no baseline, its tests could not be measured: {why}",
        f"3 commits before {first[:10]} could not be measured: {why}",
    ]
    assert [turn.record.metrics.tests_passed for turn in turns] == [5]
    assert branch.tracker.project.store(replay.loop_id).summary().iteration == 1

    code, out, _ = ralph("replay", "HEAD~4..HEAD")
    assert (code, taken(out)) == (0, [f"Take {last[:10]} More"])
    assert f"3 commits before {first[:10]} could not be measured: " in out.replace("\n    ", " ")
    document = json.loads(ralph("replay", "HEAD~4..HEAD", "--json")[1])
    jsonschema.validate(document, schema_of(SCHEMAS["replay"]))
    assert [each["subject"] for each in document["commits"]] == ["Ready", "More"]
    assert [each["subject"] for each in document["unmeasured"]] == ["Mend", "Not yet", "Still not"]
    assert "error: not ready" in document["unmeasured"][0]["reason"]
    assert document["take"] == last


def test_the_base_is_told_before_the_rest_is_measured(branch, tmp_path):
    file = tmp_path / "told"
    branch.running(f"grep -q two app.py || {{ echo 'error: too early' >&2; exit 3; }}; test -s {file}")
    list(branch.replay(jobs=1).turns(lambda line: file.write_text(line)))
    assert "could not be measured" in file.read_text()


@pytest.mark.slow
def test_what_was_recorded_unmeasured_is_measured_again_by_the_same_command(branch, ralph, mended):
    branch.environment = dict(os.environ)
    mended.touch()
    at_second = "test -e notes.txt && ! test -e {0}.2 && {{ echo 'error: no disk' >&2; exit 3; }}; echo . >> {0}"
    branch.running(at_second.format(mended))
    code, out, _ = ralph("replay", "v0..HEAD~2")
    assert (code, "error: no disk" in out) == (0, True)
    assert len(mended.read_text()) == len(".\n") * 2
    code, out, _ = ralph("replay", "v0..HEAD~2")
    assert "1 commit could not be measured before: trying again" in out
    assert "3 of 3 were measured before" in out
    mended.with_name("licence.2").touch()
    replay = branch.replay("v0..HEAD~2")
    turns = list(replay.turns())
    assert [turn.record.metrics.tests_passed for turn in turns] == [4, 6, 2]
    assert [turn.cached for turn in turns] == [True, True, True]  # the third by the attempt just before
    assert replay.loop_id.endswith("-2")
    assert len(mended.read_text()) == len(".\n") * 3
    again = branch.replay("v0..HEAD~2")
    assert (again.loop_id, list(again.turns())) == (replay.loop_id, [])


@pytest.mark.slow
def test_commits_before_the_baseline_are_measured_again_too(branch, tmp_path):
    file = tmp_path / "licence"
    branch.running(f"grep -q two app.py || test -e {file} || {{ echo 'error: no licence' >&2; exit 3; }}")
    first = branch.replay("v0..HEAD~2")
    assert [turn.commit.subject for turn in first.turns()] == ["Add two", "Lose most"]
    file.touch()
    again = branch.replay("v0..HEAD~2")
    assert [turn.commit.subject for turn in again.turns()] == ["Begin", "Add two", "Lose most"]
    assert (again.loop_id != first.loop_id, again.unmeasured) == (True, ())


@pytest.mark.slow
def test_killed_before_the_baseline_was_on_record_it_is_looked_for_again(branch, mended):
    replay = branch.replay("v0..HEAD~2")
    paths = branch.tracker.project.paths.loop(replay.loop_id)
    with pytest.raises(NothingMeasuredError):
        list(replay.turns())
    journal = read_replay_journal(paths)
    journal._replace(first=2).write(paths)
    mended.touch()
    assert [turn.commit.subject for turn in branch.replay("v0..HEAD~2").turns()] == ["Begin", "Add two", "Lose most"]


def test_where_tests_are_never_measured_but_something_is_it_begins_there(branch):
    lint = "printf '[]' > {reports}/ruff.json; test -e notes.txt || { echo broken > {reports}/ruff.json; }"
    checks = {
        "tests": {"run": "exit 3", **REPORT},
        "lint": {"run": lint, "format": "ruff-json", "reports": ["{reports}/ruff.json"]},
    }
    branch.configure(checks)
    turns = list(branch.replay("v0..HEAD").turns())
    assert [turn.commit.subject for turn in turns] == ["Lose most", "Break", "Mend"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "first",
    ["exec 2>/dev/null; kill -9 $$", "sleep 30", "cp results.xml $REPORT; kill -9 $$"],
    ids=["killed", "time-out", "killed after its report"],
)
def test_a_check_that_did_not_come_to_its_end_is_not_kept(branch, first):
    run_it = f"! test -e notes.txt || {{ {first}; }}; sh measure.sh {{reports}}".replace(
        "$REPORT", "{reports}/junit.xml"
    )
    branch.configure({"tests": {"run": run_it, "timeout": "2s", **REPORT}})
    branch.replayed("v0..HEAD~2")
    assert [turn.cached for turn in branch.replayed("HEAD~3..HEAD~2")] == [True, False]


@pytest.mark.slow
def test_fresh_measures_all_anew_and_what_it_found_counts_from_then_on(branch):
    ran = branch.counting()
    replay = branch.replay("v0..HEAD~2")
    list(replay.turns())
    fresh = branch.replay("v0..HEAD~2", fresh=True)
    assert [turn.cached for turn in fresh.turns()] == [False] * 3
    assert fresh.loop_id != replay.loop_id
    assert len(ran.read_text()) == len(".\n") * 6
    assert [turn.cached for turn in branch.replayed("v0..HEAD~3")] == [True] * 2
    assert len(ran.read_text()) == len(".\n") * 6


@pytest.mark.slow
def test_results_of_another_environment_do_not_count(branch):
    branch.write("Cargo.lock", "1\n")
    assert [turn.cached for turn in branch.replayed("v0..HEAD~3")] == [False] * 2
    assert branch.replayed("v0..HEAD~3") == []
    branch.write("Cargo.lock", "2\n")
    assert [turn.cached for turn in branch.replayed("v0..HEAD~3")] == [False] * 2


@pytest.mark.slow
def test_nor_do_those_with_other_variables_that_reach_the_checks(branch):
    branch.running('test "$MODE"')
    branch.environment = {**os.environ, "MODE": "a", "EDITOR": "ed", "TZ": "UTC"}
    assert [turn.cached for turn in branch.replayed("v0..HEAD~3")] == [False] * 2
    for name, value, cached in (("EDITOR", "vi", True), ("MODE", "b", False), ("TZ", "Asia/Tokyo", False)):
        branch.environment = {**branch.environment, name: value}
        turns = branch.replayed("v0..HEAD~3")
        assert turns == [] if cached else [turn.cached for turn in turns] == [False] * 2
