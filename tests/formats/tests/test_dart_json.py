"""The events of `dart test --reporter=json`."""

import json

import pytest

START = {"type": "start", "protocolVersion": "0.1.1", "time": 0}
SUITE = {"type": "suite", "suite": {"id": 0, "path": "test/box_test.dart"}, "time": 0}
DONE = {"type": "done", "success": True, "time": 9}


def begun(name: str = "lid", number: int = 1, time: object = 100) -> dict[str, object]:
    return {"type": "testStart", "test": {"id": number, "name": name, "suiteID": 0}, "time": time}


def ended(result: str = "success", number: int = 1, **more: object) -> dict[str, object]:
    return {"type": "testDone", "testID": number, "result": result, "hidden": False, "time": 350} | more


def lines(*events: dict[str, object] | str) -> str:
    return "".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in (START, SUITE, *events))


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        (ended(), ["passed"]),
        (ended("failure"), ["failed"]),
        (ended("error"), ["error"]),
        (ended(skipped=True), ["skipped"]),
        (ended(hidden=True), []),
        (None, ["error"]),
    ],
)
def test_the_end_of_a_test_decides_and_hidden_ones_are_none(read, outcomes, end, expected):
    assert outcomes(read(lines(begun(), *([end] if end else []), DONE), "dart-json")) == expected


def test_the_file_is_part_of_the_id_and_times_are_seconds(read):
    assert read(lines(begun(), ended(), DONE), "dart-json").durations == {"test/box_test.dart::lid": 0.25}
    assert not read(lines(begun(time=None), ended(), DONE), "dart-json").durations


@pytest.mark.parametrize("success", [False, None])
def test_a_run_that_failed_though_no_test_did_is_in_error(read, outcomes, success):
    done = {**DONE, "success": success}
    assert outcomes(read(lines(begun(), ended(), done), "dart-json")) == ["passed", "error"]
    assert outcomes(read(lines(begun(), ended("failure"), done), "dart-json")) == ["failed"]


def group(tests: int, parent: int | None = None) -> dict[str, object]:
    return {"type": "group", "group": {"id": 5, "parentID": parent, "testCount": tests}}


@pytest.mark.parametrize(
    ("events", "contradiction"),
    [
        ((group(1), group(1, parent=5), begun(), ended()), None),
        ((group(2), begun(), ended()), "declared tests: 2, found: 1"),
        ((group(1), begun(), ended(), begun("(setUpAll)", 2), ended("error", 2)), None),
    ],
)
def test_groups_announce_tests(read, events, contradiction):
    assert read(lines(*events, DONE), "dart-json").contradiction == contradiction


ALL = {"type": "allSuites", "count": 1}


def test_without_its_end_a_report_is_whole_where_all_that_was_announced_ended(read):
    assert read(lines(ALL, group(1), begun(), ended()), "dart-json").tests == 1


def test_other_lines_are_passed_over_and_counted(read):
    report = read(lines("[{}]", "{}", {"type": "print"}, {"type": "error", "error": "x"}, DONE), "dart-json")
    assert (report.tests, report.skipped_lines) == (0, 2)


@pytest.mark.parametrize(
    "events",
    [
        (begun(), ended()),
        (ALL, group(2), begun(), ended()),
        ({**ALL, "count": 2}, group(1), begun(), ended()),
        (ALL, group(1), begun(), ended(), begun(number=2)),
        (),
    ],
)
def test_half_a_run_is_unreadable(damage, events):
    assert damage(lines(*events), "dart-json").why == "cut short: the event that ends the report (done) is missing"


def test_a_result_that_dart_does_not_have_is_unreadable(damage):
    assert damage(lines(begun(), ended("odd"), DONE), "dart-json").why == "result is 'odd', which Dart does not have"


def test_events_without_a_start_are_unreadable(damage):
    assert damage(json.dumps(DONE), "dart-json").why == "the event that starts the report is missing"
