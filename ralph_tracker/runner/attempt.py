"""One run of the agent: start it, follow it, and say what became of it."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Event
from typing import Final, NamedTuple

from ralph_tracker.agents.claude_code.presence import DRIVEN
from ralph_tracker.agents.output import Listener, Told
from ralph_tracker.errors import StoreError
from ralph_tracker.measure.process import Finished, Streams, run_command
from ralph_tracker.runner.command import Prepared
from ralph_tracker.runner.following import Follower, Stream
from ralph_tracker.runner.screen import Screen
from ralph_tracker.store.files import told_plainly
from ralph_tracker.store.layout import LoopPaths, iteration_name

FOLDER: Final = "agent"
_CAP: Final = 50_000_000


class Logs(NamedTuple):
    """Name the files that keep what the agent printed in one run; each is at most 50 MB."""

    out: Path
    err: Path


class Limits(NamedTuple):
    """Bound one run of the agent, in seconds; None is no limit."""

    timeout_s: float | None
    silence_s: float | None


class Heard(NamedTuple):
    """Hold how a run ended and what its output told; `silent_s` as of the follower."""

    finished: Finished
    told: Told
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
) -> Heard:
    """Run the agent to its end, or to a limit; nothing of its group is left then.

    Raises StoreError where its output cannot be kept.
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
    return Heard(finished, _with_time(listener.told(finished.exit_code), finished), follower.printed, follower.silent_s)


def told_by(logs: Logs) -> Told:
    """Return what the kept output of a run tells whose end nobody saw."""
    listener = Listener()
    for log, hear in zip(logs, (listener.hear, listener.hear_error), strict=True):
        if log.exists():
            with told_plainly(log), log.open("rb") as file:
                while piece := file.read(1 << 16):
                    hear(piece)
    return listener.told(None)


def _with_time(told: Told, finished: Finished) -> Told:
    """Take the time by our own clock: agents tell it in different ways, or not at all."""
    return told._replace(usage=told.usage._replace(duration_s=round(finished.duration_s, 3)))


def is_startable(command: str, cwd: Path, environment: Mapping[str, str]) -> bool:
    """Tell whether there is such a command, as the system would look for it."""
    import shutil  # noqa: PLC0415  # once a run

    if os.sep in command:
        return os.access(cwd / command, os.X_OK)
    return shutil.which(command, path=environment.get("PATH")) is not None
