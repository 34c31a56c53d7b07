"""A run that failed for none of its reported tests: one test error of its own, and what is missing is not collected."""

from pathlib import Path

import pytest

from ralph_tracker.core.known_tests import STOPPED_RUN, WHOLE_RUN
from ralph_tracker.core.metrics import FAILED
from ralph_tracker.measure.find_reports import FoundReport, Missing
from ralph_tracker.measure.process import FinishedCommand
from ralph_tracker.measure.report_totals import read_results
from ralph_tracker.measure.run_checks import Check, CheckResult

PASSES = '<testsuite name="s" tests="1"><testcase classname="t" name="a"/></testsuite>'
FAILS = '<testsuite name="s" tests="1"><testcase classname="t" name="a"><failure/></testcase></testsuite>'
EMPTY = '<testsuite name="s" tests="0"/>'
JEST_FAILED = '{"numTotalTests": 1, "success": false, "testResults": [{"name": "a.js", "assertionResults": %s}]}'
ONE = '[{"status": "passed", "title": "adds"}]'
EXIT_1 = FinishedCommand(exit_code=1)
BUN = (
    "tests/mul.test.ts:\n\n# Unhandled error between tests\n---\nerror: Cannot find module './gone' from 'src/mul.ts'\n"
)


@pytest.fixture
def ran(tmp_path: Path):
    """Read the reports of one check that ended so, with what it printed; None is a report that was not written."""

    def totals(run, *reports, finished=EXIT_1, printed="", name="tests", **options):
        found = []
        for number, text in enumerate(reports):
            path = tmp_path / f"{number}.xml"
            if text is not None:
                path.write_text(text)
            found.append(FoundReport(path.name, path if text else None, None if text else Missing.ABSENT))
        (tmp_path / "err").write_text(printed)
        check = Check(name, run, reports=tuple(each.path for each in found), **options)
        result = CheckResult(check, finished, tuple(found), tmp_path / "out", tmp_path / "err")
        return read_results([result], root=tmp_path)

    return totals


def counts(measured):
    metrics = measured.metrics
    return metrics.test_count, metrics.tests_passed, metrics.tests_failed


@pytest.mark.parametrize(
    "finished",
    [
        *(FinishedCommand(exit_code=code) for code in (1, 134, 137, 139)),
        FinishedCommand(signal="SIGKILL"),
        FinishedCommand(signal="SIGTERM", timed_out=True),
        FinishedCommand(exit_code=127, not_found=True, problem="command not found (exit 127 of /bin/sh)"),
    ],
)
@pytest.mark.parametrize("name", ["tests", "unit"])
def test_a_failed_run_is_one_error_beside_its_passing_tests(ran, finished, name):
    measured = ran("pytest", PASSES, finished=finished, name=name)
    assert counts(measured) == (2, 1, 1)
    assert list(measured.not_loaded) == [WHOLE_RUN]
    assert measured.not_loaded[WHOLE_RUN].endswith("although its only reported test passes")
    assert measured.measures[0].why == measured.not_loaded[WHOLE_RUN]


def test_a_failing_test_is_the_reason_of_a_failed_run(ran):
    measured = ran("pytest", FAILS)
    assert counts(measured) == (1, 0, 1)
    assert (measured.not_loaded, measured.measures[0].why) == ({}, None)


def test_a_crash_counts_beside_a_failing_test(ran):
    measured = ran("pytest", FAILS, finished=FinishedCommand(exit_code=139))
    assert counts(measured) == (2, 0, 2)
    assert WHOLE_RUN in measured.not_loaded


def test_the_failing_test_may_be_in_another_report_of_the_check(ran):
    assert counts(ran("pytest", PASSES.replace('"a"', '"b"'), FAILS)) == (2, 1, 1)


def test_a_threshold_is_noted_and_no_error(ran):
    measured = ran("pytest", PASSES, printed="FAIL Required test coverage of 90% not reached. Total coverage: 50.00%\n")
    assert counts(measured) == (1, 1, 0)
    assert measured.notes == (
        "pytest exited with 1: FAIL Required test coverage of 90% not reached. Total coverage: 50.00%",
    )


def test_no_test_is_a_measurement_where_the_status_says_so_and_else_is_none(ran):
    assert counts(ran("pytest", EMPTY, finished=FinishedCommand(exit_code=5))) == (0, 0, 0)
    measured = ran("pytest", EMPTY)
    assert measured.tests is None
    assert measured.missing == {"tests": "no test was collected: pytest exited with 1 and reported no test"}


def test_a_report_that_says_by_itself_that_the_run_failed_is_treated_the_same(ran):
    measured = ran("jest --json || true", JEST_FAILED % ONE, finished=FinishedCommand(exit_code=0))
    assert counts(measured) == (2, 1, 1)
    assert measured.not_loaded == {
        WHOLE_RUN: "jest exited with 0, but its report says that the run failed, although its only reported test passes"
    }
    assert counts(ran("jest --json", JEST_FAILED % ONE)) == (2, 1, 1)


def test_a_missing_report_remains_the_reason(ran):
    measured = ran("pytest", PASSES, None, kind="tests")
    assert measured.tests is None
    assert WHOLE_RUN not in measured.not_loaded


def test_a_file_that_the_report_leaves_out_did_not_load_and_has_its_line(ran, tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src/mul.ts").write_text('// …\nimport {x} from "./gone";\n')
    measured = ran("bun test", PASSES, printed=BUN)
    assert measured.not_loaded == {
        "tests/mul.test.ts": "Cannot find module './gone' from 'src/mul.ts' (src/mul.ts:2)",
    }
    assert counts(measured) == (2, 1, 1)
    assert measured.notes == (
        "bun exited with 1 although its only reported test passes: Cannot find module './gone' from 'src/mul.ts'",
    )


@pytest.mark.parametrize("source", [None, "nothing of that name\n"])
def test_an_error_without_a_line_remains_as_it_is(ran, tmp_path, source):
    if source is not None:
        (tmp_path / "src").mkdir()
        (tmp_path / "src/mul.ts").write_text(source)
    assert ran("bun test", PASSES, printed=BUN).not_loaded == {
        "tests/mul.test.ts": "Cannot find module './gone' from 'src/mul.ts'"
    }


def test_no_file_outside_of_the_project_is_looked_into(ran):
    outside = BUN.replace("src/mul.ts", "../../mul.ts")
    assert list(ran("bun test", PASSES, printed=outside).not_loaded.values()) == [
        "Cannot find module './gone' from '../../mul.ts'"
    ]


def test_a_file_that_did_not_load_is_found_beside_failing_tests_too(ran):
    measured = ran("bun test", FAILS, printed=BUN)
    assert (counts(measured), list(measured.not_loaded)) == ((2, 0, 2), ["tests/mul.test.ts"])


def test_a_file_that_the_report_has_as_not_loaded_counts_once(ran):
    file = '{"name": "a.test.js", "status": "failed", "assertionResults": [], "message": "Error: no"}'
    report = f'{{"numTotalTests": 0, "success": false, "testResults": [{file}]}}'
    measured = ran("jest", PASSES, report, printed="FAIL a.test.js\n  ● Test suite failed to run\n\n    Error: no\n")
    assert (counts(measured), list(measured.not_loaded)) == ((2, 1, 1), ["a.test.js"])


def test_held_back_tests_show_only_that_their_run_failed(ran):
    measured = ran("pytest", PASSES, held_back="../held", kind="tests", printed="secret: Error: boom\n")
    assert measured.tests.outcomes["held-back:tests::(test_run)"] == FAILED
    assert measured.not_loaded == {"held-back:tests": "held-back tests do not load"}


def test_what_a_run_did_not_come_to_was_not_run(ran):
    measured = ran("pytest -x", FAILS)
    assert measured.not_loaded == {STOPPED_RUN: "pytest stopped at a failing test (-x), so what is missing was not run"}
    assert (counts(measured), measured.measures[0].why) == ((1, 0, 1), None)
    assert ran("pytest -x", PASSES, finished=FinishedCommand(exit_code=0)).not_loaded == {}


@pytest.mark.parametrize(("command", "skipped"), [("deno test --fail-fast", 0), ("deno test", 1), ("pytest -x", 1)])
def test_of_a_runner_that_lists_what_it_did_not_run_as_skipped_no_skipped_test_counts(ran, command, skipped):
    report = FAILS.replace("</testsuite>", '<testcase classname="c" name="left"><skipped/></testcase></testsuite>')
    measured = ran(command, report.replace('tests="1"', 'tests="2"'))
    assert (measured.metrics.tests_failed, measured.metrics.tests_skipped) == (1, skipped)


@pytest.mark.parametrize(
    ("command", "file", "text", "by"),
    [
        ("npx mocha", ".mocharc.json", '{"bail": true}', "bail in .mocharc.json"),
        ("nyc mocha", "package.json", '{"mocha": {"bail": true}}', "bail in package.json"),
        ("mocha", ".mocharc.yml", "bail: true\n", "bail in .mocharc.yml"),
        ("mocha", ".mocharc.js", "module.exports = {bail: false}\n", None),
        ("rspec", ".rspec", "--color\n--fail-fast\n", "--fail-fast in .rspec"),
        ("rspec", ".rspec", "--no-fail-fast\n", None),
        ("jest", ".mocharc.json", '{"bail": true}', None),
    ],
)
def test_the_settings_of_a_runner_may_end_its_run(ran, tmp_path, command, file, text, by):
    (tmp_path / file).write_text(text)
    why = f"{command.split()[-1]} stopped at a failing test ({by}), so what is missing was not run"
    assert ran(command, FAILS).not_loaded == ({} if by is None else {STOPPED_RUN: why})


def test_a_runner_that_stops_before_it_writes_its_report_says_why(ran):
    measured = ran("jest --bail", None, printed="Test Suites: 1 failed, 1 of 3 total\n\nRan all test suites.")
    assert (
        "; jest stopped at a failing test (1 of 3 total), so what is missing was not run" in measured.missing["tests"]
    )
    assert ran("jest --bail", None, printed="Error: no").missing["tests"].endswith("; it said: Error: no")


def test_the_end_of_a_long_output_is_read_too(ran):
    text = "x" * 80 + "\n"
    printed = text * 30_000 + "Error: at the very end\n"
    assert ran("node --test", PASSES, printed=printed).not_loaded[WHOLE_RUN].endswith(": Error: at the very end")


NODE_FILE = (
    '<testsuites><testcase name="a" classname="test"/><testcase name="/x/b.test.js" classname="test">'
    '<failure message="test failed"/></testcase></testsuites>'
)


def test_why_a_file_failed_is_in_the_output_where_the_report_does_not_say_it(ran):
    measured = ran("node --test", NODE_FILE, printed="Error: Cannot find module './gone'\n    at x (src/mul.js:2:9)\n")
    assert measured.not_loaded == {
        WHOLE_RUN: "b.test.js failed as a whole: Error: Cannot find module './gone' (src/mul.js:2)"
    }
    assert counts(measured) == (2, 1, 1)
    assert measured.tests.outcomes["b.test.js::(test file)"] == FAILED


def test_an_error_that_names_a_file_has_its_line(ran, tmp_path):
    (tmp_path / "a.js").write_text('\nimport "./gone.js"\n')
    file = '{"name": "t.test.js", "status": "failed", "assertionResults": [], "message": "%s"}'
    report = '{"numTotalTests": 0, "success": false, "testResults": [%s]}' % (
        file % "Error: Cannot find module './gone.js' imported from a.js"
    )
    assert list(ran("vitest", PASSES, report).not_loaded.values()) == [
        "Cannot find module './gone.js' imported from a.js (a.js:2)"
    ]
