"""Tests by name: what the line knows of each, and all that the loop has ever seen (semantics § 2, § 5)."""

import pytest

from ralph_tracker.core.known_tests import (
    Aliases,
    IgnoredTests,
    KnownTests,
    SeenTests,
    are_restored,
    belongs_to_any,
    compare,
    list_failing,
    names_in_short,
    without_held_back,
    without_unloaded,
)
from ralph_tracker.core.metrics import TestResults
from tests.tables import table

P, F, S = "passed", "failed", "skipped"


def known_after(*reports):
    known = KnownTests()
    for report in reports:
        known = known.after(None if report is None else TestResults(report))
    return known


def seen_after(*reports, **first):
    seen = SeenTests(**first)
    for iteration, report in enumerate(reports):
        seen = seen.after(iteration, None, TestResults(report))
    return seen


class TestKnown:
    def test_the_latest_report_and_what_is_gone_since(self):
        known = known_after({"a": P, "b": F, "c": P}, {"a": F, "c": P}, {"a": F})
        assert (known.present, known.gone) == ({"a": F}, {"b": F, "c": P})

    def test_one_that_comes_back_is_present(self):
        known = known_after({"a": P, "b": F}, {"a": P}, {"a": P, "b": P})
        assert (known.present, known.gone) == ({"a": P, "b": P}, {})

    def test_a_missing_report_changes_nothing(self):
        assert known_after({"a": P}, None) == known_after({"a": P})


class TestFailing:
    def test_no_names_is_unknown_and_no_failure_is_none(self):
        assert list_failing(known_after({"a": F}), None) is None
        assert list_failing(known_after({"a": F}), TestResults({"a": P, "b": S})) == ((), ())

    def test_what_failed_on_the_line_before_fails_still_and_all_else_is_new(self):
        known = known_after({"came back": F, "broke": P}, {"b": F, "a": F, "broke": P, "skipped": S})
        now = TestResults(dict.fromkeys(("b", "a", "came back", "broke", "skipped", "added"), F) | {"fine": P})
        found = list_failing(known, now)
        assert found.still == ("a", "b", "came back")
        assert found.new == ("added", "broke", "skipped")

    def test_a_renamed_test_fails_still_under_its_name_of_today(self):
        aliases = Aliases({"new name": ("old name",)})
        assert list_failing(known_after({"old name": F}), TestResults({"new name": F}), aliases).still == ("new name",)
        twice = known_after({"old name": P}, {"new name": F})
        later = Aliases({"new name": ("old name",), "newest": ("old name",)})
        assert list_failing(twice, TestResults({"newest": F}), later).still == ("newest",)


class TestCompare:
    def test_gained_are_those_that_are_believed_now_and_did_not_pass_when_last_reported(self):
        known = known_after({"a": P, "red": F, "back": P}, {"a": P, "red": F})
        now = TestResults(dict.fromkeys(("a", "red", "back", "new", "doubted"), P))
        found = compare(known, now, frozenset(), uncounted=IgnoredTests(disbelieved=frozenset({"doubted"})))
        assert found.gained == ("new", "red")

    def test_tests_of_a_file_that_does_not_load_are_not_collected(self):
        known = known_after({"tests.test_a::x": P, "tests.test_a::y": F, "tests.test_b::z": P})
        uncounted = IgnoredTests(not_loaded=frozenset({"tests/test_a.py"}))
        found = compare(known, TestResults({"tests.test_b::z": P}), frozenset(), uncounted=uncounted)
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

    def test_what_stands_in_the_place_of_tests_is_no_test(self):
        reported = {"tests.test_a": F, "acme::(package)": F, "tests.test_b::x": F}
        not_loaded = {"tests/test_a.py": "SyntaxError", "acme": "undefined: c"}
        assert without_unloaded(TestResults(reported, not_loaded=not_loaded)).outcomes == {"tests.test_b::x": F}
        assert without_unloaded(TestResults(reported)).outcomes == reported

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


class TestSeen:
    def test_those_that_ran_in_any_iteration(self):
        seen = seen_after({"a": P, "b": F}, {"a": P, "c": P}, {})
        assert (seen.ran, seen.union) == ({"a", "b", "c"}, 3)

    def test_those_that_never_ran_wait(self):
        seen = seen_after({"a": P, "b": S}, {"b": S, "c": S}, {"c": S}, {"c": S, "b": S})
        assert seen.union == 1
        assert seen.waiting == {"b": ((0, 1), (3, 3)), "c": ((1, 3),)}

    def test_one_that_runs_later_is_credited_to_the_iterations_that_had_it(self):
        seen = seen_after({"a": P, "b": S}, {"a": P}, {"b": S}, {"a": P, "b": F})
        assert seen.union == 2
        assert [seen.credit(iteration) for iteration in range(4)] == [1, 0, 1, 0]
        assert seen.waiting == {}

    def test_credits_add_up(self):
        seen = seen_after({"a": S, "b": S, "c": S}, {"a": P, "b": P}, {"c": P})
        assert [seen.credit(iteration) for iteration in range(3)] == [3, 0, 0]

    def test_one_that_ran_before_it_was_skipped_does_not_wait(self):
        seen = seen_after({"a": P}, {"a": S})
        assert (seen.ran, seen.waiting) == ({"a"}, {})

    def test_without_names_the_highest_test_count(self):
        seen = SeenTests().after(0, 8, None).after(1, None, None).after(2, 5, None)
        assert seen.union == 8

    def test_names_and_counts_side_by_side_give_the_larger(self):
        assert SeenTests().after(0, 3, None).after(1, 2, TestResults({"a": P, "b": P})).union == 3
        assert SeenTests().after(0, 1, None).after(1, 2, TestResults({"a": P, "b": P})).union == 2

    def test_accepted_removals_are_taken_out(self):
        seen = seen_after({"a": P, "b": P, "c": S}, excluded=frozenset({"b", "c"}))
        assert (seen.ran, seen.waiting, seen.union) == ({"a"}, {}, 1)
        assert SeenTests(excluded_count=3).after(0, 10, None).union == 7
        assert SeenTests(excluded_count=3).after(0, 2, None).union == 0

    def test_those_whose_reruns_disagreed_stay_known(self):
        seen = SeenTests().after(0, 1, TestResults({"a": P}, flaky=frozenset({"a"})))
        assert seen.after(1, 1, TestResults({"b": P}, flaky=frozenset({"b"}))).flaky == {"a", "b"}

    def test_where_an_iteration_stands_among_them(self):
        seen = seen_after({"a": P, "b": P, "c": P, "w": S})
        standing = seen.tally(99, 99, TestResults({"a": P, "b": F, "w": S, "unknown": P}))
        assert (standing.passes, standing.present, standing.unseen) == (1, 2, 1)

    @table(("passed", "count", "expected"), [(4, 5, (4, 5, 0)), (None, None, (0, 0, 0))])
    def test_where_an_iteration_without_names_stands(self, passed, count, expected):
        standing = SeenTests().tally(passed, count, None)
        assert (standing.passes, standing.present, standing.unseen) == expected


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
