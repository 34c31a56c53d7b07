"""What holds a recorded iteration back, by name and place: tests, findings, lost tests, uncovered new lines."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ralph_tracker.config.yaml_io import dump_yaml
from ralph_tracker.core.metrics import Group, Metrics
from ralph_tracker.formats.parsed_report import Diagnostic
from ralph_tracker.iteration.open_problems import (
    FINDINGS_KEPT,
    FailingTest,
    ListedDiagnostic,
    RemainingProblems,
    SourceLine,
    first_words,
    list_diagnostics,
    listed_diagnostics,
    not_loading_lines,
    remaining_problems,
    split_message,
)
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.read import SealedRecords
from ralph_tracker.tracker import Tracker

BROKEN = "def test_lid():\n>       assert lid() == 1\nE       assert 2 == 1\n\ntests/test_box.py:4: AssertionError"
CHECKS = {
    "tests": {"run": "cat junit.xml", "reports": ["-"], "format": "junit"},
    "lint": {"run": "cat ruff.json", "reports": ["-"], "format": "ruff-json"},
    "types": {"run": "cat mypy.txt", "reports": ["-"], "format": "mypy-text"},
    "coverage": {"run": "cat lcov.info", "reports": ["-"], "format": "lcov"},
    "build": {"run": "cat build.txt; test ! -s build.txt", "kind": "build"},
}


class Now:
    def now(self) -> datetime:
        return datetime(2026, 2, 2, 10, tzinfo=UTC)


class Project:
    """A project whose checks hand on what lies in its files."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("ralph-tracker.yaml", dump_yaml({"version": 1, "checks": CHECKS, "integrity": {"rerun": "never"}}))
        self.write("box.py", "def lid():\n    return 1\n")
        self.write("tests/test_box.py", "from box import lid\n\ndef test_lid():\n    assert lid() == 1\n")
        self.write("mypy.txt", "Success: no issues found in 1 source file\n")
        self.write("build.txt", "")
        self.tests(test_lid="").ruff().covered(1, 2)
        self.tracker = Tracker(root, None, Now(), {"PATH": os.environ["PATH"], "HOME": str(root)})

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(exist_ok=True)
        (self.root / path).write_text(text)

    def tests(self, **failures: str) -> "Project":
        cases = "".join(
            f'<testcase classname="tests.test_box" name="{name}">'
            + (said and f'<failure message="assert 2 == 1"><![CDATA[{said}]]></failure>')
            + "</testcase>"
            for name, said in failures.items()
        )
        self.write("junit.xml", f"<testsuite>{cases}</testsuite>")
        return self

    def ruff(self, *lines: int) -> "Project":
        root = self.root
        rows = [
            {
                "filename": f"{root}/box.py",
                "location": {"row": at},
                "end_location": {},
                "code": "E711",
                "message": "None",
            }
            for at in lines
        ]
        self.write("ruff.json", json.dumps(rows))
        return self

    def covered(self, *lines: int, missing: tuple[int, ...] = ()) -> None:
        rows = "".join(f"DA:{at},{int(at in lines)}\n" for at in sorted((*lines, *missing)))
        self.write("lcov.info", f"SF:box.py\n{rows}LF:{len(lines) + len(missing)}\nLH:{len(lines)}\nend_of_record\n")

    @property
    def records(self) -> SealedRecords:
        return SealedRecords(LoopPaths(self.root, "ralph-001"))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = (tmp_path / "project").resolve()
    root.mkdir()
    made = Project(root)
    made.tracker.pre_loop(None)
    return made


def test_a_whole_iteration_lacks_nothing(project):
    found = remaining_problems(project.records, 0)
    assert (found.failing, found.held_back, found.not_loaded, found.lost) == ((), 0, {}, {})
    assert (found.listed.findings, found.listed.uncovered) == ((), {})


def test_a_broken_test_is_named_with_its_place_and_message(project):
    project.tests(test_lid=BROKEN, test_new="bad")
    project.tracker.post_iteration(None)
    broken, new = remaining_problems(project.records, 1, project.root).failing
    lid = "tests.test_box::test_lid"
    assert broken == FailingTest(lid, SourceLine("tests/test_box.py", 4), "assert 2 == 1", is_broken=True)
    assert first_words(broken) == f"tests/test_box.py:4 {lid}: assert 2 == 1"
    assert (new.place, new.is_broken) == (SourceLine("tests/test_box.py", None), False)
    assert first_words(remaining_problems(project.records, 1).failing[1]) == "tests.test_box::test_new: assert 2 == 1"


def test_findings_on_lines_of_the_loop_come_first_and_those_of_a_failed_build_before_them(project):
    project.write("box.py", "def lid():\n    return 1\n\n\ndef two():\n    return None == 2\n")
    project.write("mypy.txt", "other.py:1: error: Bad  [misc]\nFound 1 error in 1 file (checked 2 source files)\n")
    project.write("build.txt", f"{project.root}/box.py:6:3: error: stray\n")
    project.ruff(1, 6).covered(1, 2, 5, missing=(6,))
    project.tracker.post_iteration(None)
    found = remaining_problems(project.records, 1).listed
    assert [(each.text, each.is_ours) for each in found.findings] == [
        ("box.py:6:3: error: stray", True),
        ("box.py:6 E711 None", True),
        ("other.py:1 misc Bad", False),
        ("box.py:1 E711 None", False),
    ]
    assert (found.counts, found.uncovered) == ({"lint": 2, "types": 1, "build": 1}, {"box.py": (6,)})


def test_a_checker_that_stopped_at_an_error_says_where(project):
    stopped = "box.py:2: error: Invalid syntax  [syntax]\nFound 1 error in 1 file (errors prevented further checking)\n"
    project.write("mypy.txt", stopped)
    project.tracker.post_iteration(None)
    assert [each.text for each in remaining_problems(project.records, 1).listed.findings] == [
        "box.py:2 syntax Invalid syntax"
    ]


def test_a_lost_test_is_named_with_its_outcome_before(project):
    project.tests()
    project.tracker.post_iteration(None)
    assert remaining_problems(project.records, 1).lost == {"tests.test_box::test_lid": "passed"}


def test_a_failed_build_without_an_error_line_is_found_by_its_last_words(project):
    project.write("build.txt", "bad\n")
    project.tracker.post_iteration(None)
    found = remaining_problems(project.records, 1).listed.findings
    assert [each.text for each in found] == ["build ended with exit 1; it said: bad"]


@pytest.mark.parametrize("damage", ["", "{}", '{"findings": 1, "counts": {}, "uncovered": null}'])
def test_findings_that_cannot_be_read_are_unknown(project, damage):
    (project.records.paths.iteration(0) / "findings.json").write_text(damage)
    assert listed_diagnostics(project.records, 0) is None


def test_without_coverage_by_line_nothing_is_known_of_uncovered_lines(project):
    project.write("lcov.info", "")
    project.tracker.post_iteration(None)
    assert remaining_problems(project.records, 1).listed.uncovered is None


def test_a_damaged_measurement_has_no_remaining_problems(project):
    (project.records.paths.iteration(0) / "measurement.json").write_text("")
    assert remaining_problems(project.records, 0) is None


def test_of_metrics_handed_in_only_the_numbers_are_known(driven):
    driven.start(tests_passed=3, tests_failed=1)
    found = remaining_problems(SealedRecords(driven.paths), 0)
    assert (found.failing, found.listed, found.metrics.tests_failed) == (None, None, 1)


def test_many_findings_are_kept_in_part_and_counted_and_a_doubled_one_once():
    rows = [(Group.LINT, Diagnostic("a.py", at, "E1", "m")) for at in range(1, 301)]
    found = list_diagnostics([*rows, *rows], {}, {})
    assert (len(found.findings), found.counts) == (FINDINGS_KEPT, {"lint": 300})
    assert list_diagnostics([(Group.TYPES, Diagnostic("a.py", None, "", "m"))], {}, None).findings == (
        ListedDiagnostic("types", Diagnostic("a.py", None, "", "m")),
    )


def test_of_very_many_files_with_uncovered_lines_the_first_are_kept():
    names = [f"f{number:03}.py" for number in range(120)]
    found = list_diagnostics((), dict.fromkeys(names, frozenset({1})), {name: {1: False} for name in names})
    assert (len(found.uncovered), "f000.py" in found.uncovered, "f119.py" in found.uncovered) == (100, True, False)


@pytest.mark.parametrize(
    ("said", "place", "rest"),
    [
        ("assert 1 == 2\ntests/test_a.py:3: AssertionError", ("tests/test_a.py", 3), "assert 1 == 2"),
        ("tests/test_a.py:3: ValueError", ("tests/test_a.py", 3), "ValueError"),
        ("no\n/usr/lib/python3.13/x.py:3: ValueError", None, "no"),
        ('  File "/usr/lib/python3.13/unittest/case.py", line 58, in x', None, ...),
        ('  File "tests/test_a.py", line 7, in test_b\nAssertionError', ("tests/test_a.py", 7), ...),
        ("Error: no\n    at Object.<anonymous> (src/sum.test.js:4:17)", ("src/sum.test.js", 4), ...),
        ("no\n at a (node_modules/x/y.js:1:1)\n at b (lib/z.ts:9:2)", ("lib/z.ts", 9), ...),
        ("thread 'main' panicked at src/lib.rs:12:9:\nno", ("src/lib.rs", 12), ...),
        ("box_test.go:9: lid() = 2", ("box_test.go", 9), ...),
        ("expected 1.5:30 to be nothing", None, ...),
        ("", None, ""),
    ],
)
def test_the_place_of_a_failure_is_taken_from_its_message(said, place, rest):
    expected = None if place is None else SourceLine(*place)
    assert split_message(said) == (expected, said if rest is ... else rest)


def test_a_place_is_named_once_where_its_error_begins_with_it():
    why = {"a.go": "a.go:84:8: expected ')'", "b.py": "No module named 'x'", "c": ""}
    lines = not_loading_lines(RemainingProblems(1, Metrics(), not_loaded=why))
    assert lines == [
        "does not load: a.go:84:8: expected ')'",
        "does not load: b.py: No module named 'x'",
        "does not load: c",
    ]
