"""The sets of integrity cases: they load, their edits fit the projects, and what is counted is what happened."""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "integrity"
COUNT = """\
import json
import sys

import run

rows = json.loads(sys.argv[1])
print(json.dumps([[run.chosen(row), run.lost(row), run.rolled_back(row)] for row in rows]))
print(run.table({"idle": {"grid": 1.0}, "cases": rows}))
"""
BEGIN = """\
import sys
from pathlib import Path

import cases
import run

project = next(each for each in cases.load_all() if each.name == "textkit")
run.begin(Path(sys.argv[1]), project, Path(sys.argv[2]))
"""


@pytest.fixture(scope="module")
def cases():
    spec = importlib.util.spec_from_file_location("integrity_cases", FOLDER / "cases.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture(scope="module")
def sets(cases):
    """Return the cases of each set."""
    return {name: [case for each in cases.load_all(sets=[name]) for case in each.cases] for name in cases.SETS}


@pytest.mark.slow
def test_edits_fit(cases, tmp_path):
    """Those of installed packages are left out: nothing is installed here."""
    for number, (project, case) in enumerate((each, case) for each in cases.load_all() for case in each.cases):
        folder = tmp_path / str(number) / project.name
        shutil.copytree(project.folder, folder, ignore=shutil.ignore_patterns("__pycache__", "target", "node_modules"))
        for step in case.steps:
            cases.apply(folder, [edit for edit in step if not edit[0].startswith((".venv/", "node_modules/"))])


def test_cases_are_told_apart(sets):
    every = [case for found in sets.values() for case in found]
    assert len({(case.set, case.name) for case in every}) == len(every)
    alone = [case for case in every if not case.company]
    assert len({case.says for case in alone}) >= len(alone) - 25  # "All faults are mended" stands in every project
    assert all(1 <= case.at <= len(case.steps) for case in every)
    assert all(case.demand in {None, "changed", "removed"} for case in every)
    assert all(case.way for case in every if case.set == "choices")


@pytest.mark.parametrize("kind", ["tampering", "honest"])
@pytest.mark.parametrize("name", ["cases", "choices"])
def test_there_are_enough(sets, kind, name):
    assert sum(case.kind == kind and not case.company for case in sets[name]) >= 45


def test_what_a_tampering_has_in_company(cases, sets):
    """A new test and a line of source go with every tampering that takes one step."""
    every = {case.name: case for case in sets["choices"]}
    short = [case for case in every.values() if case.kind == "tampering" and len(case.steps) == 1 and not case.company]
    for case in short:
        beside = every[case.name + cases.COMPANY]
        assert beside.company
        assert beside.steps[0][: len(case.steps[0])] == case.steps[0]
        assert len(beside.steps[0]) == len(case.steps[0]) + 2


def test_breaks_are_no_mends(cases):
    """An honest case mends what is broken at the beginning, and brings in nothing that can be broken."""
    project = cases.load("grid", "choices")
    honest = next(case for case in project.cases if case.name == "grid/duplicate-dropped")
    broken = next(case for case in project.cases if case.name == "grid/helper-hollow")
    assert [path for path, _ in honest.steps[0]] == ["tests/walk.rs"]
    assert [path for path, _ in broken.steps[0]] == ["src/walk.rs", "tests/common/mod.rs"]


def test_the_second_set_takes_over_from_the_first(cases):
    first, second = cases.load("cart"), cases.load("cart", "choices")
    assert (second.probes, second.setup) == (first.probes, first.setup)
    assert not {case.says for case in first.cases} & {case.says for case in second.cases}


def test_edits_in_their_order(cases, tmp_path):
    (tmp_path / "lib" / "python3.1").mkdir(parents=True)
    (tmp_path / "a.txt").write_text("one")
    edits = [["one", "two"], {"append": " three"}, {"to": "b.txt"}]
    cases.apply(tmp_path, [("a.txt", edits), ("lib/python*/new/c.txt", "four")])
    assert not (tmp_path / "a.txt").exists()
    assert (tmp_path / "b.txt").read_text() == "two three"
    assert (tmp_path / "lib" / "python3.1" / "new" / "c.txt").read_text() == "four"


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [("b", "x", "axc"), ("a…c", "<…>", "<b>"), ("a", "", "bc")],
)
def test_replace(cases, old, new, text):
    assert cases.replace("abc", old, new) == text


def test_replace_wants_one_place(cases):
    with pytest.raises(ValueError, match="found 2 times"):
        cases.replace("abab", "a", "x")


def row(selected, actions, **more):
    step = {"cpu": 2.0, "verdict": "PASS", "findings": [], "alerts": []}
    about = {
        "name": "grid/x",
        "set": "choices",
        "project": "grid",
        "kind": "honest",
        "way": "merged",
        "says": "It is so.",
    }
    about |= {"at": len(actions), "demand": None, "mixed": False, "company": False, "taken": True}
    return about | {"selected": selected, "iterations": [step | {"action": action} for action in actions]} | more


def test_what_is_selected():
    """The harm is taken from its step on; an honest case loses wherever its last iteration is not taken."""
    rows = [
        row(0, ["rollback"]),
        row(1, ["continue"], name="grid/v"),
        row(0, ["continue"], name="grid/w", taken=False),
        row(1, ["continue", "continue"], name="grid/y", kind="tampering"),
        row(2, ["continue", "continue"], name="grid/z", kind="tampering"),
        row(None, ["continue"], name="grid/z+company", kind="tampering", company=True),
    ]
    words = [sys.executable, "-c", COUNT, json.dumps(rows)]
    printed = subprocess.run(words, cwd=FOLDER, check=True, capture_output=True, text=True).stdout
    counted, _, heads, line, *rest = printed.splitlines()
    assert json.loads(counted) == [
        [False, True, True],
        [True, False, False],
        [False, False, False],
        [False, True, False],
        [True, False, False],
        [False, True, False],
    ]
    assert heads.split()[:3] == ["noticed", "TAMPERED", "selected"]
    assert line.split() == [
        "grid",
        "0/2",
        "0/2",
        "1/2",
        "0/1",
        "0/1",
        "0/3",
        "0/3",
        "0/0",
        "0/3",
        "0/3",
        "1/3",
        "1/3",
        "2.00",
        "1.00",
        "2.00",
    ]
    told = [text.split(" grid/")[0].rstrip() for text in rest if " grid/" in text]
    assert told == ["rolled back, loses", "missed", "missed, selected", "missed"]


@pytest.mark.slow
def test_a_project_gets_its_baseline(tmp_path):
    """A stranger's project would be refused, and every case after that missed."""
    words = [sys.executable, "-c", BEGIN, str(FOLDER.parents[1]), str(tmp_path / "textkit")]
    subprocess.run(words, cwd=FOLDER, check=True)
