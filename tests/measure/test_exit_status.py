"""The exit status is evidence: what a runner that failed has not put into its report, and what is no error of tests."""

import pytest

from ralph_tracker.measure.exit_status import (
    Reported,
    other_meaning,
    run_error,
    runner_of,
    stopped_early,
    unloaded_files,
)
from ralph_tracker.measure.process import FinishedCommand
from tests.tables import table

ALL_PASS = Reported(tests=12, passed=12)
CARGO_FAILED = "error: test failed, to rerun pass `--lib`\n"


def ended(code: int) -> FinishedCommand:
    return FinishedCommand(exit_code=code)


@table(
    ("command", "name"),
    [
        ("npx vitest run --reporter=json", "vitest"),
        ("coverage run -m pytest -q", "pytest"),
        ("c8 node --test", "node"),
        ("bun test --reporter=junit", "bun"),
        ("cargo nextest run && cargo test --doc", "cargo-nextest"),
        ("./mvnw -B test", "maven"),
        ("python manage.py test", "unittest"),
        ("npm test", "check `unit`"),
    ],
)
def test_a_runner_is_named_as_its_command_calls_it(command, name):
    assert runner_of(command, "unit").name == name


UNHANDLED = """
⎯⎯⎯⎯ Unhandled Rejection ⎯⎯⎯⎯⎯
Error: boom
 ❯ late.test.js:1:105
"""
SEGFAULT = (
    'Fatal Python error: Segmentation fault\n\nCurrent thread 0x7f (most recent call first):\n  File "a.py", line 3'
)


@table(
    ("command", "finished", "reported", "output", "sentence"),
    [
        (
            "vitest run",
            ended(1),
            Reported(2, 2),
            UNHANDLED,
            "vitest exited with 1 although all 2 reported tests pass: Error: boom (late.test.js:1)",
        ),
        (
            "pytest",
            ended(139),
            ALL_PASS,
            SEGFAULT,
            f"pytest exited with 139 (SIGSEGV) although all 12 reported tests pass: {SEGFAULT.splitlines()[0]}",
        ),
        (
            "pytest",
            FinishedCommand(signal="SIGKILL"),
            ALL_PASS,
            "",
            "pytest was killed by SIGKILL although all 12 reported tests pass",
        ),
        (
            "pytest",
            FinishedCommand(exit_code=143, timed_out=True),
            Reported(1, 1),
            "",
            "pytest ran into its time limit although its only reported test passes",
        ),
        (
            "go test ./...",
            ended(134),
            Reported(9, 5, 2),
            "",
            "go exited with 134 (SIGABRT) beside 2 failing tests",
        ),
        ("node --test", ended(7), Reported(3, 2), "", "node exited with 7 although none of the 3 reported tests fails"),
        ("make test", ended(2), Reported(), "x\n", "check `tests` exited with 2 and reported no test"),
        (
            "make test",
            ended(2),
            ALL_PASS,
            "Segmentation fault (core dumped)\n",
            "check `tests` exited with 2 although all 12 reported tests pass: Segmentation fault (core dumped)",
        ),
        (
            "gradle test",
            ended(1),
            ALL_PASS,
            "* What went wrong:\nExecution failed for task ':lint'.\n",
            "gradle exited with 1 although all 12 reported tests pass: Execution failed for task ':lint'.",
        ),
    ],
)
def test_a_failed_run_without_a_failing_test_has_an_error_of_its_own(command, finished, reported, output, sentence):
    assert run_error(runner_of(command, "tests"), finished, reported, output) == sentence


@table(
    ("command", "finished", "reported"),
    [
        pytest.param("pytest", ended(0), ALL_PASS, id="it succeeded"),
        pytest.param("pytest", ended(1), Reported(2, 1, 1), id="a failing test explains it"),
        pytest.param("mocha", ended(134), Reported(140, 6, 134), id="mocha exits with the number of failing tests"),
    ],
)
def test_a_run_whose_report_tells_all_has_none(command, finished, reported):
    assert run_error(runner_of(command, "tests"), finished, reported, "") is None


@table(
    ("command", "status", "line"),
    [
        ("pytest", 1, "FAIL Required test coverage of 90% not reached. Total coverage: 50.00%"),
        ("coverage run -m pytest && coverage report", 2, "Coverage failure: total of 50 is less than fail-under=90"),
        ("jest", 1, 'Jest: "global" coverage threshold for lines (90%) not met: 50%'),
        ("vitest run", 1, "ERROR: Coverage for lines (50%) does not meet global threshold (90%)"),
        ("node --test", 1, "Error: 50.00% line coverage does not meet threshold of 90%."),
        ("rspec", 2, "Line coverage (50.00%) is below the expected minimum coverage (90.00%)."),
        ("vitest run", 1, "No test files found, exiting with code 1"),
        ("phpunit", 1, "OK, but there were issues!"),
        ("npm test", 1, 'Jest: "global" coverage threshold for lines (90%) not met: 50%'),
    ],
)
def test_a_threshold_or_warnings_are_what_they_are_and_no_error_of_tests(command, status, line):
    runner = runner_of(command, "tests")
    assert other_meaning(runner, ended(status), f"1 passed\n{line}\n") == f"{runner.name} exited with {status}: {line}"
    assert run_error(runner, ended(status), ALL_PASS, f"1 passed\n{line}\n") is None


@table(
    ("command", "status", "meaning"),
    [
        ("pytest", 5, "it found no test to run"),
        ("pytest --max-warnings=1", 6, "there were more warnings than --max-warnings allows"),
        ("python -m unittest", 5, "it found no test to run"),
        ("cargo nextest run", 4, "it found no test to run"),
    ],
)
def test_a_status_has_its_meaning(command, status, meaning):
    assert other_meaning(runner_of(command, "tests"), ended(status), "").partition(": ")[2] == meaning


@table(
    ("finished", "output"),
    [
        pytest.param(ended(139), "", id="a crash"),
        pytest.param(FinishedCommand(signal="SIGSEGV"), "", id="a signal"),
        pytest.param(FinishedCommand(exit_code=1, timed_out=True), "", id="a time limit"),
        pytest.param(ended(1), UNHANDLED, id="an error outside of tests"),
        pytest.param(ended(1), "FAIL  late.test.js [ late.test.js ]\n", id="a file that did not load"),
    ],
)
def test_a_threshold_excuses_nothing_else(finished, output):
    text = f"{output}\nERROR: Coverage for lines (50%) does not meet global threshold (90%)\n"
    assert run_error(runner_of("vitest", "tests"), finished, ALL_PASS, text) is not None


BUN = """
tests/add.test.ts:
(pass) adds [0.06ms]

tests/mul.test.ts:

# Unhandled error between tests
-------------------------------
error: Cannot find module './gone' from 'src/mul.ts'
-------------------------------
"""


@table(
    ("command", "output", "file"),
    [
        ("bun test", BUN, "tests/mul.test.ts"),
        ("jest", "FAIL ./load.test.js\n  ● Test suite failed to run\n\n    Cannot find module\n", "load.test.js"),
        ("npm test", "FAIL ./load.test.js\n  ● Test suite failed to run\n\n    Cannot find module\n", "load.test.js"),
        ("vitest", " FAIL  load.test.js [ load.test.js ]\nError: Cannot find\n", "load.test.js"),
        ("rspec", "An error occurred while loading ./spec/c_spec.rb. - Did you mean?\n", "spec/c_spec.rb"),
        ("rspec", "An error occurred while loading ./spec/c_spec.rb.\nFailure/Error\n", "spec/c_spec.rb"),
        ("pytest", "_____ ERROR collecting tests/test_a.py _____\nImportError\n", "tests/test_a.py"),
        ("deno test", "./a_test.ts (uncaught error)\nerror: (in promise) Error\n", "a_test.ts"),
    ],
)
def test_files_that_did_not_load_are_found_in_what_the_runner_prints(command, output, file):
    assert list(unloaded_files(runner_of(command, "tests"), output)) == [file]


def test_what_the_runner_prints_below_a_file_is_its_error():
    said = unloaded_files(runner_of("bun test", "tests"), BUN)["tests/mul.test.ts"]
    assert "Cannot find module './gone' from 'src/mul.ts'" in said


@table("output", ["", "tests/add.test.ts:\n(pass) adds\n", "1 pass\n"])
def test_a_run_that_loaded_all_files_names_none(output):
    assert unloaded_files(runner_of("bun test", "tests"), output) == {}


@table(
    ("command", "output", "by"),
    [
        ("pytest -x", "", "-x"),
        ("pytest -qx tests", "", "-qx"),
        ("python -m pytest --maxfail=2", "", "--maxfail=2"),
        ("pytest", "!!!!! stopping after 1 failures !!!!!", "stopping after 1 failures"),
        ("jest --bail --ci", "", "--bail"),
        ("npm test", "> jest --bail=1\n", "--bail=1"),
        ("jest", "Test Suites: 1 failed, 1 passed, 2 of 9 total", "2 of 9 total"),
        ("vitest run --bail=1", "", "--bail=1"),
        ("bun test --bail", "", "--bail"),
        ("bun test", "Bailed out after 1 failure", "Bailed out after 1 failure"),
        ("ava", "`--fail-fast` is on. 3 test files were skipped.", "--fail-fast` is on"),
        ("rspec --fail-fast", "", "--fail-fast"),
        ("python -m unittest -f", "", "-f"),
        ("go test -failfast ./...", "", "-failfast"),
        ("cargo test", "error: test failed, to rerun pass `--lib`", "test failed, to rerun pass `--lib`"),
        ("cargo nextest run", "  Cancelling due to test failure: 3 tests still running", None),
        ("phpunit --stop-on-failure", "", "--stop-on-failure"),
        ("phpunit", "PHPUnit 9.6\n\n..F\n\nTime: 00:00.046\n", "..F"),
        ("ctest --stop-on-failure", "", "--stop-on-failure"),
        ("playwright test -x", "", "-x"),
        ("npx cucumber-js --fail-fast", "", "--fail-fast"),
        ("mvn test", "[INFO] shop-web ...... SKIPPED", "SKIPPED"),
    ],
)
def test_a_run_that_ends_at_a_failing_test_says_so(command, output, by):
    sentence = stopped_early(runner_of(command, "tests"), command, output)
    assert sentence is not None
    assert by is None or f"stopped at a failing test ({by}), so what is missing was not run" in sentence


@table(
    ("command", "output"),
    [
        ("pytest -q", "1 failed, 1 passed"),
        ("pytest --maxfail=0", ""),
        ("pytest -p no:x -k x", ""),
        ("jest --bail=0", "Test Suites: 1 failed, 1 total"),
        ("jest --bail-out-never", ""),
        ("cargo test --no-fail-fast", f"{CARGO_FAILED}error: 1 target failed:\n    `--lib`\n"),
        ("make test", f"{CARGO_FAILED}{CARGO_FAILED}error: 2 targets failed:\n    `--lib`\n    `--test a`\n"),
        ("phpunit", "..F                  3 / 3 (100%)\n\nTime: 00:00.046\n"),
        ("gradle test --continue", ""),
    ],
)
def test_a_run_that_goes_on_does_not(command, output):
    assert stopped_early(runner_of(command, "tests"), command, output) is None
