"""Qwen Code, `qwen -p … --output-format stream-json` or `json` (one array): Claude Code's events.

Seen in runs of @qwen-code/qwen-code 0.15.10 against a stand-in: a result without cost; an error of its service is a
result that says success and holds `[API Error: 401 …]`; at its limit of turns it prints no result and exits with 53.
The other exit codes are from the text of that program.

Input tokens: with what was read from the cache, as its field has it (`total_tokens` less the output).
"""

from typing import Final

from ralph_tracker.agents.output.formats import anthropic_events
from ralph_tracker.agents.output.formats.anthropic_events import initial
from ralph_tracker.agents.output.run_report import Ending, StreamReport
from ralph_tracker.agents.output.values import Object

EXITS: Final = ((41, Ending.NEEDS_PERSON), (53, Ending.OUT_OF_BUDGET))


def sniff(event: Object) -> bool:
    """Whether it begins a session of this program."""
    return "qwen_code_version" in initial(event)


class Reader(anthropic_events.Reader):
    """Hear its events."""

    def heard(self) -> StreamReport:
        return super().heard()._replace(exits=EXITS)
