"""An optimised number is better, worse or not distinguishable, by the noise of repeats of one state."""

from functools import reduce
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph_tracker.core.metrics import FurtherMetric
from ralph_tracker.core.objective import (
    Level,
    Noise,
    Outcome,
    Progress,
    State,
    Weighed,
    after_state,
    believable,
    compare,
    loses_too_much,
    weigh,
)

TIME = FurtherMetric("time", None, "ms", "down")
RATE = FurtherMetric("rate", None, "ops/s", "up")
# 2 % deviation, from two states with 98, 100 and 102.
TWO_PERCENT = Noise().with_repeats((98.0, 100.0, 102.0)).with_repeats((98.0, 100.0, 102.0))
values_of_a_state = st.lists(st.floats(1.0, 1000.0), min_size=1, max_size=5).map(tuple)


def _walk(objective: FurtherMetric, states: list[State]) -> Level | None:
    return reduce(lambda level, state: after_state(objective, level, state)[0], states, None)


def test_noise_is_the_pooled_deviation_of_repeats_of_one_state() -> None:
    assert TWO_PERCENT.deviation == pytest.approx(0.02)


def test_noise_ignores_how_far_states_differ() -> None:
    apart = Noise().with_repeats((98.0, 100.0, 102.0)).with_repeats((980.0, 1000.0, 1020.0))
    assert apart.deviation == pytest.approx(0.02)


@pytest.mark.parametrize("values", [(), (100.0,), (98.0, 102.0), (-1.0, 1.0, 0.0)])
def test_too_few_repeats_show_no_noise(values: tuple[float, ...]) -> None:
    assert Noise().with_repeats(values).deviation is None


def test_repeats_that_come_later_count_as_if_they_had_come_at_once() -> None:
    at_once = Noise().with_repeats((98.0, 100.0, 102.0))
    later = Noise().with_repeats((98.0,)).with_repeats((100.0, 102.0), earlier=(98.0,))
    assert later.deviation == pytest.approx(at_once.deviation)


@pytest.mark.parametrize("value", [nan, inf, -inf])
def test_a_state_with_a_value_that_is_no_number_has_none(value: float) -> None:
    assert believable((1.0, value)) == ()


@pytest.mark.parametrize(
    ("objective", "values", "outcome"),
    [
        (TIME, (90.0,), "better"),
        (TIME, (110.0,), "worse"),
        (TIME, (104.0,), "not distinguishable"),
        (RATE, (90.0,), "worse"),
        (RATE, (110.0,), "better"),
        (RATE, (96.0,), "not distinguishable"),
    ],
)
def test_a_difference_within_the_noise_is_not_distinguishable(
    objective: FurtherMetric, values: tuple[float, ...], outcome: Outcome
) -> None:
    assert compare(objective, values, (100.0,), TWO_PERCENT) == outcome


def test_a_lucky_repeat_does_not_make_a_state_better() -> None:
    assert compare(TIME, (50.0, 110.0, 111.0), (100.0, 100.0, 100.0), TWO_PERCENT) == "worse"


def test_without_known_noise_any_difference_counts() -> None:
    assert compare(TIME, (100.1,), (100.0,), Noise()) == "worse"


def test_more_repeats_distinguish_less() -> None:
    assert compare(TIME, (104.0,) * 9, (100.0,) * 9, TWO_PERCENT) == "worse"


@pytest.mark.parametrize(
    ("direction", "value", "lost"),
    [("down", 103.0, True), ("down", 97.0, False), ("up", 97.0, True), ("up", 98.0, False)],
)
def test_a_guard_holds_against_the_start(direction: str, value: float, *, lost: bool) -> None:
    guard = FurtherMetric("size", None, "kB", "up" if direction == "up" else "down", max_loss=0.02)
    assert loses_too_much(guard, (value,), (100.0,)) is lost


def test_a_number_without_a_limit_is_no_guard() -> None:
    assert not loses_too_much(TIME, (900.0,), (1.0,))


def test_a_state_without_a_number_neither_wins_nor_changes_the_level() -> None:
    level = _walk(TIME, [State(0, (100.0,))])
    assert after_state(TIME, level, State(1, ())) == (level, None)
    assert after_state(TIME, level, State(1, (nan,))) == (level, None)


def test_zero_is_a_number() -> None:
    level = _walk(TIME, [State(0, (100.0,)), State(1, (0.0,))])
    assert level is not None
    assert level.kept == 1


@pytest.mark.parametrize(("objective", "step"), [(TIME, 1.01), (RATE, 0.99)])
def test_small_steps_down_do_not_add_up(objective: FurtherMetric, step: float) -> None:
    start = State(0, (98.0, 100.0, 102.0))
    level = _walk(objective, [start, *(State(number, (100 * step**number,)) for number in range(1, 20))])
    assert level is not None
    assert level.best == 0
    assert level.kept < 6  # the noise of one and three repeats is 4.6 %


def test_repeats_that_were_counted_are_compared_but_add_no_noise() -> None:
    again = _weighed(START, 1, _goal(98, 100, 102, counted=True), _guard(50))
    assert again.outcomes == ("not distinguishable",)
    assert again.after.levels["time"].noise == START.levels["time"].noise


@pytest.mark.parametrize(("size", "better"), [(50, True), (60, False)])
def test_a_number_is_better_where_guards_hold(size: float, *, better: bool) -> None:
    assert _weighed(START, 1, _goal(78, 80, 82), _guard(size)).is_better is better


def test_the_best_state_measured_again_corrects_its_level() -> None:
    level = _walk(TIME, [State(0, (100.0,)), State(1, (80.0,)), State(1, (100.0, 101.0), earlier=(80.0,))])
    assert level is not None
    assert level.values == (80.0, 100.0, 101.0)
    assert level.noise.deviation is not None


def test_a_tie_goes_to_the_later_state() -> None:
    level = _walk(TIME, [State(0, (100.0,)), State(1, (100.0,))])
    assert level is not None
    assert (level.kept, level.best) == (1, 1)


@given(values_of_a_state, values_of_a_state)
def test_directions_mirror_each_other(one: tuple[float, ...], other: tuple[float, ...]) -> None:
    mirrored = {"better": "worse", "worse": "better", "not distinguishable": "not distinguishable"}
    assert compare(TIME, one, other, TWO_PERCENT) == mirrored[compare(RATE, one, other, TWO_PERCENT)]


@given(st.lists(values_of_a_state, min_size=1, max_size=20))
def test_another_unit_changes_nothing(states: list[tuple[float, ...]]) -> None:
    plain = [State(number, values) for number, values in enumerate(states)]
    doubled = [State(number, tuple(2 * value for value in values)) for number, values in enumerate(states)]
    one, other = _walk(TIME, plain), _walk(TIME, doubled)
    assert one is not None
    assert other is not None
    assert (one.kept, one.best) == (other.kept, other.best)


@given(st.lists(values_of_a_state, min_size=1, max_size=20))
def test_failed_runs_change_nothing(states: list[tuple[float, ...]]) -> None:
    plain = [State(number, values) for number, values in enumerate(states)]
    assert _walk(TIME, plain) == _walk(TIME, [each for state in plain for each in (State(99, ()), state)])


def _goal(*samples: float, **more: Any) -> FurtherMetric:
    return FurtherMetric("time", None, "ms", **{"direction": "down", "samples": samples, "objective": True, **more})


def _guard(*samples: float, segment: str = "") -> FurtherMetric:
    return FurtherMetric("size", None, "kB", "down", samples, max_loss=0.02, segment=segment)


def _weighed(before: Progress, number: int, *metrics: FurtherMetric) -> Weighed:
    found = weigh(before, number, metrics)
    assert found is not None
    return found


START = _weighed(Progress(), 0, _goal(98, 100, 102), _guard(50)).after


def test_a_loop_without_a_goal_or_a_guard_weighs_nothing() -> None:
    assert weigh(Progress(), 0, [FurtherMetric("todos", 3.0)]) is None


@pytest.mark.parametrize(
    ("metric", "note"),
    [
        (_goal(78, 80, 82), "time 80 ms, 20 % better than iteration 0 (100 ms), spread 2.3 %"),
        (_goal(99, 101, 103), "time 101 ms, within the noise of iteration 0 (100 ms), spread 2 %"),
        (_goal(), "time: no number"),
    ],
)
def test_a_note_tells_how_the_number_stands(metric: FurtherMetric, note: str) -> None:
    assert _weighed(START, 1, metric, _guard(50)).note == note


def test_with_another_benchmark_or_machine_a_number_begins_anew():
    start = _weighed(Progress(), 0, _goal(100, segment="a"), _guard(50, segment="a")).after
    other = _weighed(start, 1, _goal(200, segment="b"), _guard(90, segment="b"))
    assert (other.outcomes, other.worse, other.lost) == ((None,), None, None)
    assert other.note == "time 200 ms, which begins anew: its benchmark or the machine is another one"
    assert other.after == Progress(
        {"time": Level(1, 1, (200,), segment="b")}, {"size": Level(1, 1, (90,), segment="b")}
    )
    assert _weighed(start, 1, _goal(200, segment="b"), _guard(90, segment="a")).lost is not None


@pytest.mark.parametrize(("before", "now"), [("", "b"), ("a", ""), ("a", "a")])
def test_the_same_benchmark_and_one_that_is_not_known_go_on(before: str, now: str) -> None:
    start = _weighed(Progress(), 0, _goal(100, segment=before)).after
    worse = _weighed(start, 1, _goal(200, segment=now))
    assert (worse.outcomes, worse.after.levels["time"].segment) == (("worse",), now or before)


def test_figures_that_scatter_and_are_the_same_are_those_of_an_earlier_run() -> None:
    again = _weighed(START, 1, _goal(98, 100, 102), _guard(50))
    assert again.note == "time 100 ms, every figure as in iteration 0; let its check measure anew"
    assert again.after.levels["time"].noise == START.levels["time"].noise


def test_figures_that_never_scatter_may_be_the_same() -> None:
    start = _weighed(Progress(), 0, _goal(100, 100, 100)).after
    assert _weighed(start, 1, _goal(100, 100, 100)).note == (
        "time 100 ms, within the noise of iteration 0 (100 ms), spread 0 %"
    )


def test_more_is_better_where_the_direction_is_up() -> None:
    start = _weighed(Progress(), 0, _goal(10, direction="up")).after
    worse = _weighed(start, 1, _goal(5, direction="up"))
    assert worse.worse == "has time 5 ms, 50 % worse than iteration 0 (10 ms), spread unknown"


def test_no_share_is_said_of_nothing() -> None:
    start = _weighed(Progress(), 0, _goal(0)).after
    assert _weighed(start, 1, _goal(5)).note == "time 5 ms, worse than iteration 0 (0 ms), spread unknown"


@pytest.mark.parametrize(
    ("guard", "lost"),
    [
        (_guard(51), None),
        (_guard(52), "has size 52 kB, which may lose 2 % of 50 kB at the start"),
        (_guard(), "has no number for the guard size"),
    ],
)
def test_a_guard_is_held_against_the_start(guard: FurtherMetric, lost: str | None) -> None:
    assert _weighed(START, 1, _goal(80), guard).lost == lost


def test_a_guard_that_was_never_measured_loses_nothing() -> None:
    assert _weighed(Progress(), 0, _goal(80), _guard()).lost is None


@pytest.mark.parametrize(
    ("samples", "rule", "gained", "best", "more_noise"),
    [
        ((78, 80, 82), None, False, 1, True),
        ((118, 120, 122), None, True, 1, True),
        ((118, 120, 122), 4, False, 0, True),
        ((78, 80, 82), 2, False, 0, False),
        ((), None, True, 0, False),
    ],
    ids=["taken", "taken for its tests", "refused for its number alone", "refused", "no number"],
)
def test_only_what_is_taken_sets_the_level(
    samples: tuple[float, ...], rule: int | None, *, gained: bool, best: int, more_noise: bool
) -> None:
    level = _weighed(START, 1, _goal(*samples), _guard(50)).progress(1, START, rule, gained=gained).levels["time"]
    assert (level.best, level.noise.freedom > START.levels["time"].noise.freedom) == (best, more_noise)


RATES = FurtherMetric("rate", None, "ops/s", "up", objective=True)


@pytest.mark.parametrize(
    ("time", "rate", "better", "worse"),
    [
        (80, 10, True, None),
        (80, 12, True, None),
        (80, 8, False, "has rate 8 ops/s, 20 % worse than iteration 0 (10 ops/s), spread unknown"),
        (120, 12, False, "has time 120 ms, 20 % worse than iteration 0 (100 ms), spread unknown"),
        (80, None, False, "has no number for rate"),
    ],
)
def test_two_goals_are_not_traded(time: float, rate: float | None, *, better: bool, worse: str | None) -> None:
    start = _weighed(Progress(), 0, _goal(100), RATES._replace(samples=(10.0,))).after
    found = _weighed(start, 1, _goal(time), RATES._replace(samples=() if rate is None else (rate,)))
    assert (found.is_better, found.worse) == (better, worse)
    if worse is not None and rate:
        assert found.progress(1, start, 4, gained=False).levels == start.levels
    if better:
        begun = found.progress(1, start, None, gained=True).levels
        assert {level.best for level in begun.values()} == {1}


def test_guards_alone_have_nothing_to_say_but_a_loss() -> None:
    start = _weighed(Progress(), 0, _guard(50)).after
    found = _weighed(start, 1, _guard(60))
    assert (found.goals, found.note, found.is_better) == ((), "", False)
    assert found.lost == "has size 60 kB, which may lose 2 % of 50 kB at the start"


def _of(number: float) -> dict[str, Any]:
    return {"further": (_goal(number), _guard(50))}


def test_a_better_number_is_progress_where_all_else_stays(start: Any) -> None:
    loop = start(**_of(100))
    assert [loop.turn(**_of(number)).classification for number in (90, 80, 70, 60)] == ["forward"] * 4
    assert [loop.turn(**_of(60)).classification for _ in range(3)] == ["plateau", "plateau", "stalled"]


def test_metrics_that_repeat_are_no_cycle_while_a_number_is_asked(start: Any) -> None:
    loop = start(**_of(100))
    for coverage in (79.0, 80.0, 79.0):
        loop.turn(coverage_percentage=coverage, **_of(100))
    assert "metric_cycling" not in [alert.type for alert in loop.last.alerts]
