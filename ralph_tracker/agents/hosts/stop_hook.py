"""Measure the iteration at the end of a turn, and let the agent stop or make it continue."""

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Self

import msgspec

from ralph_tracker.agents.feedback import ITERATIONS_AFTER_WARNING, feedback_of
from ralph_tracker.agents.hosts.host import Environment, HookAnswer, HookEvent, Host, load_object
from ralph_tracker.agents.hosts.session_event_log import EVENTS, TOOL_EVENTS, lines_of, note_event, note_trouble
from ralph_tracker.core.decision import BLOCKED_RULE
from ralph_tracker.errors import NothingMeasuredError
from ralph_tracker.iteration.measure_iteration import configured_by
from ralph_tracker.loop.notify import Notice, event_of, question_words
from ralph_tracker.records.iteration_record import IterationRecord
from ralph_tracker.records.questions import questions_of
from ralph_tracker.safe_files import own_file, write_whole
from ralph_tracker.steering.session_events import READING_TOOLS
from ralph_tracker.store.configured_loop import ConfiguredLoop
from ralph_tracker.store.find import find_loop
from ralph_tracker.store.json_documents import read_json, to_json
from ralph_tracker.store.layout import RUN_LOCK
from ralph_tracker.store.lock import hold_lock, holder_of
from ralph_tracker.store.summary import summary_at
from ralph_tracker.tracker import DecisionResult, Tracker

TURNS: Final = "agent-turns.json"
PATIENCE_S: Final = 1700.0
EARLY_AT_MOST: Final = 2
UsageReader = Callable[[HookEvent, Path, str, float, dict[str, Any]], dict[str, float]]
"""Return the usage since the last recorded iteration, from a stop, the loop's folder, when that iteration was recorded
(UTC, ISO 8601), when the hook was called (epoch seconds), and what was counted until then, which it updates."""


@dataclass(slots=True)
class Turns:
    """The stops so far.

    `blocks` counts the consecutive blocked stops of this prompt with no tool call between them, up to `events` bytes of
    the event log. `ended` is when the session's last stop was answered (epoch seconds). `counted` is what the host's
    usage reader remembers. `stalls` counts the consecutive decisions that the loop has stalled. `bound` is the session
    that drives the loop, and `client` the process that ran its last hook: while that runs, no other session drives it.
    `host` and `model` (None where the host does not name it) are those of the last stop. `driver` is who else has
    driven this prompt. `early` counts the last stops that were held by tests that failed before, without a measurement.
    """

    session: str = ""
    prompt: str = ""
    blocks: int = 0
    events: int = 0
    ended: float = 0.0
    counted: dict[str, Any] = field(default_factory=dict)
    stalls: int = 0
    bound: str = ""
    client: int = 0
    host: str = ""
    model: str | None = None
    driver: str | None = None
    early: int = 0

    @classmethod
    def read(cls, loop: Path) -> Self:
        """Return the stored values of a loop; defaults if they are damaged."""
        try:
            return msgspec.convert(read_json(loop / TURNS), cls)
        except msgspec.ValidationError:
            return cls()

    def write(self, loop: Path) -> None:
        """Store the values. Raises OSError if the disk refuses."""
        write_whole(loop / TURNS, to_json({"schema_version": 1, **asdict(self)}))

    def bind(self, event: HookEvent) -> None:
        """Let the session of an event drive the loop."""
        self.bound, self.client = str(event.get("session_id", "")), os.getppid()

    def is_driven_by_another(self, event: HookEvent) -> bool:
        """Return whether another session drives the loop, whose client still runs."""
        if self.bound in {"", str(event.get("session_id", ""))}:
            return False
        try:
            os.kill(self.client, 0)
        except ProcessLookupError:
            return False
        except (PermissionError, OverflowError):
            pass
        return self.client > 0

    def begin(self, event: HookEvent, loop: Path) -> None:
        """Reset the blocks for another prompt, a first stop, or after a tool call.

        A host that does not say whether a stop follows a blocked one counts on until there is a tool call.
        """
        session, prompt = str(event.get("session_id", "")), str(event.get("prompt_id", ""))
        same = (session, prompt) == (self.session, self.prompt)
        self.driver = self.driver if same else None
        follows = event.get("stop_hook_active", True) is True
        if not (same and follows) or _has_tool_call(loop, self.events, session):
            self.blocks = 0
        self.session, self.prompt = session, prompt


def _has_tool_call(loop: Path, offset: int, session: str) -> bool:
    """Return whether the event log has a tool call of this session after an offset."""
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


def _only_answers(loop: Path, event: HookEvent) -> bool:
    """Return whether the last prompt of a session is a question, since which it has only read."""
    is_question = False
    for line in lines_of(str(loop), str(event.get("session_id"))):
        if line["event"] == "UserPromptSubmit":
            is_question = line.get("complexity") == "simple"
        elif line["event"] in {"PostToolUse", "PostToolUseFailure"} and line.get("tool") not in READING_TOOLS:
            is_question = False
    return is_question


def _why_let_go(turns: Turns, loop: Path, event: HookEvent) -> str | None:
    """Return why a session is none of the loop's, "" where nobody has to hear it; None if it drives the loop."""
    if holder_of(loop / RUN_LOCK) is not None:
        return f"`ralph-tracker run` drives loop {loop.name}; this session is not measured"
    if turns.is_driven_by_another(event):
        return f"another session drives loop {loop.name}; this one is not measured"
    return "" if _only_answers(loop, event) else None


def answer_stop(
    host: Host, event: HookEvent, root: str, loop: str, environment: Environment, began: float
) -> HookAnswer | None:
    """Measure the iteration and return the answer; None lets the agent stop.

    A stop with background work is a pause; one in plan mode, of a subagent, of a session that does not drive the loop
    or has only answered a question is not part of it: none is measured. `began` is when this hook was called (epoch
    seconds). Raises as `Tracker.post_iteration` does.
    """
    if event.get("background_tasks") or event.get("permission_mode") == "plan" or event.get("agent_id") is not None:
        return None
    folder = Path(loop)
    with hold_lock(folder / "agent.lock", "agent hook", PATIENCE_S):
        turns = Turns.read(folder)
        if turns.session == event.get("session_id") and turns.ended > began:
            return None  # installed twice, and the other hook has measured this stop
        why = _why_let_go(turns, folder, event)
        if why is not None:
            note_event(loop, event, let_go=why or "it has only answered a question")
            return HookAnswer("log", "Stop", f"ralph-tracker: {why}") if why else None
        turns.bind(event)
        turns.begin(event, folder)
        turns.host, turns.model = host.name, event.get("model") or turns.model
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
        if self.driver is None and event.get("session_crons"):
            self.driver = {"driven_by": "its schedule"}

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
    summary = summary_at(stop.paths)
    recorded = datetime.fromisoformat(summary.updated_at).timestamp()  # to the second
    if summary.decision["rule"] == BLOCKED_RULE and recorded >= int(turns.ended):
        note_event(str(stop.folder), stop.event, iteration=summary.iteration, action="escalate")
        # The agent itself has recorded this stop, with its question.
        return _tell_person(stop, "blocked", summary.iteration, str(summary.decision["reason"]))
    early = _held_early(stop, turns)
    if early is not None:
        return early
    usage = stop.usage(turns)
    record = stop.tracker.post_iteration(None, usage=usage).record
    driven = stop.driver
    if driven is None and turns.driver is not None:  # the other loop has just ended, and its end is not ours to undo
        driven = {"driven_by": turns.driver, "driven_at": None}
    turns.driver = None if driven is None else str(driven["driven_by"])
    turns.write(stop.folder)  # the usage counts as recorded even after a later failure
    if driven is not None:
        stop.note(record, action=record.decision.action, **driven)
        return None
    decided = stop.tracker.loop_decision(apply=True)
    action = decided.decision.action
    turns.stalls = turns.stalls + 1 if decided.decision.is_stall else 0
    if action in {"continue", "rollback"} or 0 < turns.stalls <= ITERATIONS_AFTER_WARNING:
        return _held(stop, turns, record, decided)
    if action == "stop":
        try:
            stop.tracker._replace(measures_again=False).select_output(apply="output")  # a hook has a time limit
        except NothingMeasuredError as error:  # the agent cannot help it: it stops, and a person reads why
            stop.note(record, action=action, reason=str(error))
            return HookAnswer("log", "Stop", f"ralph-tracker: {error}")
    stop.note(record, action=action, reason=decided.decision.reason)
    return _tell_person(stop, event_of(decided.decision) or action, record.iteration, decided.decision.reason)


def _held_early(stop: Stop, turns: Turns) -> HookAnswer | None:
    """Return the answer where tests that failed before still fail, None where the iteration has to be measured.

    That is each third time, so that limits and the decision have their say, and where nothing was done since.
    """
    early, turns.early = turns.early, 0
    loop = ConfiguredLoop.read(stop.tracker.store(), configured_by)
    wanted = loop.config.document["feedback"]["fail_early"]
    if not wanted or stop.driver is not None or turns.blocks or early >= EARLY_AT_MOST:
        return None
    from ralph_tracker.iteration.repeat_failing import failing_first  # noqa: PLC0415  # only where it is asked for

    stop.tracker.require_loop()
    head = loop.state(summary_at(stop.paths))[0].lineage.head
    still = failing_first(loop, head, stop.environment)
    if still is None:
        return None
    turns.early, turns.blocks = early + 1, turns.blocks + 1
    note_event(str(stop.folder), stop.event, iteration=still.number, blocked=True, early=len(still.tests))
    return HookAnswer("block", "Stop", f"{still.sentence}. Continue with the task; all is measured once they pass.")


def _tell_person(stop: Stop, event: str, iteration: int, reason: str) -> HookAnswer:
    """Tell a person as the loop says why it ends or waits, and return the same for the client to show."""
    asks = event in {"blocked", "escalate"}
    words = f"{'A person is needed' if asks else 'Stopped'}: {reason.removeprefix('Escalate to human - ')}"
    notice = Notice(event, stop.folder.name, iteration, words, "`ralph-tracker status` says more")
    for problem in stop.tracker.notify(event, notice.sentence, notice.next_step):
        note_event(str(stop.folder), stop.event, problem=problem)
    return HookAnswer("log", "Stop", notice.text)


def _held(stop: Stop, turns: Turns, record: IterationRecord, decided: DecisionResult) -> HookAnswer:
    """Make the agent continue, unless it was held too often."""
    cap = stop.host.cap(stop.environment)
    action = decided.decision.action
    if action == "continue" and (asked := questions_of(record.alerts)):
        for problem in stop.tracker.notify("question", *question_words(asked, record.iteration)):
            stop.note(record, problem=problem)
    if cap is not None and turns.blocks >= cap:
        turns.blocks = 0
        stop.note(record, action=action, blocked=False)
        text = f"ralph-tracker: iteration {record.iteration} is on record. {stop.host.cap_text.format(cap=cap)}"
        return HookAnswer("log", "Stop", text)
    turns.blocks += 1
    stop.note(record, action=action, blocked=True)
    left = ITERATIONS_AFTER_WARNING + 1 - turns.stalls if turns.stalls else 0
    loop = ConfiguredLoop.read(stop.tracker.store(), configured_by)
    words = [feedback_of(loop, stop.tracker.root, iterations_left=left)]
    if turns.blocks == cap:
        words.append(f"This is the last time: {stop.host.cap_text.format(cap=cap)}")
    return HookAnswer("block", "Stop", "\n".join(words))
