"""What loops took and gained, by who did it: from their records alone, and what cannot be read is named."""

import json

import pytest

RED = {"test_count": 10, "tests_passed": 8, "tests_failed": 2}


def _loop(project, *turns):
    """Begin red, with a turn each: its metrics and cost."""
    (project.root / "ralph-tracker.yaml").write_text("codebase: {keep: always}\n")
    project.started(**RED)
    for metrics, cost in turns:
        usage = () if cost is None else ("--usage", project.file("usage.json", {"cost_usd": cost}))
        project.must("post-iteration", metrics, *usage)
    return project


def _drove(project, command, prompt=None, **more):
    """Leave what `run` leaves."""
    settings = {"command": command, "prompt_file": prompt}
    (project.root / ".aiwg/ralph/ralph-001/run.json").write_text(json.dumps({"settings": settings, **more}))


@pytest.fixture
def mended(project, metrics_of):
    """Return a loop that is green in iteration 2, for $3, and then worse."""
    green = metrics_of(test_count=12, tests_passed=12)
    return _loop(project, (metrics_of(**RED), 1), (green, 2), (metrics_of(**RED), 0))


def test_a_loop_in_numbers(mended):
    answer = mended.ralph("stats", "--json")
    (row,) = answer.json["rows"]
    assert [row[key] for key in ("agent", "model", "prompt", "host")] == [None, None, None, "own loop"]
    assert (row["loops"], row["iterations"]) == (1, 3)
    assert (row["began_red"], row["became_green"], row["iterations_to_green"]) == (1, 1, 2.0)
    assert (row["priced_loops"], row["cost_usd"]) == (1, 3.0)
    assert (row["gained_tests"], row["cost_per_gained_test"]) == (4, 0.75)
    assert (row["rollbacks"], row["questions"], row["after_peak"]) == (0, 0, 0.3333)
    assert answer.json["unreadable"] == []


def test_what_was_rolled_back_and_asked_is_counted(mended, metrics_of):
    assert mended.hook("loop-decision", None, "--apply").code == 0
    mended.must("post-iteration", metrics_of(test_count=12, tests_passed=12), "--blocked", "which port?")
    (row,) = mended.ralph("stats", "--json").json["rows"]
    assert (row["rollbacks"], row["questions"], row["cost_usd"]) == (1, 1, None), "the cost of iteration 4 is unknown"
    assert (row["priced_loops"], row["gained_tests"], row["cost_per_gained_test"]) == (0, 4, None)


@pytest.mark.parametrize(
    ("more", "model"), [({}, "opus"), ({"models": ["a", "b"]}, "a b"), ({"models": []}, "opus")], ids=str
)
def test_a_run_names_agent_model_and_prompt(mended, more, model):
    _drove(mended, ["/bin/claude", "-p", "--model", "opus"], "PROMPT.md", **more)
    (row,) = mended.ralph("stats", "--json").json["rows"]
    assert [row[key] for key in ("agent", "model", "prompt", "host")] == ["claude", model, "PROMPT.md", "run"]


@pytest.mark.parametrize("damage", ["", "[]", '{"settings": {}}', '{"settings": {"command": []}}'], ids=repr)
def test_a_loop_counts_without_knowing_who_drove_it(mended, damage):
    (mended.root / ".aiwg/ralph/ralph-001/run.json").write_text(damage)
    assert mended.ralph("stats", "--json").json["rows"][0]["host"] == "own loop"


def test_loops_of_several_projects_by_one_of_the_four(project_at, metrics_of, tmp_path):
    green = metrics_of(test_count=10, tests_passed=10)
    for name, agent, turns in (
        ("a", "codex", [(green, 1)]),
        ("b", "codex", [(metrics_of(**RED), 1)] * 3 + [(green, 1)]),
        ("c", "claude", [(metrics_of(**RED), None)]),
    ):
        _drove(_loop(project_at(tmp_path / name), *turns), [agent, "--model", name])
    folders = [tmp_path / name for name in "abc"]
    answer = project_at(tmp_path / "empty").plainly("stats", *folders, "--by", "agent")
    assert [line.split() for line in answer.out.splitlines()[:4]] == [
        ["3", "loops,", "6", "iterations"],
        ["agent", "loops", "green", "its", "to", "green", "$/test", "rollbacks", "questions", "after", "peak"],
        ["claude", "1", "0/1", "n/a", "n/a", "0", "0", "0%"],
        ["codex", "2", "2/2", "2.5", "$1.25", "0", "0", "0%"],
    ]
    assert len(project_at(tmp_path / "other").plainly("stats", *folders, "--json").json["rows"]) == 3


def test_a_hook_names_its_host(mended):
    (mended.root / ".aiwg/ralph/ralph-001/agent-turns.json").write_text('{"host": "codex", "model": "gpt-5"}')
    (row,) = mended.ralph("stats", "--json").json["rows"]
    assert [row[key] for key in ("agent", "model", "prompt", "host")] == ["codex", "gpt-5", None, "codex"]


def test_what_cannot_be_read_is_named_and_left_out(mended):
    loop = mended.root / ".aiwg/ralph/ralph-001"
    (loop / "progress/trajectory.jsonl").unlink()
    (loop / "iterations/iteration-001/state.json").write_text("{")
    answer = mended.ralph("stats")
    assert answer.code == 0
    assert "ralph-001: left out: iteration 1 is damaged" in answer.err
    assert answer.out.startswith("0 loops, 0 iterations\n")


def test_without_a_loop_it_says_what_to_do(project):
    assert "`ralph-tracker stats FOLDER…`" in project.ralph("stats").complaint
