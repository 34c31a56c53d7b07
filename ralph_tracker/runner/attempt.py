"""One run of the agent: start it, follow it, and say what became of it."""

import os
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Final, Literal, NamedTuple

from ralph_tracker.agents.claude_code.presence import DRIVEN
from ralph_tracker.agents.output import Ending, Listener, RunReport
from ralph_tracker.errors import InputError, StoreError
from ralph_tracker.measure.process import Finished, Streams, run_command
from ralph_tracker.runner.screen import Screen
from ralph_tracker.store.files import told_plainly
from ralph_tracker.store.layout import LoopPaths, iteration_name

PROMPT: Final = "{prompt}"
PROMPT_FILE: Final = "{prompt_file}"
# Linux takes no longer argument: 32 pages with the byte that ends it.
_LONGEST_ARGUMENT: Final = 131_071
_AT_ONCE: Final = 1 << 16
FOLDER: Final = "agent"
_CAP: Final = 50_000_000
# A provider's limit lasts longer than what made an agent fail.
_LIMIT_TIMES: Final = 6
_LONGEST_PAUSE_S: Final = 600.0
_LONGEST_WAIT_S: Final = 1800.0


class Prepared(NamedTuple):
    """What is started: `argv`, and the file that is its standard input, None for an empty one."""

    argv: tuple[str, ...]
    stdin: Path | None


def prepared(command: Sequence[str], prompt: str, prompt_file: Path) -> Prepared:
    """Put the prompt where the command wants it; `prompt_file` holds the same text.

    `{prompt}` becomes the text and `{prompt_file}` the absolute path, also inside a word. A command with neither gets
    the prompt on its standard input. Raises InputError for a text that is too long for an argument, or has a NUL.
    """
    placed = [word for word in command if PROMPT in word or PROMPT_FILE in word]
    if not placed:
        return Prepared(tuple(command), prompt_file)
    if any(PROMPT in word for word in placed):
        _refuse_unfit(prompt)
    # The path first: a prompt may speak of placeholders, a path of ours does not.
    argv = (word.replace(PROMPT_FILE, str(prompt_file)).replace(PROMPT, prompt) for word in command)
    return Prepared(tuple(argv), None)


def _refuse_unfit(prompt: str) -> None:
    if "\0" in prompt:
        raise InputError(f"the prompt holds a NUL and cannot be an argument; use {PROMPT_FILE} or standard input")
    size = len(prompt.encode("utf-8", "surrogateescape"))
    if size > _LONGEST_ARGUMENT:
        raise InputError(
            f"the prompt has {size:,} bytes, more than an argument can have ({_LONGEST_ARGUMENT:,}); "
            f"use {PROMPT_FILE}, or leave {PROMPT} out and it comes on standard input"
        )


class Stream(NamedTuple):
    """Name a file that grows, and who hears of every piece of it, in order."""

    path: Path
    hear: Sequence[Callable[[bytes], None]]


class Follower:
    """Hand on what is added to files, at every look.

    Where nothing was added for `silence_s` seconds (None: no limit), `ended` is set and `silent_s` says how long it
    was. `printed` tells whether anything ever came.
    """

    def __init__(
        self,
        streams: Sequence[Stream],
        ended: Event,
        silence_s: float | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.printed = False
        self.silent_s: float | None = None
        self._streams, self._places = tuple(streams), [0] * len(streams)
        self._ended, self._silence_s, self._clock = ended, silence_s, clock
        self._heard = clock()

    def look(self) -> None:
        """Hand on what is there by now, and judge the silence."""
        if self._read_all():
            self._heard = self._clock()
        silent_s = self._clock() - self._heard
        if self._silence_s is not None and silent_s >= self._silence_s and not self._ended.is_set():
            self.silent_s = silent_s
            self._ended.set()

    def last_look(self) -> None:
        """Hand on the rest, to the last byte."""
        while self._read_all():
            pass

    def _read_all(self) -> bool:
        grown = [self._read(index, stream) for index, stream in enumerate(self._streams)]
        return any(grown)

    def _read(self, index: int, stream: Stream) -> bool:
        with stream.path.open("rb", buffering=0) as file:
            place = min(self._places[index], os.fstat(file.fileno()).st_size)  # it may have been cut to its cap
            file.seek(place)
            piece = file.read(_AT_ONCE)
        self._places[index] = place + len(piece)
        if piece:
            self.printed = True
            for hear in stream.hear:
                hear(piece)
        return bool(piece)


class Logs(NamedTuple):
    """Name the files that keep what the agent printed in one run; each is at most 50 MB."""

    out: Path
    err: Path


class Limits(NamedTuple):
    """Bound one run of the agent, in seconds; None is no limit."""

    timeout_s: float | None
    silence_s: float | None


class AttemptResult(NamedTuple):
    """How a run ended and what its output told; `silent_s` as of the follower."""

    finished: Finished
    told: RunReport
    printed: bool
    silent_s: float | None


def logs_of(paths: LoopPaths, iteration: int, tried: int) -> Logs:
    """Return where the output of a run is kept."""
    stem = paths.folder / FOLDER / f"{iteration_name(iteration)}-{tried}"
    return Logs(stem.with_suffix(".out"), stem.with_suffix(".err"))


def environment_of(base: Mapping[str, str], loop_id: str, iteration: int, tried: int) -> dict[str, str]:
    """Return the agent's environment: the user's, and what it works on; it says that the loop is driven already."""
    own = {"RALPH_LOOP_ID": loop_id, "RALPH_ITERATION": str(iteration), "RALPH_ATTEMPT": str(tried), DRIVEN: "1"}
    return {**base, **own}


def run_agent(
    prepared: Prepared,
    cwd: Path,
    environment: Mapping[str, str],
    limits: Limits,
    logs: Logs,
    screen: Screen,
    status: Callable[[], str],
) -> AttemptResult:
    """Run the agent to its end, or to a limit; nothing of its group is left then.

    Raises StoreError if its output cannot be kept.
    """
    listener, stop = Listener(), Event()
    with told_plainly(logs.out, "the agent was not started"):
        logs.out.parent.mkdir(exist_ok=True)
        for log in logs:
            log.write_bytes(b"")
    follower = Follower(
        (Stream(logs.out, (listener.hear, screen.output)), Stream(logs.err, (listener.hear_error, screen.errors))),
        stop,
        limits.silence_s,
    )

    def look() -> None:
        follower.look()
        screen.status(status)

    streams = Streams(logs.out, logs.err, prepared.stdin, _CAP)
    try:
        finished = run_command(
            prepared.argv, streams, cwd=cwd, env=environment, timeout_s=limits.timeout_s, stop=stop, look=look
        )
    except OSError as error:
        raise StoreError(f"what the agent prints cannot be kept: {error}") from None
    follower.last_look()
    return AttemptResult(
        finished, _with_time(listener.told(finished.exit_code), finished), follower.printed, follower.silent_s
    )


def told_by(logs: Logs) -> RunReport:
    """Return what the kept output of a run tells whose end nobody saw."""
    listener = Listener()
    for log, hear in zip(logs, (listener.hear, listener.hear_error), strict=True):
        if log.exists():
            with told_plainly(log), log.open("rb") as file:
                while piece := file.read(1 << 16):
                    hear(piece)
    return listener.told(None)


def _with_time(told: RunReport, finished: Finished) -> RunReport:
    """Take the time by our own clock: agents tell it in different ways, or not at all."""
    return told._replace(usage=told.usage._replace(duration_s=round(finished.duration_s, 3)))


def is_startable(command: str, cwd: Path, environment: Mapping[str, str]) -> bool:
    """Return whether there is such a command, as the system would look for it."""
    import shutil  # noqa: PLC0415  # once a run

    if os.sep in command:
        return os.access(cwd / command, os.X_OK)
    return shutil.which(command, path=environment.get("PATH")) is not None


class Verdict(StrEnum):
    """Name how a run of the agent ended; the word stands in notes, logs and `status`."""

    DONE = "done"
    UNCHANGED = "changed nothing"
    SILENT = "printed nothing"
    CRASHED = "crashed"
    HUNG = "hung"
    RATE_LIMITED = "rate-limited"
    NEEDS_PERSON = "needs a person"
    OUT_OF_BUDGET = "at its own limit"
    NOT_STARTED = "not started"


class AgentRun(NamedTuple):
    """What is known of one run: how the command ended, what its output told, and what came of it.

    `silent_s` is set where we ended it because it had been silent for so many seconds. `printed` tells of anything on
    either stream, `changed` of the tree.
    """

    finished: Finished
    told: RunReport
    printed: bool
    changed: bool
    silent_s: float | None = None


class RetryLimits(NamedTuple):
    """Bound the runs again: how many after the first, the first pause (seconds), and all waiting for a limit."""

    retries: int = 3
    pause_s: float = 10.0
    limits_s: float = 6 * 3600.0


class Step(NamedTuple):
    """What to do after a run.

    `measure` takes the tree as the iteration, with the notes. `again` runs the agent once more after `pause_s`
    seconds. `block` measures and says that a person is needed.
    """

    do: Literal["measure", "again", "block"]
    why: str
    pause_s: float = 0.0


def verdict_of(ran: AgentRun) -> Verdict:
    """Name how a run ended: the first that holds, what the agent cannot help before what it did."""
    return next(verdict for verdict, holds in _BY_RULE if holds(ran))


_BY_RULE: Final[tuple[tuple[Verdict, Callable[[AgentRun], bool]], ...]] = (
    (Verdict.NOT_STARTED, lambda ran: ran.finished.problem is not None),
    (Verdict.RATE_LIMITED, lambda ran: ran.told.ending is Ending.RATE_LIMITED),
    (Verdict.NEEDS_PERSON, lambda ran: ran.told.ending is Ending.NEEDS_PERSON),
    (Verdict.HUNG, lambda ran: ran.finished.timed_out or ran.silent_s is not None),
    (Verdict.OUT_OF_BUDGET, lambda ran: ran.told.ending is Ending.OUT_OF_BUDGET),
    (Verdict.CRASHED, lambda ran: not ran.finished.succeeded or ran.told.ending is Ending.FAILED),
    (Verdict.DONE, lambda ran: ran.changed),
    (Verdict.UNCHANGED, lambda ran: ran.printed),
    (Verdict.SILENT, lambda _: True),
)


def described(verdict: Verdict, ran: AgentRun) -> str:
    """Say in a few words what became of a run."""
    how = f"silent for {ran.silent_s:.0f} s" if ran.silent_s is not None else ran.finished.summary
    if verdict is Verdict.SILENT:
        return f"printed nothing and changed nothing ({how})"
    said = f": {ran.told.why}" if ran.told.why else ""
    return f"{verdict}{said}" if verdict in _BY_ITS_WORD else f"{verdict}{said} ({how})"


_BY_ITS_WORD: Final = frozenset({Verdict.DONE, Verdict.UNCHANGED, Verdict.OUT_OF_BUDGET, Verdict.NEEDS_PERSON})


def step_after(verdict: Verdict, ran: AgentRun, tried: int, waited_s: float, patience: RetryLimits, now: float) -> Step:
    """Return what to do after the run number `tried` of an iteration, the first is 1; `now` is epoch seconds.

    What changed the tree is work and is measured, however it ended. What changed nothing is worth another try, where
    it was no decision of the agent's: with pauses that double. A limit of the provider's is waited for, as long as it
    says, in all (`waited_s` so far) no longer than the patience.
    """
    why = described(verdict, ran)
    if verdict in {Verdict.NEEDS_PERSON, Verdict.NOT_STARTED}:
        return Step("block", why)
    if verdict is Verdict.RATE_LIMITED:
        pause = _wait_for_limit(ran.told, tried, patience, now)
        if waited_s + pause > patience.limits_s:
            return Step("block", f"{why}; waited {waited_s / 60:.0f} minutes, {pause / 60:.0f} more are asked for")
        return Step("again", why, pause)
    if ran.changed or verdict in {Verdict.UNCHANGED, Verdict.OUT_OF_BUDGET, Verdict.DONE}:
        return Step("measure", why)
    if tried <= patience.retries:
        return Step("again", why, min(patience.pause_s * 2.0 ** (tried - 1), _LONGEST_PAUSE_S))
    return Step("block", f"{why}, {tried} times in a row" if tried > 1 else why)


def _wait_for_limit(told: RunReport, tried: int, patience: RetryLimits, now: float) -> float:
    if told.retry_at is not None:
        return max(told.retry_at - now, 0.0) + 1.0
    if told.retry_after_s is not None:
        return told.retry_after_s
    return min(_LIMIT_TIMES * patience.pause_s * 2.0 ** (tried - 1), _LONGEST_WAIT_S)
