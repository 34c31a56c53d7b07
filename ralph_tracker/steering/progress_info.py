"""How far a session has got, as an evaluator of it is told (seed progress-evaluation-hooks, steering.md § 1)."""

from collections import deque
from typing import Final, NamedTuple, Protocol

from ralph_tracker.steering.events import Event, TurnEnded

EVALUATION_INTERVAL: Final = 5
"""Every how many turns an evaluator is asked."""
_OUTPUTS: Final = 3
_RECENT_CHARACTERS: Final = 500


class ProgressInfo(NamedTuple):
    """What is known of a session (seed, `ProgressInfo`).

    `total_turns` is the limit of turns, None where there is none. `tokens_generated` is None where a turn did not tell
    its own. `cost_so_far` (USD) is what is known of the cost, at least that; None where no turn told any.
    `recent_output` are the last 500 characters of the last 3 outputs; a turn that says nothing is no output.
    """

    turns_completed: int
    total_turns: int | None
    tokens_generated: int | None
    time_elapsed_ms: int
    recent_output: str
    cost_so_far: float | None


class ProgressEvaluator(Protocol):
    """Tell whether a session is to go on (seed, `ProgressEvaluator`).

    An attribute `timeout_s` is how long it may take, in seconds; None: as long as it takes, because a person is asked.
    """

    async def should_continue(self, info: ProgressInfo) -> tuple[bool, str]:
        """Return whether it goes on, and why."""
        ...


class SessionProgress:
    """Fold the events of a session into what ProgressInfo tells; it does not grow with the session."""

    __slots__ = ("_cost_usd", "_outputs", "_tokens", "turns_completed")

    def __init__(self) -> None:
        self.turns_completed = 0
        self._tokens: int | None = 0
        self._cost_usd: float | None = 0.0
        self._outputs: deque[str] = deque(maxlen=_OUTPUTS)

    def fold(self, event: Event) -> None:
        """Take an event in; only the end of a turn tells anything here."""
        if not isinstance(event, TurnEnded):
            return
        told, tokens = event.cost_usd, self._tokens
        self._tokens = None if tokens is None or event.output_tokens is None else tokens + event.output_tokens
        if told is not None:
            self._cost_usd = (self._cost_usd or 0.0) + told
        elif not self.turns_completed:
            self._cost_usd = None
        self.turns_completed += 1
        if event.text:
            self._outputs.append(event.text[-_RECENT_CHARACTERS:])

    def settle(self, cost_usd: float | None = None, tokens_generated: int | None = None) -> None:
        """Put what the host says of the whole in the place of what turns told; None leaves that as it is."""
        self._cost_usd = self._cost_usd if cost_usd is None else cost_usd
        self._tokens = self._tokens if tokens_generated is None else tokens_generated

    def info(self, time_elapsed_ms: int, total_turns: int | None = None) -> ProgressInfo:
        """Return what is known after that many milliseconds; `total_turns` is None where nothing limits them."""
        return ProgressInfo(
            turns_completed=self.turns_completed,
            total_turns=total_turns,
            tokens_generated=self._tokens,
            time_elapsed_ms=time_elapsed_ms,
            recent_output="".join(self._outputs)[-_RECENT_CHARACTERS:],
            cost_so_far=self._cost_usd,
        )
