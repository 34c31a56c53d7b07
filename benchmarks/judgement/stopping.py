"""Compare stopping rules: where each stops a loop, what is lost, and what is spent after the last gain."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from labelled import Fact, Loop
from replay import Played, Turn

TOLD_AFTER: Final = 3
STOPPED_AFTER: Final = 2
STALL_RULE: Final = 10
SCORE_GAIN: Final = 0.005

Test = Callable[[Sequence[Fact], Sequence[Turn], int], bool]
Rule = Callable[[Sequence[Fact], Sequence[Turn]], tuple[list[int], int | None]]


@dataclass(frozen=True, slots=True)
class Stop:
    """Where a rule stops a loop, None if it never does and the whole loop is spent.

    `told` are the iterations after which the agent is warned. `lost` are the tests that pass at the labelled peak and
    in no iteration up to the stop; `early` is whether the stop is before the labelled one. `spent` counts the
    iterations up to the stop since the last one in which more tests passed than ever before. Tests labelled as honestly
    removed are ignored.
    """

    at: int | None
    told: list[int]
    lost: int
    spent: int
    early: bool


def _decided(_: Sequence[Fact], turns: Sequence[Turn]) -> tuple[list[int], int | None]:
    return [], next((turn.iteration for turn in turns if turn.action == "stop"), None)


def _told_then_decided(_: Sequence[Fact], turns: Sequence[Turn]) -> tuple[list[int], int | None]:
    """Warn the agent of a stall, as `run` does, and stop two later if it lasts; other stops are immediate."""
    told, still = [], 0
    for turn in turns:
        stalled = turn.rule == STALL_RULE
        still = still + 1 if stalled else 0
        if still == 1:
            told.append(turn.iteration)
        if (turn.action == "stop" and not stalled) or still > STOPPED_AFTER:
            return told, turn.iteration
    return told, None


def _stalled(_: Sequence[Fact], turns: Sequence[Turn]) -> tuple[list[int], int | None]:
    return [], next((turn.iteration for turn in turns if turn.classification == "stalled"), None)


def _more_tests(facts: Sequence[Fact], _: Sequence[Turn], now: int) -> bool:
    return facts[now].passed > max(fact.passed for fact in facts[:now])


def _tests_or_score(facts: Sequence[Fact], turns: Sequence[Turn], now: int) -> bool:
    best = max(turn.adjusted for turn in turns[:now])
    return _more_tests(facts, turns, now) or turns[now].adjusted > best + SCORE_GAIN


def _newly_passing(facts: Sequence[Fact], _: Sequence[Turn], now: int) -> bool:
    known = facts[now].tests is not None
    return bool(facts[now].passing - facts[now - 1].passing) if known else facts[now].passed > facts[now - 1].passed


def _never(_facts: Sequence[Fact], _turns: Sequence[Turn], _now: int) -> bool:
    return False


def _not_begun(facts: Sequence[Fact], _: Sequence[Turn], now: int) -> bool:
    return not any(fact.passed for fact in facts[: now + 1])


def _not_begun_or_red(facts: Sequence[Fact], turns: Sequence[Turn], now: int) -> bool:
    passed_before = frozenset().union(*(fact.passing for fact in facts[:now]))
    return _not_begun(facts, turns, now) or bool(passed_before & facts[now].failing)


def _told_first(progress: Test, uncounted: Test = _never) -> Rule:
    """Return the rule that warns the agent after three iterations without progress, and stops two later.

    Iterations that are `uncounted` are ignored.
    """

    def rule(facts: Sequence[Fact], turns: Sequence[Turn]) -> tuple[list[int], int | None]:
        told, still = [], 0
        for fact in facts[1:]:
            here = facts, turns, fact.iteration
            if progress(*here):
                still = 0
            elif not uncounted(*here):
                still += 1
                if still == TOLD_AFTER:
                    told.append(fact.iteration)
                if still == TOLD_AFTER + STOPPED_AFTER:
                    return told, fact.iteration
        return told, None

    return rule


RULES: Final[dict[str, Rule]] = {
    "loop-decision": _decided,
    "run: told, then loop-decision": _told_then_decided,
    "class stalled": _stalled,
    "told: more tests": _told_first(_more_tests),
    "told: more tests or score": _told_first(_tests_or_score),
    "told: newly passing": _told_first(_newly_passing, _not_begun),
    "told: newly passing, not in red": _told_first(_newly_passing, _not_begun_or_red),
}


def stops_of(loop: Loop, played: Played) -> dict[str, Stop]:
    """Return where each rule stops the loop."""
    return {name: _stop(loop, *rule(loop.facts, played.turns)) for name, rule in RULES.items()}


def _stop(loop: Loop, told: list[int], at: int | None) -> Stop:
    standing = [loop.standing(fact) for fact in (loop.facts if at is None else loop.facts[: at + 1])]
    gain = max(standing, key=lambda fact: (fact.passed, -fact.iteration)).iteration
    peak = loop.standing(loop.facts[loop.labels.peak])
    if peak.tests is None:
        lost = max(0, peak.passed - max(fact.passed for fact in standing))
    else:
        lost = len(peak.passing.difference(*(fact.passing for fact in standing)))
    return Stop(at, told, lost, standing[-1].iteration - gain, early=at is not None and at < loop.labels.stop)
