"""Gemini CLI, `gemini -p … --output-format stream-json` or `json`.

Tested in runs of @google/gemini-cli 0.61.0 against a mock server; exit codes are from that program's text. There is no
cost and no number of turns.
"""

from collections.abc import Iterator
from typing import Final

from ralph_tracker.agents.output.error_messages import outcome_of_error
from ralph_tracker.agents.output.event_values import Object, count, inner, objects, seconds, text, total, word
from ralph_tracker.agents.output.run_report import Ending, ModelTokens, RunOutcome, StreamReport
from ralph_tracker.core.metrics import Usage

_EXITS: Final = ((41, Ending.NEEDS_PERSON), (53, Ending.OUT_OF_BUDGET))
_TYPES: Final = frozenset({"init", "message", "tool_use", "tool_result", "error", "result"})


class GeminiStream:
    """The output of `--output-format stream-json`.

    `result` has `status` and `stats`, also for an error of its service; retries are reported on standard error only.

    Input tokens include cache reads (`cached` is a part of them). Output tokens are all that is not input, since the
    field excludes thoughts.
    """

    @staticmethod
    def sniff(event: Object) -> bool:
        """Return whether it begins a session, or is a later event with the time as text, as only this program has."""
        kind = word(event, "type")
        if kind == "init":
            return "session_id" in event and "model" in event
        known = {"message": "role", "tool_use": "tool_name", "tool_result": "tool_id", "result": "status"}
        return (
            isinstance(event.get("timestamp"), str) and known.get(kind, "type") in event and kind in _TYPES - {"error"}
        )

    def __init__(self) -> None:
        self._usage = Usage()
        self._models: tuple[ModelTokens, ...] = ()
        self._outcome: RunOutcome | None = None
        self._trouble: RunOutcome | None = None
        self._last: str | None = None
        self._speaking = False

    def feed(self, event: Object) -> None:
        kind = word(event, "type")
        if kind == "message" and event.get("role") == "assistant":
            part = event.get("content")
            if isinstance(part, str):
                before = self._last or "" if self._speaking and event.get("delta") else ""
                self._last = (before + part)[-8_000:]
                self._speaking, self._trouble = True, None
            return
        self._speaking = False
        if kind == "result":
            self._result(event)
        elif kind == "error" and event.get("severity") != "warning":
            self._trouble = outcome_of_error(text(event.get("message")) or "")

    def result(self) -> StreamReport:
        return StreamReport(self._usage, self._outcome, self._trouble, self._last, _EXITS, self._models)

    def _result(self, event: Object) -> None:
        stats = inner(event, "stats")
        read, written = _tokens(stats)
        self._models = tuple(_models(inner(stats, "models")))
        # A result with an error has an unmeasured duration of 0.
        self._usage = Usage(
            input_tokens=read, output_tokens=written, duration_s=seconds(stats.get("duration_ms")) or None
        )
        if event.get("status") == "success":
            self._outcome = RunOutcome(Ending.DONE)
        else:
            error = inner(event, "error")
            kind = "Reached max turns: " if error.get("type") == "FatalTurnLimitedError" else ""
            self._outcome = outcome_of_error(kind + (text(error.get("message")) or ""))


def _tokens(stats: Object) -> tuple[int | None, int | None]:
    """Return input and output tokens; output is all that is not input."""
    read, written, whole = (count(stats.get(key)) for key in ("input_tokens", "output_tokens", "total_tokens"))
    if read is not None and written is not None and whole is not None:
        written = max(written, whole - read)
    return read, written


def _models(stats: Object) -> Iterator[ModelTokens]:
    for name in stats:
        read, written = _tokens(inner(stats, name))
        if read is not None and written is not None:
            yield ModelTokens(name, read, written, count(inner(stats, name).get("cached")) or 0)


class GeminiJson:
    """The output of `--output-format json`: one object over several lines, on standard error after a failure.

    `session_id`, `response` and `stats.models.*.tokens` were seen in runs; `error` is from that program's text.

    Input tokens: `prompt`, which includes cache reads. Output tokens: `candidates` and `thoughts`.
    """

    @staticmethod
    def sniff(event: Object) -> bool:
        """Return whether it is such an object."""
        answered = "response" in event and isinstance(event.get("stats"), dict)
        failed = "session_id" in event and {"type", "message"} <= inner(event, "error").keys()
        return "type" not in event and (answered or failed)

    def __init__(self) -> None:
        self._heard = StreamReport(Usage(), exits=_EXITS)

    def feed(self, event: Object) -> None:
        error = inner(event, "error")
        ending = (
            outcome_of_error(text(error.get("message")) or "", count(error.get("code")))
            if error
            else RunOutcome(Ending.DONE)
        )
        if error.get("type") == "FatalTurnLimitedError":
            ending = ending._replace(ending=Ending.OUT_OF_BUDGET)
        tokens = [inner(model, "tokens") for model in objects(list(inner(event, "stats", "models").values()))]
        usage = Usage(
            input_tokens=total(count(each.get("prompt")) for each in tokens),
            output_tokens=total(count(each.get(key, 0)) for each in tokens for key in ("candidates", "thoughts")),
        )
        self._heard = StreamReport(usage, ending, None, text(event.get("response")), _EXITS)

    def result(self) -> StreamReport:
        return self._heard
