"""What continuation says, held until the agent can hear it (seed continuation-strategy; steering.md § 2).

A host that talks to its agent only beside a tool, as hooks do, asks for `nudge()` after a tool and for `refuse()`
before one.
"""

from ralph_tracker.steering.continuation import Continuation
from ralph_tracker.steering.events import Event, ToolStarted, TurnEnded


class Guidance:
    """Fold a session's events through continuation, and hold its words for the next tool.

    Words that no tool came for count as not given: the agent has come to its result, or the next turn says it again.
    """

    __slots__ = ("_continuation", "_is_forced", "_said", "_words")

    def __init__(self, continuation: Continuation) -> None:
        self._continuation = continuation
        self._is_forced = False
        self._said = ""
        self._words: str | None = None

    def fold(self, event: Event) -> None:
        """Take an event in."""
        if isinstance(event, TurnEnded) and self._words is not None:
            self._continuation.not_given()
            self._words = None
        verdict = self._continuation.fold(event)
        if verdict is not None:
            self._words = verdict.message
            self._said = verdict.message or ""
            self._is_forced = verdict.action == "force_synthesis"

    @property
    def is_forced(self) -> bool:
        """Return whether the last turn was forced."""
        return self._is_forced

    def nudge(self) -> str | None:
        """Return what the agent is to be told beside the result of a tool, once; None if nothing is."""
        words, self._words = self._words, None
        return words

    async def refuse(self, _tool: ToolStarted) -> str | None:
        """Return why a tool must not run, None if it may: none runs from a force until a turn without one."""
        if not self._is_forced:
            return None
        self._words = None
        return self._said
