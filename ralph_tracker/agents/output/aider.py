"""Aider's lines: `Tokens: 1.2k sent, 300 received. Cost: $0.01 message, $0.02 session.`

From aider/coders/base_coder.py, aider/utils.py and aider/exceptions.py of aider-chat 0.86.2; written by hand, not from
a run. There is one such line per message, and their tokens are added up; the cost of the session is a sum already, and
missing if the model's price is unknown. Errors of the service are lines that begin with `litellm.` and the name of an
exception, or with that name; aider then retries or continues, and exits with 0.

Input tokens include cache reads and writes.
"""

import re
from typing import Final

from ralph_tracker.agents.output.error_messages import outcome_of_error
from ralph_tracker.agents.output.event_values import NUMBER, amount, rounded_count
from ralph_tracker.agents.output.run_report import RunOutcome, StreamReport
from ralph_tracker.core.metrics import Usage

_COST: Final = r"Cost: \$\d{1,9}\.\d{1,20} message, \$(?P<cost>\d{1,9}\.\d{1,20}) session\."
_TOKENS: Final = re.compile(
    rf"Tokens: (?P<sent>{NUMBER}) sent(?:, {NUMBER} cache write)?(?:, {NUMBER} cache hit)?"
    rf", (?P<received>{NUMBER}) received\.(?: {_COST})?"
)
_COST_ALONE: Final = re.compile(_COST)


class Aider:
    """A reader of its lines."""

    def __init__(self) -> None:
        self._messages = 0
        self._sent = 0
        self._received = 0
        self._cost: float | None = None
        self._trouble: RunOutcome | None = None

    def feed(self, line: str) -> None:
        stripped = line.strip()
        tokens = _TOKENS.fullmatch(stripped)
        cost = tokens or _COST_ALONE.fullmatch(stripped)
        if tokens:
            self._messages += 1
            self._sent += rounded_count(tokens["sent"])
            self._received += rounded_count(tokens["received"])
            self._trouble = None
        if cost and cost["cost"]:
            self._cost = amount(float(cost["cost"]))
        if re.match(r"(?:litellm\.)+(?P<name>\w{1,60}(?:Error|Exception|Timeout))\b", stripped):
            self._trouble = outcome_of_error(stripped)

    def result(self) -> StreamReport | None:
        if not self._messages and self._trouble is None:
            return None
        usage = Usage(cost_usd=self._cost, input_tokens=self._sent, output_tokens=self._received, turns=self._messages)
        return StreamReport(usage if self._messages else Usage(), self._trouble)
