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
        assert [int(line.split()[0]) for line in listed.out.splitlines() if line[0].isdigit()] == numbers
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
        assert [line.split()[0] for line in answer.out.splitlines() if line[0].isdigit()] == listed
        assert answer.err.startswith("ralph-tracker: iteration 1: both copies of its record are damaged")


def written_by_aiwg(project, records):
    """Write records as AIWG does, in a loop that is called old."""
    folder = project.root / ".aiwg/ralph/loops/old/progress"
    folder.mkdir(parents=True)
    for record in records:
        number = record["iteration_metrics"]["iteration"]
        (folder / f"iteration-{number}-metrics.json").write_text(json.dumps(record))


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_no_table_is_wider_than_the_screen_whatever_the_records_hold(project, monkeypatch, columns):
    metrics = {
        "classification": "a class that AIWG has made up" * 5,
        "testing": {"tests_passed": 123_456_789, "test_count": 123_456_789, "coverage_percentage": 100.0},
        "quality": {"error_count": 123_456_789},
        "quality_score": 0.1234,
        "is_best_iteration": True,
    }
    decided = {"recommendation": {"action": "wait and see" * 9}}
    written_by_aiwg(
        project, [{"iteration_metrics": {"iteration": each, **metrics}, **decided} for each in (10_000, 10_001)]
    )
    monkeypatch.setenv("COLUMNS", str(columns))
    answer = project.ralph("history", "--loop-id", "old")
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert max(map(len, lines)) <= columns
    assert [line.split()[0] for line in lines[1:]] == ["10000", "10001"]
    assert " a class tha… " in lines[1] or columns == 40


@pytest.mark.parametrize(
    ("columns", "left_out"),
    [
        (40, ["decimals", "errors", "$/pt", "coverage", "cost", "integrity", "decision"]),
        (60, ["decimals", "errors", "$/pt", "coverage", "cost"]),
        (80, ["decimals", "errors"]),
    ],
)
def test_a_narrow_screen_loses_decimals_then_columns_and_says_which(project, monkeypatch, columns, left_out):
    scores = {0: ("baseline", 0.51), 1: ("regression", 0.4321), 2: ("forward", 0.87)}
    records = [
        {
            "iteration_metrics": {
                "iteration": number,
                "previous_iteration": number - 1,
                "classification": classification,
                "testing": {"tests_passed": 118, "test_count": 124, "coverage_percentage": 91.2},
                "quality": {"error_count": 3},
                "quality_score": score,
                "adjusted_score": score,
                "integrity": {"verdict": "TAMPERED"},
                "usage": {"cost_usd": 12.34},
                "is_best_iteration": number == 2,
            },
            "recommendation": {"action": "rollback"},
        }
        for number, (classification, score) in scores.items()
    ]
    written_by_aiwg(project, records)
    monkeypatch.setenv("COLUMNS", str(columns))
    answer = project.ralph("history", "--loop-id", "old")
    head, *rows = answer.out.splitlines()
    shown = ["it.", "class", "tests", "coverage", "errors", "score", "integrity", "cost", "$/pt"]
    assert head.split() == [each for each in [*shown, "decision"] if each not in left_out]
    for row, (classification, score) in zip(rows, scores.values(), strict=True):
        percent = f"{score * 100:.0f}" if left_out else f"{score * 100:.1f}".removesuffix(".0")
        assert {classification, "118/124", percent} <= set(row.split())
    assert rows[2].endswith("← best")
    assert max(map(len, (head, *rows))) <= columns
    names = ", ".join(left_out)
    had = f"ralph-tracker: terminal too narrow for {names}; `COLUMNS=120 ralph-tracker history` shows all"
    assert answer.err == (f"{had}\n" if left_out else "")


def test_counts_that_are_null_are_not_measured(project):
    written_by_aiwg(
        project, [{"iteration_metrics": {"iteration": 1, "testing": {"tests_passed": None, "test_count": 3}}}]
    )
    assert "n/a" in project.ralph("history", "--loop-id", "old").out.splitlines()[1].split()[2]
