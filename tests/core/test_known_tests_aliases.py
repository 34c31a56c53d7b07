"""Tests under other names: renamed, merged, split, and back again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.core.known_tests import NO_ALIASES, Aliases, KnownTests, SeenTests, are_restored, compare
from ralph_tracker.core.metrics import TestResults
from tests.tables import table

P, F, S = "passed", "failed", "skipped"
NAMES = st.text("abcdef", min_size=1, max_size=2)
OUTCOMES = st.dictionaries(NAMES, st.sampled_from([P, F, S]), max_size=6)


class TestOutcomes:
    @table(
        ("matches", "now", "expected"),
        [
            pytest.param([], {"a": P}, {"a": P}, id="nothing is known under another name"),
            pytest.param([{"a": ("b",)}], {"b": F, "c": P}, {"a": F, "c": P}, id="renamed"),
            pytest.param([{"a": ("b",)}, {"b": ("c",)}], {"c": P}, {"a": P}, id="renamed twice"),
            pytest.param([{"a": ("b",)}, {"b": ("a",)}], {"a": F}, {"a": F}, id="renamed and back"),
            pytest.param([{"a": ("x",), "b": ("x",)}], {"x": P}, {"a": P, "b": P}, id="merged: it stands for both"),
            pytest.param([{"a": ("x", "y")}], {"x": P, "y": F}, {"a": F}, id="split: the worst of its parts"),
            pytest.param([{"a": ("x", "y")}], {"x": S, "y": P}, {"a": S}, id="split: one part is skipped"),
            pytest.param([{"a": ("b",)}], {"a": F, "b": P}, {"a": F, "b": P}, id="both are there: each for itself"),
            pytest.param(
                [{"a": ("x",), "b": ("x",)}], {"a": F, "x": P}, {"a": F, "b": P}, id="one of two merged ones is back"
            ),
            pytest.param([{"a": ("b",)}], {"c": P}, {"c": P}, id="neither is there"),
        ],
    )
    def test_by_the_names_first_seen(self, matches, now, expected):
        aliases = NO_ALIASES
        for match in matches:
            aliases = aliases.after(match)
        assert aliases.outcomes(now) == expected

    @given(OUTCOMES)
    def test_a_rename_of_everything_changes_nothing(self, now):
        renamed = {name: f"new {name}" for name in now}
        aliases = NO_ALIASES.after({old: (new,) for old, new in renamed.items()})
        assert aliases.outcomes({renamed[name]: outcome for name, outcome in now.items()}) == now

    @given(OUTCOMES, st.dictionaries(NAMES, NAMES.map(lambda name: (f"new {name}",)), max_size=4))
    def test_twice_is_once(self, now, matches):
        aliases = NO_ALIASES.after(matches)
        assert aliases.outcomes(aliases.outcomes(now)) == aliases.outcomes(now)

    def test_the_same_match_again_adds_nothing(self):
        once = NO_ALIASES.after({"a": ("b",)})
        assert once.after({"a": ("b",)}) == once
        assert NO_ALIASES.after({}) is NO_ALIASES

    def test_roots_and_the_name_of_today(self):
        aliases = Aliases({"b": ("a",), "x": ("y", "z")})
        assert aliases.roots(["b", "x", "c"]) == {"a", "y", "z", "c"}
        assert aliases.today({"b": P, "x": P, "y": P}) == {"a": "b", "z": "x"}


class TestUnderAnotherName:
    ALIASES = Aliases({"b": ("a",)})

    def test_a_renamed_test_has_not_vanished(self):
        found = compare(KnownTests({"a": P}), TestResults({"b": P}), frozenset(), self.ALIASES)
        assert found is not None
        assert (found.vanished, found.lost, found.broken) == ({}, {}, {})

    def test_what_is_said_of_it_goes_by_its_name_of_today(self):
        known = KnownTests({"a": P, "c": P})
        found = compare(known, TestResults({"b": F, "c": S}), frozenset(), self.ALIASES)
        assert found is not None
        assert (found.broken, found.lost) == ({"b": P}, {"c": P})

    def test_a_flaky_one_is_known_as_such(self):
        seen = SeenTests(aliases=self.ALIASES).with_flaky(TestResults({"b": P}, flaky=frozenset({"b"})))
        found = compare(KnownTests({"b": P}), TestResults({"b": F}), seen.flaky, self.ALIASES)
        assert found is not None
        assert (found.broken, found.flaky) == ({}, {"b": P})

    @table(("outcome", "expected"), [(P, True), (F, False)])
    def test_it_is_back_when_it_is_back_under_its_other_name(self, outcome, expected):
        assert are_restored({"a": P}, TestResults({"b": outcome}), self.ALIASES) is expected

    def test_what_was_said_of_the_new_name_holds_for_the_old_one(self):
        assert are_restored({"b": P}, TestResults({"a": P}), self.ALIASES)


class TestSeen:
    def test_a_renamed_test_is_no_other_test(self):
        seen = SeenTests().after(0, None, TestResults({"a": P, "c": P}))
        seen = seen.with_aliases({"a": ("b",)}).after(1, None, TestResults({"b": P, "c": P}))
        assert seen.ran == {"a", "c"}
        assert seen.tally(None, None, TestResults({"b": P, "c": F})).passes == 1

    def test_a_merged_test_passes_for_all_that_it_stands_for(self):
        seen = (
            SeenTests().after(0, None, TestResults({"a": P, "b": P, "c": P})).with_aliases({"a": ("x",), "b": ("x",)})
        )
        standing = seen.tally(None, None, TestResults({"x": P, "c": P}))
        assert (standing.passes, standing.present, seen.union) == (3, 3, 3)

    def test_discounted_tests_do_not_pass(self):
        seen = SeenTests().after(0, None, TestResults({"a": P, "b": P, "c": F})).with_aliases({"a": ("z",)})
        now = TestResults({"z": P, "b": P, "c": F})
        assert seen.tally(None, None, now, ["z", "c", "unheard of"]).passes == 1
        assert seen.tally(None, None, TestResults({"z": P, "new": P}), ["z", "new"]).passes == 0

    @table(
        ("now", "expected"),
        [
            pytest.param({"a": P, "b": P}, 1.0, id="all"),
            pytest.param({"a": P}, 0.5, id="one is gone"),
            pytest.param({"a": P, "b": S}, 0.5, id="one is skipped"),
            pytest.param({"a": P, "c": P}, 2 / 3, id="one is gone, another one is new"),
            pytest.param({"a": P, "b": P, "c": S}, 1.0, id="a new one that never ran is none"),
            pytest.param({}, 0.0, id="none is there"),
        ],
    )
    def test_the_share_of_all_tests_ever_seen_that_pass(self, now, expected):
        seen = SeenTests().after(0, None, TestResults({"a": P, "b": P}))
        assert seen.passing_share(TestResults(now)) == pytest.approx(expected)

    def test_there_is_no_share_of_no_tests(self):
        assert SeenTests().passing_share(TestResults({})) is None

    def test_accepted_removals_are_taken_out_of_it(self):
        seen = SeenTests(excluded=frozenset({"b"})).after(0, None, TestResults({"a": P, "b": F}))
        assert seen.passing_share(TestResults({"a": P, "b": P})) == 1
