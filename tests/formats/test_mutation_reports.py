"""Reports of mutation tools: errors with their places, what became of each, and nothing from half a report."""

import json
from pathlib import Path

import pytest

from ralph_tracker.formats.mutation_reports import Mutant, read
from ralph_tracker.formats.report_content import DamageError

CASES = Path(__file__).parents[2] / "fixtures" / "mutation"


def stryker(status: str, **more: object) -> bytes:
    location = {"start": {"line": 2, "column": 5}, "end": {"line": 2, "column": 8}}
    mutant = {"id": "0", "mutatorName": "Name", "status": status, "location": location, **more}
    return json.dumps({"files": {"a.js": {"source": "x\nif (a) b\n", "mutants": [mutant]}}}).encode()


def cosmic_ray(outcome: str | None, diff: str | None = None) -> bytes:
    job = {"mutations": [{"module_path": "a.py", "operator_name": "core/Not", "start_pos": [3, 4]}]}
    return json.dumps([job, {"test_outcome": outcome, "diff": diff}]).encode()


def test_strykers_report():
    found = read((CASES / "stryker.json").read_bytes())
    assert [each.fate for each in found].count("noticed") == 5
    assert [each.fate for each in found].count("missed") == 7
    assert Mutant("price.js", 2, "n > 10", "true", "noticed") in found
    assert Mutant("price.js", 3, "n * each - 5", "n * each + 5", "missed") in found


def test_what_cosmic_ray_dumps_without_what_it_did_not_try():
    data = (CASES / "cosmic-ray.jsonl").read_bytes()
    found = read(data)
    assert 0 < len(found) < len(data.splitlines())
    assert Mutant("prices.py", 8, "return n + 1", "return n - 1", "missed") in found


@pytest.mark.parametrize(
    ("status", "fates"),
    [
        ("Killed", ["noticed"]),
        ("Timeout", ["noticed"]),
        ("Survived", ["missed"]),
        ("NoCoverage", ["unreached"]),
        ("CompileError", []),
        ("Ignored", []),
        ("Pending", []),
    ],
)
def test_what_became_of_an_error_is_strykers_word(status, fates):
    assert [each.fate for each in read(stryker(status))] == fates


def test_an_error_without_its_text_has_the_name_of_its_kind():
    assert read(stryker("Survived")) == (Mutant("a.js", 2, "a)", "Name", "missed"),)
    assert read(cosmic_ray("survived")) == (Mutant("a.py", 3, "", "core/Not", "missed"),)


@pytest.mark.parametrize(("outcome", "fates"), [("killed", ["noticed"]), ("incompetent", ["noticed"]), (None, [])])
def test_what_became_of_an_error_is_cosmic_rays_word(outcome, fates):
    assert [each.fate for each in read(cosmic_ray(outcome))] == fates


def test_an_error_over_several_lines_has_its_first():
    end = {"start": {"line": 1, "column": 1}, "end": {"line": 2, "column": 3}}
    assert read(stryker("Survived", location=end, replacement="{\n}"))[0][2:4] == ("x", "{ }")


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"\xff", b"[" * 100_000, stryker("Eaten"), cosmic_ray("eaten")])
def test_what_is_no_report_is_refused(data):
    with pytest.raises(DamageError):
        read(data)


@pytest.mark.parametrize("name", ["stryker.json", "cosmic-ray.jsonl"])
def test_half_a_report_is_refused(name):
    with pytest.raises(DamageError):
        read((CASES / name).read_bytes()[:-50])
