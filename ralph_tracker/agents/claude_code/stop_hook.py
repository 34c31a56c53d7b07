"""Measure the iteration at the end of a turn, and let the agent stop or make it continue."""

import json
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from ralph_tracker.agents.claude_code.journal import EVENTS, TOOL_EVENTS, note_event, note_trouble
from ralph_tracker.agents.claude_code.transcript import Reading, TokenUse, ends_with, read_on, transcripts_of
from ralph_tracker.agents.claude_code.usage import COSTS, costs_of
from ralph_tracker.agents.finding import finding
from ralph_tracker.agents.situation import situation_of, tokens_of
from ralph_tracker.core.records import IterationRecord
from ralph_tracker.errors import InputError
from ralph_tracker.store.files import to_json, write_whole
from ralph_tracker.store.lock import locked
from ralph_tracker.store.loop_status import paths_of, summary_at
from ralph_tracker.store.reading import read_json
from ralph_tracker.tracker import Decided, Tracker

TURNS: Final = "agent-turns.json"
_SCHEMA: Final = 1
_KEPT: Final = 32
STATE: Final = Path(".claude") / "ralph-loop.local.md"
_READ: Final = 1 << 16
CAP: Final = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"
DEFAULT_CAP: Final = 8
PATIENCE_S: Final = 1700.0
_LAG_S: Final = 1.0
_PAUSE_S: Final = 0.02
_GO_ON: Final = "Go on with the task. When you stop, it is measured again."
Answer = dict[str, Any] | None


@dataclass(slots=True)
class Turns:
    """The stops so far.

    `blocks` counts the consecutive blocked stops of this prompt with no tool call between them, up to `events` bytes of
    the journal. `ended` is when the session's last Stop was answered (epoch seconds). `cost` is the part of the
    sessions' cost that is recorded, in USD.
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
        """Return the stored values of a loop; defaults if they are damaged."""
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
        """Store the values. Raises OSError if the disk refuses."""
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
        """Reset the blocks for another prompt, a first stop, or after a tool call."""
        session, prompt = str(event.get("session_id", "")), str(event.get("prompt_id", ""))
        same = (session, prompt) == (self.session, self.prompt)
        if not (same and event.get("stop_hook_active") is True) or _worked(loop, self.events, session):
            self.blocks = 0
        self.session, self.prompt = session, prompt

    def usage(self, event: Mapping[str, Any], loop: Path, since: str) -> dict[str, float]:
        """Return the usage since the last recorded iteration, and mark it as recorded; {} if unknown."""
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

    def _tokens(self, transcript: Path, since: str) -> TokenUse | None:
        """Return the session's tokens, None if its transcript cannot be read; `since` applies to unknown files."""
        total: TokenUse | None = None
        for path in transcripts_of(transcript) if transcript.name else ():
            known = self.readings.pop(str(path), None)
            reading = known or Reading()
            try:
                taken = read_on(path, reading, "" if known else since)
            except (OSError, InputError):
                continue
            self.readings[str(path)] = reading
            total = taken if total is None else total + taken
        return total


def events_size(loop: Path) -> int:
    """Return the current size of the journal."""
    try:
        return (loop / EVENTS).stat().st_size
    except OSError:
        return 0


def _worked(loop: Path, offset: int, session: str) -> bool:
    """Return whether the journal has a tool call of this session after an offset."""
    try:
        with (loop / EVENTS).open("rb") as file:
            file.seek(offset if offset <= file.seek(0, 2) else 0)  # the file was rotated
            return any(_is_tool(line, session) for line in file)
    except OSError:
        return False


def _is_tool(line: bytes, session: str) -> bool:
    try:
        event = json.loads(line)
        return event["session"] == session and event["event"] in TOOL_EVENTS
    except (ValueError, KeyError, TypeError):
        return False


class Wiggum(NamedTuple):
    """The state of a loop that the plugin drives; None for what its file does not contain."""

    iteration: int | None = None
    max_iterations: int | None = None


def wiggum_loop(root: Path, session: str) -> Wiggum | None:
    """Return the plugin's loop, None if there is none, it is inactive, or it is another session's."""
    try:
        with (root / STATE).open(encoding="utf-8", errors="replace") as file:
            text = file.read(_READ)
    except OSError:
        return None
    keys = _front_matter(text)
    if keys.get("active", "true") == "false" or keys.get("session_id", session) not in {"", session}:
        return None
    return Wiggum(_number(keys.get("iteration")), _number(keys.get("max_iterations")))


def _front_matter(text: str) -> dict[str, str]:
    """Return the keys of the front matter with their values as text, {} without one."""
    first, *lines = text.splitlines() or [""]
    if first.strip() != "---":
        return {}
    keys = {}
    for line in lines:
        if line.strip() == "---":
            break
        key, _, value = line.partition(":")
        keys[key.strip()] = value.strip().strip("\"'")
    return keys


def _number(word: str | None) -> int | None:
    return int(word) if word is not None and word.isdecimal() else None


def stopped(event: Mapping[str, Any], root: str, loop: str, environment: Mapping[str, str], began: float) -> Answer:
    """Measure the iteration and return the answer; None lets the agent stop.

    A stop with background work is a pause, and one in plan mode is not part of the loop: neither is measured. `began`
    is when this hook was called (epoch seconds). Raises as `Tracker.post_iteration` does.
    """
    if event.get("background_tasks") or event.get("permission_mode") == "plan":
        return None
    folder = Path(loop)
    with locked(folder / "agent.lock", "agent hook", PATIENCE_S):
        turns = Turns.read(folder)
        if turns.session == event.get("session_id") and turns.ended > began:
            return None  # installed twice, and the other hook has measured this stop
        turns.begin(event, folder)
        answer = _measured(Stop(event, Path(root), folder, environment, began), turns)
        turns.events, turns.ended = events_size(folder), time.time()
        turns.write(folder)
    return answer


class Stop:
    """A stop of an agent: the event, the project, and the loop's folder."""

    def __init__(
        self, event: Mapping[str, Any], root: Path, folder: Path, environment: Mapping[str, str], began: float
    ) -> None:
        self.event, self.folder, self.began = event, folder, began
        self.environment = environment
        self.tracker = Tracker(root, environment=environment)
        self.paths = paths_of(root, None, environment)
        self.wiggum: Wiggum | None = wiggum_loop(root, str(event.get("session_id", "")))

    def usage(self, turns: Turns) -> dict[str, float] | None:
        """Return the usage of the iteration, None if unknown; never raises."""
        try:
            _wait_for_client(self.event, str(self.folder), self.began)
            return turns.usage(self.event, self.folder, summary_at(self.paths).updated_at) or None
        except Exception as error:  # noqa: BLE001  # unknown usage must not lose the iteration
            note_trouble(str(self.folder), "Stop", error)
            return None

    def note(self, record: IterationRecord, **more: object) -> None:
        """Log the result of the stop."""
        note_event(str(self.folder), self.event, iteration=record.iteration, **more)


def _measured(stop: Stop, turns: Turns) -> Answer:
    usage = stop.usage(turns)
    record = stop.tracker.post_iteration(None, usage=usage).record
    turns.write(stop.folder)  # the usage counts as recorded even after a later failure
    if stop.wiggum is not None:
        stop.note(record, action=record.decision.action, driven_by="ralph-wiggum", driven_at=stop.wiggum.iteration)
        return None
    decided = stop.tracker.loop_decision(apply=True)
    action = decided.decision.action
    if action in {"continue", "rollback"}:
        return _held(stop, turns, record, decided)
    if action == "stop":
        stop.tracker.select_output(apply="output")
    stop.note(record, action=action, reason=decided.decision.reason)
    return None


def _held(stop: Stop, turns: Turns, record: IterationRecord, decided: Decided) -> Answer:
    """Make the agent continue, unless the client would end the turn anyway."""
    cap = block_cap(stop.environment)
    action = decided.decision.action
    if cap is not None and turns.blocks >= cap:
        turns.blocks = 0
        stop.note(record, action=action, blocked=False)
        return {"systemMessage": f"ralph-tracker: iteration {record.iteration} is on record. {_cap_text(cap)}"}
    turns.blocks += 1
    stop.note(record, action=action, blocked=True)
    store = stop.tracker.store()
    text = finding(situation_of(store, record, stop.tracker.root, decided.decision), tokens_of(store))
    last = [f"This is the last time: {_cap_text(cap)}"] if cap is not None and turns.blocks == cap else []
    return {"decision": "block", "reason": "\n".join([text, _GO_ON, *last])}


def _cap_text(cap: int) -> str:
    return (
        f"Claude Code lets a hook hold an agent {cap} times in a row without a tool call; the loop is still running, "
        f"a new prompt goes on with it. {CAP} raises the limit."
    )


def block_cap(environment: Mapping[str, str]) -> int | None:
    """Return how many consecutive stops the client lets a hook block, None for no limit."""
    number = re.match(r"\s*[+-]?\d+", environment.get(CAP, ""))
    cap = int(number[0]) if number else DEFAULT_CAP
    return cap if cap > 0 else None


def _wait_for_client(event: Mapping[str, Any], loop: str, began: float) -> None:
    """Wait briefly for what the client writes in the background: the last answer, and the cost."""
    deadline = time.monotonic() + _LAG_S
    while not (_written(event) and _shown(event, loop, began)) and time.monotonic() < deadline:
        time.sleep(_PAUSE_S)


def _written(event: Mapping[str, Any]) -> bool:
    path, text = event.get("transcript_path"), event.get("last_assistant_message")
    return not isinstance(path, str) or not isinstance(text, str) or ends_with(Path(path), text)


def _shown(event: Mapping[str, Any], loop: str, began: float) -> bool:
    """Return whether this session's status line, if it has one, has reported a cost since the turn ended."""
    return event.get("session_id") not in costs_of(loop) or os.stat(f"{loop}/{COSTS}").st_mtime >= began  # noqa: PTH116
