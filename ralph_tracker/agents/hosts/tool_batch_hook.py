"""Evaluate the session's events after each batch of tool calls, and nudge an agent that is stuck or over its budget.

Each hook is a new process, so the session's state is in its event log, to which hooks append in one write: the last 256
KiB are evaluated again, as `simulate` does. A prompt or a measured stop starts again, because the work of one iteration
is judged. YAML and pydantic are not imported here.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from ralph_tracker.agents.hosts.host import Environment, HookAnswer, HookEvent
from ralph_tracker.agents.hosts.session_event_log import Line, lines_of, note_event
from ralph_tracker.agents.hosts.session_usage import context_of
from ralph_tracker.safe_files import own_file
from ralph_tracker.steering.session_continuation import (
    COMPLEXITIES,
    EVALUATION_INTERVAL,
    ComplexityThresholds,
    Continuation,
    ContinuationThresholds,
    Guidance,
    classify_task_complexity,
    continuation_thresholds_of,
    message_of,
)
from ralph_tracker.steering.session_events import Event, ToolEnded, ToolStarted, TurnEnded, end_of_tool

RULES: Final = "continuation.json"
_TURN: Final = "PostToolBatch"
_ENDLESS: Final = 1 << 53


def _without_turns(thresholds: ContinuationThresholds) -> ContinuationThresholds:
    limits = thresholds.complexity
    simple, medium, complex_, generation = (
        each._replace(max_iterations=_ENDLESS, tool_budget=_ENDLESS)
        for each in (limits.simple, limits.medium, limits.complex, limits.generation)
    )
    endless = ComplexityThresholds(simple, medium, complex_, generation, limits.large_context)
    return thresholds._replace(complexity=endless)


class SteeringConfig(NamedTuple):
    """The frozen configuration for sessions: thresholds, and whether the tracker's records are used.

    Limits of turns and tool calls are only included if the configuration asks for it (`turn_limits`).
    """

    thresholds: ContinuationThresholds = _without_turns(ContinuationThresholds())
    enabled: bool = True
    quality: bool = False


def steering_of(loop: str) -> SteeringConfig:
    """Return the settings frozen by `pre_loop`, the defaults if they cannot be read."""
    try:
        with open(f"{loop}/{RULES}", encoding="utf-8", opener=own_file) as file:  # called at every turn
            section = json.load(file)["continuation"]
        thresholds = continuation_thresholds_of(section)
        if section["turn_limits"] is not True:
            thresholds = _without_turns(thresholds)
        return SteeringConfig(thresholds, section["enabled"] is True, section["quality"] is True)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return SteeringConfig()


def log_prompt(loop: str, event: HookEvent) -> None:
    """Log a new prompt, at which continuation starts again."""
    prompt, source = event.get("prompt"), event.get("source")
    # Other sources are the client itself, such as ended background work. Older clients send no source.
    if not isinstance(prompt, str) or source not in {None, "user", "sdk"} or prompt.startswith("<task-notification>"):
        return
    steering = steering_of(loop)
    if steering.enabled:
        note_event(loop, event, complexity=classify_task_complexity(prompt, thresholds=steering.thresholds))


def turn_ended(event: HookEvent, root: str, loop: str, environment: Environment) -> HookAnswer | None:
    """Log the end of a turn and return the answer: a message beside the tools' results, or None.

    It never blocks a tool or ends the session, which is decided at the stop.
    """
    session = str(event.get("session_id"))
    steering = steering_of(loop)
    context = context_of(loop, session)
    if not steering.enabled:
        note_event(loop, event, **context)
        return None
    lines = [*lines_of(loop, session)]
    calls = event.get("tool_calls")
    batch = (
        [call.get("tool_use_id") for call in calls[:50] if isinstance(call, dict)] if isinstance(calls, list) else []
    )
    if batch and lines and lines[-1].get("calls") == batch:
        return None  # installed twice, and the other hook has told what there is
    lines += [note_event(loop, failed, refused=True) for failed in _unreported_calls(event, lines)]
    lines.append(note_event(loop, event, **context))
    guidance = evaluate_lines(lines, steering.thresholds)
    words, is_forced = guidance.words, guidance.is_forced
    if steering.quality and not is_forced and guidance.turns % EVALUATION_INTERVAL == 0:
        from ralph_tracker.agents.ask_model import latest_iteration_quality  # noqa: PLC0415  # only if configured
        from ralph_tracker.steering.progress_evaluators import QualityProgressEvaluator  # noqa: PLC0415  # as above

        goes_on, reason = QualityProgressEvaluator(latest_iteration_quality(root, None, environment)).evaluate_now()
        if not goes_on:
            words, is_forced = message_of("force_synthesis", reason), True
    if words is None:
        return None
    return HookAnswer("context", _TURN, words, f"ralph-tracker: {words}" if is_forced else None)


def _unreported_calls(event: HookEvent, lines: Iterable[Line]) -> Iterator[dict[str, Any]]:
    """Yield the calls of a turn that no other hook reported, as failed: the client did not allow them."""
    heard, calls = {line.get("call") for line in lines}, event.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict) and isinstance(call.get("tool_name"), str) and call.get("tool_use_id") not in heard:
            named = {key: call.get(key) for key in ("tool_name", "tool_input", "tool_use_id")}
            base = {key: event[key] for key in ("session_id", "prompt_id") if key in event}
            yield {**base, **named, "hook_event_name": "PostToolUseFailure", "error": call.get("tool_response")}


class TurnGuidance(NamedTuple):
    """The result of a session's last turn: number of turns, message for the agent (None: none), whether forced."""

    turns: int = 0
    words: str | None = None
    is_forced: bool = False


def evaluate_lines(lines: Sequence[Line], thresholds: ContinuationThresholds) -> TurnGuidance:
    """Evaluate a session's lines; messages of earlier turns count as given."""
    window = next((size for line in reversed(lines) if (size := _whole(line.get("context_window")))), None)
    complexity: Any = "medium"
    continuation = Continuation(complexity, thresholds=thresholds, context_window=window)
    guidance, words = Guidance(continuation), None
    for line in lines:
        if str(line.get("event")) in {"UserPromptSubmit", "Stop"}:
            complexity = line["complexity"] if line.get("complexity") in COMPLEXITIES else complexity
            continuation = Continuation(complexity, thresholds=thresholds, context_window=window)
            guidance, words = Guidance(continuation), None
        for each in events_of(line):
            guidance.fold(each)
            if isinstance(each, TurnEnded):
                words = guidance.nudge()
    return TurnGuidance(continuation.metrics.total_iterations, words, guidance.is_forced)


def events_of(line: Line) -> Iterator[Event]:
    """Yield the events in a line of the event log; lines of an older version may have fewer."""
    name = str(line.get("event"))
    if name == _TURN:
        yield TurnEnded(context_tokens=_whole(line.get("context_tokens")))
    elif name in {"PostToolUse", "PostToolUseFailure"}:
        call, tool, given, gave = (str(line.get(key) or "") for key in ("call", "tool", "args", "result"))
        path = line.get("file")
        yield ToolStarted(call, tool, given)
        refused = line.get("refused") is True
        ended = ToolEnded(call, tool, line.get("error") is False, given, gave, refused=refused)
        yield from end_of_tool(ended, path if isinstance(path, str) else None)


def _whole(value: Any) -> int | None:  # noqa: ANN401  # whatever a line holds
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
