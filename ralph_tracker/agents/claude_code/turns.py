"""What a Stop hook has to remember until the next one: blocks in a row, and what of usage and cost is on record."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from ralph_tracker.agents.claude_code.costs import costs_of
from ralph_tracker.agents.claude_code.journal import EVENTS, TOOL_EVENTS
from ralph_tracker.agents.claude_code.transcript import Reading, Taken, read_on, transcripts_of
from ralph_tracker.store.files import to_json, write_whole
from ralph_tracker.store.reading import read_json

TURNS: Final = "agent-turns.json"
_SCHEMA: Final = 1
_KEPT: Final = 32


@dataclass(slots=True)
class Turns:
    """Hold what is known of the stops so far.

    `blocks` are those in a row of this prompt, with no tool between them, up to `events` bytes of the journal. `ended`
    is when the last Stop of the session was answered, in seconds since 1970. `cost` is what of the sessions' cost is
    on record, in USD.
    """

    session: str = ""
    prompt: str = ""
    blocks: int = 0
    events: int = 0
    ended: float = 0.0
    readings: dict[str, Reading] = field(default_factory=dict)
    cost: dict[str, float] = field(default_factory=dict)

    @classmethod
    def read(cls, loop: Path) -> Self:
        """Return what is remembered in a loop's folder; nothing where it is damaged."""
        plain = read_json(loop / TURNS)
        try:
            return cls(
                str(plain["session"]),
                str(plain["prompt"]),
                int(plain["blocks"]),
                int(plain["events"]),
                float(plain["ended"]),
                {str(name): Reading.of(each) for name, each in plain["transcripts"].items()},
                {str(name): float(each) for name, each in plain["cost"].items()},
            )
        except (TypeError, KeyError, ValueError, AttributeError):
            return cls()

    def write(self, loop: Path) -> None:
        """Remember it. Raises OSError where the disk refuses."""
        plain = {
            "schema_version": _SCHEMA,
            "session": self.session,
            "prompt": self.prompt,
            "blocks": self.blocks,
            "events": self.events,
            "ended": self.ended,
            "transcripts": {name: each.plain() for name, each in list(self.readings.items())[-_KEPT:]},
            "cost": dict(list(self.cost.items())[-_KEPT:]),
        }
        write_whole(loop / TURNS, to_json(plain))

    def begin(self, event: Mapping[str, Any], loop: Path) -> None:
        """Count blocks from none for another prompt, a first stop, or where a tool was called since the last one."""
        session, prompt = str(event.get("session_id", "")), str(event.get("prompt_id", ""))
        same = (session, prompt) == (self.session, self.prompt)
        if not (same and event.get("stop_hook_active") is True) or _worked(loop, self.events, session):
            self.blocks = 0
        self.session, self.prompt = session, prompt

    def usage(self, event: Mapping[str, Any], loop: Path, since: str) -> dict[str, float]:
        """Return what came since the last iteration on record, and remember it as on record; {} where unknown."""
        found: dict[str, float] = {}
        taken = self._tokens(Path(str(event.get("transcript_path") or "")), since)
        if taken is not None:
            found = {"input_tokens": taken.input_tokens, "turns": taken.turns}
            if taken.unfinished <= 0:
                found["output_tokens"] = taken.output_tokens
        spent = {name: each["spent"] for name, each in costs_of(str(loop)).items()}
        if event.get("session_id") in spent:
            found["cost_usd"] = round(sum(each - self.cost.get(name, 0.0) for name, each in spent.items()), 6)
            self.cost = spent
        return found

    def _tokens(self, transcript: Path, since: str) -> Taken | None:
        """Return what the session took, None where its transcript cannot be read; since when, for files not known."""
        total: Taken | None = None
        for path in transcripts_of(transcript) if transcript.name else ():
            known = self.readings.pop(str(path), None)
            reading = known or Reading()
            try:
                taken = read_on(path, reading, "" if known else since)
            except OSError:
                continue
            self.readings[str(path)] = reading
            total = taken if total is None else total + taken
        return total


def events_size(loop: Path) -> int:
    """Return how far the journal goes by now."""
    try:
        return (loop / EVENTS).stat().st_size
    except OSError:
        return 0


def _worked(loop: Path, offset: int, session: str) -> bool:
    """Tell whether the journal has a tool of this session behind a place."""
    try:
        with (loop / EVENTS).open("rb") as file:
            file.seek(offset if offset <= file.seek(0, 2) else 0)  # the file before it was put aside
            return any(_is_tool(line, session) for line in file)
    except OSError:
        return False


def _is_tool(line: bytes, session: str) -> bool:
    try:
        event = json.loads(line)
        return event["session"] == session and event["event"] in TOOL_EVENTS
    except (ValueError, KeyError, TypeError):
        return False
