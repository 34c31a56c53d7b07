"""The JSON reports of mocha, RSpec, jest and vitest: one object each."""

import json

import pytest

from ralph_tracker.core.known_tests import STOPPED_RUN


def mocha(*tests: dict, waiting=(), failed=(), **stats: int) -> str:
    counts = {"tests": len(tests), "pending": len(waiting), "failures": len(failed)} | stats
    return json.dumps({"stats": counts, "tests": tests, "pending": waiting, "failures": failed, "passes": []})


def a_test(name: str = "lid", **more: object) -> dict:
    return {"title": name, "fullTitle": name, "file": "/project/test/box.js", "err": {}} | more


BAD = a_test("key", err={"message": "no key"})
HOOK = a_test('"before each" hook for "lid"', err={"message": "x"})


def test_mocha_lists_what_failed_and_what_waits(read, outcomes):
    waiting = a_test("voice")
    report = read(mocha(a_test(duration=5), BAD, waiting, waiting=[waiting], failed=[BAD]), "mocha-json")
    assert list(report.outcomes) == ["box.js::lid", "box.js::key", "box.js::voice"]
    assert outcomes(report) == ["passed", "failed", "skipped"]
    assert report.durations == {"box.js::lid": 0.005}
    assert report.contradiction is None


def test_of_two_tests_of_mocha_with_one_title_the_failed_one_has_it(read, outcomes):
    one, two = a_test(), a_test(err={"message": "x"})
    assert outcomes(read(mocha(one, two, failed=[two]), "mocha-json")) == ["failed", "passed"]
    assert outcomes(read(mocha(one, one, one), "mocha-json")) == ["passed"] * 3
    assert outcomes(read(mocha(one, one, one, waiting=[one]), "mocha-json")) == ["skipped", "passed", "passed"]


def test_a_hook_of_mocha_that_failed_is_a_case_in_error(read, outcomes):
    report = read(mocha(a_test(), failed=[HOOK]), "mocha-json")
    assert outcomes(report) == ["passed", "error"]
    assert report.contradiction is None


def test_a_test_that_mocha_tried_again_is_flaky_where_it_passed(read):
    report = read(mocha(a_test(currentRetry=1), {**BAD, "currentRetry": 2}, failed=[BAD]), "mocha-json")
    assert report.rerun == {"box.js::lid", "box.js::key"}
    assert report.flaky == {"box.js::lid"}


@pytest.mark.parametrize(
    ("stats", "contradiction"),
    [({"tests": 2}, "declared tests: 2, found: 1"), ({"failures": 1}, "declared failures and errors: 1, found: 0")],
)
def test_mocha_may_contradict_itself(read, stats, contradiction):
    assert read(mocha(a_test(), **stats), "mocha-json").contradiction == contradiction


def rspec(*examples: dict, **summary: object) -> str:
    failed, waiting = (sum(each["status"] == status for each in examples) for status in ("failed", "pending"))
    counts = {"example_count": len(examples), "failure_count": failed, "pending_count": waiting} | summary
    return json.dumps({"version": "3.13.0", "examples": examples, "summary": counts, "summary_line": ""})


def example(status: str, name: str = "a box opens", **more: object) -> dict:
    return {"status": status, "full_description": name, "file_path": "./spec/box_spec.rb"} | more


@pytest.mark.parametrize(("status", "outcome"), [("passed", "passed"), ("failed", "failed"), ("pending", "skipped")])
def test_the_status_of_an_example_decides(read, status, outcome):
    report = read(rspec(example(status, run_time=0.5)), "rspec-json")
    assert report.outcomes == {"spec/box_spec.rb::a box opens": outcome}
    assert report.durations == {"spec/box_spec.rb::a box opens": 0.5}


def test_errors_outside_of_examples_are_cases_in_error(read, outcomes):
    report = read(rspec(example("passed"), errors_outside_of_examples_count=2), "rspec-json")
    assert outcomes(report) == ["passed", "error", "error"]
    assert report.contradiction is None


@pytest.mark.parametrize("end", [".", ". - Did you mean?\n                    rspec ./spec/other_spec.rb\n"])
def test_a_file_of_rspec_that_does_not_load_is_named_with_its_error(read, end):
    error = f"\nAn error occurred while loading ./spec/box_spec.rb{end}\nFailure/Error: x\n\nLoadError:\n  no lid"
    document = json.loads(rspec(errors_outside_of_examples_count=1)) | {"messages": [error]}
    report = read(json.dumps(document), "rspec-json")
    assert report.outcomes == {"spec/box_spec.rb::(test file)": "failed"}
    assert report.messages == {"spec/box_spec.rb::(test file)": "LoadError: no lid"}
    assert report.not_loaded == {"spec/box_spec.rb": "LoadError: no lid"}


def test_rspec_may_contradict_itself(read):
    text = rspec(example("passed"), example_count=3)
    assert read(text, "rspec-json").contradiction == "declared tests: 3, found: 1"


def jest(*files: dict, total: int | None = None, **more: object) -> str:
    tests = sum(len(file["assertionResults"]) for file in files) if total is None else total
    return json.dumps({"numTotalTests": tests, "testResults": files, "success": True} | more)


def file(*tests: dict, name: str = "/project/src/box.test.js", status: str = "passed") -> dict:
    return {"name": name, "status": status, "assertionResults": tests}


def assertion(status: str = "passed", title: str = "opens", **more: object) -> dict:
    return {"status": status, "title": title, "ancestorTitles": ["a box"]} | more


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        ("passed", "passed"),
        ("failed", "failed"),
        ("pending", "skipped"),
        ("skipped", "skipped"),
        ("todo", "skipped"),
        ("disabled", "skipped"),
    ],
)
def test_the_status_of_an_assertion_decides(read, status, outcome):
    report = read(jest(file(assertion(status, duration=250))), "jest-json")
    assert report.outcomes == {"box.test.js::a box > opens": outcome}
    assert report.durations == {"box.test.js::a box > opens": 0.25}


NOT_RUN = "the run stopped before {}, so what is missing was not run"


@pytest.mark.parametrize(
    ("more", "skipped", "not_loaded"),
    [
        ({"numFailedTests": 1}, 1, {STOPPED_RUN: NOT_RUN.format("2 tests")}),
        ({"numFailedTests": 1, "numRuntimeErrorTestSuites": 0}, 2, {}),
        ({"numFailedTests": 0, "success": True}, 2, {}),
    ],
    ids=["vitest", "jest", "vitest without a failure"],
)
def test_what_vitest_did_not_come_to_was_not_run(read, more, skipped, not_loaded):
    failed = "failed" if more["numFailedTests"] else "passed"
    statuses = enumerate((failed, "pending", "skipped"))
    tests = [assertion(status, str(number)) for number, status in statuses]
    report = read(jest(file(*tests), file(name="/p/b.test.js"), **more), "jest-json")
    assert (list(report.outcomes.values()).count("skipped"), report.contradiction) == (skipped, None)
    assert report.not_loaded == not_loaded


def test_the_order_in_which_files_ended_changes_no_id(read):
    one, two = (file(assertion(status), name=f"/p/{status}/box.test.js") for status in ("failed", "passed"))
    first, then = (read(jest(*files), "jest-json") for files in ((one, two), (two, one)))
    assert (
        first.outcomes
        == then.outcomes
        == {"box.test.js::a box > opens": "failed", "box.test.js::a box > opens#2": "passed"}
    )


@pytest.mark.parametrize(
    ("more", "rerun", "flaky"),
    [
        ({"invocations": 2}, True, True),
        ({"failureMessages": ["once"]}, True, True),
        ({"invocations": 3, "status": "failed"}, True, False),
        ({"invocations": 1, "failureMessages": []}, False, False),
    ],
)
def test_a_test_that_was_tried_again_is_flaky_where_it_passed(read, more, rerun, flaky):
    report = read(jest(file(assertion(**more))), "jest-json")
    assert (bool(report.rerun), bool(report.flaky)) == (rerun, flaky)


def test_a_file_that_could_not_run_is_a_case_in_error(read):
    report = read(jest(file(assertion()), file(name="b.test.js", status="failed"), success=False), "jest-json")
    assert report.in_error == {"b.test.js::(test file)"}
    assert report.contradiction is None


def test_a_file_whose_tests_passed_and_that_failed_is_told_beside_other_failures(read):
    files = file(assertion(), name="/p/hook.js", status="failed"), file(assertion("failed"), status="failed")
    report = read(jest(*files, success=False), "jest-json")
    assert (report.broken, report.not_loaded) == ({"hook.js::(test file)"}, {})
    assert report.messages["hook.js::(test file)"] == "a hook of its suites failed"
    assert (report.tests, report.contradiction) == (2, None)


def test_a_run_that_failed_though_no_test_did_is_in_error(read, outcomes):
    assert outcomes(read(jest(file(assertion()), success=False), "jest-json")) == ["passed", "error"]


def test_jest_may_contradict_itself(read):
    assert read(jest(file(assertion()), total=2), "jest-json").contradiction == "declared tests: 2, found: 1"


@pytest.mark.parametrize(
    ("text", "name", "why"),
    [
        (jest(wasInterrupted=True), "jest-json", "the run was interrupted, tests are missing"),
        (jest(file(assertion("odd"))), "jest-json", "no report of jest or vitest: Invalid enum value 'odd'"),
        (jest(total=-1), "jest-json", "no report of jest or vitest: Expected `int` >= 0"),
        (jest(file(assertion()))[:-9], "jest-json", "malformed JSON: "),
        (rspec(example("odd")), "rspec-json", "no report of RSpec: Invalid enum value 'odd'"),
        (rspec(example_count=None), "rspec-json", "no report of RSpec: Expected `int`, got `null`"),
        (rspec(errors_outside_of_examples_count=10**9), "rspec-json", "no report of RSpec: Expected `int` <= 100000"),
        (mocha(tests="3"), "mocha-json", "no report of mocha: Expected `int`, got `str`"),
        (mocha({"title": "x"}), "mocha-json", "no report of mocha: Object missing required field `fullTitle`"),
    ],
)
def test_damage_is_unreadable_with_the_place(damage, text, name, why):
    found = damage(text, name)
    assert found.why.startswith(why)
    assert found.line == (None if "interrupted" in why else 1)
