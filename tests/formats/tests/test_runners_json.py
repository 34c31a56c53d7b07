"""The reports of pytest's plugins, Playwright, Cucumber and Robot Framework: what each status means."""

import json

from ralph_tracker.core.known_tests import STOPPED_RUN
from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import TestReport, Unreadable
from tests.tables import table


def read(value: object, **more):
    return registry.read((value if isinstance(value, str) else json.dumps(value)).encode(), **more)


def counts(report: TestReport | Unreadable) -> tuple[int, ...]:
    assert isinstance(report, TestReport), report
    return report.tests, report.passed, report.failed, report.errors, report.skipped


def phase(
    when: str, outcome: str, name: str = "a.py::t", kind: str = "TestReport", **more: object
) -> dict[str, object]:
    return {"$report_type": kind, "nodeid": name, "when": when, "outcome": outcome, "duration": 0.5, **more}


def log(*events: object, status: object = 1) -> str:
    start = {"pytest_version": "9", "$report_type": "SessionStart"}
    end = [] if status is None else [{"$report_type": "SessionFinish", "exitstatus": status}]
    return "".join(f"{json.dumps(event)}\n" for event in (start, *events, *end))


# id: the phases of a test, how it ended
PHASES = {
    "passed": (["passed", "passed", "passed"], "passed"),
    "failed": (["passed", "failed", "passed"], "failed"),
    "no set-up": (["failed", "passed"], "error"),
    "no tear-down": (["passed", "passed", "failed"], "error"),
    "failed, and no tear-down": (["passed", "failed", "failed"], "error"),
    "skipped": (["skipped", "passed"], "skipped"),
    "skipped within": (["passed", "skipped", "passed"], "skipped"),
}
NAMES = {2: ("setup", "teardown"), 3: ("setup", "call", "teardown")}


@table(("outcomes", "expected"), PHASES.values(), ids=PHASES)
def test_a_test_of_pytest_ends_as_its_worst_phase(outcomes, expected):
    phases = list(zip(NAMES[len(outcomes)], outcomes, strict=True))
    report = {"nodeid": "a.py::t", "outcome": "x"} | {when: {"outcome": each, "duration": 0.5} for when, each in phases}
    whole = {"created": 1, "exitcode": 1, "summary": {"total": 1}, "tests": [report]}
    for found in (read(log(*(phase(*each) for each in phases))), read(whole)):
        assert isinstance(found, TestReport), found
        outcome = "error" if found.errors else found.outcomes["a.py::t"]
        assert (outcome, found.durations["a.py::t"]) == (expected, len(phases) / 2)


def test_a_subtest_that_fails_fails_its_test():
    report = read(log(phase("call", "failed", kind="SubTestReport"), phase("call", "passed")))
    assert counts(report) == (1, 0, 1, 0, 0)


def test_a_test_that_passed_on_its_second_try_is_flaky():
    report = read(log(phase("call", "rerun"), phase("setup", "passed"), phase("call", "passed")))
    assert (counts(report), report.flaky) == ((1, 1, 0, 0, 0), {"a.py::t"})
    report = read(log(phase("call", "rerun"), phase("call", "failed", longrepr={"reprcrash": {"message": "m"}})))
    assert (counts(report), report.rerun, report.flaky) == ((1, 0, 1, 0, 0), {"a.py::t"}, frozenset())


COLLECTED = {"$report_type": "CollectReport", "nodeid": "a.py", "outcome": "failed", "longrepr": "E   NameError: x"}


def test_a_file_that_cannot_be_collected_is_in_error():
    report = read(log(COLLECTED, {**COLLECTED, "nodeid": "b.py", "outcome": "skipped"}, status=2))
    assert (counts(report), report.not_loaded) == ((2, 0, 0, 1, 1), {"a.py": "NameError: x"})
    collectors = [
        {key: COLLECTED[key] for key in ("nodeid", "outcome", "longrepr")},
        {"nodeid": "b.py", "outcome": "skipped"},
    ]
    whole = {"created": 1, "exitcode": 2, "summary": {"total": 0}, "collectors": collectors, "tests": []}
    assert (counts(read(whole)), read(whole).not_loaded) == ((2, 0, 0, 1, 1), {"a.py": "NameError: x"})


@table(
    "text",
    [log(phase("call", "passed"), status=None), log(phase("call", "passed"), status=2), log(phase("call", "odd"))],
)
def test_a_log_of_a_session_that_did_not_end_well_is_no_report(text):
    assert isinstance(read(text), Unreadable)


def test_other_lines_in_a_log_are_counted():
    assert read("hello\n" + log(phase("call", "passed"), {"a": 1})).skipped_lines == 2


SUMMARY = {"created": 1, "exitcode": 1, "summary": {"passed": 2, "failed": 1, "xfailed": 1, "rerun": 1, "total": 5}}


def test_a_summary_of_pytest_without_its_tests_has_their_numbers():
    assert counts(read(SUMMARY)) == (5, 3, 1, 0, 1)
    assert read(SUMMARY).contradiction is None
    assert read({**SUMMARY, "tests": []}).contradiction == "declared tests: 5, found: 0"


@table("change", [{"exitcode": 3, "summary": {}}, {"exitcode": "x"}, {"tests": [{}]}])
def test_a_pytest_that_was_stopped_is_no_report(change):
    assert isinstance(read({**SUMMARY, **change}), Unreadable)


def playwright(*tests: dict[str, object], errors: object = (), **stats: int) -> dict[str, object]:
    specs = [{"title": "t", "file": "a.spec.ts", "tests": list(tests)}]
    suites = [{"title": "a.spec.ts", "suites": [{"title": "inner", "specs": specs}]}]
    stats = {"expected": 0, "skipped": 0, "unexpected": 0, "flaky": 0} | stats
    return {"config": {"rootDir": "/p"}, "suites": suites, "errors": errors, "stats": stats}


@table(
    ("status", "expected"),
    [
        ("expected", (1, 1, 0, 0, 0)),
        ("flaky", (1, 1, 0, 0, 0)),
        ("unexpected", (1, 0, 1, 0, 0)),
        ("skipped", (1, 0, 0, 0, 1)),
    ],
)
def test_a_test_of_playwright_ends_as_its_status_says(status, expected):
    report = read(playwright({"status": status, "results": [{"duration": 250}]}, **{status: 1}))
    assert (counts(report), report.contradiction) == (expected, None)
    assert list(report.outcomes) == ["a.spec.ts::inner > t"]
    assert bool(report.flaky) is (status == "flaky")


def test_a_test_of_playwright_is_one_a_project():
    tests = [{"status": "expected", "projectName": name} for name in ("one", "two")]
    report = read(playwright(*tests, expected=2))
    assert list(report.outcomes) == ["a.spec.ts::[one] inner > t", "a.spec.ts::[two] inner > t"]


def test_a_test_that_playwright_did_not_come_to_was_not_run():
    failed, skipped = ({"status": each, "expectedStatus": each} for each in ("unexpected", "skipped"))
    left = {"status": "skipped", "expectedStatus": "passed"}
    report = read(playwright({**failed, "expectedStatus": "passed"}, skipped, left, left, unexpected=1, skipped=3))
    assert (counts(report), report.contradiction) == ((2, 0, 1, 0, 1), None)
    assert report.not_loaded == {STOPPED_RUN: "the run stopped before 2 tests, so what is missing was not run"}
    serial = read(playwright({**left, "results": [{"duration": 0}]}, skipped=1))
    assert (counts(serial), serial.not_loaded) == ((1, 0, 0, 0, 1), {})


@table(
    ("location", "name", "places"),
    [({"file": "/p/b.spec.ts"}, "b.spec.ts::(test file)", ["b.spec.ts"]), (None, "(test run)", [])],
)
def test_an_error_outside_of_the_tests_of_playwright_is_one_of_the_run(location, name, places):
    report = read(playwright(errors=[{"message": "Error: no", "location": location}]))
    assert counts(report) == (1, 0, 0, 1, 0)
    assert (list(report.outcomes), list(report.not_loaded)) == ([name], places)


@table("report", [playwright({"status": "odd"}), {**playwright(), "suites": None}])
def test_what_is_no_whole_report_of_playwright_is_unreadable(report):
    assert isinstance(read(report), Unreadable)


def cucumber(*elements: dict[str, object]) -> list[object]:
    return [{"uri": "./a.feature", "keyword": "Feature", "name": "f", "elements": list(elements)}]


def scenario(*statuses: str, **more: object) -> dict[str, object]:
    steps = [{"keyword": "Given ", "name": "x", "result": {"status": each, "duration": 5e8}} for each in statuses]
    return {"name": "s", "type": "scenario", "steps": steps, **more}


HOOK = {"result": {"status": "failed", "error_message": "no hook"}}
SCENARIOS = {
    "passed": ([scenario("passed", "passed")], "passed", None),
    "no steps": ([scenario()], "passed", None),
    "failed": ([scenario("passed", "failed", "skipped")], "failed", "failed: Given x"),
    "undefined": ([scenario("undefined")], "failed", "undefined: Given x"),
    "upper case": ([scenario("PENDING")], "failed", "PENDING: Given x"),
    "ambiguous": ([scenario("ambiguous")], "failed", "ambiguous: Given x"),
    "skipped": ([scenario("passed", "skipped")], "skipped", None),
    "a hook before": ([scenario("skipped", before=[HOOK])], "failed", "no hook"),
    "a hook after": ([scenario("passed", after=[HOOK])], "failed", "no hook"),
    "the background": ([scenario("failed", type="background"), scenario("skipped")], "failed", "failed: Given x"),
}


@table(("elements", "outcome", "said"), SCENARIOS.values(), ids=SCENARIOS)
def test_a_scenario_fails_with_any_step_that_does_not_pass(elements, outcome, said):
    report = read(cucumber(*elements))
    assert report.outcomes == {"a.feature::f > s": outcome}
    assert report.messages.get("a.feature::f > s") == said


def row(line: int, *texts: str) -> dict[str, object]:
    steps = [{"keyword": "Given ", "name": each, "result": {"status": "passed"}} for each in (*texts, "")]
    return {"name": "s", "steps": steps, "line": line}


@table(
    ("rows", "names"),
    [
        ([row(4, "there are 12 eggs", 'I eat "a lot"'), row(5, "there are 2 eggs")], ['s [12, "a lot"]', "s [2]"]),
        ([row(4, "a red box"), row(5, "a green box")], ["s [a red box]", "s [a green box]"]),
        ([row(4, "x 1"), row(5, "x 1"), row(6, "x 2")], ["s [line 4]", "s [line 5]", "s [x 2]"]),
        ([row(4, "x 1"), {**row(5, "x 1"), "name": "t"}], ["s", "t"]),
    ],
)
def test_the_rows_of_an_outline_are_told_apart_by_their_values(rows, names):
    assert list(read(cucumber(*rows)).outcomes) == [f"a.feature::f > {name}" for name in names]


@table("report", [cucumber(scenario("odd")), [{"uri": "a", "keyword": "Feature", "elements": [{"steps": [{}]}]}]])
def test_a_status_that_cucumber_does_not_have_is_damage(report):
    assert isinstance(read(report), Unreadable)


def robot(tests: str, suite_status: str = "", total: str = "") -> str:
    return (
        f'<robot><suite name="A">{tests}{suite_status}</suite><statistics><total>{total}</total></statistics></robot>'
    )


def of_robot(status: str, name: str = "T") -> str:
    inner = '<kw name="k"><status status="FAIL">of a keyword</status></kw>'
    return f'<test name="{name}">{inner}<status status="{status}" elapsed="0.5">m</status></test>'


@table(("status", "outcome"), [("PASS", "passed"), ("FAIL", "failed"), ("SKIP", "skipped"), ("NOT RUN", "skipped")])
def test_a_test_of_robot_framework_ends_as_its_own_status_says(status, outcome):
    report = read(robot(of_robot(status)))
    assert (report.outcomes, report.durations) == ({"A::T": outcome}, {"A::T": 0.5})
    assert report.messages == ({"A::T": "m"} if outcome == "failed" else {})


def test_a_suite_whose_tear_down_failed_has_no_test_that_passed():
    status = '<status status="FAIL">Suite teardown failed:\nno</status>'
    stat = '<stat pass="0" fail="2" skip="0">All Tests</stat>'
    report = read(robot(of_robot("PASS") + of_robot("SKIP", "U"), status, stat))
    assert (counts(report), report.contradiction) == ((2, 0, 2, 0, 0), None)


def test_other_statistics_than_tests_are_a_contradiction():
    report = read(robot(of_robot("PASS"), total='<stat pass="2" fail="0">All Tests</stat>'))
    assert report.contradiction == "declared tests: 2, found: 1"


@table("text", [robot(of_robot("ODD")), robot(of_robot("PASS"))[:-20], "<other/>"])
def test_what_is_no_whole_output_of_robot_framework_is_unreadable(text):
    assert isinstance(read(text, format="robot"), Unreadable)


def test_a_test_that_robot_framework_left_out_was_not_run():
    left = of_robot("FAIL", "L").replace("</kw>", "</kw><tag>a</tag><tag>robot:exit</tag>")
    total = '<stat pass="0" fail="2" skip="0">All Tests</stat>'
    report = read(robot(of_robot("FAIL") + left, total=total))
    assert (counts(report), report.contradiction) == ((1, 0, 1, 0, 0), None)
    assert report.not_loaded == {STOPPED_RUN: "the run stopped before 1 test, so what is missing was not run"}
