"""Codex, `codex exec --json`.

Tested in runs of @openai/codex 0.169.0 against a mock server: `turn.completed` with usage, `error` while it reconnects,
then `error` and `turn.failed` with the same message. The kinds of items are from codex-rs/exec/src/exec_events.rs.
There is no cost, and no number of model calls: a run is one turn.

Input tokens include cache reads (`cached_input_tokens` is a part of them). Output tokens include reasoning.
"""

from typing import Final

from ralph_tracker.agents.output.error_messages import outcome_of_error
from ralph_tracker.agents.output.event_values import Object, count, inner, text, word
from ralph_tracker.agents.output.run_report import Ending, ModelTokens, RunOutcome, StreamReport
from ralph_tracker.core.metrics import Usage

_TYPES: Final = frozenset(
    {
        "thread.started",
        "turn.started",
        "turn.completed",
        "turn.failed",
        "item.started",
        "item.updated",
        "item.completed",
    }
)


class Codex:
    """A reader of its events."""

    @staticmethod
    def sniff(event: Object) -> bool:
        """Return whether it is an event of a thread."""
        return word(event, "type") in _TYPES

    def __init__(self) -> None:
        self._input: int | None = None
        self._output: int | None = None
        self._cached = 0
        self._outcome: RunOutcome | None = None
        self._trouble: RunOutcome | None = None
        self._last: str | None = None

    def feed(self, event: Object) -> None:
        match word(event, "type"):
            case "turn.completed":
                self._outcome, self._trouble = RunOutcome(Ending.DONE), None
                usage = inner(event, "usage")
                read, written = count(usage.get("input_tokens")), count(usage.get("output_tokens"))
                self._input = self._input if read is None else (self._input or 0) + read
                self._output = self._output if written is None else (self._output or 0) + written
                self._cached += count(usage.get("cached_input_tokens")) or 0
            case "turn.failed":
                self._outcome = outcome_of_error(text(inner(event, "error").get("message")) or "")
            case "error":
                self._trouble = outcome_of_error(text(event.get("message")) or "")
            case "turn.started":
                self._outcome = self._trouble = None
            case "item.completed" if (item := inner(event, "item")).get("type") != "error":
                self._trouble = None
                if item.get("type") == "agent_message":
                    self._last = text(item.get("text")) or self._last
            case _:
                pass

    def result(self) -> StreamReport:
        usage = Usage(input_tokens=self._input, output_tokens=self._output)
        models = (ModelTokens("", self._input or 0, self._output or 0, self._cached),)
        return StreamReport(usage, self._outcome, self._trouble, self._last, models=models)
