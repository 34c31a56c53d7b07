"""GitHub Copilot CLI, `copilot -p …`: what it prints on standard error after its answer.

Tested in runs of @github/copilot 1.0.102 against a mock server: `Tokens     ↑ 1.2k (500 cached) • ↓ 80 (20 reasoning)`
and `Duration   2s`. There is no cost. Numbers are rounded to about two digits.

Input tokens include cache reads, output tokens include reasoning.
"""

import re
from typing import Final

from ralph_tracker.agents.output.run_report import StreamReport
from ralph_tracker.agents.output.values import NUMBER, rounded
from ralph_tracker.core.metrics import Usage

_TOKENS: Final = re.compile(rf"Tokens\s+↑ (?P<read>{NUMBER})(?: \([^)]*\))?(?: • | )↓ (?P<written>{NUMBER})(?: .*)?")
_DURATION: Final = re.compile(r"Duration\s+(?:(?P<h>\d{1,4})h ?)?(?:(?P<m>\d{1,4})m ?)?(?:(?P<s>\d{1,6})s)?")


class Reader:
    """A reader of its lines."""

    def __init__(self) -> None:
        self._usage: Usage | None = None
        self._duration: float | None = None

    def take(self, line: str) -> None:
        tokens = _TOKENS.fullmatch(line.strip())
        duration = _DURATION.fullmatch(line.strip())
        if tokens:
            self._usage = Usage(input_tokens=rounded(tokens["read"]), output_tokens=rounded(tokens["written"]))
        elif duration:
            self._duration = int(duration["h"] or 0) * 3_600.0 + int(duration["m"] or 0) * 60 + int(duration["s"] or 0)

    def heard(self) -> StreamReport | None:
        if self._usage is None:
            return None
        read, written = self._usage.input_tokens, self._usage.output_tokens
        return StreamReport(Usage(input_tokens=read, output_tokens=written, duration_s=self._duration))
