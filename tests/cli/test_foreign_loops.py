"""Loops that AIWG itself wrote: read where they are, a damaged record named, nothing of ours written."""

import json
import textwrap

import pytest

# The seed's Example 1, as it stands there: YAML under the name .json.
BASELINE = """\
iteration_metrics:
  iteration: 0
  timestamp: "2026-02-02T10:00:00Z"
  classification: baseline

  testing:
    test_count: 8
    tests_passed: 5
    tests_failed: 3
    tests_skipped: 0
    pass_rate: 62.5
    coverage_percentage: 65.0
    coverage_lines_covered: 292
    coverage_lines_total: 450

  quality:
    lint_errors: 8
    lint_warnings: 4
    type_errors: 0
    build_status: success

  codebase:
    file_count: 3
    loc_total: 450
    complexity_score: 12.5

  quality_score: 0.60
  is_best_iteration: false

baseline_stored: true
next_action: await_iteration_1
"""
# The seed's Example 2.
REGRESSION = {
    "iteration_metrics": {
        "iteration": 3,
        "timestamp": "2026-02-02T10:15:00Z",
        "classification": "regression",
        "testing": {
            "test_count": 9,
            "tests_passed": 7,
            "tests_failed": 2,
            "pass_rate": 77.8,
            "coverage_percentage": 72,
        },
        "deltas": {
            "from_previous": {"test_count_delta": -1, "pass_rate_delta": -2.2, "coverage_delta": -3.0},
            "from_baseline": {"test_count_delta": 1, "pass_rate_delta": 15.3, "coverage_delta": 7.0},
        },
        "quality_score": 0.75,
        "alerts": [
            {
                "severity": "CRITICAL",
                "type": "test_deletion",
                "message": "Test count decreased from 10 to 9",
                "triggered_at": "iteration_3",
            }
        ],
    },
    "best_iteration_tracker": {
        "current_best": "iteration_2",
        "best_quality_score": 0.80,
        "current_iteration_score": 0.75,
    },
    "recommendation": {
        "action": "rollback",
        "target_iteration": 2,
        "reason": "Multiple CRITICAL regressions detected",
        "confidence": 0.95,
    },
}
FOLDERS = {"under loops": "loops/old-loop/progress", "beside ours": "old-loop/progress"}
NAMED = ("--loop-id", "old-loop")


@pytest.fixture(params=FOLDERS)
def folder(request, project):
    """Return the folder of a loop that AIWG wrote: a baseline in YAML, an iteration in JSON."""
    folder = project.root / ".aiwg/ralph" / FOLDERS[request.param]
    folder.mkdir(parents=True)
    (folder / "iteration-000-baseline.json").write_text(BASELINE, encoding="utf-8")
    (folder / "iteration-003-metrics.json").write_text(json.dumps(REGRESSION), encoding="utf-8")
    (folder / "notes.txt").write_text("not a record", encoding="utf-8")
    return folder


def test_history_lists_what_aiwg_wrote(project, folder):
    answer = project.ralph("history", *NAMED)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == textwrap.dedent(
        """\
        it.  class       tests  coverage  score  decision
        0    baseline    5/8    65.0%     60 %   n/a
        3    regression  7/9    72.0%     75 %   rollback
        """
    )
    assert project.ralph("history", *NAMED, "--json").json[1] == REGRESSION


def test_show_tells_what_is_there_and_says_na_for_the_rest(project, folder):
    answer = project.ralph("show", *NAMED)
    assert answer.code == 0
    assert "iteration 3 (2026-02-02T10:15:00Z): regression\n" in answer.out
    assert "  Test Count        9        10      -1         8      +1\n" in answer.out
    assert "  Errors          n/a       n/a     n/a       n/a     n/a\n" in answer.out
    assert "\nCRITICAL test_deletion (new): Test count decreased from 10 to 9\n" in answer.out
    assert "\ndecision: rollback to iteration 2 (confidence 95 %): Multiple CRITICAL" in answer.out
    assert project.ralph("show", "3", *NAMED, "--json").json == REGRESSION
    assert project.ralph("show", "0", *NAMED).code == 0


def test_diff_compares_the_metrics_and_says_that_nothing_else_is_kept(project, folder):
    answer = project.ralph("diff", "0", *NAMED)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == textwrap.dedent(
        """\
        old-loop: iteration 0 (baseline) → 3 (regression)
                             0      3  change
        Score             60 %   75 %   +15.0  better
        Test Count           8      9      +1  better
        Tests Passed         5      7      +2  better
        Tests Failed         3      2      -1  better
        Tests Skipped        0    n/a
        Pass Rate        62.5%  77.8%  +15.3%  better
        Coverage         65.0%  72.0%   +7.0%  better
        Lines Covered      292    n/a
        Lines Total        450    n/a
        Lint Errors          8    n/a
        Lint Warnings        4    n/a
        Type Errors          0    n/a
        Build          success    n/a
        Files                3    n/a
        Lines of Code      450    n/a
        Complexity       12.50    n/a
        tests: AIWG wrote this loop; of tests and files it keeps nothing
        files: AIWG wrote this loop; of tests and files it keeps nothing
        """
    )


def test_a_report_is_rendered_from_what_aiwg_wrote(project, folder):
    answer = project.ralph("report", "3", *NAMED)
    assert answer.code == 0
    assert "| Pass Rate | 77.8% | 80.0% | -2.2% | 62.5% | +15.3% |\n" in answer.out
    assert "- **Current Best**: Iteration 2 (quality: 0.80)\n" in answer.out
    assert "| Validation | n/a | 0.00 | 0.00 |\n" in answer.out


def test_status_says_whose_loop_it_is_and_how_to_read_it(project, folder):
    answer = project.ralph("status", *NAMED)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == "loop old-loop: 2 records written by AIWG; read them with `ralph-tracker history`\n"
    answer = project.ralph("status", *NAMED, "--json")
    assert answer.code == 1
    assert answer.complaint.endswith("read it with `ralph-tracker history --json`")


def test_the_loop_that_the_environment_or_the_current_file_names_is_read(project, folder, monkeypatch):
    (project.root / ".aiwg/ralph/current").write_text("old-loop\n")
    assert project.ralph("history").out.count("\n") == 3
    (project.root / ".aiwg/ralph/current").unlink()
    monkeypatch.setenv("RALPH_LOOP_ID", "old-loop")
    assert project.ralph("history").out.count("\n") == 3


# id: what became of the record of iteration 2, and what is said of it
DAMAGE = {
    "cut short": ('{"iteration_metrics": {"iteration": 2', "line 2, column 1"),
    "empty": ("", "should be keys and values, found nothing"),
    "not UTF-8": (b"\xff\xfe", "cannot be read"),
    "no record": ("{}", "iteration_metrics: is missing"),
    "score as text": ('{"iteration_metrics": {"iteration": 2, "quality_score": "good"}}', "quality_score: should be"),
    "tests as text": (
        '{"iteration_metrics": {"iteration": 2, "testing": "all"}}',
        "testing: should be keys and values",
    ),
    "a list for a count": ('{"iteration_metrics": {"iteration": 2, "testing": {"test_count": []}}}', "found []"),
    "NaN": ("iteration_metrics: {iteration: 2, codebase: {complexity_score: .nan}}", "not a finite number"),
    "alerts as text": (
        '{"iteration_metrics": {"iteration": 2, "alerts": ["bad"]}}',
        "alerts.0: should be keys and values",
    ),
    "deltas as a list": ('{"iteration_metrics": {"iteration": 2, "deltas": [1]}}', "deltas: should be keys and values"),
    "best as text": (
        '{"iteration_metrics": {"iteration": 2}, "best_iteration_tracker": "x"}',
        "best_iteration_tracker: ",
    ),
    "advice as text": (
        '{"iteration_metrics": {"iteration": 2}, "recommendation": "stop"}',
        "recommendation: should be",
    ),
    "confidence in words": (
        '{"iteration_metrics": {"iteration": 2}, "recommendation": {"confidence": "high"}}',
        "recommendation.confidence: should be a valid number, found 'high'",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_record_is_named_and_the_others_are_listed(project, folder, damage):
    content, said = DAMAGE[damage]
    (folder / "iteration-002-metrics.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    answer = project.ralph("history", *NAMED)
    assert answer.code == 0
    assert [line.split()[:2] for line in answer.out.splitlines()[1:]] == [
        ["0", "baseline"],
        ["2", "damaged"],
        ["3", "regression"],
    ]
    assert answer.err.count("\n") == 1
    assert said in answer.err
    listed = project.ralph("history", *NAMED, "--json").json
    assert [record["iteration_metrics"]["iteration"] for record in listed] == [0, 3]
    for verb in ("show", "report"):
        assert project.ralph(verb, "3", *NAMED).code == 0
        refused = project.ralph(verb, "2", *NAMED)
        assert (refused.code, said in refused.complaint) == (1, True)


def test_reading_writes_nothing(project, folder):
    before = project.content()
    for verb in (("history",), ("show",), ("diff", "0"), ("report",), ("status",)):
        project.ralph(*verb, *NAMED)
    assert project.content() == before


def test_a_loop_of_aiwg_takes_no_hook_of_ours(project, folder, metrics_of):
    for command in ((), ("--metrics", project.file("m.json", metrics_of()))):
        phase = "post-iteration" if command else "loop-decision"
        answer = project.ralph("hook", phase, *command, *NAMED)
        assert answer.complaint == (f"loop old-loop: not in {project.root}; run `ralph-tracker hook pre-loop` first")
