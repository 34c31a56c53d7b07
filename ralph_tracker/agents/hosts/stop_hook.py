"""Measure the iteration at the end of a turn, and let the agent stop or make it continue.

What the iteration took is counted here too, where a host lists the model's answers of a session, each with its tokens.
"""

import calendar
import json
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from ralph_tracker.agents.feedback import feedback, feedback_facts_of, token_budget_of
from ralph_tracker.agents.hosts.host import Environment, HookAnswer, HookEvent, Host, load_object
from ralph_tracker.agents.hosts.session_event_log import EVENTS, TOOL_EVENTS, note_event, note_trouble
from ralph_tracker.config.regular_file import open_regular
from ralph_tracker.core.iteration_record import IterationRecord
from ralph_tracker.errors import InputError
from ralph_tracker.store.lock import hold_lock
from ralph_tracker.store.loop_summary import find_loop, summary_at
from ralph_tracker.store.safe_files import read_json, to_json, write_whole
from ralph_tracker.store.safe_open import own_file
from ralph_tracker.tracker import DecisionResult, Tracker

TURNS: Final = "agent-turns.json"
_SCHEMA: Final = 1
PATIENCE_S: Final = 1700.0
_GO_ON: Final = "Go on with the task. When you stop, it is measured again."
UsageReader = Callable[[HookEvent, Path, str, float, dict[str, Any]], dict[str, float]]
"""Return the usage since the last recorded iteration, from a stop, the loop's folder, when that iteration was recorded
(UTC, ISO 8601), when the hook was called (epoch seconds), and what was counted until then, which it updates."""
_KEPT: Final = 32
_LONGEST_LINE: Final = 4 << 20


@dataclass(slots=True)
class Turns:
    """The stops so far.

    `blocks` counts the consecutive blocked stops of this prompt with no tool call between them, up to `events` bytes of
    the journal. `ended` is when the session's last stop was answered (epoch seconds). `counted` is what the host's
    usage reader remembers.
    """

    session: str = ""
    prompt: str = ""
    blocks: int = 0
    events: int = 0
    ended: float = 0.0
    counted: dict[str, Any] = field(default_factory=dict)

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
                dict(plain["counted"]),
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
            "counted": self.counted,
        }
        write_whole(loop / TURNS, to_json(plain))

    def begin(self, event: HookEvent, loop: Path) -> None:
        """Reset the blocks for another prompt, a first stop, or after a tool call.

        A host that does not say whether a stop follows a blocked one counts on until there is a tool call.
        """
        session, prompt = str(event.get("session_id", "")), str(event.get("prompt_id", ""))
        same = (session, prompt) == (self.session, self.prompt)
        follows = event.get("stop_hook_active", True) is True
        if not (same and follows) or _has_tool_call(loop, self.events, session):
            self.blocks = 0
        self.session, self.prompt = session, prompt


def _has_tool_call(loop: Path, offset: int, session: str) -> bool:
    """Return whether the journal has a tool call of this session after an offset."""
    try:
        with open(loop / EVENTS, "rb", opener=own_file) as file:  # pathlib's takes no opener
            file.seek(offset if offset <= file.seek(0, 2) else 0)  # the file was rotated
            for line in file:
                with suppress(ValueError, KeyError, TypeError):
                    event = json.loads(line)
                    if event["session"] == session and event["event"] in TOOL_EVENTS:
                        return True
    except OSError:
        pass
    return False


def answer_stop(
    host: Host, event: HookEvent, root: str, loop: str, environment: Environment, began: float
) -> HookAnswer | None:
    """Measure the iteration and return the answer; None lets the agent stop.

    A stop with background work is a pause, and one in plan mode is not part of the loop: neither is measured. `began`
    is when this hook was called (epoch seconds). Raises as `Tracker.post_iteration` does.
    """
    if event.get("background_tasks") or event.get("permission_mode") == "plan":
        return None
    folder = Path(loop)
    with hold_lock(folder / "agent.lock", "agent hook", PATIENCE_S):
        turns = Turns.read(folder)
        if turns.session == event.get("session_id") and turns.ended > began:
            return None  # installed twice, and the other hook has measured this stop
        turns.begin(event, folder)
        answer = _measure_stop(Stop(host, event, Path(root), folder, environment, began), turns)
        try:
            turns.events = (folder / EVENTS).stat().st_size
        except OSError:
            turns.events = 0
        turns.ended = time.time()
        turns.write(folder)
    return answer


class Stop:
    """A stop of an agent: its host, the event, the project, and the loop's folder."""

    def __init__(
        self, host: Host, event: HookEvent, root: Path, folder: Path, environment: Environment, began: float
    ) -> None:
        self.host, self.event, self.folder, self.began = host, event, folder, began
        self.environment = environment
        self.tracker = Tracker(root, environment=environment)
        self.paths = find_loop(root, None, environment)
        session = str(event.get("session_id", ""))
        self.driver: dict[str, object] | None = None if host.driver is None else load_object(host.driver)(root, session)

    def usage(self, turns: Turns) -> dict[str, float] | None:
        """Return the usage of the iteration, None if unknown; never raises."""
        if self.host.usage is None:
            return None
        try:
            read: UsageReader = load_object(self.host.usage)
            since = summary_at(self.paths).updated_at
            return read(self.event, self.folder, since, self.began, turns.counted) or None
        except Exception as error:  # noqa: BLE001  # unknown usage must not lose the iteration
            note_trouble(str(self.folder), "Stop", error)
            return None

    def note(self, record: IterationRecord, **more: object) -> None:
        """Log the result of the stop."""
        note_event(str(self.folder), self.event, iteration=record.iteration, **more)


def _measure_stop(stop: Stop, turns: Turns) -> HookAnswer | None:
    usage = stop.usage(turns)
    record = stop.tracker.post_iteration(None, usage=usage).record
    turns.write(stop.folder)  # the usage counts as recorded even after a later failure
    if stop.driver is not None:
        stop.note(record, action=record.decision.action, **stop.driver)
        return None
    decided = stop.tracker.loop_decision(apply=True)
    action = decided.decision.action
    if action in {"continue", "rollback"}:
        return _held(stop, turns, record, decided)
    if action == "stop":
        stop.tracker.select_output(apply="output")
    stop.note(record, action=action, reason=decided.decision.reason)
    return None


def _held(stop: Stop, turns: Turns, record: IterationRecord, decided: DecisionResult) -> HookAnswer:
    """Make the agent continue, unless it was held too often."""
    cap = stop.host.cap(stop.environment)
    action = decided.decision.action
    if cap is not None and turns.blocks >= cap:
        turns.blocks = 0
        stop.note(record, action=action, blocked=False)
        text = f"ralph-tracker: iteration {record.iteration} is on record. {stop.host.cap_text.format(cap=cap)}"
        return HookAnswer("note", "Stop", text)
    turns.blocks += 1
    stop.note(record, action=action, blocked=True)
    store = stop.tracker.store()
    text = feedback(feedback_facts_of(store, record, stop.tracker.root, decided.decision), token_budget_of(store))
    words = [text, _GO_ON]
    if turns.blocks == cap:
        words.append(f"This is the last time: {stop.host.cap_text.format(cap=cap)}")
    return HookAnswer("hold", "Stop", "\n".join(words))


class ModelAnswer(NamedTuple):
    """An answer of a model: when (epoch seconds), tokens in (the cache included) and out, USD (None: unknown)."""

    at: float
    input_tokens: int
    output_tokens: int
    cost_usd: float | None = None


def at_of(timestamp: str) -> float:
    """Return a time of ISO 8601 in epoch seconds."""
    return datetime.fromisoformat(timestamp).timestamp()


def usage_in_transcript(
    event: HookEvent, since: str, counted: dict[str, Any], read: Callable[[Any], tuple[object, ModelAnswer] | None]
) -> dict[str, float]:
    """Return the usage since the last recorded iteration from the session's transcript, {} if it is unknown.

    `read(line)` returns the answer in a line of JSON, with what it is known by when it is written again; None or an
    error (ValueError, KeyError, TypeError) if there is none. The rest is as in `usage_since`.
    """
    path, found = event.get("transcript_path"), {}
    if not isinstance(path, str):
        return {}
    try:
        with open_regular(Path(path)) as file:
            while line := file.readline(_LONGEST_LINE):
                try:
                    answer = read(json.loads(line))
                except (ValueError, KeyError, TypeError, RecursionError):
                    continue
                if answer is not None:
                    found[answer[0]] = answer[1]
    except (OSError, InputError):
        return {}
    return usage_since(event, found.values(), since, counted)


def usage_since(
    event: HookEvent, answers: Iterable[ModelAnswer], since: str, counted: dict[str, Any]
) -> dict[str, float]:
    """Return the usage of the answers that no iteration has, and mark them as counted; {} if there are none.

    `answers` are all of the session. In a session that is new to the loop, those before `since` (UTC, ISO 8601) are
    left out.
    """
    every, session = list(answers), str(event.get("session_id", ""))
    known = dict(counted.get("answers", {}))
    if session in known:
        new = every[int(known.pop(session)) :]
    else:
        start = calendar.timegm(time.strptime(since, "%Y-%m-%dT%H:%M:%SZ"))
        new = [each for each in every if each.at >= start]
    counted["answers"] = dict([*known.items(), (session, len(every))][-_KEPT:])
    if not new:
        return {}
    found: dict[str, float] = {
        "input_tokens": sum(each.input_tokens for each in new),
        "output_tokens": sum(each.output_tokens for each in new),
        "turns": len(new),
    }
    costs = [each.cost_usd for each in new if each.cost_usd is not None]
    return {**found, "cost_usd": round(sum(costs), 6)} if len(costs) == len(new) else found
