"""pytest's terminal output."""

import pytest

NOTE = "read from pytest's terminal summary, because there is no JUnit report"


@pytest.mark.parametrize(
    ("parts", "counts"),
    [
        ("3 failed, 5 passed, 1 skipped", (9, 5, 3, 0, 1)),
        ("1 error", (1, 0, 0, 1, 0)),
        ("2 passed, 2 errors", (4, 2, 0, 2, 0)),
        ("1 xfailed, 2 xpassed", (3, 2, 0, 0, 1)),
        ("1 passed, 4 warnings", (1, 1, 0, 0, 0)),
        ("1 passed, 8 deselected, 1 warning, 2 rerun", (1, 1, 0, 0, 0)),
        ("1 passed, 2 subtests passed", (1, 1, 0, 0, 0)),
        ("1 passed, 2 subtests failed", (3, 1, 2, 0, 0)),
        ("no tests ran", (0, 0, 0, 0, 0)),
        ("8 deselected", (0, 0, 0, 0, 0)),
    ],
)
@pytest.mark.parametrize(
    "line",
    [
        "=== {} in 0.12s ===",
        "{} in 0.12s",
        "===== {} in 75.30s (0:01:15) =====",
        "\x1b[31m== \x1b[1m{}\x1b[0m in 0.12s ==\x1b[0m",
        "=== {} in 0.12s ===\r",
    ],
)
def test_the_last_line_counts(read, parts, counts, line):
    report = read(f"collected\n{line.format(parts)}\n", "pytest-text")
    assert (report.tests, report.passed, report.failed, report.errors, report.skipped) == counts
    assert report.note.startswith(NOTE)


def test_without_names_nothing_is_told_of_which_tests_they_are(read):
    report = read("== 1 passed in 0.12s ==\n", "pytest-text")
    assert (report.outcomes, report.results) == ({}, None)
    assert report.note == f"{NOTE}; the tests have no names in it, so changed outcomes cannot be named"


@pytest.mark.parametrize(
    ("line", "outcome"),
    [
        ("t/test_a.py::test_x PASSED   [ 50%]", "passed"),
        ("t/test_a.py::test_x PASSED", "passed"),
        ("[gw0] [ 50%] PASSED t/test_a.py::test_x ", "passed"),
        ("PASSED t/test_a.py::test_x", "passed"),
        ("FAILED t/test_a.py::test_x - assert 0", "failed"),
        ("t/test_a.py::test_x SKIPPED (no x) [100%]", "skipped"),
        ("t/test_a.py::test_x XFAIL (no x) [100%]", "skipped"),
        ("t/test_a.py::test_x XPASS", "passed"),
    ],
)
def test_names_are_told_where_all_are_listed(read, line, outcome):
    parts = f"1 {outcome}"
    report = read(f"{line}\n== {parts} in 0.12s ==\n", "pytest-text")
    assert report.outcomes == {"t/test_a.py::test_x": outcome}
    assert report.note == NOTE
    assert read(f"{line}\n== {parts}, 1 error in 0.12s ==\n", "pytest-text").unnamed.tests == 2


def test_an_error_is_told_from_a_failure(read):
    report = read("t/test_a.py::test_x ERROR\n== 1 error in 0.12s ==\n", "pytest-text")
    assert report.in_error == {"t/test_a.py::test_x"}


def test_several_runs_add_up(read):
    assert read("== 1 passed in 0.12s ==\n== 1 failed, 1 passed in 0.12s ==\n", "pytest-text").tests == 3


@pytest.mark.parametrize("line", [f"t/test_a.py::test_x[{'x' * 5000}] PASSED", "std::vector PASSED", "a.py::b MAYBE"])
def test_a_line_that_is_none_of_pytests_names_nothing(read, line):
    assert not read(f"{line}\n== 1 passed in 0.12s ==\n", "pytest-text").outcomes


def test_a_run_that_was_stopped_after_a_failure_says_so(read):
    report = read("!!!!! stopping after 1 failures !!!!!\n== 1 failed in 0.12s ==\n", "pytest-text")
    assert "the run was stopped: stopping after 1 failures" in report.note


def test_a_run_that_was_stopped_before_any_failure_is_unreadable(damage):
    found = damage("x\n!!!!! KeyboardInterrupt !!!!!\n== 1 passed in 0.12s ==\n", "pytest-text")
    assert (found.why, found.line) == ("the run was stopped: KeyboardInterrupt", 2)


@pytest.mark.parametrize(
    "text", ["1 passed", "== 1 passed ==", "== 1 passed in 0.12s", "Tests: 1 passed in 0.12s", "1 apple in 0.12s"]
)
def test_other_lines_are_no_summary(damage, text):
    assert damage(text, "pytest-text").why == "pytest's summary line (3 passed in 0.12s) is missing"


@pytest.mark.parametrize(
    ("parts", "lines", "counts"),
    [
        ("1 passed, 1 error", "ERROR t.py::a - down", (1, 0, 0, 1, 0)),
        ("1 failed, 1 error", "FAILED t.py::a - x\nERROR t.py::a - down", (1, 0, 0, 1, 0)),
        ("2 passed, 2 errors", "ERROR t.py::b - up\nERROR t.py::a - down", (3, 1, 0, 2, 0)),
        ("1 passed, 2 errors", "ERROR t.py::a - up\nERROR t.py::a - down", (2, 1, 0, 1, 0)),
        ("1 passed, 2 errors", "ERROR t.py::a - down", (3, 1, 0, 2, 0)),
    ],
)
def test_an_error_in_tear_down_is_that_of_its_test(read, parts, lines, counts):
    heading = "____ ERROR at teardown of a ____"
    report = read(f"{heading}\n{lines}\n== {parts} in 0.12s ==\n", "pytest-text")
    assert (report.tests, report.passed, report.failed, report.errors, report.skipped) == counts


@pytest.mark.parametrize(
    ("parts", "lines", "counts"),
    [
        ("1 failed, 1 passed", "SUBFAILED(i=1) t.py::a - x", (1, 0, 1, 0, 0)),
        ("2 failed, 2 passed", "SUBFAILED[one] t.py::a - x\nFAILED t.py::a - y", (3, 2, 1, 0, 0)),
        ("2 failed, 1 passed", "SUBFAILED(i=1) t.py::a - x\nSUBFAILED(i=2) t.py::a - x", (1, 0, 1, 0, 0)),
    ],
)
def test_a_subtest_is_no_test(read, parts, lines, counts):
    report = read(f"{lines}\n== {parts}, 3 subtests passed in 0.12s ==\n", "pytest-text")
    assert (report.tests, report.passed, report.failed, report.errors, report.skipped) == counts


def test_a_test_has_the_worst_outcome_of_its_parts(read):
    lines = "t.py::a PASSED [ 50%]\nt.py::a ERROR [ 50%]\nt.py::b SUBFAILED(i=1) [ 99%]\nt.py::b PASSED [ 99%]"
    report = read(f"{lines}\n== 1 failed, 2 passed, 1 error in 0.12s ==\n", "pytest-text")
    assert report.outcomes == {"t.py::a": "failed", "t.py::b": "failed"}
    assert report.in_error == {"t.py::a"}
