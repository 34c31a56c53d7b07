"""What unittest's own results say is in the report, whatever the tests print."""

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from ralph_tracker.measure.helpers import unittest_junit

TESTS = """
import unittest

class Box(unittest.TestCase):
    def test_passes(self):
        print("test_other (tests.Box) ... ok")
    def test_fails(self):
        self.assertEqual(1, 2)
    def test_breaks(self):
        1 / 0
    @unittest.skip("later")
    def test_skipped(self): ...
    @unittest.expectedFailure
    def test_expected(self):
        self.fail()
    @unittest.expectedFailure
    def test_unexpected(self): ...
    def test_parts(self):
        for number in range(3):
            with self.subTest(number=number):
                self.assertNotEqual(number, 1)
    def test_runs_others(self):
        class Inner(unittest.TestCase):
            def test_inner(self):
                self.fail()
        Inner("test_inner").run(unittest.TestResult())

class Unfit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise OSError("no \\x00 database")
    def test_one(self): ...
    def test_two(self): ...
"""
EXPECTED = {
    "test_box.Box.test_passes": None,
    "test_box.Box.test_fails": ("failure", "AssertionError: 1 != 2"),
    "test_box.Box.test_breaks": ("error", "ZeroDivisionError: division by zero"),
    "test_box.Box.test_skipped": ("skipped", "later"),
    "test_box.Box.test_expected": ("skipped", "expected failure"),
    "test_box.Box.test_unexpected": ("failure", "unexpected success"),
    "test_box.Box.test_parts": ("failure", "AssertionError: 1 == 1"),
    "test_box.Box.test_runs_others": None,
    "test_box.Unfit.test_one": ("error", "OSError: no   database"),
    "test_box.Unfit.test_two": ("error", "OSError: no   database"),
    "unittest.loader._FailedTest.test_broken": ("error", "SyntaxError: invalid syntax"),
}


def run(folder, *words):
    command = [sys.executable, unittest_junit.__file__, str(folder / "junit.xml"), *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def cases(folder):
    found = {}
    for case in ET.parse(folder / "junit.xml").getroot().iter("testcase"):  # noqa: S314  # our own
        outcome = next(iter(case), None)
        name = f"{case.get('classname')}.{case.get('name')}"
        found[name] = None if outcome is None else (outcome.tag, outcome.get("message"))
    return found


def test_each_result_is_that_of_unittest(tmp_path):
    (tmp_path / "test_box.py").write_text(TESTS)
    (tmp_path / "test_broken.py").write_text("def f(:\n")
    done = run(tmp_path, "-m", "unittest")
    assert done.returncode == 1
    assert cases(tmp_path) == EXPECTED


@pytest.mark.parametrize("words", [["-m", "coverage", "run", "-m", "unittest", "test_box"], ["suite.py"]])
def test_what_stands_around_the_run_changes_nothing_and_is_not_measured(tmp_path, words):
    (tmp_path / "test_box.py").write_text(TESTS)
    (tmp_path / "suite.py").write_text("import unittest\nunittest.main('test_box')\n")
    done = run(tmp_path, *words)
    assert done.returncode == 1
    assert cases(tmp_path) == {name: how for name, how in EXPECTED.items() if name.startswith("test_box")}
    if "coverage" in words:
        listed = [sys.executable, "-m", "coverage", "report"]
        measured = subprocess.run(listed, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
        assert "test_box.py" in measured
        assert "junit" not in measured


def test_a_test_that_ends_the_process_has_failed(tmp_path):
    (tmp_path / "test_end.py").write_text(
        "import unittest\nclass End(unittest.TestCase):\n    def test_it(self):\n        raise KeyboardInterrupt\n"
    )
    run(tmp_path, "-m", "unittest")
    assert cases(tmp_path) == {"test_end.End.test_it": ("error", "the run ended within this test")}


def test_no_test_is_an_empty_report_and_a_program_that_breaks_is_an_error(tmp_path):
    assert run(tmp_path, "-m", "unittest").returncode in {0, 5}
    assert cases(tmp_path) == {}
    Path(tmp_path / "broken.py").write_text("1 / 0\n")
    assert "ZeroDivisionError" in run(tmp_path, "broken.py").stderr
