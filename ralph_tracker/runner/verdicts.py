"""What became of one run of the agent, and what to do about it: pure, one table."""

from collections.abc import Callable
from enum import StrEnum
from typing import Final, Literal, NamedTuple

from ralph_tracker.agents.output import Ending, Told
from ralph_tracker.measure.process import Finished

# A provider's limit lasts longer than what made an agent fail.
_LIMIT_TIMES: Final = 6
_LONGEST_PAUSE_S: Final = 600.0
_LONGEST_WAIT_S: Final = 1800.0


class Verdict(StrEnum):
    """Name how a run of the agent ended; the word stands in notes, logs and `status`."""

    DONE = "done"
    UNCHANGED = "changed nothing"
    SILENT = "printed nothing"
    CRASHED = "crashed"
    HUNG = "hung"
    RATE_LIMITED = "rate-limited"
    NEEDS_PERSON = "needs a person"
    OUT_OF_BUDGET = "at its own limit"
    NOT_STARTED = "not started"


class Ran(NamedTuple):
    """Hold what is known of one run: how the command ended, what its output told, and what came of it.

    `silent_s` is set where we ended it because it had been silent for so many seconds. `printed` tells of anything on
    either stream, `changed` of the tree.
    """

    finished: Finished
    told: Told
    printed: bool
    changed: bool
    silent_s: float | None = None


class Patience(NamedTuple):
    """Bound the runs again: how many after the first, the first pause (seconds), and all waiting for a limit."""

    retries: int = 3
    pause_s: float = 10.0
    limits_s: float = 6 * 3600.0


class Step(NamedTuple):
    """Hold what to do after a run.

    `measure` takes the tree as the iteration, with the notes. `again` runs the agent once more after `pause_s`
    seconds. `block` measures and says that a person is needed.
    """

    do: Literal["measure", "again", "block"]
    why: str
    pause_s: float = 0.0


def verdict_of(ran: Ran) -> Verdict:
    """Name how a run ended: the first that holds, what the agent cannot help before what it did."""
    return next(verdict for verdict, holds in _BY_RULE if holds(ran))


_BY_RULE: Final[tuple[tuple[Verdict, Callable[[Ran], bool]], ...]] = (
    (Verdict.NOT_STARTED, lambda ran: ran.finished.problem is not None),
    (Verdict.RATE_LIMITED, lambda ran: ran.told.ending is Ending.RATE_LIMITED),
    (Verdict.NEEDS_PERSON, lambda ran: ran.told.ending is Ending.NEEDS_PERSON),
    (Verdict.HUNG, lambda ran: ran.finished.timed_out or ran.silent_s is not None),
    (Verdict.OUT_OF_BUDGET, lambda ran: ran.told.ending is Ending.OUT_OF_BUDGET),
    (Verdict.CRASHED, lambda ran: not ran.finished.succeeded or ran.told.ending is Ending.FAILED),
    (Verdict.DONE, lambda ran: ran.changed),
    (Verdict.UNCHANGED, lambda ran: ran.printed),
    (Verdict.SILENT, lambda _: True),
)


def described(verdict: Verdict, ran: Ran) -> str:
    """Say in a few words what became of a run."""
    how = f"silent for {ran.silent_s:.0f} s" if ran.silent_s is not None else ran.finished.summary
    if verdict is Verdict.SILENT:
        return f"printed nothing and changed nothing ({how})"
    said = f": {ran.told.why}" if ran.told.why else ""
    return f"{verdict}{said}" if verdict in _BY_ITS_WORD else f"{verdict}{said} ({how})"


_BY_ITS_WORD: Final = frozenset({Verdict.DONE, Verdict.UNCHANGED, Verdict.OUT_OF_BUDGET, Verdict.NEEDS_PERSON})


def step_after(verdict: Verdict, ran: Ran, tried: int, waited_s: float, patience: Patience, now: float) -> Step:
    """Return what to do after the run number `tried` of an iteration, the first is 1; `now` is epoch seconds.

    What changed the tree is work and is measured, however it ended. What changed nothing is worth another try, where
    it was no decision of the agent's: with pauses that double. A limit of the provider's is waited for, as long as it
    says, in all (`waited_s` so far) no longer than the patience.
    """
    why = described(verdict, ran)
    if verdict in {Verdict.NEEDS_PERSON, Verdict.NOT_STARTED}:
        return Step("block", why)
    if verdict is Verdict.RATE_LIMITED:
        pause = _wait_for_limit(ran.told, tried, patience, now)
        if waited_s + pause > patience.limits_s:
            return Step("block", f"{why}; waited {waited_s / 60:.0f} minutes, {pause / 60:.0f} more are asked for")
        return Step("again", why, pause)
    if ran.changed or verdict in {Verdict.UNCHANGED, Verdict.OUT_OF_BUDGET, Verdict.DONE}:
        return Step("measure", why)
    if tried <= patience.retries:
        return Step("again", why, min(patience.pause_s * 2.0 ** (tried - 1), _LONGEST_PAUSE_S))
    return Step("block", f"{why}, {tried} times in a row" if tried > 1 else why)


def _wait_for_limit(told: Told, tried: int, patience: Patience, now: float) -> float:
    if told.retry_at is not None:
        return max(told.retry_at - now, 0.0) + 1.0
    if told.retry_after_s is not None:
        return told.retry_after_s
    return min(_LIMIT_TIMES * patience.pause_s * 2.0 ** (tried - 1), _LONGEST_WAIT_S)
