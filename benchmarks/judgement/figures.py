"""Compare the tracker's verdicts on a loop with its labels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from labelled import Fact, Loop
from replay import Played, Turn

# An iteration with one of these as CRITICAL counts as a recognized regression, whatever its class.
TELLING: Final = frozenset({"working_tests_failing", "test_deletion", "build_broken"})
Rule = Callable[[Sequence[Fact], Sequence[Turn]], int]


def _most_passing_earliest(facts: Sequence[Fact], _: Sequence[Turn]) -> int:
    return max(facts, key=lambda fact: (fact.passed, -fact.iteration)).iteration


def _most_passing_latest(facts: Sequence[Fact], _: Sequence[Turn]) -> int:
    return max(facts, key=lambda fact: (fact.passed, fact.iteration)).iteration


def _fewest_failing(facts: Sequence[Fact], _: Sequence[Turn]) -> int:
    return min(facts, key=lambda fact: (fact.failed, -fact.iteration)).iteration


def _nothing_failing(facts: Sequence[Fact], turns: Sequence[Turn]) -> int:
    green = [fact.iteration for fact in facts if fact.passed and not fact.failed]
    return green[-1] if green else _fewest_failing(facts, turns)


def _last(facts: Sequence[Fact], _: Sequence[Turn]) -> int:
    return facts[-1].iteration


def _formula(_: Sequence[Fact], turns: Sequence[Turn]) -> int:
    return max(turns, key=lambda turn: (turn.quality, -turn.iteration)).iteration


SIMPLE_RULES: Final[dict[str, Rule]] = {
    "last": _last,
    "most passing earliest": _most_passing_earliest,
    "most passing latest": _most_passing_latest,
    "nothing failing latest": _nothing_failing,
    "fewest failing latest": _fewest_failing,
    "formula": _formula,
}


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one loop; every list contains iterations.

    `selected` maps a way of selecting to its choice. `missed` are labelled regressions that were not recognized.
    `stops` and `escalations` are all such decisions; `false_stops` came before the labelled stop. A rollback or an
    escalation is false if no labelled regression is open then. A rollback is wrong if fewer tests pass in its target
    than in the best of the earlier iterations without an open regression. `missed_rollbacks` are labelled as right, and
    the decision is none, nor to escalate.
    """

    loop: str
    iterations: int
    peak: int
    acceptable: list[int]
    labelled_stop: int
    selected: dict[str, int]
    regressions: list[int]
    false_regressions: list[int]
    missed: list[int]
    stops: list[int]
    false_stops: list[int]
    escalations: list[int]
    false_escalations: list[int]
    rollbacks: list[int]
    false_rollbacks: list[int]
    missed_rollbacks: list[int]
    wrong_targets: list[int]
    open_alerts: list[str]


def figures_of(loop: Loop, played: Played) -> Figures:
    """Return the figures of a loop, comparing the tracker's verdicts with the labels."""
    turns, labels = played.turns, loop.labels
    unmended = unmended_at(loop)
    rollbacks, escalations = _with(turns, "rollback"), _with(turns, "escalate")
    classed = [turn.iteration for turn in turns if turn.classification == "regression"]
    return Figures(
        loop=loop.name,
        iterations=len(turns) - 1,
        peak=labels.peak,
        acceptable=sorted(labels.acceptable),
        labelled_stop=labels.stop,
        selected={**played.selected, **{name: rule(loop.facts, turns) for name, rule in SIMPLE_RULES.items()}},
        regressions=sorted(labels.regressions),
        false_regressions=[number for number in classed if number not in labels.regressions],
        missed=[number for number in sorted(labels.regressions) if not _is_found(turns[number])],
        stops=_with(turns, "stop"),
        false_stops=[number for number in _with(turns, "stop") if number < labels.stop],
        escalations=escalations,
        false_escalations=[number for number in escalations if not unmended[number]],
        rollbacks=rollbacks,
        false_rollbacks=[number for number in rollbacks if not unmended[number]],
        missed_rollbacks=sorted(labels.right_rollbacks.difference(rollbacks, escalations)),
        wrong_targets=[number for number in rollbacks if _is_wrong(loop, turns[number], unmended)],
        open_alerts=sorted([*(kind for kind, _ in turns[-1].alerts), *turns[-1].open_alerts]),
    )


def _with(turns: Sequence[Turn], action: str) -> list[int]:
    return [turn.iteration for turn in turns if turn.action == action]


def _is_found(turn: Turn) -> bool:
    told = any(kind in TELLING and severity == "CRITICAL" for kind, severity in turn.alerts)
    return told or turn.classification == "regression"


def unmended_at(loop: Loop) -> list[frozenset[int]]:
    """Return, for each iteration, the labelled regressions at or before it that are not fixed in it.

    A regression is fixed once each test that it broke passes again, and no test that began to fail in it still fails;
    it stays fixed. Without test names, it is fixed once as many tests pass as just before.
    """
    left: list[frozenset[int]] = []
    for now in loop.facts:
        begun = {now.iteration} & loop.labels.regressions - {0}
        known = left[-1] | begun if left else begun
        left.append(frozenset(number for number in known if not _is_mended(loop.facts, number, now)))
    return left


def _is_mended(facts: Sequence[Fact], number: int, now: Fact) -> bool:
    before, then = facts[number - 1], facts[number]
    if then.tests is None:
        return now.iteration > number and now.passed >= before.passed
    lost, new_red = before.passing - then.passing, then.failing - before.failing
    if not lost and not new_red:  # no test shows what it broke, so only the next iterations count
        return now.iteration > number
    return lost <= now.passing and not new_red & now.failing


def _is_wrong(loop: Loop, turn: Turn, unmended: Sequence[frozenset[int]]) -> bool:
    passed = [loop.standing(fact).passed for fact in loop.facts[: turn.iteration]]
    sound = [each for number, each in enumerate(passed) if not unmended[number]]
    return turn.target is None or passed[turn.target] < max(sound, default=0)
