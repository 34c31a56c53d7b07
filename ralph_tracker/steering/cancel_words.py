"""Recognize what a person says to stop a session or to let it continue (steering.md § 3)."""

from collections.abc import Awaitable, Callable
from typing import Final

CANCEL_WORDS: Final = frozenset({"stop", "cancel"})
CONTINUE_WORDS: Final = frozenset({"yes", "continue", "go", "ok"})
SILENCE_S: Final = 15 * 60.0
_ENDINGS: Final = " \t\r\n.!"


"""How long a checkpoint waits for an answer, in seconds."""


def is_cancel(text: str) -> bool:
    """Return whether a whole message cancels; case and a final full stop are ignored."""
    return _word(text) in CANCEL_WORDS


def is_approval(text: str) -> bool:
    """Return whether a whole message approves; case and a final full stop are ignored."""
    return _word(text) in CONTINUE_WORDS


def _word(text: str) -> str:
    return text.strip().rstrip(_ENDINGS).casefold()


def checkpoint_text(tools_used: int) -> str:
    """Return the question of a checkpoint, with the number of tools since the start or the last approval."""
    return f"Used {tools_used} tools. Reply 'yes' to continue or 'stop' to cancel."


async def hold_checkpoint(
    tools_used: int, ask: Callable[[str, int], Awaitable[None]], reply: Callable[[], Awaitable[str | None]]
) -> bool:
    """Ask until the answer is clear, and return whether the session continues.

    `ask(question, times)` shows the question; `times` is how often it was asked before. `reply()` is the next message,
    None after SILENCE_S without one or if nobody is there, which counts as a no.
    """
    times = 0
    while True:
        await ask(checkpoint_text(tools_used), times)
        answer = await reply()
        if answer is None or is_cancel(answer):
            return False
        if is_approval(answer):
            return True
        times += 1
