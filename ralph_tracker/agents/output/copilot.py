"""GitHub Copilot CLI, `copilot -p …`. Tested in runs of @github/copilot 1.0.102 against a mock server."""

import re
from typing import Final

from ralph_tracker.agents.output.error_messages import outcome_of_error
from ralph_tracker.agents.output.event_values import NUMBER, Object, count, inner, rounded_count, seconds, text, word
from ralph_tracker.agents.output.run_report import Ending, RunOutcome, StreamReport
from ralph_tracker.core.metrics import Usage

_KINDS: Final = {"authentication": Ending.NEEDS_PERSON, "rate_limit": Ending.RATE_LIMITED, "quota": Ending.RATE_LIMITED}
_PREFIXES: Final = ("session.", "assistant.", "model.", "user.", "tool.")


class CopilotEvents:
    """The output of `--output-format json`.

    `assistant.message`, `session.error` with the HTTP status, `model.call_failure` at each attempt, and `result` with
    the exit code. The result has premium requests, but no cost and no tokens. A turn is one model call
    (`assistant.turn_end`).
    """

    @staticmethod
    def sniff(event: Object) -> bool:
        """Return whether it is an event of a session: a dotted kind, data, and the previous event."""
        named = word(event, "type").startswith(_PREFIXES) and isinstance(event.get("data"), dict) and "id" in event
        return named or (event.get("type") == "result" and "sessionId" in event and "exitCode" in event)

    def __init__(self) -> None:
        self._turns = 0
        self._duration: float | None = None
        self._error: RunOutcome | None = None
        self._outcome: RunOutcome | None = None
        self._trouble: RunOutcome | None = None
        self._last: str | None = None

    def feed(self, event: Object) -> None:
        data = inner(event, "data")
        match word(event, "type"):
            case "assistant.message":
                self._last = text(data.get("content")) or self._last
                self._error = self._trouble = None
            case "assistant.turn_end":
                self._turns += 1
            case "model.call_failure":
                self._trouble = outcome_of_error(text(data.get("errorMessage")) or "", count(data.get("statusCode")))
            case "session.error":
                found = outcome_of_error(text(data.get("message")) or "", count(data.get("statusCode")))
                self._error = found._replace(ending=_KINDS.get(word(data, "errorType"), found.ending))
            case "result":
                self._duration = seconds(inner(event, "usage").get("sessionDurationMs"))
                done = RunOutcome(Ending.DONE if event.get("exitCode") == 0 else Ending.FAILED)
                self._outcome = self._error or done
            case _:
                pass

    def result(self) -> StreamReport:
        usage = Usage(turns=self._turns or None, duration_s=self._duration)
        return StreamReport(usage, self._outcome or self._error, self._trouble, self._last)


_TOKENS: Final = re.compile(rf"Tokens\s+↑ (?P<read>{NUMBER})(?: \([^)]*\))?(?: • | )↓ (?P<written>{NUMBER})(?: .*)?")
_DURATION: Final = re.compile(r"Duration\s+(?:(?P<h>\d{1,4})h ?)?(?:(?P<m>\d{1,4})m ?)?(?:(?P<s>\d{1,6})s)?")


class CopilotText:
    """What it prints on standard error after its answer, without that option.

    `Tokens     ↑ 1.2k (500 cached) • ↓ 80 (20 reasoning)` and `Duration   2s`. There is no cost.
    Numbers are rounded to about two digits.

    Input tokens include cache reads, output tokens include reasoning.
    """

    def __init__(self) -> None:
        self._usage: Usage | None = None
        self._duration: float | None = None

    def feed(self, line: str) -> None:
        tokens = _TOKENS.fullmatch(line.strip())
        duration = _DURATION.fullmatch(line.strip())
        if tokens:
            self._usage = Usage(
                input_tokens=rounded_count(tokens["read"]), output_tokens=rounded_count(tokens["written"])
            )
        elif duration:
            self._duration = int(duration["h"] or 0) * 3_600.0 + int(duration["m"] or 0) * 60 + int(duration["s"] or 0)

    def result(self) -> StreamReport | None:
        if self._usage is None:
            return None
        read, written = self._usage.input_tokens, self._usage.output_tokens
        return StreamReport(Usage(input_tokens=read, output_tokens=written, duration_s=self._duration))
