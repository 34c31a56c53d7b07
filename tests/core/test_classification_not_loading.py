"""What does not load any more: its tests are not collected, and neither deleted nor lost (semantics § 5)."""

import pytest

from ralph_tracker.core.known_tests import STOPPED_RUN, WHOLE_RUN

P = "passed"
TWO = {"tests/test_a.py::a": P, "tests/test_b.py::b": P}
ONE = {"tests/test_a.py::a": P}
BROKEN = {"tests/test_b.py": "tests/test_b.py:3: SyntaxError: invalid syntax"}


def test_one_alert_says_the_tool_s_first_line_and_which_tests_are_not_collected(start):
    loop = start(tests=TWO)
    record = loop.turn(tests=ONE, not_loaded=BROKEN)
    alert = loop.alert("build_broken")
    assert loop.kinds == ["build_broken"]
    assert alert.message == "Does not build: tests/test_b.py:3: SyntaxError: invalid syntax"
    assert alert.note == "1 tests are not collected: tests/test_b.py::b"
    assert (record.classification, record.verified, record.decision.rule) == ("regression", False, 4)


def test_more_than_one_place_is_counted(start):
    loop = start(tests=TWO)
    loop.turn(tests=ONE, not_loaded={**BROKEN, "tests/test_c.py": "ImportError"})
    assert loop.alert("build_broken").message.endswith("invalid syntax, and 1 more")


def test_without_names_the_place_alone_is_told(start):
    loop = start()
    loop.turn(
        test_count=None, tests_passed=None, tests_failed=None, tests_skipped=None, not_loaded={"a.go": "a.go:3: no"}
    )
    assert loop.alert("build_broken").note == "no test was collected"


def test_what_loads_no_test_that_was_there_breaks_nothing(start):
    loop = start(tests=TWO)
    loop.turn(tests=TWO, not_loaded={"tests/test_new.py": "ImportError"})
    assert loop.kinds == []


@pytest.mark.parametrize(
    ("tests", "not_loaded", "expected"),
    [
        pytest.param(ONE, BROKEN, ["build_broken"], id="still broken: not raised again"),
        pytest.param(None, {}, ["build_broken"], id="not measured: nothing is fixed"),
        pytest.param(TWO, {}, [], id="it loads again"),
    ],
)
def test_it_is_open_until_it_loads(start, tests, not_loaded, expected):
    loop = start(tests=TWO)
    loop.turn(tests=ONE, not_loaded=BROKEN)
    now = {"tests": tests} if tests else dict.fromkeys(("test_count", "tests_passed", "tests_failed", "tests_skipped"))
    loop.turn(**now, not_loaded=not_loaded)
    assert loop.open_kinds == expected
    assert "build_broken" not in loop.kinds


RUN = {WHOLE_RUN: "pytest exited with 139 (SIGSEGV) although its only reported test passes"}


def test_what_a_crash_kept_from_running_is_not_collected(start):
    loop = start(tests=TWO)
    record = loop.turn(tests=ONE, not_loaded=RUN)
    alert = loop.alert("build_broken")
    assert loop.kinds == ["build_broken"]
    assert (alert.message, dict(alert.tests)) == (RUN[WHOLE_RUN], {"tests/test_b.py::b": P})
    assert (record.classification, record.verified, record.decision.rule) == ("regression", False, 4)


def test_a_file_that_does_not_load_comes_before_its_run(start):
    loop = start(tests=TWO)
    loop.turn(tests=ONE, not_loaded={**RUN, **BROKEN})
    assert loop.alert("build_broken").message == "Does not build: tests/test_b.py:3: SyntaxError: invalid syntax"


def test_a_run_that_fails_as_a_whole_is_a_regression_until_it_passes_and_is_never_kept(start):
    loop = start(tests=TWO)
    for _ in range(2):
        record = loop.turn(tests=TWO, not_loaded=RUN)
        assert (loop.kinds, record.verified, loop.state.kept.iteration) == ([], False, 0)
        assert record.classification == "regression"
    assert loop.turn(tests={**TWO, "tests/test_b.py::c": P}).classification == "forward"
    assert loop.state.kept.iteration == 3


def test_a_run_that_always_failed_as_a_whole_excuses_no_deletion(start):
    loop = start(tests=TWO, not_loaded=RUN)
    assert loop.turn(tests=TWO, not_loaded=RUN).classification == "plateau"
    loop.turn(tests=ONE, not_loaded=RUN)
    assert "test_deletion" in loop.kinds


def test_a_run_that_still_fails_excuses_what_it_hid_at_first_and_nothing_else(start):
    three = {**TWO, "tests/test_c.py::c": P}
    loop = start(tests=three)
    loop.turn(tests={name: P for name in three if "test_c" not in name}, not_loaded=RUN)
    loop.turn(tests=ONE, not_loaded=RUN)
    assert "test_deletion" in loop.kinds
    loop.turn(tests=three)
    assert loop.open_kinds == []


@pytest.mark.parametrize(
    ("passed", "kinds"),
    [pytest.param(10, [], id="as many as before"), pytest.param(9, ["build_broken"], id="fewer than before")],
)
def test_without_names_a_failed_run_hides_tests_where_fewer_pass(start, passed, kinds):
    loop = start()
    loop.turn(tests_passed=passed, tests_failed=1, test_count=passed + 1, not_loaded=RUN)
    assert [kind for kind in loop.kinds if kind == "build_broken"] == kinds


def test_a_failed_run_without_a_report_breaks_the_build(start):
    loop = start()
    gone = dict.fromkeys(("test_count", "tests_passed", "tests_failed", "tests_skipped"))
    loop.turn(**gone, not_loaded=RUN)
    assert "build_broken" in loop.kinds


STOPPED = {STOPPED_RUN: "pytest stopped at a failing test (-x), so what is missing was not run"}


def test_what_a_run_that_stopped_did_not_come_to_is_not_deleted_however_often(start):
    loop = start(tests=TWO)
    for expected in (["working_tests_failing", "build_broken"], []):
        loop.turn(tests={"tests/test_a.py::a": "failed"}, not_loaded=STOPPED)
        assert sorted(loop.kinds) == sorted(expected)
        assert loop.state.kept.iteration == 0
    loop.turn(tests=TWO)
    assert (loop.kinds, loop.open_kinds) == ([], [])


def test_what_is_gone_once_a_run_comes_to_its_end_is_gone(start):
    loop = start(tests=TWO)
    loop.turn(tests={"tests/test_a.py::a": "failed"}, not_loaded=STOPPED)
    loop.turn(tests=ONE)
    assert (dict(loop.alert("tests_replaced").tests), loop.state.kept.iteration) == ({"tests/test_b.py::b": P}, 0)


def test_a_run_that_stopped_and_lacks_nothing_is_none_that_failed_as_a_whole(start):
    loop = start(tests={**TWO, "tests/test_c.py::c": "failed"})
    record = loop.turn(tests={**TWO, "tests/test_c.py::c": "failed"}, not_loaded=STOPPED)
    assert (loop.kinds, record.classification) == ([], "plateau")
