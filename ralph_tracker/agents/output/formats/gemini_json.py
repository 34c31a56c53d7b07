"""Gemini CLI, `gemini -p … --output-format json`: one object over several lines, on standard error after a failure.

Tested in runs of @google/gemini-cli 0.61.0 against a mock server (`session_id`, `response`, `stats.models.*.tokens`);
`error` and exit codes are from that program's text. There is no cost and no number of turns.

Input tokens: `prompt`, which includes cache reads. Output tokens: `candidates` and `thoughts`.
"""

from ralph_tracker.agents.output.error_words import outcome
from ralph_tracker.agents.output.formats.gemini_stream import EXITS
from ralph_tracker.agents.output.run_report import Ending, RunOutcome, StreamReport
from ralph_tracker.agents.output.values import Object, count, inner, objects, text, total
from ralph_tracker.core.metrics import Usage


def sniff(event: Object) -> bool:
    """Return whether it is such an object."""
    answered = "response" in event and isinstance(event.get("stats"), dict)
    failed = "session_id" in event and {"type", "message"} <= inner(event, "error").keys()
    return "type" not in event and (answered or failed)


class Reader:
    """A reader of the object."""

    def __init__(self) -> None:
        self._heard = StreamReport(Usage(), exits=EXITS)

    def take(self, event: Object) -> None:
        error = inner(event, "error")
        ending = (
            outcome(text(error.get("message")) or "", count(error.get("code"))) if error else RunOutcome(Ending.DONE)
        )
        if error.get("type") == "FatalTurnLimitedError":
            ending = ending._replace(ending=Ending.OUT_OF_BUDGET)
        tokens = [inner(model, "tokens") for model in objects(list(inner(event, "stats", "models").values()))]
        usage = Usage(
            input_tokens=total(count(each.get("prompt")) for each in tokens),
            output_tokens=total(count(each.get(key, 0)) for each in tokens for key in ("candidates", "thoughts")),
        )
        self._heard = StreamReport(usage, ending, None, text(event.get("response")), EXITS)

    def heard(self) -> StreamReport:
        return self._heard
