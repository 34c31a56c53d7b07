"""Continuation: the seed's four cases, the score, what goes over it, one nudge a streak, and nudges that are sent."""

import asyncio
import itertools
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.steering import (
    Continuation,
    ContinuationThresholds,
    FileChanged,
    FileRead,
    Parts,
    PersonSaid,
    ProgressThresholds,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    VerdictThresholds,
    classify_task_complexity,
    steer,
)
from ralph_tracker.steering import TestsPassed as NewlyPassing
from tests.tables import table

CONTINUE, NUDGE, FORCE = "continue", "nudge_synthesis", "force_synthesis"
_calls = itertools.count()


def calls(name, arguments="", result="", *, success=True, tree=None):
    call = str(next(_calls))
    return [ToolStarted(call, name, arguments), ToolEnded(call, name, success, arguments, result, tree)]


def reads(path):
    return [*calls("Read", path, f"text of {path}"), FileRead(path)]


def edits(path, what=""):
    return [*calls("Edit", path + what, "done"), FileChanged(path)]


def checks(result):
    return calls("Bash", "pytest", result)


def turn(*events, tokens=None):
    return [*itertools.chain.from_iterable(events), TurnEnded("…", context_tokens=tokens)]


def folded(continuation, *turns):
    """Fold turns and return the verdicts."""
    return [verdict for each in turns for event in each if (verdict := continuation.fold(event)) is not None]


def actions(continuation, *turns):
    return [verdict.action for verdict in folded(continuation, *turns)]


def stuck(times, path="a.py"):
    return [turn(reads(path)) for _ in range(times)]


class TestCasesOfTheSeed:
    def test_simple_prompt(self):
        complexity = classify_task_complexity("What is 2+2?")
        assert complexity == "simple"
        assert actions(Continuation(complexity), turn(), turn()) == [CONTINUE] * 2

    def test_medium_prompt(self):
        complexity = classify_task_complexity("Read config.py and explain it")
        assert complexity == "medium"
        course = [turn(reads("config.py")), turn(reads("schema.py")), turn(calls("Grep", "load")), turn(), turn()]
        assert actions(Continuation(complexity), *course) == [CONTINUE] * 5

    @table("turns", [20, 35, 49])
    def test_complex_prompt(self, turns):
        complexity = classify_task_complexity("Analyze entire Victor architecture")
        assert complexity == "complex"
        course = [turn(reads(f"a{n}.py"), calls("Grep", str(n), str(n))) for n in range(turns)]
        assert actions(Continuation(complexity), *course) == [CONTINUE] * turns

    def test_complex_prompt_is_told_at_turn_50_that_its_turns_are_used(self):
        course = [turn(reads(f"a{n}.py")) for n in range(50)]
        assert actions(Continuation("complex"), *course) == [CONTINUE] * 49 + [FORCE]

    @table("complexity", ["simple", "medium", "complex", "generation"])
    def test_stuck_loop(self, complexity):
        said = actions(Continuation(complexity), turn(reads("a.py")), turn(reads("b.py")), *stuck(5))
        assert said[-3:] == [NUDGE, FORCE, FORCE]
        assert set(said[:-3]) == {CONTINUE}


class TestScore:
    @table(("complexity", "score"), [("simple", 0.925), ("medium", 0.95), ("generation", 0.975), ("complex", 1.0)])
    def test_a_fresh_session_scores_at_least_090(self, complexity, score):
        (verdict,) = folded(Continuation(complexity), turn(reads("a.py")))
        assert verdict.score == score

    def test_its_parts_are_weighted_terms(self):
        (verdict,) = folded(Continuation("medium"), turn(reads("a.py")))
        assert verdict.terms == Parts(1.0, 1.0, 1.0, 1.0, 0.5)
        assert verdict.parts == Parts(0.30, 0.25, 0.20, 0.15, 0.05)
        assert (verdict.turn, verdict.score, verdict.reasons, verdict.message) == (1, 0.95, (), None)

    @table(("new", "velocity"), [(1, 0.4), (2, 0.8), (3, 1.0), (5, 1.0)], ids=["0.2", "0.4", "0.6", "1"])
    def test_velocity_scores_in_full_from_one_new_thing_in_two_turns_on(self, new, velocity):
        course = [turn(reads(f"{n}.py")) if n < new else turn(calls("Grep", str(n))) for n in range(5)]
        continuation = Continuation("complex")
        folded(continuation, *course)
        assert continuation.terms.velocity == pytest.approx(velocity)

    @table(("repeats", "term"), [(0, 1.0), (1, 2 / 3), (2, 1 / 3), (3, 0.0), (9, 0.0)])
    def test_repeats_in_a_row_take_away_down_to_zero(self, repeats, term):
        continuation = Continuation("complex")
        folded(continuation, *stuck(repeats + 1))
        assert continuation.terms.not_stuck == pytest.approx(term)

    def test_nudges_and_forces_take_away_of_what_is_allowed(self):
        continuation = Continuation("simple")
        folded(continuation, *stuck(5))
        assert (continuation.interventions, continuation.terms.interventions) == (2, 0.6)
        folded(continuation, *stuck(9))
        assert continuation.terms.interventions == 0.0

    def test_tokens_that_nobody_tells_take_nothing_away(self):
        continuation = Continuation("medium")
        folded(continuation, turn(reads("a.py")), [TurnEnded("x" * 400_000)])
        assert (continuation.context_tokens, continuation.terms.tokens) == (None, 1.0)

    def test_tokens_stay_as_they_were_told_last(self):
        continuation = Continuation("medium")
        folded(continuation, turn(tokens=64_000), turn())
        assert continuation.context_tokens == 64_000
        assert continuation.terms.tokens == pytest.approx(0.5)

    @given(
        st.lists(
            st.one_of(
                st.builds(ToolEnded, st.just("c"), st.sampled_from("AB"), st.booleans(), st.sampled_from("ab")),
                st.builds(FileRead, st.sampled_from("abc")),
                st.builds(FileChanged, st.sampled_from("abc")),
                st.builds(NewlyPassing, st.tuples(st.sampled_from("abc"))),
                st.builds(PersonSaid, st.text(max_size=3)),
                st.builds(TurnEnded, st.text(max_size=3), st.none(), st.none() | st.integers(0, 300_000)),
            ),
            max_size=60,
        ),
        st.sampled_from(["simple", "medium", "complex", "generation"]),
    )
    def test_any_course_scores_from_0_to_1_and_every_term_is_within(self, events, complexity):
        continuation = Continuation(complexity)
        verdicts = folded(continuation, events)
        assert [verdict.turn for verdict in verdicts] == [*range(1, len(verdicts) + 1)]
        for before, verdict in itertools.pairwise([None, *verdicts]):
            assert 0 <= verdict.score <= 1
            assert all(0 <= term <= 1 for term in verdict.terms)
            assert verdict.score == pytest.approx(sum(verdict.parts))
            assert (verdict.message is None) is (verdict.action == CONTINUE)
            assert verdict.reasons or verdict.action == CONTINUE
            # Two nudges never follow each other for one reason: a streak has one.
            if before is not None and {before.action, verdict.action} == {NUDGE}:
                assert any("tool calls" in reason for reason in before.reasons + verdict.reasons)


class TestOverTheScore:
    def test_at_the_hard_token_limit_it_is_forced_whatever_it_finds(self):
        (verdict,) = folded(Continuation("complex"), turn(reads("a.py"), tokens=89_600))
        assert verdict.action == FORCE
        assert verdict.reasons == ("70% of the context window is taken, 70% is the hard limit",)
        assert verdict.message.startswith("Call no more tools")

    def test_the_context_window_is_the_agents_own_where_it_says_so(self):
        course = turn(reads("a.py"), tokens=89_600)
        assert actions(Continuation("complex", context_window=200_000), course) == [CONTINUE]

    def test_at_the_soft_limit_it_is_nudged_where_nothing_is_new(self):
        looking = [turn(calls("Grep", str(n)), tokens=38_400) for n in range(6)]
        finding = [turn(reads(f"{n}.py"), tokens=60_000) for n in range(6)]
        (*_, last) = verdicts = folded(Continuation("complex"), *looking)
        assert [verdict.action for verdict in verdicts] == [CONTINUE] * 3 + [NUDGE] + [CONTINUE] * 2
        assert verdicts[3].reasons == ("30% of the context window is taken, and the last 4 turns brought nothing new",)
        assert last.reasons[-1] == "it was nudged for that already"
        assert actions(Continuation("complex"), *finding) == [CONTINUE] * 6

    def test_the_iteration_limit_forces(self):
        (*_, last) = verdicts = folded(Continuation("simple"), *(turn(reads(f"{n}.py")) for n in range(11)))
        assert [verdict.action for verdict in verdicts] == [CONTINUE] * 9 + [FORCE] * 2
        assert last.reasons == ("11 of 10 turns are used",)

    def test_the_tool_budget_nudges_once_even_in_the_first_turns(self):
        course = [turn(*(reads(f"{t}-{n}.py") for n in range(9))) for t in range(4)]
        (_, first, second, _) = verdicts = folded(Continuation("simple"), *course)
        assert [verdict.action for verdict in verdicts] == [CONTINUE, NUDGE, CONTINUE, CONTINUE]
        assert first.reasons == ("18 of 10 tool calls are used",)
        assert second.reasons == ("27 of 10 tool calls are used", "it was nudged for that already")

    def test_a_low_score_of_the_first_three_turns_is_let_go(self):
        idle = [turn(calls("Grep", "x", "none")) for _ in range(3)]  # two repeats, and nothing new
        (*_, last) = verdicts = folded(Continuation("simple"), *idle)
        assert last.score < 0.6
        assert {verdict.action for verdict in verdicts} == {CONTINUE}
        assert last.reasons == ()

    def test_a_stuck_loop_is_nudged_in_the_first_three_turns_too(self):
        assert actions(Continuation("complex"), turn(*(reads("a.py") for _ in range(4)))) == [NUDGE]

    def test_a_score_below_the_lower_threshold_forces_after_the_first_turns(self):
        thresholds = ContinuationThresholds(weights=Parts(1.0, 0, 0, 0, 0))
        idle = [turn(calls("Grep", str(n))) for n in range(4)]
        (*_, last) = folded(Continuation("medium", thresholds=thresholds), *idle)
        assert (last.action, last.reasons) == (FORCE, ("0 of the last 4 turns brought anything new",))


class TestOneNudgeAStreak:
    def test_stuck_is_nudged_and_forced_only_where_it_repeats_after_that(self):
        continuation = Continuation("complex")
        assert actions(continuation, *(turn(reads(f"{n}.py")) for n in range(5)))[-1] == CONTINUE
        assert actions(continuation, *stuck(3, "0.py")) == [CONTINUE, CONTINUE, NUDGE]
        assert actions(continuation, turn()) == [CONTINUE]  # it answers: that is no repeat
        assert actions(continuation, *stuck(1, "0.py")) == [FORCE]

    def test_who_heeds_the_nudge_is_nudged_anew_in_the_next_streak(self):
        continuation = Continuation("complex")
        new = [turn(reads(f"{n}.py")) for n in range(5)]
        again = stuck(3, "0.py")
        more = [turn(reads(f"more {n}.py")) for n in range(5)]
        assert actions(continuation, *new, *again)[-1] == NUDGE
        assert set(actions(continuation, *more)) == {CONTINUE}
        assert actions(continuation, *again) == [CONTINUE, CONTINUE, NUDGE]

    def test_a_low_score_is_nudged_once(self):
        thresholds = ContinuationThresholds(weights=Parts(0.6, 0, 0.4, 0, 0))
        course = [turn(calls("Grep", str(n))) for n in range(8)]
        assert actions(Continuation("complex", thresholds=thresholds), *course).count(NUDGE) == 1

    def test_a_nudge_for_the_tool_budget_spares_none_for_a_stuck_loop(self):
        continuation = Continuation("simple")
        assert actions(continuation, turn(*(reads(f"{n}.py") for n in range(10)))) == [NUDGE]
        assert actions(continuation, *stuck(4, "0.py")) == [CONTINUE, CONTINUE, NUDGE, FORCE]

    def test_the_tool_budget_adds_no_nudge_to_a_streak_that_has_had_one(self):
        thresholds = ContinuationThresholds(weights=Parts(0.6, 0, 0.4, 0, 0))  # a low score, never below 0.3
        course = [turn(calls("Grep", str(n))) for n in range(12)]
        many = turn(*(calls("Grep", f"x{n}") for n in range(20)))
        said = actions(Continuation("medium", thresholds=thresholds), *course, many)
        assert said == [CONTINUE] * 3 + [NUDGE] + [CONTINUE] * 9


class TestNotToRepeat:
    def test_a_stuck_rule_that_no_input_can_reach(self):
        continuation = Continuation("complex")
        folded(continuation, *stuck(4))
        assert continuation.metrics.is_stuck_loop

    def test_velocity_that_counts_only_idle_turns(self):
        continuation = Continuation("complex")
        folded(continuation, *(turn(reads(f"{n}.py")) for n in range(4)), turn())
        assert continuation.metrics.total_iterations == 5
        assert continuation.metrics.progress_velocity == 0.8

    def test_a_nudge_that_is_computed_and_never_sent(self):
        said, yielded = steered(Continuation("complex"), *stuck(6))
        assert len(said) == 1 + 2
        assert said[0].startswith("Try another way")
        assert said == [verdict.message for verdict in yielded if verdict.message]
        assert [verdict.turn for verdict in yielded] == [1, 2, 3, 4, 5, 6]

    def test_reads_as_the_only_progress(self):
        working = [turn(edits("a.py", str(n)), checks("1 failed")) for n in range(20)]
        passing = [turn(checks(str(n)), [NewlyPassing((f"t{n}",))]) for n in range(20)]
        for course in (working, passing):
            continuation = Continuation("complex")
            assert set(actions(continuation, *course)) == {CONTINUE}
            assert continuation.metrics.unique_files_read == 0
            assert continuation.terms.velocity == 1.0

    def test_edit_and_test_in_turn_is_work_and_no_loop(self):
        course = [turn(each) for n in range(10) for each in (edits("a.py"), checks("1 failed"))]
        continuation = Continuation("complex")
        assert set(actions(continuation, *course)) == {CONTINUE}
        assert continuation.metrics.consecutive_file_revisits == 0

    def test_a_budget_that_goes_by_the_length_of_the_text(self):
        said = [[TurnEnded("word " * 200_000, 250_000)]]
        assert actions(Continuation("complex"), *said) == [CONTINUE]

    def test_a_fresh_session_that_is_nudged(self):
        assert actions(Continuation("medium"), turn()) == [CONTINUE]


def steered(continuation, *turns, fails=()):
    """Steer a session; return what was said to the agent and the verdicts. `fails`: which of the sayings fail."""
    said, attempts = [], itertools.count()

    async def events():
        for event in itertools.chain.from_iterable(turns):
            yield event

    async def say(text):
        if next(attempts) in fails:
            raise ConnectionError("the agent has gone")
        said.append(text)

    async def run():
        return [verdict async for verdict in steer(events(), continuation, say)]

    return said, asyncio.run(run())


def test_a_nudge_that_could_not_be_delivered_is_logged_and_given_again(caplog):
    continuation = Continuation("complex")
    with caplog.at_level(logging.ERROR):
        said, verdicts = steered(continuation, *stuck(6), fails={0})
    assert [verdict.action for verdict in verdicts[-3:]] == [NUDGE, NUDGE, FORCE]
    assert (len(said), continuation.interventions) == (2, 2)
    assert "nudge_synthesis at turn 4 was not delivered" in caplog.text


def test_thresholds_are_those_that_are_handed_in():
    thresholds = ContinuationThresholds(
        progress=ProgressThresholds(stuck_repeats=5), score=VerdictThresholds(warm_up_turns=9)
    )
    assert actions(Continuation("complex", thresholds=thresholds), *stuck(6)) == [CONTINUE] * 5 + [NUDGE]
    limits = thresholds.complexity._replace(simple=thresholds.complexity.simple._replace(max_iterations=2))
    assert actions(Continuation("simple", thresholds=thresholds._replace(complexity=limits)), turn(), turn()) == [
        CONTINUE,
        FORCE,
    ]


class TestNearRepeats:
    """What is done again in another form is seen too, where nothing changes meanwhile."""

    @pytest.mark.parametrize(
        ("course", "why"),
        [
            ([turn(calls("Bash", f"try {n}", f"no {n}", success=False)) for n in range(30)], "calls failed"),
            (
                [turn(reads("a.py"))]
                + [turn([*calls("Read", f"a.py from {n}", f"part {n}"), FileRead("a.py")]) for n in range(30)],
                "reads were of files that were read before",
            ),
            ([turn() for _ in range(30)], "turns called no tool"),
            (
                [
                    [*calls("Grep", str(n)), TurnEnded("Now I will look for the cause of this failure.")]
                    for n in range(40)
                ],
                "turns said what was said before",
            ),
        ],
        ids=["failing commands", "one file", "talk", "one sentence"],
    )
    def test_it_is_nudged_once_and_then_forced(self, course, why):
        continuation = Continuation("complex")
        verdicts = folded(continuation, *course)
        said = [verdict.action for verdict in verdicts]
        assert said.count(NUDGE) == 1
        assert said.index(NUDGE) < said.index(FORCE)
        assert any(why in reason for reason in verdicts[said.index(FORCE)].reasons)

    def test_a_change_or_a_person_begins_anew(self):
        continuation = Continuation("complex")
        failing = [turn(calls("Bash", f"try {n}", success=False)) for n in range(9)]
        folded(continuation, *failing, [FileChanged("a.py")], *failing)
        assert continuation.metrics.near_repeats["failed"] == 9
        folded(continuation, [PersonSaid("go on")])
        assert set(continuation.metrics.near_repeats.values()) == {0}

    def test_a_call_that_works_ends_a_streak_of_failures(self):
        continuation = Continuation("complex")
        folded(continuation, turn(calls("Bash", "a", success=False)), turn(calls("Bash", "b")))
        assert continuation.metrics.near_repeats["failed"] == 0
