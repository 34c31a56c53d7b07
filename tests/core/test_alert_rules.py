"""When each alert is raised, in which words, and when a lasting one closes (semantics § 5)."""

import pytest

from ralph_tracker.core.alert_rules import AlertFacts, remaining_alert
from ralph_tracker.core.judge_state import JudgeState
from ralph_tracker.core.metrics import Group, Measurement, Metrics, TestResults
from ralph_tracker.core.score import basis_of
from ralph_tracker.core.thresholds import Thresholds

P, F, S = "passed", "failed", "skipped"


def counts(count, passed, failed):
    return {"test_count": count, "tests_passed": passed, "tests_failed": failed, "tests_skipped": None}


def facts(**metrics):
    """Return the facts of an iteration of which only these metrics are known."""
    known, state = Metrics(**metrics), JudgeState("a loop", Thresholds())
    basis = basis_of(known, state.thresholds, given_score=False)
    return AlertFacts(state, basis, known, Measurement(known, ""), {}, None)


def said(record):
    """Return the new alerts as severity, type and message."""
    return [(alert.kind.severity.name, alert.type, alert.message) for alert in record.alerts]


DELETED = ("CRITICAL", "test_deletion", "Test count decreased from 10 to 9")
FAILING = ("CRITICAL", "working_tests_failing", "Previously passing tests now failing")
LOST = ("HIGH", "functionality_loss", "Passing tests decreased from 8 to 7")
DROPPED = ("HIGH", "coverage_regression", "Coverage dropped 75%→72% (exceeds -2% threshold)")


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        pytest.param({}, {}, [], id="nothing changed"),
        pytest.param(counts(10, 8, 2), counts(9, 8, 1), [DELETED], id="a failing test deleted"),
        pytest.param(counts(10, 8, 2), counts(9, 7, 2), [DELETED, LOST], id="a passing test deleted"),
        pytest.param(counts(10, 8, 2), counts(10, 7, 2), [LOST], id="a passing test skipped"),
        pytest.param(counts(10, 8, 2), counts(10, 7, 3), [FAILING], id="fewer pass and more fail"),
        pytest.param(counts(10, 8, 2), counts(9, 6, 3), [DELETED, FAILING], id="deleted and failing"),
        pytest.param(counts(10, 8, 2), counts(12, 8, 4), [], id="more fail, none fewer pass"),
        pytest.param(counts(10, 8, 0), counts(10, 10, 0), [], id="more pass"),
        pytest.param(
            counts(10, 8, 2) | {"coverage_percentage": 75.0},
            counts(9, 7, 2) | {"coverage_percentage": 72.0},
            [DELETED, DROPPED, LOST],
            id="Example 2, sorted by severity, then type",
        ),
    ],
)
def test_tests_by_their_counts(start, before, now, expected):
    assert said(start(**before).turn(**now)) == expected


@pytest.mark.parametrize(
    ("before", "now", "message"),
    [
        pytest.param(75.0, 73.0, None, id="exactly -2.0"),
        pytest.param(75.0, 72.9, "Coverage dropped 75%→72.9% (exceeds -2% threshold)", id="-2.1"),
        pytest.param(80.1, 78.1, None, id="-2.0 that binary holds as more"),
        pytest.param(77.5, 70.0, "Coverage dropped 77.5%→70% (exceeds -2% threshold)", id="a trailing .0 is dropped"),
        pytest.param(70.0, 75.0, None, id="rising"),
        pytest.param(None, 10.0, None, id="measured for the first time"),
    ],
)
def test_coverage_regression(start, before, now, message):
    record = start(coverage_percentage=before).turn(coverage_percentage=now)
    assert said(record) == ([("HIGH", "coverage_regression", message)] if message else [])


@pytest.mark.parametrize(
    ("errors", "loc", "rise", "note"),
    [
        pytest.param(15, 100, None, "", id="exactly +5"),
        pytest.param(16, 100, 6, "", id="+6"),
        pytest.param(30, 200, None, "", id="30 in twice the code are 15"),
        pytest.param(32, 200, 6, "32 in the grown code count as 16 at the previous size", id="32 in twice the code"),
        pytest.param(16, 50, 6, "", id="in less code"),
        pytest.param(16, None, 6, "", id="size unknown"),
    ],
)
def test_error_increase(start, errors, loc, rise, note):
    loop = start(base={"lint_errors": 10, "loc_total": 100})
    loop.turn(lint_errors=errors, loc_total=loc)
    found = [(a.message, a.note) for a in loop.last.alerts if a.type == "error_increase"]
    assert found == ([(f"Error count increased by {rise}", note)] if rise else [])


def test_error_increase_where_no_size_was_ever_known(start):
    assert said(start(base={"error_count": 10}).turn(error_count=17)) == [
        ("HIGH", "error_increase", "Error count increased by 7")
    ]


def test_no_error_increase_where_errors_are_counted_for_the_first_time(start):
    loop = start(base={"complexity_score": 1.0}, configured=frozenset({Group.LINT}))
    loop.turn(lint_errors=50, lint_warnings=0)
    assert loop.kinds == []


@pytest.mark.parametrize(
    ("before", "now", "raised"),
    [
        pytest.param({"file_count": 5}, {"file_count": 4}, True, id="a file fewer"),
        pytest.param({"file_count": 5}, {"file_count": 6}, False, id="a file more"),
        pytest.param({"file_count": 5}, {"file_count": None}, False, id="files not counted"),
    ],
)
def test_file_deletion(start, before, now, raised):
    record = start(**before).turn(**now)
    assert said(record) == (
        [("MEDIUM", "file_deletion", "File count decreased (potential code deletion)")] if raised else []
    )
    assert [alert.note for alert in record.alerts] == (["5→4 files"] if raised else [])


@pytest.mark.parametrize(
    ("before", "now", "raised"),
    [
        pytest.param(2.0, 3.0, False, id="exactly one and a half"),
        pytest.param(2.0, 3.01, True, id="more"),
        pytest.param(1.4, 2.1, False, id="exactly one and a half, whatever binary makes of it"),
        pytest.param(0.0, 0.0, False, id="none at all"),
        pytest.param(0.0, 0.01, True, id="from none"),
        pytest.param(None, 9.0, False, id="measured for the first time"),
    ],
)
def test_complexity_explosion(start, before, now, raised):
    record = start(complexity_score=before).turn(complexity_score=now)
    assert said(record) == ([("MEDIUM", "complexity_explosion", "Complexity increased >50%")] if raised else [])


def test_complexity_explosion_says_from_what_to_what(start):
    loop = start(complexity_score=2.0)
    loop.turn(complexity_score=3.5)
    assert loop.alert("complexity_explosion").note == "2→3.5 a function"


def test_config_changed(start):
    loop = start()
    loop.turn(config_changed=("checks.lint", "loop.target_score"))
    assert said(loop.last) == [
        (
            "HIGH",
            "config_changed",
            "Configuration changed: checks.lint, loop.target_score; the frozen one is used",
        )
    ]


def test_stalled(start):
    loop = start()
    assert said(loop.turns(3)) == [("MEDIUM", "stalled", "No meaningful progress for 3 iterations")]


class TestByName:
    @pytest.mark.parametrize(
        ("before", "now", "expected"),
        [
            pytest.param({"a": P, "b": P}, {"a": P, "b": P}, [], id="nothing changed"),
            pytest.param(
                {"a": P, "b": P},
                {"a": P, "b": F},
                [("CRITICAL", "working_tests_failing", "Previously passing tests now failing: b")],
                id="one fails that passed",
            ),
            pytest.param(
                {"a": P, "b": F},
                {"a": F, "b": P},
                [("CRITICAL", "working_tests_failing", "Previously passing tests now failing: a")],
                id="one fails that passed, though as many pass",
            ),
            pytest.param({"a": F, "b": P}, {"a": F, "b": P}, [], id="one fails still"),
            pytest.param({"a": S, "b": P}, {"a": F, "b": P}, [], id="one fails that never ran"),
            pytest.param({"b": P}, {"a": F, "b": P}, [], id="a new one fails"),
            pytest.param(
                {"a": P, "b": P},
                {"a": P, "b": S},
                [("HIGH", "functionality_loss", "Passing tests decreased from 2 to 1")],
                id="one is skipped that passed",
            ),
            pytest.param(
                {"a": P, "b": P},
                {"a": P, "b": S, "c": P},
                [("HIGH", "functionality_loss", "Passing tests are skipped now: b")],
                id="one is skipped that passed, though as many pass",
            ),
            pytest.param(
                {"a": P, "b": P},
                {"a": P},
                [
                    ("CRITICAL", "test_deletion", "Test count decreased from 2 to 1"),
                    ("HIGH", "functionality_loss", "Passing tests decreased from 2 to 1"),
                ],
                id="one is gone that passed",
            ),
            pytest.param(
                {"a": P, "b": F},
                {"a": P},
                [("CRITICAL", "test_deletion", "Test count decreased from 2 to 1")],
                id="one is gone that failed",
            ),
            pytest.param(
                {"a": P, "b": P, "c": P, "d": F},
                {"d": F, "x": P, "y": P, "z": P},
                [("MEDIUM", "tests_replaced", "3 tests disappeared, 3 new: a, b, c")],
                id="three replaced",
            ),
            pytest.param(
                {"a": P, "b": P, "c": P},
                {"a": P, "x": F, "y": F},
                [
                    ("HIGH", "functionality_loss", "Passing tests decreased from 3 to 1"),
                    ("MEDIUM", "tests_replaced", "2 tests disappeared, 2 new: b, c"),
                ],
                id="two replaced by failing ones",
            ),
            pytest.param(
                {"a": P, "b": P, "c": P},
                {"a": F, "b": P},
                [
                    ("CRITICAL", "test_deletion", "Test count decreased from 3 to 2"),
                    ("CRITICAL", "working_tests_failing", "Previously passing tests now failing: a"),
                ],
                id="one fails, another is gone",
            ),
        ],
    )
    def test_what_is_raised(self, start, before, now, expected):
        assert said(start(tests=before).turn(tests=now)) == expected

    def test_a_long_list_of_names_is_cut_in_the_message_and_whole_in_the_alert(self, start):
        names = [f"t{i}" for i in range(7)]
        loop = start(tests=dict.fromkeys(names, P))
        loop.turn(tests=dict.fromkeys(names, F))
        alert = loop.alert("working_tests_failing")
        assert alert.message == "Previously passing tests now failing: t0, t1, t2, t3, t4 and 2 more"
        assert alert.tests == dict.fromkeys(names, P)

    def test_what_each_is_about(self, start):
        loop = start(tests={"a": P, "b": P, "c": F, "d": P})
        loop.turn(tests={"a": P, "d": S})
        assert loop.alert("test_deletion").tests == {"b": P, "c": F}
        assert loop.alert("test_deletion").note == "gone: b, c"
        assert loop.alert("functionality_loss").tests == {"b": P, "d": P}
        assert loop.alert("functionality_loss").note == "deleted, skipped or renamed away: b, d"

    def test_counts_decide_where_only_one_side_has_names(self, start):
        loop = start(test_count=3, tests_passed=3, tests_failed=0, tests_skipped=0)
        loop.turn(tests={"a": P, "b": F})
        assert said(loop.last) == [
            ("CRITICAL", "test_deletion", "Test count decreased from 3 to 2"),
            FAILING,
        ]
        assert loop.alert("test_deletion").until == ("test_count", 3)

    def test_a_count_that_fell_though_no_known_test_is_gone_closes_by_the_count(self, start):
        loop = start(tests={"a": P, "b": P})
        loop.turn(test_count=3, tests_passed=3, tests_failed=0, tests_skipped=0)
        loop.turn(tests={"a": P, "b": P})
        assert loop.kinds == ["test_deletion", "functionality_loss"]
        assert loop.alert("test_deletion").until == ("test_count", 3)
        assert loop.alert("functionality_loss").until == ("tests_passed", 3)


class TestFlaky:
    def test_a_test_whose_reruns_disagreed_is_no_working_test_failing(self, start):
        loop = start(tests={"a": P, "b": P})
        loop.turn(tests={"a": P, "b": F}, flaky={"b"})
        assert said(loop.last) == [("MEDIUM", "flaky_test", "Flaky test failed: b")]
        assert loop.last.verified

    def test_it_stays_known_to_be_flaky_in_the_loop(self, start):
        loop = start(tests={"a": P, "b": P}, flaky={"b"})
        loop.turn(tests={"a": P, "b": P})
        loop.turn(tests={"a": F, "b": F})
        assert said(loop.last) == [
            ("CRITICAL", "working_tests_failing", "Previously passing tests now failing: a"),
            ("MEDIUM", "flaky_test", "Flaky test failed: b"),
        ]

    def test_one_that_passed_when_repeated_is_named_beside_one_that_failed_again(self, start):
        loop = start(tests={"a": P, "b": P, "c": P}, flaky={"b"})
        record = loop.turn(tests={"a": P, "b": F, "c": P}, failed_first={"c"})
        assert said(record) == [("MEDIUM", "flaky_test", "Flaky test failed: b; Flaky test failed, then passed: c")]
        assert loop.alert("flaky_test").tests == {"b": P, "c": P}
        assert said(loop.turn(tests={"a": P, "b": P, "c": P})) == []

    def test_a_flaky_one_that_failed_before_is_nothing_new(self, start):
        loop = start(tests={"a": P, "b": F}, flaky={"b"})
        assert said(loop.turn(tests={"a": P, "b": F})) == []

    def test_passing_ones_that_are_lost_beside_it_are_still_told(self, start):
        loop = start(tests={"a": P, "b": P, "c": P}, flaky={"b"})
        loop.turn(tests={"a": S, "b": F, "c": P})
        assert said(loop.last) == [
            ("HIGH", "functionality_loss", "Passing tests decreased from 3 to 1"),
            ("MEDIUM", "flaky_test", "Flaky test failed: b"),
        ]


class TestMissing:
    NAMES = {
        "tests": ["test_count", "tests_passed", "tests_failed", "tests_skipped"],
        "coverage": ["coverage_percentage"],
        "lint": ["lint_errors", "lint_warnings"],
        "types": ["type_errors"],
        "build": ["build_status"],
        "code": ["file_count", "loc_total", "complexity_score"],
    }

    @pytest.mark.parametrize("group", NAMES)
    def test_one_alert_a_group_with_the_reason_that_is_known(self, start, group):
        loop = start()
        loop.turn(**dict.fromkeys(self.NAMES[group]), missing={group: "report.xml is empty"})
        assert said(loop.last) == [
            ("HIGH", "metric_missing", f"{group.capitalize()} could not be measured: report.xml is empty")
        ]
        assert loop.last.alerts[0].id == f"it1-metric_missing-{group}"

    @pytest.mark.parametrize(
        ("name", "group", "absent"),
        [
            ("test_count", "Tests", "test_count"),
            ("tests_failed", "Tests", "tests_failed, pass_rate"),
            ("coverage_percentage", "Coverage", "coverage_percentage"),
            ("lint_errors", "Lint", "lint_errors"),
            ("lint_warnings", "Lint", "lint_warnings"),
            ("type_errors", "Types", "type_errors"),
            ("build_status", "Build", "build_status"),
            ("loc_total", "Code", "loc_total"),
            ("complexity_score", "Code", "complexity_score"),
        ],
    )
    def test_without_a_reason_it_names_what_is_not_there(self, start, name, group, absent):
        record = start().turn(**{name: None})
        assert said(record) == [
            ("HIGH", "metric_missing", f"{group} could not be measured: no {absent} in the metrics handed in")
        ]

    def test_an_explicit_error_count_goes_missing_by_its_own_name(self, start):
        record = start(error_count=0).turn(error_count=None)
        assert said(record) == [
            ("HIGH", "metric_missing", "Lint could not be measured: no error_count in the metrics handed in")
        ]

    @pytest.mark.parametrize(
        "nothing_ran",
        [
            pytest.param(counts(10, 0, 0), id="all skipped"),
            pytest.param(counts(0, 0, 0), id="zero tests"),
        ],
    )
    def test_a_report_of_nothing_that_ran_is_a_measurement(self, start, nothing_ran):
        loop = start(**nothing_ran)
        assert loop.turn(**nothing_ran).evidence == 1.0
        assert loop.kinds == []

    def test_what_the_loop_never_had_is_not_missing(self, start):
        assert said(start(base={"coverage_percentage": 50.0}).turn()) == []

    def test_at_the_baseline_for_a_check_that_is_configured(self, start):
        loop = start(coverage_percentage=None, configured=frozenset({Group.COVERAGE}))
        assert loop.last.alerts[0].id == "it0-metric_missing-coverage"
        assert (loop.turn().closed_alerts, loop.kinds) == (("it0-metric_missing-coverage",), [])

    def test_types_at_the_baseline_where_they_are_the_only_findings(self, start):
        loop = start(base={"coverage_percentage": 50.0}, configured=frozenset({Group.TYPES}), missing={"types": "why"})
        assert said(loop.last) == [("HIGH", "metric_missing", "Types could not be measured: why")]


class TestOlderPreviousValues:
    """A report that goes missing for a turn launders nothing, and the alert says what it compares with."""

    AGE = "compared with iteration 0, the last that measured it"

    @pytest.mark.parametrize(
        ("kind", "gone", "worse"),
        [
            ("coverage_regression", {"coverage_percentage": None}, {"coverage_percentage": 70.0}),
            ("error_increase", {"lint_errors": None}, {"lint_errors": 6}),
            ("complexity_explosion", {"complexity_score": None}, {"complexity_score": 9.0}),
            ("file_deletion", {"file_count": None}, {"file_count": 1}),
            ("test_deletion", counts(None, None, None), counts(9, 9, 0)),
            ("functionality_loss", counts(None, None, None), counts(10, 9, 0)),
            ("working_tests_failing", counts(None, None, None), counts(10, 9, 1)),
        ],
    )
    def test_by_value(self, start, kind, gone, worse):
        loop = start()
        loop.turn(**gone)
        loop.turn(**worse)
        assert loop.alert(kind).note.endswith(self.AGE)

    @pytest.mark.parametrize(
        ("kind", "tests"),
        [
            ("working_tests_failing", {"a": P, "b": F}),
            ("test_deletion", {"a": P}),
            ("functionality_loss", {"a": P, "b": S}),
            ("tests_replaced", {"a": P, "c": P}),
            ("flaky_test", {"a": P, "b": F}),
        ],
    )
    def test_by_name(self, start, kind, tests):
        loop = start(tests={"a": P, "b": P}, flaky={"b"} if kind == "flaky_test" else ())
        loop.turn(**counts(None, None, None))
        loop.turn(tests=tests)
        assert loop.alert(kind).note.endswith(self.AGE)

    def test_a_value_of_the_previous_iteration_needs_no_word(self, start):
        loop = start(tests={"a": P, "b": P})
        loop.turn(tests={"a": P, "b": F}, coverage_percentage=60.0)
        assert loop.alert("working_tests_failing").note == ""
        assert loop.alert("coverage_regression").note == ""


class TestClosing:
    @pytest.mark.parametrize(
        ("before", "now", "expected"),
        [
            pytest.param({"a": P}, {"a": P}, True, id="passes again"),
            pytest.param({"a": P}, {"a": F}, False, id="is back and fails"),
            pytest.param({"a": P}, {"a": S}, False, id="is back and skipped"),
            pytest.param({"a": P}, {"b": P}, False, id="another one"),
            pytest.param({"a": F}, {"a": F}, True, id="failed before, fails again"),
            pytest.param({"a": F}, {"a": P}, True, id="failed before, passes now"),
            pytest.param({"a": F}, {"a": S}, False, id="failed before, skipped now"),
            pytest.param({"a": S}, {"a": S}, True, id="skipped before, skipped now"),
            pytest.param({"a": P, "b": P}, {"a": P}, False, id="one of two"),
            pytest.param({"a": P, "b": P}, {"a": P, "b": P, "c": F}, True, id="both, and another"),
            pytest.param({"a": P}, None, False, id="no names now"),
        ],
    )
    def test_by_name(self, make_alert, before, now, expected):
        alert = make_alert("test_deletion", tests=before)
        tests = None if now is None else TestResults(now)
        now = facts(test_count=99, tests_passed=99)
        now = now._replace(measurement=now.measurement._replace(tests=tests))
        assert (remaining_alert(alert, now) is None) is expected

    @pytest.mark.parametrize(("count", "expected"), [(10, True), (11, True), (9, False), (None, False)], ids=str)
    def test_by_count_where_no_names_are_known(self, make_alert, count, expected):
        alert = make_alert("test_deletion", until=("test_count", 10))
        assert (remaining_alert(alert, facts(test_count=count)) is None) is expected

    @pytest.mark.parametrize(("missing", "expected"), [("build_success", True), ("no_lint_errors", False)])
    def test_what_was_missing_closes_when_measured(self, make_alert, missing, expected):
        now = facts()._replace(components={missing: None})
        assert (remaining_alert(make_alert("metric_missing", group="lint"), now) is None) is expected

    def test_one_that_is_about_nothing_to_come_back_stays(self, make_alert):
        alert = make_alert("functionality_loss")
        assert remaining_alert(alert, facts(tests_passed=99)) == alert
