"""Provide the evaluator that asks a person (steering.md § 1)."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from threading import Thread
from typing import Final

from ralph_tracker.steering.progress import ProgressInfo

_SHOWN: Final = 100
_YES: Final = frozenset({"", "y", "yes", "continue", "go", "ok"})
_NO: Final = frozenset({"n", "no", "stop", "cancel"})


async def ask_at_terminal(question: str) -> str | None:
    """Print a question and return the line that is typed; None at the end of input."""
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[str | None] = loop.create_future()

    def read() -> None:
        try:
            line = input(question)
        except (EOFError, OSError, ValueError, RuntimeError):  # closed in some way
            line = None
        with suppress(RuntimeError):  # the event loop has ended
            loop.call_soon_threadsafe(_answer, answered, line)

    # A daemon, so that an interrupted program ends without waiting for Enter.
    Thread(target=read, daemon=True).start()
    return await answered


def _answer(future: "asyncio.Future[str | None]", line: str | None) -> None:
    if not future.done():
        future.set_result(line)


class InteractiveProgressEvaluator:
    """An evaluator that asks a person; Enter continues.

    It waits without a limit. An answer that is neither yes nor no is asked again; the end of input stops, because
    nobody approved.
    """

    __slots__ = ("_ask",)
    timeout_s: Final[None] = None

    def __init__(self, ask: Callable[[str], Awaitable[str | None]] = ask_at_terminal) -> None:
        """Create it; `ask(question)` returns the reply, None if nobody is there."""
        self._ask = ask

    async def should_continue(self, info: ProgressInfo) -> tuple[bool, str]:
        """Return whether the session continues, and why."""
        question = progress_question(info)
        while True:
            reply = await self._ask(question)
            if reply is None:
                return False, "Nobody is there to continue: end of input"
            word = reply.strip().casefold()
            if word in _NO:
                return False, "User requested stop"
            if word in _YES:
                return True, "User approved continuation"
            question = "Reply 'y' or Enter to continue, 'n' to stop: "


def progress_question(info: ProgressInfo) -> str:
    """Return the question for a person, without terminal control characters."""
    cost = "unknown" if info.cost_so_far is None else f"${info.cost_so_far:.2f}"
    recent = " ".join(info.recent_output[-_SHOWN:].split())
    return (
        f"\n--- Progress Check (Turn {info.turns_completed}) ---\n"
        f"Cost so far: {cost}\n"
        f"Recent output: ...{''.join(char if char.isprintable() else '?' for char in recent)}\n"
        "Continue? [Y/n]: "
    )
