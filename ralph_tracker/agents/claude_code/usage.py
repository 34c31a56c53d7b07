"""Find what an iteration took: tokens in the session's transcript, the cost in what the status line stored."""

import os
import time
from pathlib import Path
from typing import Any, Final

from ralph_tracker.agents.claude_code.transcript import Reading, TokenUse, ends_with, read_on, transcripts_of
from ralph_tracker.agents.hosts.host import Heard
from ralph_tracker.agents.hosts.session_costs import COSTS, costs_of
from ralph_tracker.errors import InputError

_KEPT: Final = 32
_LAG_S: Final = 1.0
_PAUSE_S: Final = 0.02


def usage_of(event: Heard, loop: Path, since: str, began: float, counted: dict[str, Any]) -> dict[str, float]:
    """Return the usage since the last recorded iteration, and mark it as recorded; {} if unknown.

    As `hosts.stops.UsageReader`. `counted` has the positions in the transcripts, and the recorded cost in USD by
    session.
    """
    _wait_for_client(event, str(loop), began)
    found: dict[str, float] = {}
    taken = _tokens(Path(str(event.get("transcript_path") or "")), since, counted)
    if taken is not None:
        found = {"input_tokens": taken.input_tokens, "turns": taken.turns}
        if taken.unfinished <= 0:
            found["output_tokens"] = taken.output_tokens
    spent = {name: each["spent"] for name, each in costs_of(str(loop)).items()}
    if event.get("session_id") in spent:
        recorded = counted.get("cost", {})
        found["cost_usd"] = round(sum(each - float(recorded.get(name, 0.0)) for name, each in spent.items()), 6)
        counted["cost"] = dict(list(spent.items())[-_KEPT:])
    return found


def _tokens(transcript: Path, since: str, counted: dict[str, Any]) -> TokenUse | None:
    """Return the session's tokens, None if its transcript cannot be read; `since` applies to unknown files."""
    readings = {str(name): Reading.of(each) for name, each in counted.get("transcripts", {}).items()}
    total: TokenUse | None = None
    for path in transcripts_of(transcript) if transcript.name else ():
        known = readings.pop(str(path), None)
        reading = known or Reading()
        try:
            taken = read_on(path, reading, "" if known else since)
        except (OSError, InputError):
            continue
        readings[str(path)] = reading
        total = taken if total is None else total + taken
    counted["transcripts"] = {name: each.plain() for name, each in list(readings.items())[-_KEPT:]}
    return total


def _wait_for_client(event: Heard, loop: str, began: float) -> None:
    """Wait briefly for what the client writes in the background: the last answer, and the cost."""
    deadline = time.monotonic() + _LAG_S
    while not (_written(event) and _shown(event, loop, began)) and time.monotonic() < deadline:
        time.sleep(_PAUSE_S)


def _written(event: Heard) -> bool:
    path, text = event.get("transcript_path"), event.get("last_assistant_message")
    return not isinstance(path, str) or not isinstance(text, str) or ends_with(Path(path), text)


def _shown(event: Heard, loop: str, began: float) -> bool:
    """Return whether this session's status line, if it has one, has reported a cost since the turn ended."""
    return event.get("session_id") not in costs_of(loop) or os.stat(f"{loop}/{COSTS}").st_mtime >= began  # noqa: PTH116
