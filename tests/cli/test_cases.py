"""The golden cases through the command line, word for word: hooks with `--metrics FILE --json`, and exit codes."""

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

FIXTURES = Path(__file__).parents[2] / "fixtures" / "cases"
SHARED = os.environ.get("RALPH_TRACKER_SHARED")
CASES = [
    *(sorted((Path(SHARED) / "cases").glob("*.yaml")) if SHARED else ()),
    *sorted(FIXTURES.glob("*.yaml")),
]
CODES = {"continue": 0, "stop": 10, "rollback": 11, "escalate": 12}
# Where a key of `expect` stands in the record; every other one is a key of its iteration_metrics.
PLACES = {
    "best": ("best_iteration_tracker",),
    "decision": ("recommendation",),
    "message": ("message",),
    "pass_rate": ("iteration_metrics", "testing", "pass_rate"),
}


def at(document: Any, place: tuple[str, ...]) -> Any:
    for key in place:
        document = document[key]
    return document


def holds(found: Any, expected: Any, path: str) -> None:
    """Compare word for word: keys that nobody expects may be there too, items of a list may not."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            assert key in found, f"{path}: no {key}"
            holds(found[key], value, f"{path}.{key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), f"{path}: {found}"
        for number, value in enumerate(expected):
            holds(found[number], value, f"{path}.{number}")
    else:
        assert found == expected, f"{path}: {found!r}, not {expected!r}"


def record_holds(record: Any, expected: Any, path: str) -> None:
    for key, value in expected.items():
        holds(at(record, PLACES.get(key, ("iteration_metrics", key))), value, f"{path}.{key}")


def apply_is_refused(project: Any, target: int) -> None:
    before = project.content()
    answer = project.hook("loop-decision", None, "--apply")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith(f"ralph-tracker: iteration {target} has no files")
    assert project.content() == before


@pytest.mark.skipif(not SHARED, reason="RALPH_TRACKER_SHARED names no folder of shared golden data")
def test_the_shared_cases_are_found():
    assert any(SHARED in str(path) for path in CASES)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_golden_case_comes_out_word_for_word(path, project):
    case = yaml.safe_load(path.read_text(encoding="utf-8"))
    named = ("--loop-id", case["loop_id"]) if "loop_id" in case else ()
    record = project.must("pre-loop", case["baseline"]["metrics"], *named)
    record_holds(record, case["baseline"].get("expect", {}), "baseline")
    for number, iteration in enumerate(case.get("iterations", ()), 1):
        record = project.must("post-iteration", iteration["metrics"], *named)
        assert record["iteration_metrics"]["iteration"] == number
        assert record["iteration_metrics"]["previous_iteration"] == number - 1
        record_holds(record, iteration.get("expect", {}), f"iteration {number}")
        decided = project.hook("loop-decision", None, "--json")
        assert (decided.code, decided.json) == (CODES[decided.json["action"]], record["recommendation"])
        if decided.json["action"] == "rollback":
            apply_is_refused(project, decided.json["target_iteration"])
    if "expect" in case:
        selection = project.must("post-loop", None, *named)
        holds(selection, case["expect"], "selection")
        stored = project.root / ".aiwg/ralph" / record["iteration_metrics"]["loop_id"] / "selection.yaml"
        assert yaml.safe_load(stored.read_text(encoding="utf-8")) == selection
