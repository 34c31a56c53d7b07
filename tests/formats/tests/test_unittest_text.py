"""What `python -m unittest` prints, with -v and without, around what the tests print themselves."""

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import TestReport, Unreadable
from tests.tables import table


def read(text: str, **more):
    return registry.read(text.encode(), **more)


def run(lines: str, ran: int, result: str, failures: str = "") -> str:
    return f"{lines}\n{failures}\n{'-' * 70}\nRan {ran} tests in 0.001s\n\n{result}\n".replace(
        "Ran 1 tests", "Ran 1 test"
    )


def failure(heading: str, said: str = "AssertionError: 1 != 2") -> str:
    return f'{"=" * 70}\n{heading}\n{"-" * 70}\nTraceback (most recent call last):\n  File "a.py", line 3\n{said}\n\n'


# id: the line or lines of a test, the result, its outcome
LINES = {
    "passed": ("t (a.B.t) ... ok", "OK", "passed"),
    "before Python 3.11": ("t (a.B) ... ok", "OK", "passed"),
    "a docstring": ("t (a.B.t)\nIt is fine. ... ok", "OK", "passed"),
    "it prints": ("t (a.B.t) ... hello\nworld\nok", "OK", "passed"),
    "it prints like a test": ("t (a.B.t) ... f (x)\nok", "OK", "passed"),
    "it logs to the end": ("t (a.B.t) ... hello", "OK", "passed"),
    "skipped": ("t (a.B.t) ... skipped 'later'", "OK (skipped=1)", "skipped"),
    "expected": ("t (a.B.t) ... expected failure", "OK (expected failures=1)", "skipped"),
    "unexpected": ("t (a.B.t) ... unexpected success", "FAILED (unexpected successes=1)", "failed"),
    "colours": ("t (a.B.t) ... \x1b[32mok\x1b[0m", "OK", "passed"),
}


@table(("lines", "result", "outcome"), LINES.values(), ids=LINES)
def test_a_test_ends_as_its_line_says(lines, result, outcome):
    for text in (run(lines, 1, result), run(lines, 1, result).replace("\n", "\r\n")):
        report = read(text)
        assert isinstance(report, TestReport), report
        assert report.outcomes == {"a.B::t": outcome}


def test_failures_have_their_messages():
    text = run("t (a.B.t) ... FAIL\nu (a.B.u) ... ERROR", 2, "FAILED (failures=1, errors=1)",
               failure("FAIL: t (a.B.t)") + failure("ERROR: u (a.B.u)\nA line about it."))  # fmt: skip
    report = read(text)
    assert (report.failed, report.errors) == (1, 1)
    assert report.messages == dict.fromkeys(("a.B::t", "a.B::u"), "AssertionError: 1 != 2\na.py:3")


def test_a_test_with_a_failed_subtest_has_failed():
    lines = "t (a.B.t) ... \n  t (a.B.t) (i=2) ... FAIL\n  t (a.B.t) [i] ... ERROR\nu (a.B.u) ... ok"
    failures = failure("FAIL: t (a.B.t) (i=2)") + failure("ERROR: t (a.B.t) [i]")
    report = read(run(lines, 2, "FAILED (failures=1, errors=1)", failures))
    assert (report.tests, report.passed, report.errors) == (2, 1, 1)


@table("line", ["ERROR", "setUpClass (a.B) ... ERROR"])
def test_a_class_that_cannot_be_set_up_is_a_case_in_error(line):
    text = run(f"t (a.C.t) ... ok\n{line}", 1, "FAILED (errors=1)", failure("ERROR: setUpClass (a.B)", "ValueError: x"))
    report = read(text)
    assert report.in_error == {"a.B::setUpClass"}
    assert report.tests == 2


def test_a_module_that_cannot_be_loaded_is_named():
    lines = "test_a (unittest.loader._FailedTest.test_a) ... ERROR"
    failures = failure("ERROR: test_a (unittest.loader._FailedTest.test_a)", "ModuleNotFoundError: No module named 'x'")
    for each in (lines, "E"):
        report = read(run(each, 1, "FAILED (errors=1)", failures))
        assert report.errors == 1
        assert list(report.not_loaded) == ["test_a.py"]


def test_without_names_the_numbers_count():
    failures = failure("FAIL: t (a.B.t) (i=1)") + failure("FAIL: t (a.B.t) (i=2)") + failure("ERROR: setUpClass (a.C)")
    parts = "failures=2, errors=1, skipped=1, expected failures=1, unexpected successes=1"
    report = read(run("..F.sxu", 8, f"FAILED ({parts})", failures))
    assert (report.tests, report.passed, report.failed, report.errors, report.skipped) == (9, 4, 2, 1, 2)
    listed = read(run("..F.sxu", 8, f"FAILED ({parts})", f"{failures}{'=' * 70}\nUNEXPECTED SUCCESS: v (a.B.v)\n"))
    assert (listed.tests, listed.passed, listed.failed) == (9, 4, 2)


def test_several_runs_add_up():
    report = read(run("t (a.B.t) ... ok", 1, "OK") + run("u (b.C.u) ... ok", 1, "OK"))
    assert list(report.outcomes) == ["a.B::t", "b.C::u"]


NOT_WHOLE = {
    "no end": "t (a.B.t) ... ok\n",
    "no result": run("t (a.B.t) ... ok", 1, ""),
    "fewer lines than tests": run("t (a.B.t) ... ok", 2, "OK"),
    "a failure without a name": run("t (a.B.t) ... hello", 1, "FAILED (failures=1)"),
    "more failures than tests": run(".", 0, "FAILED (failures=1)", failure("FAIL: t (a.B.t)")),
    "skips that are none": run("t (a.B.t) ... skipped 'x'", 1, "OK"),
}


@table("text", NOT_WHOLE.values(), ids=NOT_WHOLE)
def test_a_text_whose_lines_do_not_agree_is_no_report(text):
    assert isinstance(read(text, format="unittest-text"), Unreadable)
