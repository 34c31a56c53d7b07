"""Golden cases: the seed's worked examples, and whatever a shared folder holds beside them.

RALPH_TRACKER_SHARED may name a folder with `cases/` of the same shape and with `loops/`, each a recorded loop of
outcomes by test and of measurements by commit (`oracle.tsv`) with the values to expect.
"""

import csv
import json
import os
from pathlib import Path

import pytest
import yaml

from ralph_tracker.core.thresholds import Thresholds

OWN = Path(__file__).parents[2] / "fixtures" / "cases"
SHARED = os.environ.get("RALPH_TRACKER_SHARED")
NO_SHARED = "RALPH_TRACKER_SHARED names no folder of shared cases and loops"
SECTIONS = ("testing", "quality", "codebase")


def paths(folder, pattern):
    """Return what matches, or one skipped parameter that says why there is nothing."""
    found = sorted(folder.glob(pattern)) if folder is not None else []
    skip = pytest.param(None, marks=pytest.mark.skip(reason=NO_SHARED), id="not shared")
    return [pytest.param(path, id=path.name.removesuffix(".yaml")) for path in found] or [skip]


def shared(name):
    return None if SHARED is None else Path(SHARED) / name


def loaded(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def assert_holds(expected, found, where):
    """Every expected value is there; lists are of the same length."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            assert key in found, f"{where}: no {key} in {sorted(found)}"
            assert_holds(value, found[key], f"{where}.{key}")
    elif isinstance(expected, list):
        assert len(expected) == len(found), f"{where}: {found}"
        for number, value in enumerate(expected):
            assert_holds(value, found[number], f"{where}[{number}]")
    else:
        assert found == expected, f"{where}: {found!r} is not {expected!r}"


def flat(metrics):
    """Return the changes that a case's metrics are to a loop without a base."""
    values = {name: value for section in SECTIONS for name, value in metrics.get(section, {}).items()}
    return values | ({"score": metrics["quality_score"]} if "quality_score" in metrics else {})


def view(record):
    """Return a record's document as the cases name its parts."""
    document = record.to_dict()
    metrics = document["iteration_metrics"]
    return {
        **metrics,
        "pass_rate": metrics.get("testing", {}).get("pass_rate"),
        "best": document["best_iteration_tracker"],
        "decision": document["recommendation"],
        "message": document["message"],
    }


def run(start, case):
    """Judge a case with the thresholds as they are by default."""
    loop = start(base={}, thresholds=Thresholds(), **flat(case["baseline"]["metrics"]))
    for turn in case.get("iterations", []):
        loop.turn(**flat(turn["metrics"]))
    return loop


def check(start, case):
    loop = run(start, case)
    turns = [case["baseline"], *case.get("iterations", [])]
    for turn, record in zip(turns, loop.records, strict=True):
        assert_holds(turn.get("expect", {}), view(record), f"iteration {record.iteration}")
    document = loop.select()._replace(folder=".aiwg/ralph/ralph-001", report="report.md").to_dict()
    assert_holds(case.get("expect", {}), document, "selection")


@pytest.mark.parametrize("path", paths(OWN, "*.yaml"))
def test_case(start, path):
    check(start, loaded(path))


@pytest.mark.parametrize("path", paths(shared("cases"), "*.yaml"))
def test_shared_case(start, path):
    check(start, loaded(path))


def test_the_own_cases_are_found():
    assert [path.name[:9] for path in sorted(OWN.glob("*.yaml"))] == [f"example-{number}" for number in range(1, 5)]


def test_a_case_that_does_not_hold_is_told(start):
    case = loaded(OWN / "example-2-regression.yaml")
    case["iterations"][2]["expect"]["alerts"][0]["message"] = "something else"
    with pytest.raises(AssertionError, match=r"iteration 3\.alerts\[0\]\.message"):
        check(start, case)


@pytest.mark.parametrize("folder", paths(shared("loops"), "*/expected.yaml"))
class TestSharedLoop:
    @pytest.fixture
    def loop(self, start, folder):
        folder = folder.parent
        with (folder / "oracle.tsv").open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines, delimiter="\t"))
        turns = []
        for row in rows:
            (outcomes,) = folder.glob(f"outcomes-{int(row['idx']):02d}-*.json")
            named = json.loads(outcomes.read_text(encoding="utf-8"))
            turns.append(
                {
                    "tests": {test: "failed" if end == "error" else end for test, end in named.items()},
                    "coverage_percentage": float(row["cov_pct"]),
                    "lint_errors": int(row["ruff_default"]),
                    "loc_total": int(row["src_loc"]),
                }
            )
        loop = start(base={}, **turns[0])
        for turn in turns[1:]:
            loop.turn(**turn)
        return loop

    @pytest.fixture
    def expected(self, folder):
        return loaded(folder)

    def test_scores_and_peaks(self, loop, expected):
        selection = loop.select()
        assert [record.quality_score for record in loop.records] == expected["quality_score"]
        assert selection.peak_by_quality_score == expected["peak_by_quality_score"]
        assert selection.selected.iteration == expected["selected"]
