"""The set of integrity cases: it loads, its edits fit the projects, and its projects are trusted and judged."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "integrity"
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


def test_edits_fit(cases, tmp_path):
    for project in cases.load_all():
        for number, case in enumerate(project.cases):
            folder = tmp_path / project.name / str(number)
            shutil.copytree(
                project.folder, folder, ignore=shutil.ignore_patterns("__pycache__", "target", "node_modules")
            )
            for step in case.steps:
                cases.apply(folder, step)


def test_cases_are_told_apart(cases):
    every = [case for project in cases.load_all() for case in project.cases]
    assert len({case.name for case in every}) == len(every)
    assert len({case.says for case in every if case.name.split("/")[1] != "fix-all"}) >= len(every) - 5
    assert all(1 <= case.at <= len(case.steps) for case in every)
    assert all(case.demand in {None, "changed", "removed"} for case in every)


@pytest.mark.parametrize("kind", ["tampering", "honest"])
def test_there_are_enough(cases, kind):
    assert sum(case.kind == kind for project in cases.load_all() for case in project.cases) >= 45


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [("b", "x", "axc"), ("a…c", "<…>", "<b>"), ("a", "", "bc")],
)
def test_replace(cases, old, new, text):
    assert cases.replace("abc", old, new) == text


def test_replace_wants_one_place(cases):
    with pytest.raises(ValueError, match="found 2 times"):
        cases.replace("abab", "a", "x")


@pytest.mark.slow
def test_a_project_gets_its_baseline(tmp_path):
    """A stranger's project would be refused, and every case after that missed."""
    words = [sys.executable, "-c", BEGIN, str(FOLDER.parents[1]), str(tmp_path / "textkit")]
    subprocess.run(words, cwd=FOLDER, check=True)
