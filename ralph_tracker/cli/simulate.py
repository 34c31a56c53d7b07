"""ralph-tracker simulate: replay a recorded agent session turn by turn, with the verdict and action of each turn."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple, TypedDict, cast, get_type_hints

import click

from ralph_tracker.agents.recorded_session import read_session
from ralph_tracker.cli.terminal import say, say_json, say_wrapped
from ralph_tracker.codec import document_of, encode
from ralph_tracker.config.load import load_config
from ralph_tracker.errors import EXIT_OK, InputError
from ralph_tracker.records.iteration_record import SCHEMA_VERSION, SchemaVersion
from ralph_tracker.safe_files import open_regular
from ralph_tracker.steering.progress_evaluators import ProgressMonitor, SimpleProgressEvaluator
from ralph_tracker.steering.session_continuation import (
    Complexity,
    ComplexityLimits,
    Continuation,
    TurnVerdict,
    classify_task_complexity,
    continuation_thresholds_of,
)
from ralph_tracker.steering.session_events import Event

STANDARD_INPUT: Final = "-"
_LONGEST: Final = 16 << 20
_HEAD: Final = ("turn", "score", "velocity", "not stuck", "tokens", "interventions", "complexity", "action")


class Turn(NamedTuple):
    """The verdicts on a turn of continuation, and of the evaluator, None if it is not asked."""

    verdict: "TurnVerdict"
    evaluation: tuple[bool, str] | None


@click.command("simulate")
@click.argument("file", metavar="FILE")
@click.option("--prompt", metavar="TEXT", help="The task, from whose words its complexity is guessed.")
@click.option(
    "--complexity",
    type=click.Choice(("simple", "medium", "complex", "generation")),
    help="How large the task is; else as the prompt says, else medium.",
)
@click.option("--context-window", type=click.IntRange(min=1), metavar="TOKENS", help="The agent's; else as configured.")
@click.option(
    "--evaluation-interval",
    type=click.IntRange(min=1),
    default=5,
    metavar="TURNS",
    help="Evaluate every so many turns.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, as `ralph-tracker schema simulate` describes it.")
@click.option("--root", type=click.Path(path_type=Path), default=Path(), help="Whose configuration counts.")
def command(
    file: str,
    prompt: str | None,
    complexity: Complexity | None,
    context_window: int | None,
    evaluation_interval: int,
    as_json: bool,
    root: Path,
) -> int:
    """Replay the session recorded in FILE and print each turn's score, its parts and the action.

    FILE has an event as JSON on each line, or is what an agent printed: `claude -p --output-format stream-json
    --verbose`, `codex exec --json`, `gemini --output-format stream-json` or `opencode run --format json`; - is standard
    input. Thresholds are those of `continuation` in the configuration. The evaluator is the simple one, for
    repetition and cost.
    """
    thresholds = continuation_thresholds_of(load_config(root).document["continuation"])
    if complexity is None:
        complexity = "medium" if prompt is None else classify_task_complexity(prompt, thresholds=thresholds)
    continuation = Continuation(complexity, thresholds=thresholds, context_window=context_window)
    turns = _replay_turns(file, continuation, evaluation_interval)
    if as_json:
        say_json(document(list(turns), complexity, continuation))
        return EXIT_OK
    say(" ".join(_cells(_HEAD)))
    counts = {"nudge_synthesis": 0, "force_synthesis": 0, "continue": 0}
    for turn in turns:
        say_turn(turn)
        counts[turn.verdict.action] += 1
    number, calls = sum(counts.values()), continuation.metrics.tools_used
    nudged, forced = counts["nudge_synthesis"], counts["force_synthesis"]
    say(f"{complexity} task: {number} turns, {calls} tool calls, {nudged} nudged, {forced} forced")
    return EXIT_OK


class EvaluationDocument(TypedDict):
    should_continue: bool
    reason: str


if TYPE_CHECKING:  # mypy knows no TypedDict that is made
    TurnDocument = dict[str, Any]
    LimitsDocument = dict[str, Any]
else:
    LimitsDocument = document_of(ComplexityLimits)
    TurnDocument = document_of(
        TurnVerdict,
        {"message": str | None, "evaluation": EvaluationDocument | None},
        about="`score` is the sum of `parts`; `terms` are these before they are weighted. All are 0 to 1.",
    )


class ProgressDocument(TypedDict):
    unique_files_read: int
    total_file_reads: int
    files_revisited: int
    tools_used: int
    total_iterations: int


class SimulationDocument(TypedDict):
    schema_version: SchemaVersion
    complexity: Complexity
    limits: LimitsDocument
    context_window: int
    context_tokens: int | None
    interventions: int
    progress: ProgressDocument
    turns: list[TurnDocument]


def document(turns: list[Turn], complexity: Complexity, continuation: "Continuation") -> SimulationDocument:
    """Return what is printed as JSON."""
    metrics = continuation.metrics
    return {
        "schema_version": SCHEMA_VERSION,
        "complexity": complexity,
        "limits": encode(continuation.limits),
        "context_window": continuation.thresholds.token_budgets.context_window,
        "context_tokens": continuation.context_tokens,
        "interventions": continuation.interventions,
        "progress": cast(
            "ProgressDocument", {name: getattr(metrics, name) for name in get_type_hints(ProgressDocument)}
        ),
        "turns": [_plain(*turn) for turn in turns],
    }


def _plain(verdict: "TurnVerdict", evaluation: tuple[bool, str] | None) -> TurnDocument:
    evaluated = None if evaluation is None else {"should_continue": evaluation[0], "reason": evaluation[1]}
    return {**encode(verdict), "message": verdict.message, "evaluation": evaluated}


def say_turn(turn: Turn) -> None:
    """Print a turn in one line, and the reasons against continuing below it."""
    verdict, evaluation = turn
    numbers = (f"{number:.2f}" for number in (verdict.score, *verdict.parts))
    say(" ".join(_cells((str(verdict.turn), *numbers, verdict.action))))
    for reason in verdict.reasons:
        say_wrapped(reason, indent=6)
    if evaluation is not None and not evaluation[0]:
        say_wrapped(f"the evaluator stops it: {evaluation[1]}", indent=6)


def _cells(cells: tuple[str, ...]) -> Iterator[str]:
    *numbers, action = cells
    for cell, name in zip(numbers, _HEAD, strict=False):
        yield cell.rjust(len(name))
    yield action


def _replay_turns(file: str, continuation: "Continuation", interval: int) -> Iterator[Turn]:
    """Yield the turns; a recording has no times, so the evaluator does not judge speed."""
    monitor = ProgressMonitor(SimpleProgressEvaluator(), lambda: 0.0, evaluation_interval=interval)
    with asyncio.Runner() as runner:
        for event in _events(file):
            monitor.fold(event)
            verdict = continuation.fold(event)
            if verdict is not None:
                yield Turn(verdict, runner.run(monitor.evaluate()) if monitor.due else None)


def _events(file: str) -> Iterator["Event"]:
    """Yield the events of a file of either kind. Raises InputError with the line."""
    if file == STANDARD_INPUT:
        yield from read_session(_lines(sys.stdin.buffer, "standard input"), "standard input")
        return
    if "\0" in file:
        raise InputError("a file cannot have a NUL in its name; name a file of events")
    try:
        with open_regular(Path(file)) as stream:
            yield from read_session(_lines(stream, file), file)
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror}); name a file of events") from None


def _lines(stream: IO[bytes], name: str) -> Iterator[str]:
    number = 0
    while line := stream.readline(_LONGEST + 1):
        number += 1
        if len(line) > _LONGEST:
            raise InputError(f"{name}, line {number}: longer than {_LONGEST} bytes; this is no file of events")
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"{name}, line {number}: not UTF-8 (byte {error.start}); fix or drop that line") from None
