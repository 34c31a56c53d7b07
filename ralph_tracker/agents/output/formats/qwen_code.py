"""Qwen Code, `qwen -p … --output-format stream-json` or `json` (one array): Claude Code's events.

Tested in runs of @qwen-code/qwen-code 0.15.10 against a mock server: a result without cost; an error of its service is
a result that says success and contains `[API Error: 401 …]`; at its limit of turns it exits with 53 and no result. The
other exit codes are from that program's text.

Input tokens include cache reads, like its field (`total_tokens` less the output).
"""

from typing import Final

from ralph_tracker.agents.output.formats import claude_like_events
from ralph_tracker.agents.output.formats.claude_like_events import initial
from ralph_tracker.agents.output.run_report import Ending, StreamReport
from ralph_tracker.agents.output.values import Object

EXITS: Final = ((41, Ending.NEEDS_PERSON), (53, Ending.OUT_OF_BUDGET))


def sniff(event: Object) -> bool:
    """Return whether it begins a session of this program."""
    return "qwen_code_version" in initial(event)


class Reader(claude_like_events.Reader):
    """A reader of its events."""

    def heard(self) -> StreamReport:
        return super().heard()._replace(exits=EXITS)
