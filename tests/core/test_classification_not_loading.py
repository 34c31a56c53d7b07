"""What does not load any more: its tests are not collected, and neither deleted nor lost (semantics § 5)."""

import pytest

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
