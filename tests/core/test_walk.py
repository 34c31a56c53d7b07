"""Which iteration is kept: how one compares with the kept one, the four rules, and what is carried (semantics § 8)."""

import pytest

from ralph_tracker.core.integrity_result import EarlierTests
from ralph_tracker.core.metrics import FurtherMetric, Metrics, TestResults
from ralph_tracker.core.objective import Progress, Weighed
from ralph_tracker.core.walk import Comparison, Kept, Refusal, Step, after_step, compare_with_kept, why_worse
from tests.tables import table

P, F, S = "passed", "failed", "skipped"
NINE = {f"t{number}": P for number in range(9)}
SLOWER = Weighed((FurtherMetric("time", None, "ms"),), Progress(), worse="has time 9 ms")
LARGER = SLOWER._replace(lost="has size 9 kB")


def taking(*milliseconds):
    return (FurtherMetric("time", None, "ms", "down", milliseconds, objective=True),)


def kept(outcomes=None, *, score=0.9, **more):
    return Kept(3, outcomes, more.pop("metrics", Metrics()), score, **{"top_score": score, **more})


def counted(passed, failed=0, count=None):
    return Metrics(test_count=passed + failed if count is None else count, tests_passed=passed, tests_failed=failed)


def against(before, now, earlier=None, *, before_more=None, **more):
    asked = None if earlier is None else EarlierTests(3, **{key: frozenset(names) for key, names in earlier.items()})
    return compare_with_kept(kept(before, **(before_more or {})), Metrics(), TestResults(now), asked, **more)


class TestByName:
    @table(
        ("before", "now", "broken", "dropped", "gained"),
        [
            pytest.param({"a": P}, {"a": F}, ("a",), (), (), id="fails now"),
            pytest.param({"a": P}, {}, (), ("a",), (), id="is gone"),
            pytest.param({"a": P}, {"a": S}, (), ("a",), (), id="is skipped"),
            pytest.param({"a": F}, {"a": P}, (), (), ("a",), id="turned green"),
            pytest.param({"a": S}, {"a": P}, (), (), ("a",), id="runs now"),
            pytest.param({"a": F}, {}, (), (), (), id="a red one is gone"),
            pytest.param({}, {"b": P, "c": F, "d": S}, (), (), ("b",), id="is new"),
            pytest.param({"a": P}, {"b": P}, (), ("a",), ("b",), id="another one"),
        ],
    )
    def test_where_nothing_can_be_run(self, before, now, broken, dropped, gained):
        found = against(before, now)
        assert (found.broken, found.dropped, found.gained) == (broken, dropped, gained)
        assert (found.broken_count, found.dropped_count, found.gained_count) == (len(broken), len(dropped), len(gained))

    @table(
        ("before", "now", "earlier", "dropped", "gained"),
        [
            pytest.param("ab", "a", {"held": "b"}, ("b",), (), id="gone, and its earlier form passes"),
            pytest.param("ab", "a", {"retired": "b"}, (), (), id="gone with its code"),
            pytest.param("ab", "a", {}, (), (), id="gone, and its earlier form fails"),
            pytest.param("ab", "ac", {"held": "b"}, (), (), id="renamed is no gain"),
            pytest.param("ab", "acd", {"held": "b"}, (), ("c", "d"), id="more came than went"),
            pytest.param("abcdef", "ax", {"held": "bcdef"}, (), (), id="five merged into one"),
            pytest.param("abcdefg", "ax", {"held": "bcdefg"}, tuple("bcdefg"), (), id="six for one are dropped"),
            pytest.param("a", "ab", {"no_gain": "b"}, (), (), id="new, and passes there too"),
            pytest.param("a", "a", {"met": "a"}, (), ("a",), id="a demand newly met"),
            pytest.param("a", "", {"met": "a"}, (), (), id="met, and gone"),
            pytest.param("a", "a", {"met": "a", "no_gain": "a"}, (), (), id="met, and shown to be none"),
        ],
    )
    def test_by_what_earlier_tests_showed(self, before, now, earlier, dropped, gained):
        found = against(dict.fromkeys(before, P), dict.fromkeys(now, P), earlier)
        assert (found.broken, found.dropped, found.gained) == ((), dropped, gained)

    def test_a_skipped_one_is_not_dropped_where_its_earlier_form_passes(self):
        assert against({"a": P}, {"a": S}, {"held": "a"}).dropped == ()

    def test_flaky_ones_break_nothing(self):
        assert against({"a": P}, {"a": F}, flaky=frozenset("a")).broken == ()

    def test_those_that_are_not_collected_are_not_gone(self):
        assert against({"a": P, "b": P}, {}, not_collected=["a"]).dropped == ("b",)

    def test_disbelieved_ones_are_no_gain_and_were_no_loss(self):
        assert against({"a": F}, {"a": P, "b": P}, disbelieved=frozenset("ab")).gained == ()
        doubted = {"disbelieved": frozenset("ab")}
        found = against({"a": P, "b": P}, {"a": F, "b": P}, before_more=doubted)
        assert (found.broken, found.gained) == ((), ("b",))

    def test_what_passed_in_a_tampered_one_is_no_gain(self):
        assert against({"a": F}, {"a": P, "b": P}, before_more={"tainted": frozenset("ab")}).gained == ()

    def test_how_many_believed_tests_there_are(self):
        some = kept({"a": P, "b": P, "c": F}, disbelieved=frozenset("bcd"))
        assert (some.believed, some.passing) == (frozenset("a"), 1)
        assert (kept().believed, kept().passing, kept(metrics=counted(4)).passing) == (None, 0, 4)


class TestByCounts:
    @table(
        ("before", "now", "broken", "dropped", "gained"),
        [
            pytest.param(counted(9), counted(8, 1), 1, 0, 0, id="fewer pass and more fail"),
            pytest.param(counted(9), counted(8), 0, 1, 0, id="one is gone"),
            pytest.param(counted(8, 1), counted(8), 0, 1, 0, id="a red one is gone"),
            pytest.param(counted(8, 1), counted(9), 0, 0, 1, id="one turned green"),
            pytest.param(counted(9), counted(11, 1), 0, 0, 2, id="more pass, one of the new ones fails"),
            pytest.param(counted(9), Metrics(), 0, 0, 0, id="unknown now"),
            pytest.param(Metrics(), counted(9), 0, 0, 0, id="unknown before"),
        ],
    )
    def test_changes(self, before, now, broken, dropped, gained):
        found = compare_with_kept(kept(metrics=before), now, None, None)
        assert (found.broken_count, found.dropped_count, found.gained_count) == (broken, dropped, gained)

    def test_counts_stand_in_where_one_side_has_no_names(self):
        assert compare_with_kept(kept(NINE, metrics=counted(9)), counted(10), None, None).gained_count == 1

    def test_disbelieved_and_tainted_ones_are_no_gain(self):
        before = kept(metrics=counted(5), disbelieved=frozenset("a"), tainted_count=1)
        assert compare_with_kept(before, counted(9), None, None, disbelieved=frozenset("abc")).gained_count == 1


class TestRules:
    @table(
        ("step", "rule", "why"),
        [
            pytest.param(Step(0.9), None, None, id="the same score"),
            pytest.param(Step(0.9, verdict="TAMPERED"), 1, "is TAMPERED", id="tampered with"),
            pytest.param(Step(0.9, verdict="UNPROVEN"), 1, "is UNPROVEN", id="unproven"),
            pytest.param(Step(0.9, verdict="SUSPECT"), None, None, id="suspect"),
            pytest.param(Step(0.9, built=False), 1, "does not build", id="not built"),
            pytest.param(Step(0.9, measured=False), 1, "has no tests measured", id="not measured"),
            pytest.param(
                Step(0.9, Comparison(broken=("b",), broken_count=1, gained_count=9)),
                2,
                "breaks b, which passes in 3",
                id="one broken, whatever was gained",
            ),
            pytest.param(
                Step(0.9, Comparison(broken=("a", "b"), broken_count=2)),
                2,
                "breaks a, b, which pass in 3",
                id="two broken",
            ),
            pytest.param(Step(0.9, Comparison(broken_count=2)), 2, "breaks 2 tests of 3", id="broken by counts"),
            pytest.param(Step(0.9, Comparison(dropped_count=3)), None, None, id="a third dropped"),
            pytest.param(
                Step(0.9, Comparison(dropped_count=4)), 3, "drops 4 of the 9 passing tests of 3", id="more than a third"
            ),
            pytest.param(Step(0.9, Comparison(dropped_count=4, gained_count=1)), None, None, id="net of gains"),
            pytest.param(
                Step(0.9, questions={"k": "a fact"}), 4, "gains no test, and 1 question is open: a fact", id="asked"
            ),
            pytest.param(
                Step(0.9, questions={"k": "a fact", "l": "another"}),
                4,
                "gains no test, and 2 questions are open: a fact",
                id="two asked",
            ),
            pytest.param(Step(0.9, questions={"known": "a fact"}), None, None, id="asked of the kept one too"),
            pytest.param(
                Step(0.5, Comparison(gained_count=1), questions={"k": "a fact"}), None, None, id="asked, with a gain"
            ),
            pytest.param(
                Step(0.9, Comparison(gained_count=1), questions={"k": "a fact"}, refuse=True),
                4,
                "gains 1 test, and 1 question is open: a fact",
                id="asked, where that is refused",
            ),
            pytest.param(Step(0.895), None, None, id="not much below"),
            pytest.param(
                Step(0.8949), 4, "gains no test, and its score of 89.5 % is below 90 %", id="below, for nothing"
            ),
            pytest.param(Step(0.1, Comparison(gained_count=1)), None, None, id="below, with a gain"),
            pytest.param(Step(0.9, by_tests=False), None, None, id="by score: equal"),
            pytest.param(Step(0.8999, by_tests=False), 4, "scores 89.99 %, below 90 %", id="by score: lower"),
            pytest.param(
                Step(0.9, by_tests=False, questions={"k": "a fact"}),
                4,
                "scores 90 %, and 1 question is open: a fact",
                id="by score: asked, and no higher",
            ),
            pytest.param(
                Step(0.91, by_tests=False, questions={"k": "a fact"}), None, None, id="by score: asked, and higher"
            ),
            pytest.param(Step(0.9, weighed=SLOWER), 4, "has time 9 ms", id="a number that is worse"),
            pytest.param(
                Step(0.1, weighed=SLOWER._replace(worse=None)), None, None, id="a number in place of the score"
            ),
            pytest.param(Step(0.9, Comparison(gained_count=1), weighed=SLOWER), None, None, id="worse, with a gain"),
            pytest.param(
                Step(0.9, Comparison(gained_count=1), weighed=LARGER), 4, "has size 9 kB", id="a guard, with a gain"
            ),
        ],
    )
    def test_first_that_holds(self, step, rule, why):
        refusal = why_worse(kept(NINE, questions=frozenset({"known"})), step)
        assert refusal == (None if rule is None else Refusal(rule, why))

    def test_small_steps_down_do_not_add_up(self):
        assert why_worse(kept(NINE, score=0.896, top_score=0.9), Step(0.892)).rule == 4

    @pytest.mark.parametrize(
        ("step", "rule"),
        [(Step(0.1, Comparison(dropped_count=9)), None), (Step(0.9, verdict="TAMPERED"), 1)],
        ids=["whatever it is worth", "but not one that cannot be believed"],
    )
    def test_a_baseline_that_was_not_measured_gives_its_place_away(self, step, rule):
        refusal = why_worse(kept(measured=False), step)
        assert (refusal and refusal.rule) == rule


class TestAfter:
    HERE = kept({"a": P}, score=0.896)

    def test_the_highest_score_goes_on_where_nothing_was_gained(self):
        before = kept(NINE)
        assert after_step(before, self.HERE, Step(0.896), None) == self.HERE._replace(top_score=0.9)
        assert after_step(before, self.HERE, Step(0.896, Comparison(gained_count=1)), None) == self.HERE
        assert after_step(before._replace(measured=False), self.HERE, Step(0.896), None) == self.HERE

    def test_a_refused_one_leaves_no_trace(self):
        before = kept(NINE)
        assert after_step(before, self.HERE, Step(0.1, verdict="UNPROVEN"), Refusal(1, "is UNPROVEN")) == before

    def test_a_tampered_one_taints_what_passes_in_it(self):
        before = kept(NINE, tainted=frozenset("x"), tainted_count=1)
        step = Step(0.95, Comparison(gained=("a",), gained_count=1), "TAMPERED")
        after = after_step(before, self.HERE._replace(score=0.95), step, Refusal(1, "is TAMPERED"))
        assert (after.tainted, after.tainted_count, after.top_score) == ({"a", "x"}, 2, 0.9)
        by_score = after_step(before, self.HERE._replace(score=0.95), step._replace(by_tests=False), Refusal(1, ""))
        assert by_score.top_score == 0.95


class TestInALoop:
    def test_the_latest_that_broke_nothing(self, start):
        loop = start(tests={"a": P, "b": F})
        loop.turn(tests={"a": P, "b": P})
        loop.turn(tests={"a": F, "b": P, "c": P})
        assert (loop.taken, loop.refusal) == ([0, 1], Refusal(2, "breaks a, which passes in 1"))
        assert loop.turn(tests={"a": P, "b": P, "c": P}).kept_before == 1
        assert loop.taken == [0, 1, 3]

    def test_a_loop_begins_at_its_first_measured_iteration(self, start):
        gone = dict.fromkeys(("test_count", "tests_passed", "tests_failed", "tests_skipped"))
        loop = start(**gone, configured=frozenset({"tests"}))
        loop.turn(**gone)
        assert (loop.taken, loop.refusal) == ([0], Refusal(1, "has no tests measured"))
        assert not loop.judgements[0].walked.measured
        loop.turn(tests={"a": F})
        assert loop.taken == [0, 2]
        assert loop.last.best.iteration == 2

    def test_a_number_is_asked_in_place_of_the_score(self, start):
        loop = start(further=taking(98, 100, 102))
        loop.turn(further=taking(78, 80, 82), loc_total=900)
        loop.turn(further=taking(88, 90, 92))
        assert loop.taken == [0, 1]
        assert loop.refusal == Refusal(4, "has time 90 ms, 12.5 % worse than iteration 1 (80 ms), spread 2.3 %")

    def test_what_does_not_load_does_not_build(self, start):
        loop = start(tests={"tests.test_a::x": P, "tests.test_b::y": P})
        loop.turn(tests={"tests.test_b::y": P}, not_loaded={"tests/test_a.py": "SyntaxError"})
        assert loop.refusal == Refusal(1, "does not build")
