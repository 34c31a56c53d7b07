"""In a copy with lent folders, a narrowed check runs the tests of one file, and the working tree stays as it is."""

import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from ralph_tracker.formats.parsed_report import TestReport
from ralph_tracker.formats.registry import examine
from ralph_tracker.measure.limit_to_test_files import limited_to_files
from ralph_tracker.measure.linked_environments import link_environments
from ralph_tracker.measure.run_checks import Check, environment_for_checks, run_checks

from . import sources

pytestmark = pytest.mark.sampled

_JS = "import {test} from 'vitest';\ntest('other', () => {});\n"
_PY = """import unittest

from calc import add

class Case(unittest.TestCase):
    def test_NAME(self):
        add(1)
"""


@dataclass(frozen=True)
class Case:
    """A project of two test files, its check, and the tests of the first file by the end of their ids."""

    files: dict[str, str]
    check: Check
    file: str
    tests: frozenset[str]
    needs: tuple[str, ...] = ()
    install: tuple[str, ...] = ()


def _check(run, report, **more):
    return Check(name="tests", run=run, reports=(report,), **more)


def _python(run, report):
    files = {
        ".gitignore": "__pycache__/\n.venv/\n",
        "calc.py": "def add(a):\n    return a\n",
        "tests/__init__.py": "",
        "tests/test_one.py": _PY.replace("NAME", "one"),
        "tests/test_two.py": _PY.replace("NAME", "two"),
    }
    return Case(files, _check(run, report), "tests/test_one.py", frozenset({"test_one"}))


CASES = {
    "pytest": _python([".venv/bin/python", "-m", "pytest", "--junitxml={reports}/j.xml"], "{reports}/j.xml"),
    "jest": Case(
        {**sources.JEST, "test/other.test.js": "test('other', () => {});\n"},
        _check(["node_modules/.bin/jest", "--ci", "--json", "--outputFile={reports}/j.json"], "{reports}/j.json"),
        "test/sum.test.js",
        frozenset({"adds", "fails", "later", "never"}),
        install=("jest@30.5.2",),
    ),
    "vitest": Case(
        {**sources.VITEST, "test/other.test.js": _JS},
        _check(
            ["node_modules/.bin/vitest", "run", "--reporter=json", "--outputFile={reports}/v.json"], "{reports}/v.json"
        ),
        "test/sum.test.js",
        frozenset({"adds", "fails", "later", "never"}),
        install=("vitest@3.2.7",),
    ),
    "go": Case(
        dict(sources.MODULE),
        _check(["go", "test", "-json", "./..."], "-"),
        "inner/inner_test.go",
        frozenset({"TestOne"}),
        needs=("go",),
    ),
    "cargo": Case(
        {**sources.CRATE, "tests/other.rs": "#[test]\nfn other() {}\n"},
        _check("cargo test --no-fail-fast 2>&1", "-", env={"CARGO_TERM_COLOR": "never"}),
        "tests/whole.rs",
        frozenset({"whole"}),
        needs=("cargo",),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_one_file_is_run_beside_the_working_tree(name, project, with_tools, tmp_path):
    case = CASES[name]
    with_tools(case.needs, case.install)
    root = project(case.files, case.install).root.resolve()
    if not case.needs and not case.install:
        _environment(root)
    copy = tmp_path / "scratch/project"
    kept = shutil.ignore_patterns(".git", ".venv", "node_modules")
    shutil.copytree(root, copy, ignore=kept)
    before = _state(root)

    check, whole = limited_to_files(case.check, [case.file], copy)
    assert not whole
    environment = link_environments(root, copy, [check], dict(os.environ), same_source=True, builds=tmp_path / "builds")
    outcomes = _run(check, copy, tmp_path / "run", environment_for_checks(environment, copy))

    assert {re.split(r"::|[./]| > ", identity)[-1] for identity in outcomes} == case.tests
    assert not any("ther" in identity for identity in outcomes)
    assert _state(root) == before


def _run(check, copy, folder, environment):
    (done,) = run_checks([check], root=copy, folder=folder, reports=folder / "reports", environment=environment)
    printed = done.stdout.read_text() + done.stderr.read_text()
    outcomes = {}
    for found in done.reports:
        assert found.data_path is not None, printed
        report = examine(found.data_path.read_bytes()).result
        assert isinstance(report, TestReport), printed
        outcomes |= report.outcomes
    return outcomes


def _state(root):
    """Return everything in a tree with its time: contents of files, targets of links."""
    return {
        path.relative_to(root).as_posix(): (
            path.lstat().st_mtime_ns,
            path.readlink() if path.is_symlink() else path.read_bytes() if path.is_file() else None,
        )
        for path in root.rglob("*")
    }


def _environment(root):
    """Make an environment of the project that sees the packages of ours, and into which Python may write bytecode."""
    (root / ".venv/bin").mkdir(parents=True)
    (root / ".venv/bin/python").symlink_to(sys.executable)
    (root / ".venv/pyvenv.cfg").write_text(f"home = {Path(sys.executable).resolve().parent}\n")
    site = root / f".venv/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    site.mkdir(parents=True)
    (site / "ours.pth").write_text("\n".join(path for path in sys.path if path.endswith("-packages")) + f"\n{root}\n")
