"""The events of `go test -json`."""

import json

import pytest

from ralph_tracker.formats import registry
from ralph_tracker.formats.parsed_report import Unreadable
from tests.tables import table


def event(action: str, test: str = "", package: str = "box", **more: object) -> dict[str, object]:
    return {"Action": action, "Package": package} | ({"Test": test} if test else {}) | more


def lines(*events: dict[str, object] | str) -> str:
    return "".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in events)


END = event("pass")
FAIL = event("fail")


@pytest.mark.parametrize(
    ("actions", "outcome"),
    [
        (["run", "pass"], "passed"),
        (["run", "output", "fail"], "failed"),
        (["run", "skip"], "skipped"),
        (["pass"], "passed"),
        (["run", "pause", "cont", "pass"], "passed"),
    ],
)
def test_the_last_end_of_a_test_counts(read, outcomes, actions, outcome):
    report = read(lines(*(event(action, "TestLid") for action in actions), FAIL), "gotest-json")
    assert outcomes(report)[:1] == [outcome]
    assert next(iter(report.outcomes)) == "box::TestLid"


@pytest.mark.parametrize("action", ["run", "output", "pause"])
def test_a_test_without_an_end_is_broken_and_counts_as_failed(read, action):
    report = read(lines(event(action, "TestLid"), event("pass", "TestBox"), FAIL), "gotest-json")
    assert (report.tests, report.broken) == (1, {"box::TestLid"})
    assert report.results.outcomes == {"box::TestBox": "passed", "box::TestLid": "failed"}


@pytest.mark.parametrize(
    ("actions", "outcome", "flaky"),
    [(["fail", "pass"], "passed", True), (["pass", "pass"], "passed", False), (["pass", "fail"], "failed", True)],
)
def test_a_test_that_ran_again_is_one_test(read, actions, outcome, flaky):
    report = read(lines(*(event(action, "TestLid") for action in actions), FAIL, END), "gotest-json")
    assert report.outcomes == {"box::TestLid": outcome}
    assert report.rerun == {"box::TestLid"}
    assert bool(report.flaky) == flaky


def test_a_subtest_is_a_test(read):
    report = read(lines(event("pass", "TestLid/left", Elapsed=0.5), event("pass", "TestLid"), END), "gotest-json")
    assert list(report.outcomes) == ["box::TestLid/left", "box::TestLid"]
    assert report.durations == {"box::TestLid/left": 0.5}


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([event("start"), FAIL], {"box::(package)": "failed"}),
        ([event("pass", "TestLid"), FAIL], {"box::TestLid": "passed", "box::(package)": "failed"}),
        ([event("fail", "TestLid"), FAIL], {"box::TestLid": "failed"}),
        ([event("run", "TestLid"), FAIL], {"box::TestLid": "failed"}),
        (["FAIL\tbox [setup failed]"], {"box::(package)": "failed"}),
        (["FAIL\tbox\t0.01s", FAIL], {"box::(package)": "failed"}),
        ([{"ImportPath": "box", "Action": "build-fail"}], {"box::(build)": "failed"}),
        ([{"ImportPath": "box", "Action": "build-fail"}, FAIL], {"box::(package)": "failed"}),
        ([event("skip")], {}),
        ([event("fail"), event("pass")], {}),
    ],
)
def test_a_package_that_fails_without_a_test_is_broken_and_counts_as_failed(read, events, expected):
    first = event("start", package="empty"), event("pass", package="empty")
    report = read(lines(*first, *events), "gotest-json")
    assert report.results.outcomes == expected
    assert report.broken == expected.keys() - report.outcomes.keys()
    assert (report.note is None) == (not report.broken)


def test_packages_are_told_apart(read):
    other = event("fail", "TestLid", "lid"), event("fail", package="lid")
    report = read(lines(event("pass", "TestLid"), END, *other), "gotest-json")
    assert report.outcomes == {"box::TestLid": "passed", "lid::TestLid": "failed"}


def test_events_without_a_package_are_of_one_package(read):
    text = lines({"Action": "fail", "Test": "TestLid"}, {"Action": "fail"})
    assert read(text, "gotest-json").outcomes == {"TestLid": "failed"}


def test_other_lines_are_passed_over_and_counted(read):
    report = read(lines("hello", event("pass", "TestLid"), '{"level": "info"}', END), "gotest-json")
    assert (report.tests, report.skipped_lines) == (1, 2)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (lines(event("pass", "TestLid")), "cut short: the package box has no end"),
        (lines(event("start")), "cut short: the package box has no end"),
        (lines(event("pass", "TestLid"), END)[:-9], "cut short: the last line is half an object"),
        (lines({"ImportPath": "box", "Action": "build-output"}), "there is no package in it"),
    ],
)
def test_half_a_run_is_unreadable(damage, text, why):
    assert damage(text, "gotest-json").why == why


@table("text", ['{"Action": "pass"}', '{"Action": 1, "Package": "box"}', '{"Package": "box"}'])
def test_other_objects_do_not_look_like_events(text):
    assert isinstance(registry.read(f"{text}\n{text}\n".encode()), Unreadable)


BUILT_BEFORE_1_24 = ("# box [box.test]", "box/a.go:3:23: undefined: c", "FAIL\tbox [build failed]")


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        pytest.param(BUILT_BEFORE_1_24, {"box": "box/a.go:3:23: undefined: c"}, id="with the compiler's words"),
        pytest.param(BUILT_BEFORE_1_24[2:], {"box": "the package does not build"}, id="without them"),
        pytest.param(("FAIL\tbox\t0.01s",), {}, id="a package whose tests fail"),
    ],
)
def test_a_package_that_does_not_build_is_not_loaded(read, before, expected):
    report = read(lines(*before, event("pass", "TestLid", "lid"), event("pass", package="lid")), "gotest-json")
    assert report.not_loaded == expected


def test_a_failing_test_says_what_it_printed_without_its_frame(read):
    printed = ("=== RUN   TestLid\n", "    lid_test.go:7: 1, want 2\n", "--- FAIL: TestLid (0.00s)\n")
    events = (event("output", "TestLid", Output=each) for each in printed)
    report = read(lines(*events, event("fail", "TestLid"), FAIL), "gotest-json")
    assert report.messages == {"box::TestLid": "lid_test.go:7: 1, want 2"}


@pytest.mark.parametrize(
    ("output", "package", "outcome"),
    [
        ("no newline--- PASS: TestLid (0.00s)\n", "pass", "passed"),
        ("no newline--- FAIL: TestLid (0.01s)\n", "fail", "failed"),
        ("no newline--- SKIP: TestLid (0.00s)\n", "fail", "skipped"),
        ("no newline", "pass", "passed"),
    ],
)
def test_output_without_a_newline_swallows_no_test(read, output, package, outcome):
    report = read(
        lines(event("run", "TestLid"), event("output", "TestLid", Output=output), event(package)), "gotest-json"
    )
    assert (report.outcomes, report.broken - {"box::(package)"}) == ({"box::TestLid": outcome}, set())


def test_what_a_test_prints_about_another_one_ends_neither(read):
    output = "x--- PASS: TestBox (0.00s)\n"
    report = read(lines(event("run", "TestLid"), event("output", "TestLid", Output=output), FAIL), "gotest-json")
    assert report.broken == {"box::TestLid"}
