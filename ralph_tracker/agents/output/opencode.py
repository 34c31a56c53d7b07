"""opencode, `opencode run --format json`.

Tested in runs of opencode-ai 1.18.33 against a mock server: `step_finish` with tokens and cost for each model call,
`text`, and `error` with the service's HTTP status. It retries an overloaded service without output. A cost of 0 for
tokens means that the model's price is unknown. There is no duration.

Input tokens include cache reads and writes, output tokens include reasoning, both of which its fields exclude.
"""

from typing import Final

from ralph_tracker.agents.output.error_messages import outcome_of_error
from ralph_tracker.agents.output.event_values import Object, amount, count, inner, text, total, word
from ralph_tracker.agents.output.run_report import Ending, RunOutcome, StreamReport
from ralph_tracker.core.metrics import Usage

_TYPES: Final = frozenset({"step_start", "step_finish", "text", "tool_use", "reasoning", "error"})
_KINDS: Final = {"ProviderAuthError": Ending.NEEDS_PERSON}


class Opencode:
    """A reader of its events."""

    @staticmethod
    def sniff(event: Object) -> bool:
        """Return whether it is an event of a session, in this program's spelling."""
        return word(event, "type") in _TYPES and text(event.get("sessionID")) is not None

    def __init__(self) -> None:
        self._steps = 0
        self._input: int | None = 0
        self._output: int | None = 0
        self._cost: float | None = 0.0
        self._outcome: RunOutcome | None = None
        self._last: str | None = None

    def feed(self, event: Object) -> None:
        match word(event, "type"):
            case "step_start":
                self._outcome = None
            case "step_finish":
                part = inner(event, "part")
                self._steps += 1
                tokens, cache = inner(part, "tokens"), inner(part, "tokens", "cache")
                read = total([count(tokens.get("input")), count(cache.get("read", 0)), count(cache.get("write", 0))])
                written = total([count(tokens.get("output")), count(tokens.get("reasoning", 0))])
                self._input = total([self._input, read])
                self._output = total([self._output, written])
                cost = amount(part.get("cost"))
                priced = cost is not None and (cost > 0 or not (read or written))
                self._cost = (self._cost or 0.0) + (cost or 0.0) if priced and self._cost is not None else None
                self._outcome = None if part.get("reason") == "tool-calls" else RunOutcome(Ending.DONE)
            case "text":
                self._last = text(inner(event, "part").get("text")) or self._last
            case "error":
                error = inner(event, "error")
                data = inner(error, "data")
                words = text(data.get("message")) or text(error.get("message")) or text(error.get("name")) or ""
                found = outcome_of_error(words, count(data.get("statusCode")))
                self._outcome = found._replace(ending=_KINDS.get(word(error, "name"), found.ending))
            case _:
                pass

    def result(self) -> StreamReport:
        usage = Usage(cost_usd=self._cost, input_tokens=self._input, output_tokens=self._output, turns=self._steps)
        return StreamReport(usage if self._steps else Usage(), self._outcome, None, self._last)
