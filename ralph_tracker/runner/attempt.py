"""Run the agent once: start it, follow its output, and classify how it ended."""

import os
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from threading import Event
from time import monotonic
from types import TracebackType
from typing import BinaryIO, Final, Literal, NamedTuple, Self

from ralph_tracker.agents.output.error_messages import next_time
from ralph_tracker.agents.output.run_output import RunOutputReader
from ralph_tracker.agents.output.run_report import Ending, RunReport
from ralph_tracker.errors import StoreError
from ralph_tracker.measure.process import FinishedCommand, Streams, run_command
from ralph_tracker.measure.secrets import mask_file, secret_values
from ralph_tracker.runner.agent_commands import PreparedCommand
from ralph_tracker.runner.shared_terminal import Screen
from ralph_tracker.safe_files import as_store_error
from ralph_tracker.store.layout import LoopPaths, iteration_name

FOLDER: Final = "agent"


class Stream(NamedTuple):
    """A log, and the callbacks for its new bytes."""

    path: Path
    feed: Sequence[Callable[[bytes], None]]


class Follower:
    """A follower that passes on what is added to files, at every look; they stay open, as an agent may remove them.

    If nothing is added for `silence_s` seconds (None: no limit), `ended` is set and `idle_s` is the time without
    output. `printed` is whether there ever was any.
    """

    def __init__(
        self,
        streams: Sequence[Stream],
        ended: Event,
        silence_s: float | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.printed = False
        self.idle_s: float | None = None
        self._streams, self._places = tuple(streams), [0] * len(streams)
        self._ended, self._silence_s, self._clock = ended, silence_s, clock
        self._heard = clock()
        self._files: list[BinaryIO] = []

    def __enter__(self) -> Self:
        for stream in self._streams:
            self._files.append(stream.path.open("rb", buffering=0))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self._files:
            file.close()

    def look(self) -> None:
        """Pass on what was added, and check the time without output."""
        if self._read_all():
            self._heard = self._clock()
        idle_s = self._clock() - self._heard
        if self._silence_s is not None and idle_s >= self._silence_s and not self._ended.is_set():
            self.idle_s = idle_s
            self._ended.set()

    def last_look(self) -> None:
        """Pass on the rest, to the last byte."""
        while self._read_all():
            pass

    def _read_all(self) -> bool:
        """Pass on a piece of each file that has grown, and return whether one has."""
        grown = False
        for index, stream in enumerate(self._streams):
            file = self._files[index]
            place = min(self._places[index], os.fstat(file.fileno()).st_size)  # it may be truncated
            file.seek(place)
            piece = file.read(1 << 16)
            self._places[index] = place + len(piece)
            if piece:
                grown = self.printed = True
                for feed in stream.feed:
                    feed(piece)
        return grown


class Logs(NamedTuple):
    """The files that keep the agent's output of one run; each is at most 50 MB."""

    out: Path
    err: Path


class AttemptLimits(NamedTuple):
    """The time limits of one run of the agent, in seconds; None is no limit."""

    timeout_s: float | None
    silence_s: float | None


class AgentRun(NamedTuple):
    """What is known of one run: how the command ended, its output, and its result.

    `idle_s` is set if we ended it after that many seconds without output. `printed` is whether there was output on
    either stream, `changed` whether the tree changed.
    """

    finished: FinishedCommand
    report: RunReport
    printed: bool
    changed: bool = False
    idle_s: float | None = None


def logs_of(paths: LoopPaths, iteration: int, tried: int) -> Logs:
    """Return where the output of a run is kept."""
    stem = paths.folder / FOLDER / f"{iteration_name(iteration)}-{tried}"
    return Logs(stem.with_suffix(".out"), stem.with_suffix(".err"))


def run_agent(
    prepared: PreparedCommand,
    cwd: Path,
    environment: Mapping[str, str],
    limits: AttemptLimits,
    logs: Logs,
    screen: Screen,
    status: Callable[[], str],
) -> AgentRun:
    """Run the agent to its end or to a limit; none of its process group is left afterwards.

    Whether it changed the tree is left to the caller. Raises StoreError if its output cannot be kept.
    """
    reader, stop = RunOutputReader(), Event()
    with as_store_error(logs.out, "the agent was not started"):
        logs.out.parent.mkdir(mode=0o700, exist_ok=True)
        for log in logs:
            log.touch(0o600)
            log.write_bytes(b"")
    follower = Follower(
        (Stream(logs.out, (reader.feed_stdout, screen.output)), Stream(logs.err, (reader.feed_stderr, screen.errors))),
        stop,
        limits.silence_s,
    )

    def look() -> None:
        follower.look()
        screen.status(status)

    streams = Streams(logs.out, logs.err, prepared.stdin, 50_000_000)
    with follower:
        try:
            finished = run_command(
                prepared.argv, streams, cwd=cwd, env=environment, timeout_s=limits.timeout_s, stop=stop, look=look
            )
        except OSError as error:
            raise StoreError(f"what the agent prints cannot be kept: {error}") from None
        follower.last_look()
    with as_store_error(logs.out):
        for log in logs:
            mask_file(log, secret_values(environment))
    report = reader.report(finished.exit_code)
    # Our own clock counts, because agents report the time in different ways or not at all.
    report = report._replace(usage=report.usage._replace(duration_s=round(finished.duration_s, 3)))
    return AgentRun(finished, report, follower.printed, idle_s=follower.idle_s)


def report_from_logs(logs: Logs) -> RunReport:
    """Return the report in the kept output of a run that was killed with us."""
    reader = RunOutputReader()
    for log, feed in zip(logs, (reader.feed_stdout, reader.feed_stderr), strict=True):
        if log.exists():
            with as_store_error(log), log.open("rb") as file:
                while piece := file.read(1 << 16):
                    feed(piece)
    return reader.report(None)


class AttemptVerdict(StrEnum):
    """How a run of the agent ended; the value is used in notes, logs and `status`."""

    DONE = "done"
    UNCHANGED = "changed nothing"
    SILENT = "printed nothing"
    CRASHED = "crashed"
    HUNG = "hung"
    RATE_LIMITED = "rate-limited"
    NEEDS_PERSON = "needs a person"
    OUT_OF_BUDGET = "at its own limit"
    NOT_STARTED = "not started"


class RetryLimits(NamedTuple):
    """Limits for further runs: how many after the first, the first pause (seconds), and the total wait for limits."""

    retries: int = 3
    pause_s: float = 10.0
    limits_s: float = 6 * 3600.0


class Step(NamedTuple):
    """What to do after a run.

    `measure` records the tree as the iteration, with the notes. `again` runs the agent again after `pause_s` seconds.
    `block` measures and reports that a person is needed.
    """

    do: Literal["measure", "again", "block"]
    why: str
    pause_s: float = 0.0


def verdict_of(ran: AgentRun) -> AttemptVerdict:
    """Return the first verdict that applies; causes outside of the agent come first."""
    return next(verdict for verdict, holds in _BY_RULE if holds(ran))


_BY_RULE: Final[tuple[tuple[AttemptVerdict, Callable[[AgentRun], bool]], ...]] = (
    (AttemptVerdict.NOT_STARTED, lambda ran: ran.finished.problem is not None),
    (AttemptVerdict.RATE_LIMITED, lambda ran: ran.report.ending is Ending.RATE_LIMITED),
    (AttemptVerdict.NEEDS_PERSON, lambda ran: ran.report.ending is Ending.NEEDS_PERSON),
    (AttemptVerdict.HUNG, lambda ran: ran.finished.timed_out or ran.idle_s is not None),
    (AttemptVerdict.OUT_OF_BUDGET, lambda ran: ran.report.ending is Ending.OUT_OF_BUDGET),
    (AttemptVerdict.CRASHED, lambda ran: not ran.finished.succeeded or ran.report.ending is Ending.FAILED),
    (AttemptVerdict.DONE, lambda ran: ran.changed),
    (AttemptVerdict.UNCHANGED, lambda ran: ran.printed),
    (AttemptVerdict.SILENT, lambda _: True),
)


def describe_run(verdict: AttemptVerdict, ran: AgentRun) -> str:
    """Return a few words on how a run ended."""
    how = f"silent for {ran.idle_s:.0f} s" if ran.idle_s is not None else ran.finished.summary
    if verdict is AttemptVerdict.SILENT:
        return f"printed nothing and changed nothing ({how})"
    said = f": {ran.report.why}" if ran.report.why else ""
    return f"{verdict}{said}" if verdict in _BY_ITS_WORD else f"{verdict}{said} ({how})"


_BY_ITS_WORD: Final = frozenset(
    {AttemptVerdict.DONE, AttemptVerdict.UNCHANGED, AttemptVerdict.OUT_OF_BUDGET, AttemptVerdict.NEEDS_PERSON}
)


_ENDED_WELL: Final = frozenset({AttemptVerdict.DONE, AttemptVerdict.UNCHANGED, AttemptVerdict.OUT_OF_BUDGET})
_LOST: Final = frozenset({AttemptVerdict.CRASHED, AttemptVerdict.SILENT, AttemptVerdict.NOT_STARTED})


def session_after(verdict: AttemptVerdict, before: str | None, reported: str | None) -> str | None:
    """Return the client's session that the next run may continue, None for a new one.

    It is the one of a run that ended well. After a run that crashed, never started or said nothing it is a new one,
    since the session may be the cause; after any other it is the one before.
    """
    if verdict in _ENDED_WELL:
        return reported
    return None if verdict in _LOST else before


def step_after(
    verdict: AttemptVerdict, ran: AgentRun, tried: int, waited_s: float, patience: RetryLimits, now: float
) -> Step:
    """Return what to do after run number `tried` (from 1) of an iteration; `now` is epoch seconds.

    If the tree changed, it is measured, however the run ended. If nothing changed and the agent did not decide so, the
    run is repeated after a pause that doubles. A provider's limit is waited for as long as the provider says, but in
    total (`waited_s` so far) no longer than `patience` allows.
    """
    why = describe_run(verdict, ran)
    if verdict in {AttemptVerdict.NEEDS_PERSON, AttemptVerdict.NOT_STARTED}:
        return Step("block", why)
    if verdict is AttemptVerdict.RATE_LIMITED:
        at = ran.report.retry_at or next_time(ran.report.why or "", now)
        if at is not None:
            pause = max(at - now, 0.0) + 1.0
        elif ran.report.retry_after_s is not None:
            pause = ran.report.retry_after_s
        else:
            # How many times longer to wait for a provider's limit than after a failed agent.
            pause = min(6 * patience.pause_s * 2.0 ** (tried - 1), 1800.0)
        if waited_s + pause > patience.limits_s:
            return Step("block", f"{why}; waited {waited_s / 60:.0f} minutes, {pause / 60:.0f} more are asked for")
        return Step("again", why, pause)
    if ran.changed or verdict in _ENDED_WELL:
        return Step("measure", why)
    if tried <= patience.retries:
        return Step("again", why, min(patience.pause_s * 2.0 ** (tried - 1), 600.0))
    return Step("block", f"{why}, {tried} times in a row" if tried > 1 else why)
