"""A real agent's loop, commit by commit, handed in with identities: the last iteration is far from the best one."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

LOOP = "vibe-fileworkspace"


def handed_in(folder: Path, row: dict[str, str]) -> dict[str, Any]:
    """Return the metrics of one commit: outcomes by name, coverage, findings and lines."""
    (path,) = folder.glob(f"outcomes-{int(row['idx']):02d}-*.json")
    outcomes = json.loads(path.read_text(encoding="utf-8"))
    return {
        "testing": {"coverage_percentage": float(row["cov_pct"])},
        "quality": {"lint_errors": int(row["ruff_default"])},
        "codebase": {"loc_total": int(row["src_loc"])},
        "tests": [{"id": name, "outcome": outcome} for name, outcome in outcomes.items()],
    }


@pytest.fixture
def told(shared, project):
    """Hand the whole loop in, and return what was said of it beside what is expected."""
    folder = shared / "loops" / LOOP
    with (folder / "oracle.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    project.must("pre-loop", handed_in(folder, rows[0]))
    for row in rows[1:]:
        project.must("post-iteration", handed_in(folder, row))
    history = [record["iteration_metrics"] for record in project.ralph("history", "--json").json]
    selection = project.must("post-loop")["best_output_selection"]
    return history, selection, yaml.safe_load((folder / "expected.yaml").read_text(encoding="utf-8"))


def test_a_real_loop_is_judged_as_the_design_says(told, project):
    history, selection, expected = told
    assert [it["quality_score"] for it in history] == expected["quality_score"]
    assert "regression" not in {it["classification"] for it in history}
    assert selection["peak_by_quality_score"] == expected["peak_by_quality_score"]
    assert selection["selected_iteration"] == expected["selected"]
    assert [it["iteration"] for it in history if it["is_best_iteration"]] == [expected["selected"]]
    scores = {f"iteration_{it['iteration']}": it["adjusted_score"] for it in history[1:]}
    assert selection["adjusted_quality_trajectory"] == scores
    passed_over = "Not taken: 15 gains no test, and its score of 78.2 % is below 86.1 %"
    assert selection["passed_over"] == [passed_over]
    assert passed_over in project.hook("post-loop").out
    reports = project.root / ".aiwg/ralph/ralph-001/reports"
    for name in ("output-selection.md", "loop-report.md"):
        assert f"- {passed_over}\n" in (reports / name).read_text(encoding="utf-8")
