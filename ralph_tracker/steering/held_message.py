"""Hold the messages of continuation until the agent can receive them (steering.md § 2).

A host that can only talk to its agent at a tool call, as hooks do, calls `nudge()` after a tool and `refuse()` before
one.
"""

from ralph_tracker.steering.continuation import Continuation
from ralph_tracker.steering.events import Event, ToolStarted, TurnEnded


class Guidance:
    """A session's continuation, with its message for the next tool call.

    A message that no tool call came for counts as not given, so that a later turn may give it again.
    """

    __slots__ = ("_continuation", "_is_forced", "_said", "_words")

    def __init__(self, continuation: Continuation) -> None:
        self._continuation = continuation
        self._is_forced = False
        self._said = ""
        self._words: str | None = None

    def fold(self, event: Event) -> None:
        """Handle an event."""
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
        """Return the message to add to a tool's result, only once; None if there is none."""
        words, self._words = self._words, None
        return words

    async def refuse(self, _tool: ToolStarted) -> str | None:
        """Return why a tool must not run, None if it may: none runs from a force until a turn without tools."""
        if not self._is_forced:
            return None
        self._words = None
        return self._said
