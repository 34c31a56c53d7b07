"""Tests by name: what the line knows of each, and how an iteration compares with it (semantics § 5)."""

import pytest

from ralph_tracker.core.known_tests import (
    STOPPED_RUN,
    WHOLE_RUN,
    IgnoredTests,
    KnownTests,
    are_restored,
    belongs_to_any,
    compare,
    cut_short,
    describe_not_loaded,
    names_in_short,
    without_held_back,
)
from ralph_tracker.core.metrics import TestResults
from tests.tables import table

P, F, S = "passed", "failed", "skipped"


def known_after(*reports):
    known = KnownTests()
    for report in reports:
        known = known.after(None if report is None else TestResults(report))
    return known


class TestKnown:
    def test_the_latest_report_and_what_is_gone_since(self):
        known = known_after({"a": P, "b": F, "c": P}, {"a": F, "c": P}, {"a": F})
        assert (known.present, known.gone) == ({"a": F}, {"b": F, "c": P})

    def test_one_that_comes_back_is_present(self):
        known = known_after({"a": P, "b": F}, {"a": P}, {"a": P, "b": P})
        assert (known.present, known.gone) == ({"a": P, "b": P}, {})

    def test_a_missing_report_changes_nothing(self):
        assert known_after({"a": P}, None) == known_after({"a": P})


class TestCompare:
    def test_gained_are_those_that_are_believed_now_and_did_not_pass_when_last_reported(self):
        known = known_after({"a": P, "red": F, "back": P}, {"a": P, "red": F})
        now = TestResults(dict.fromkeys(("a", "red", "back", "new", "doubted"), P))
        found = compare(known, now, frozenset(), IgnoredTests(no_gain=frozenset({"doubted"})))
        assert found.gained == ("new", "red")

    def test_tests_of_a_file_that_does_not_load_are_not_collected(self):
        known = known_after({"tests.test_a::x": P, "tests.test_a::y": F, "tests.test_b::z": P})
        ignored = IgnoredTests(not_loaded=frozenset({"tests/test_a.py"}))
        found = compare(known, TestResults({"tests.test_b::z": P}), frozenset(), ignored)
        assert (found.not_collected, found.vanished, found.lost) == (
            {"tests.test_a::x": P, "tests.test_a::y": F},
            {},
            {},
        )

    @table(
        ("test", "place", "expected"),
        [
            ("tests/test_a.py::TestX::test_y", "tests/test_a.py", True),
            ("tests.test_a.TestX::test_y", "tests/test_a.py", True),
            ("tests.test_ab::test_y", "tests/test_a.py", False),
            ("example.com/a::TestX", "example.com/a", True),
            ("src/box.test.ts::box opens", "src/box.test.ts", True),
            ("com.acme.BoxTest::opens", "com/acme/BoxTest.java", True),
        ],
    )
    def test_which_tests_lie_in_a_place(self, test, place, expected):
        assert belongs_to_any(test, [place]) is expected

    def test_held_back_names_are_taken_out_of_a_text(self):
        assert without_held_back("held-back:a::x, held-back:a::y fail, z too") == "held-back tests fail, z too"

    def test_nothing_to_compare_without_names_on_either_side(self):
        assert compare(KnownTests(), TestResults({"a": P}), frozenset()) is None
        assert compare(known_after({"a": P}), None, frozenset()) is None

    def test_every_way_to_stand_against_the_line(self):
        known = known_after({"gone": P}, {"breaks": P, "flakes": P, "skips": P, "vanishes": F, "stays": S})
        now = TestResults({"breaks": F, "flakes": F, "skips": S, "stays": F, "gone": F, "new": F})
        found = compare(known, now, frozenset({"flakes"}))
        assert found.vanished == {"vanishes": F}
        assert found.broken == {"breaks": P, "gone": P}
        assert found.flaky == {"flakes": P}
        assert found.lost == {"skips": P}
        assert found.added == ("new",)

    def test_the_latest_outcome_counts(self):
        assert compare(known_after({"a": P}, {"a": F}), TestResults({"a": F}), frozenset()).broken == {}
        assert compare(known_after({"a": P}, {"a": S}), TestResults({"a": F}), frozenset()).broken == {}

    def test_a_report_of_nothing_after_a_report_is_compared(self):
        found = compare(known_after({"a": P}), TestResults({}), frozenset())
        assert (found.vanished, found.lost) == ({"a": P}, {"a": P})

    def test_what_was_gone_already_does_not_vanish_again(self):
        found = compare(known_after({"a": P, "b": P}, {"b": P}), TestResults({"b": P}), frozenset())
        assert (found.vanished, found.lost) == ({}, {})


@table(
    ("before", "now", "expected"),
    [
        pytest.param({}, {}, True, id="nothing to restore"),
        pytest.param({"a": F}, {"a": P}, True, id="better than before"),
        pytest.param({"a": P}, {"a": F}, False, id="worse than before"),
        pytest.param({"a": S}, {}, False, id="not back"),
    ],
)
def test_restored(before, now, expected):
    assert are_restored(before, TestResults(now)) is expected


@table(
    ("names", "expected"),
    [
        pytest.param(["b", "a"], "a, b", id="sorted"),
        pytest.param("edcba", "a, b, c, d, e", id="five are shown"),
        pytest.param("fedcba", "a, b, c, d, e and 1 more", id="and how many more"),
    ],
)
def test_names_in_short(names, expected):
    assert names_in_short(names) == expected


@pytest.mark.parametrize(
    ("place", "why", "line"),
    [
        ("a.py", "SyntaxError", "a.py: SyntaxError"),
        ("a.go", "a.go:3: undefined: c", "a.go:3: undefined: c"),
        ("a.py", "", "a.py"),
        (WHOLE_RUN, "pytest exited with 1", "pytest exited with 1"),
        (f"web/{STOPPED_RUN}", "jest stopped at a failing test", "jest stopped at a failing test"),
    ],
)
def test_what_did_not_load_is_described_in_a_line(place, why, line):
    assert describe_not_loaded(place, why) == line


@pytest.mark.parametrize("place", [WHOLE_RUN, STOPPED_RUN, f"web/{WHOLE_RUN}"])
def test_a_run_is_the_place_of_all_tests_below_its_folder(place):
    assert belongs_to_any("web/a.test.js::adds", [place])
    assert belongs_to_any("b.test.js::adds", [place]) == (place in {WHOLE_RUN, STOPPED_RUN})


@table(
    ("now", "expected"),
    [
        ({"a > one": P, "a > boom": F}, {"a > two", "a > b > three"}),
        ({"a > one": P, "a > b > boom": F}, {"a > b > three"}),
        ({"a > one": F}, set()),  # it fails itself
        ({"a > one": P, "boom": F}, set()),  # in no group
        ({"a > one": P}, set()),
    ],
    ids=["of a group", "of an inner group", "a known test", "no group", "nothing failed"],
)
def test_what_passed_in_a_group_that_ended_at_an_error_did_not_run(now, expected):
    before = {"a > one": P, "a > two": P, "a > b > three": P, "a > red": F, "c > four": P}
    assert cut_short(before.keys() - now.keys(), before, now) == expected


def test_what_an_error_cut_short_is_broken_and_not_lost():
    found = compare(KnownTests({"a > one": P, "a > two": P}), TestResults({"a > boom": F}), frozenset())
    assert (set(found.broken), found.lost, found.vanished) == ({"a > one", "a > two"}, {}, {})
