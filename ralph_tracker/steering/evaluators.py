"""Evaluators of progress that are ready to be used (seed progress-evaluation-hooks, steering.md § 1).

`SimpleProgressEvaluator` computes, `LLMProgressEvaluator` asks a model, `QualityProgressEvaluator` the tracker's own
record; `InteractiveProgressEvaluator` asks a person (interactive.py), `AllAgree` composes (evaluating.py).
"""

import re
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple

from ralph_tracker.steering.progress_info import ProgressInfo

_WORD: Final = re.compile(r"\w+")
_FIRST_WORD: Final = re.compile(r"\w+(?:[-'’]\w+)*")
_RUN_WORDS: Final = 20
_RUN_TIMES: Final = 4
_SHOWN: Final = 200


class SimpleProgressEvaluator(NamedTuple):
    """Stop a session that is slow, repeats itself or costs too much (seed, "Pattern 1").

    `min_tokens_per_second` is not judged at 0 ms nor where tokens are not known, `max_cost_usd` not where no cost is;
    None switches either off. A repetition is a run of 20 words, in any case and spacing, seen 4 times.
    """

    min_tokens_per_second: float | None = 1.0
    max_cost_usd: float | None = 10.0

    async def should_continue(self, info: ProgressInfo) -> tuple[bool, str]:
        """Return whether it goes on, and why."""
        if self._is_slow(info):
            return False, "Generation too slow"
        if _repeats(info.recent_output):
            return False, "Detected repetition"
        limit, cost = self.max_cost_usd, info.cost_so_far
        if limit is not None and cost is not None and cost > limit:
            return False, f"Cost exceeded ${limit:g} (${cost:.2f})"
        return True, "Making progress"

    def _is_slow(self, info: ProgressInfo) -> bool:
        if self.min_tokens_per_second is None or info.tokens_generated is None or info.time_elapsed_ms <= 0:
            return False
        return info.tokens_generated * 1000 / info.time_elapsed_ms < self.min_tokens_per_second


def _repeats(text: str) -> bool:
    words = _WORD.findall(text.casefold())
    runs = Counter(tuple(words[start : start + _RUN_WORDS]) for start in range(len(words) - _RUN_WORDS + 1))
    return any(times >= _RUN_TIMES and _has_letters(run) for run, times in runs.items())


def _has_letters(run: tuple[str, ...]) -> bool:
    """Tell whether a run is one of words: a table of zeros repeats nothing."""
    return any(not word.isdigit() for word in run)


class LLMProgressEvaluator(NamedTuple):
    """Ask a model, and go by the first word of its answer: YES or NO (seed, "Pattern 2").

    `ask(prompt)` is whatever returns an answer; ready-made ones are in `ralph_tracker.agents.asking`. An answer that
    begins with neither word is unclear: the session goes on, and the reason says so.
    """

    ask: Callable[[str], Awaitable[str]]

    async def should_continue(self, info: ProgressInfo) -> tuple[bool, str]:
        """Return whether it goes on, and why."""
        answer = await self.ask(evaluation_prompt(info))
        first = _FIRST_WORD.search(answer)
        match first.group().casefold() if first else "":
            case "no":
                return False, answer.strip()
            case "yes":
                return True, "Progress confirmed"
            case _:
                return True, f"Unclear answer, neither YES nor NO: {' '.join(answer.split())[:_SHOWN]!r}"


def evaluation_prompt(info: ProgressInfo) -> str:
    """Return what a model is asked."""
    turns = info.turns_completed if info.total_turns is None else f"{info.turns_completed}/{info.total_turns}"
    return (
        "Evaluate if this session is making meaningful progress:\n"
        f"- Turns: {turns}\n"
        f"- Time: {info.time_elapsed_ms / 1000:.1f}s\n"
        f"- Recent output: {info.recent_output[-_SHOWN:]}\n"
        "\n"
        "Is meaningful progress being made? Respond with YES or NO and a brief reason.\n"
    )


class QualityState(NamedTuple):
    """What the tracker has on record of the latest iteration: its class, and its open CRITICAL alerts in words."""

    classification: str
    critical_alerts: tuple[str, ...] = ()


class QualityProgressEvaluator(NamedTuple):
    """Stop on an open CRITICAL alert or a stalled loop, by the tracker's own record (steering.md § 1).

    `state()` returns that record, None where there is none yet, which stops nothing.
    """

    state: Callable[[], QualityState | None]

    async def should_continue(self, info: ProgressInfo) -> tuple[bool, str]:  # noqa: ARG002  # the record says all
        """Return whether it goes on, and why."""
        return self.judged()

    def judged(self) -> tuple[bool, str]:
        """Return the same to a host that cannot wait; the record says all."""
        state = self.state()
        if state is None:
            return True, "Nothing on record yet"
        if state.critical_alerts:
            return False, f"Open CRITICAL alert: {state.critical_alerts[0]}"
        if state.classification == "stalled":
            return False, "The loop is stalled"
        return True, f"On record: {state.classification}"
