"""The end of a turn: the iteration is measured, and the agent is let go or told to go on."""

import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ralph_tracker.agents.claude_code.costs import COSTS, costs_of
from ralph_tracker.agents.claude_code.journal import note_event, note_trouble
from ralph_tracker.agents.claude_code.transcript import ends_with
from ralph_tracker.agents.claude_code.turns import Turns, events_size
from ralph_tracker.agents.claude_code.wiggum import Wiggum, wiggum_loop
from ralph_tracker.agents.failing import failing_tests
from ralph_tracker.agents.finding import finding
from ralph_tracker.core.records import IterationRecord
from ralph_tracker.store.lock import locked
from ralph_tracker.store.standing import paths_of, summary_at
from ralph_tracker.tracker import Decided, Tracker

CAP: Final = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"
DEFAULT_CAP: Final = 8
PATIENCE_S: Final = 1700.0
_LAG_S: Final = 1.0
_PAUSE_S: Final = 0.02
_GO_ON: Final = "Go on with the task. When you stop, it is measured again."

Answer = dict[str, Any] | None


def stopped(event: Mapping[str, Any], root: str, loop: str, environment: Mapping[str, str], began: float) -> Answer:
    """Measure the iteration and return the answer; None lets the agent go.

    A stop with work in the background is a pause, and one that only planned is none of the loop: neither is measured.
    `began` is when this hook was called, in seconds since 1970. Raises as `Tracker.post_iteration` does.
    """
    if event.get("background_tasks") or event.get("permission_mode") == "plan":
        return None
    folder = Path(loop)
    with locked(folder / "agent.lock", "agent hook", PATIENCE_S):
        turns = Turns.read(folder)
        if turns.session == event.get("session_id") and turns.ended > began:
            return None  # installed twice: the other hook has measured this very stop
        turns.begin(event, folder)
        answer = _measured(Stop(event, Path(root), folder, environment, began), turns)
        turns.events, turns.ended = events_size(folder), time.time()
        turns.write(folder)
    return answer


class Stop:
    """Hold one stop of an agent: the event, the project, the loop's folder."""

    def __init__(
        self, event: Mapping[str, Any], root: Path, folder: Path, environment: Mapping[str, str], began: float
    ) -> None:
        self.event, self.folder, self.began = event, folder, began
        self.environment = environment
        self.tracker = Tracker(root, environment=environment)
        self.paths = paths_of(root, None, environment)
        self.wiggum: Wiggum | None = wiggum_loop(root, str(event.get("session_id", "")))

    def usage(self, turns: Turns) -> dict[str, float] | None:
        """Return what the iteration took, None where nobody knows; it never raises."""
        try:
            _wait_for_client(self.event, str(self.folder), self.began)
            return turns.usage(self.event, self.folder, summary_at(self.paths).updated_at) or None
        except Exception as error:  # noqa: BLE001  # an iteration is worth more than what it took
            note_trouble(str(self.folder), "Stop", error)
            return None

    def note(self, record: IterationRecord, **more: object) -> None:
        """Note down what came of the stop."""
        note_event(str(self.folder), self.event, iteration=record.iteration, **more)


def _measured(stop: Stop, turns: Turns) -> Answer:
    usage = stop.usage(turns)
    record = stop.tracker.post_iteration(None, usage=usage).record
    turns.write(stop.folder)  # whatever fails from here on, what the iteration took is on record
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
    """Tell the agent to go on, unless the client would end the turn all the same."""
    cap = block_cap(stop.environment)
    action = decided.decision.action
    if cap is not None and turns.blocks >= cap:
        turns.blocks = 0
        stop.note(record, action=action, blocked=False)
        return {"systemMessage": f"ralph-tracker: iteration {record.iteration} is on record. {_told_cap(cap)}"}
    turns.blocks += 1
    stop.note(record, action=action, blocked=True)
    text = finding(record, decided, failing_tests(stop.paths, record.iteration))
    last = [f"This is the last time: {_told_cap(cap)}"] if cap is not None and turns.blocks == cap else []
    return {"decision": "block", "reason": "\n".join([text, _GO_ON, *last])}


def _told_cap(cap: int) -> str:
    return (
        f"Claude Code lets a hook hold an agent {cap} times in a row without a tool call; the loop is still running, "
        f"a new prompt goes on with it. {CAP} raises the limit."
    )


def block_cap(environment: Mapping[str, str]) -> int | None:
    """Return how often in a row the client lets a hook hold the agent, None for no limit."""
    number = re.match(r"\s*[+-]?\d+", environment.get(CAP, ""))
    cap = int(number[0]) if number else DEFAULT_CAP
    return cap if cap > 0 else None


def _wait_for_client(event: Mapping[str, Any], loop: str, began: float) -> None:
    """Wait a moment for what the client tells behind its back: the last answer written down, the cost shown."""
    deadline = time.monotonic() + _LAG_S
    while not (_written(event) and _shown(event, loop, began)) and time.monotonic() < deadline:
        time.sleep(_PAUSE_S)


def _written(event: Mapping[str, Any]) -> bool:
    path, text = event.get("transcript_path"), event.get("last_assistant_message")
    return not isinstance(path, str) or not isinstance(text, str) or ends_with(Path(path), text)


def _shown(event: Mapping[str, Any], loop: str, began: float) -> bool:
    """Tell whether the status line of this session, if it has one, has brought a cost since the turn ended."""
    return event.get("session_id") not in costs_of(loop) or os.stat(f"{loop}/{COSTS}").st_mtime >= began  # noqa: PTH116
