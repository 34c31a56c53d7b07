"""The history as a whole and by what is asked for; a table that no screen is too narrow for."""

import json

import pytest


@pytest.fixture(scope="module")
def varied(project_at, metrics_of, tmp_path_factory):
    """Return a loop: baseline, forward, regression with alerts, forward, two of plateau."""
    project = project_at(tmp_path_factory.mktemp("varied") / "project").started(test_count=9, tests_passed=9)
    project.must("post-iteration", metrics_of())
    project.must("post-iteration", metrics_of(test_count=9, tests_passed=9))
    project.must("post-iteration", metrics_of(coverage_percentage=60))
    project.must("post-iteration", metrics_of(coverage_percentage=60))
    project.must("post-iteration", metrics_of(coverage_percentage=60))
    return project


@pytest.mark.parametrize(
    ("asked", "numbers"),
    [
        ((), [0, 1, 2, 3, 4, 5]),
        (("--last", 2), [4, 5]),
        (("--last", 99), [0, 1, 2, 3, 4, 5]),
        (("--since", 4), [4, 5]),
        (("--since", 0), [0, 1, 2, 3, 4, 5]),
        (("--class", "regression"), [2]),
        (("--class", "regression", "--class", "plateau"), [2, 4, 5]),
        (("--alerts",), [2]),
        (("--class", "plateau", "--last", 1), [5]),
        (("--class", "forward", "--since", 2), [3]),
        (("--class", "stalled"), []),
    ],
    ids=lambda value: " ".join(map(str, value)) or "all" if isinstance(value, tuple) else "",
)
def test_what_is_asked_for_is_listed_by_table_and_json_alike(varied, asked, numbers):
    documents = varied.ralph("history", *asked, "--json").json
    assert [document["iteration_metrics"]["iteration"] for document in documents] == numbers
    listed = varied.ralph("history", *asked)
    assert (listed.code, listed.err) == (0, "")
    if numbers:
        assert [int(line.split()[0]) for line in listed.out.splitlines()[1:]] == numbers
    else:
        assert listed.out == "no iteration of loop ralph-001 fits; `ralph-tracker history` lists all 6\n"


@pytest.mark.parametrize(
    "wrong",
    [("--last", "0"), ("--last", "x"), ("--since", "-1"), ("--class", "best")],
    ids=" ".join,
)
def test_what_nothing_can_fit_is_wrong_usage(varied, wrong):
    answer = varied.ralph("history", *wrong)
    assert answer.code == 2
    assert answer.complaint.endswith("see `ralph-tracker history --help`")


def test_a_damaged_record_is_of_no_class_and_is_named_all_the_same(running):
    loop = running.root / ".aiwg/ralph/ralph-001"
    for name in ("progress/iteration-001-metrics.yaml", "iterations/iteration-001/metrics.json"):
        (loop / name).write_text("{")
    for asked, listed in (((), ["0", "1"]), (("--class", "baseline"), ["0"]), (("--since", "1"), ["1"])):
        answer = running.ralph("history", *asked)
        assert [line.split()[0] for line in answer.out.splitlines()[1:]] == listed
        assert answer.err.startswith("ralph-tracker: iteration 1: both copies of its record are damaged")


def test_the_table_is_never_wider_than_80_columns(project):
    folder = project.root / ".aiwg/ralph/loops/old/progress"
    folder.mkdir(parents=True)
    for number in range(10_000, 10_003):
        record = {
            "iteration_metrics": {
                "iteration": number,
                "classification": "a class that AIWG has made up" * 5,
                "testing": {"tests_passed": 123_456_789, "test_count": 123_456_789, "coverage_percentage": 100.0},
                "quality": {"error_count": 123_456_789},
                "quality_score": 0.1234,
                "is_best_iteration": True,
            },
            "recommendation": {"action": "wait and see" * 9},
        }
        (folder / f"iteration-{number}-metrics.json").write_text(json.dumps(record))
    answer = project.ralph("history", "--loop-id", "old")
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert len(lines) == 4
    assert max(map(len, lines)) <= 80
    assert " 123456789… " in lines[1]


def test_counts_that_are_null_are_not_measured(project):
    folder = project.root / ".aiwg/ralph/loops/old/progress"
    folder.mkdir(parents=True)
    record = {"iteration_metrics": {"iteration": 1, "testing": {"tests_passed": None, "test_count": 3}}}
    (folder / "iteration-001-metrics.json").write_text(json.dumps(record))
    assert "n/a" in project.ralph("history", "--loop-id", "old").out.splitlines()[1].split()[2]
