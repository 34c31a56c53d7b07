"""Run one command in its own session, with its output in files, and end its whole process group afterwards.

Output goes into files instead of pipes: a command that exits abruptly (Node's `process.exit`) loses pipe output beyond
64 KB, but not file output, and nothing passes through our memory. A process that starts its own session cannot be
tracked: it is neither waited for nor ended.
"""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event, active_count
from types import TracebackType
from typing import Final, NamedTuple, Self

SHELL: Final = "/bin/sh"
# The first line names the group; an empty one means there is none. A second line means that the group is done. End of
# file instead of it means that we died, so the group is ended.
_SCRIPT: Final = """
read -r group && [ "$group" ] || exit 0
read -r _ && exit
kill -TERM "-$group" || exit
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do kill -0 "-$group" || exit; sleep 0.1; done
kill -KILL "-$group"
"""
OUTPUT_CAP: Final = 200_000_000
_TICK_S: Final = 0.05
_KILLED_S: Final = 0.25


class Watcher:
    """Ends one process group if we die while the body runs; does nothing without a shell.

    The group also ends if the body raises. The watcher starts before the group, so that the group is hardly ever
    unwatched. Only this process holds the other end of the watcher's standard input, which therefore closes when we
    end, even by SIGKILL. The watcher has its own session, so that it survives the end of our group.
    """

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        with suppress(OSError):
            self.process = subprocess.Popen(  # noqa: S603  # a script of our own
                [SHELL, "-c", _SCRIPT],
                cwd="/",
                env={"PATH": os.defpath},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        return self

    def watch(self, group: int) -> None:
        """Watch that group from now on."""
        if self.process is not None and self.process.stdin is not None:
            with suppress(BrokenPipeError):
                os.write(self.process.stdin.fileno(), b"%d\n" % group)

    def watch_me(self) -> None:
        """Have the group of the calling process watched; called by a child of ours that leads its group.

        The child also holds the watcher's standard input until its program starts, so that we cannot be killed
        unnoticed in between.
        """
        self.watch(os.getpid())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process is None:
            return
        # Two lines, because the first is the group if none was named. After an exception the start of the group may be
        # incomplete, so the watcher ends whatever exists of it.
        with suppress(BrokenPipeError):
            self.process.communicate(b"\n\n" if error is None else None)


class FinishedCommand(NamedTuple):
    """How a command ended.

    Either `exit_code` or `signal` (its name, "SIGKILL") is set; neither if it could not be started or not be ended.
    `problem` says why it did not run, else None; `not_found` if there is no such command. `timed_out` may be set with
    the exit code or signal that followed. A truncated stream holds its first bytes up to the cap, and a note.
    """

    exit_code: int | None = None
    signal: str | None = None
    timed_out: bool = False
    not_found: bool = False
    problem: str | None = None
    duration_s: float = 0.0
    stdout_truncated: bool = False
    stderr_truncated: bool = False

    @property
    def succeeded(self) -> bool:
        """Return whether it ran to its end and exited with 0."""
        return self.exit_code == 0 and not self.timed_out

    @property
    def summary(self) -> str:
        """Return in a few words how it ended."""
        if self.timed_out:
            return f"ended at its time limit after {self.duration_s:.1f} s"
        if self.problem is not None:
            return self.problem
        how = f"exit {self.exit_code}" if self.signal is None else f"killed by {self.signal}"
        return f"{how} after {self.duration_s:.1f} s"


class Streams(NamedTuple):
    """The files for a command's streams; `stdin` None is empty input, `cap` is bytes per output."""

    stdout: Path
    stderr: Path
    stdin: Path | None = None
    cap: int = OUTPUT_CAP


def run_command(
    run: str | Sequence[str],
    streams: Streams,
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout_s: float | None,
    stop: Event | None = None,
    look: Callable[[], None] | None = None,
) -> FinishedCommand:
    """Run a command to its end, or to the limit, and end the processes that it left.

    A string goes through /bin/sh, a list is argv. `env` is the whole environment. The whole process group gets SIGTERM:
    at the limit (seconds, None: no limit), when `stop` is set, on any exception (Ctrl-C), and after the command's own
    end. SIGKILL follows 2 seconds later, or half a second after the end of the command itself. If we are killed, a
    watcher does the same; if no other thread runs here, the group is watched from its first instant. `look` is called
    from time to time while the command runs, when an output may briefly exceed the cap. Raises OSError if a stream's
    file cannot be opened, nothing for a command that cannot be started.
    """
    argv = [SHELL, "-c", run] if isinstance(run, str) else list(run)
    started, alone = time.monotonic(), active_count() == 1
    with (
        Watcher() as watcher,
        Path(streams.stdin or os.devnull).open("rb") as given,
        _Output(streams.stdout, streams.cap) as out,
        _Output(streams.stderr, streams.cap) as err,
    ):
        try:
            process = subprocess.Popen(  # noqa: S603  # running the project's own commands is the purpose
                argv,
                cwd=cwd,
                env=dict(env),
                stdin=given,
                stdout=out.descriptor,
                stderr=err.descriptor,
                start_new_session=True,
                preexec_fn=watcher.watch_me if alone else None,  # noqa: PLW1509  # only if no other thread could hold a lock
            )
        except (OSError, ValueError) as error:
            return _not_started(error, argv, cwd)
        if not alone:
            watcher.watch(process.pid)
        timed_out = _wait(process, (out, err), None if timeout_s is None else started + timeout_s, stop, look)
        duration = time.monotonic() - started
    code = process.returncode
    missed = isinstance(run, str) and code == 127 and not timed_out
    return FinishedCommand(
        exit_code=None if code is None or code < 0 else code,
        signal=None if code is None or code >= 0 else _signal_name(-code),
        timed_out=timed_out,
        not_found=missed,
        problem=f"command not found (exit {code} of {SHELL})" if missed else None,
        duration_s=duration,
        stdout_truncated=out.truncated,
        stderr_truncated=err.truncated,
    )


class _Output:
    """The file of one stream: the command appends to it, and it is cut whenever it exceeds the cap."""

    def __init__(self, path: Path, cap: int) -> None:
        # Without O_APPEND a writer would go on at its old offset after a cut, leaving a hole.
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC
        self.descriptor = os.open(path, flags, 0o600)
        self.truncated = False
        self._cap = cap

    def cut(self) -> None:
        """Cut the file to the cap if it is longer."""
        if os.fstat(self.descriptor).st_size > self._cap:
            os.ftruncate(self.descriptor, self._cap)
            self.truncated = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.cut()
            if self.truncated:
                os.write(self.descriptor, f"\n[ralph-tracker: cut here, after {self._cap} bytes]\n".encode())
        finally:
            os.close(self.descriptor)


def _not_started(error: Exception, argv: Sequence[str], cwd: Path) -> FinishedCommand:
    """Return the end of a command that could not be started, with the reason."""
    if not cwd.is_dir():
        return FinishedCommand(problem=f"no such folder: {cwd}")
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return FinishedCommand(not_found=True, problem=f"command not found: {argv[0]}")
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return FinishedCommand(problem=f"cannot be started: {argv[0]}: {reason}")


def _wait(
    process: subprocess.Popen[bytes],
    outputs: Sequence[_Output],
    deadline: float | None,
    stop: Event | None,
    look: Callable[[], None] | None,
) -> bool:
    """Wait for the command and end its group; return whether the limit was reached."""
    timed_out = stopped = False
    try:
        while not (timed_out or stopped):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_TICK_S)
                break
            for output in outputs:
                output.cut()
            if look is not None:
                look()
            timed_out = deadline is not None and time.monotonic() >= deadline
            stopped = stop is not None and stop.is_set()
    finally:
        _end_group(process, outputs)
    return timed_out


def _end_group(process: subprocess.Popen[bytes], outputs: Sequence[_Output]) -> None:
    """Ask the group to end, wait a little, then kill it; a second Ctrl-C kills at once.

    The leader may be reaped already. Its number is not reused while a member of its group lives, and process numbers do
    not wrap around between the last member's end and our check.
    """
    try:
        if _signal_group(process, signal.SIGTERM):
            _await_empty(process, outputs, 2.0, 0.5)
    finally:
        if _signal_group(process, signal.SIGKILL):
            _await_empty(process, outputs, _KILLED_S, _KILLED_S)
        # Only what we may not kill takes longer: another user's program, or one stuck in the kernel.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10.0)


def _await_empty(
    process: subprocess.Popen[bytes], outputs: Sequence[_Output], leader_s: float, others_s: float
) -> None:
    """Wait until the group is empty, at most `leader_s`, and at most `others_s` after the leader's end.

    The others are not our children: if nobody reaps them, as in a container without an init, they seem to stay for
    ever.
    """
    deadline = time.monotonic() + leader_s
    leader_lives = True
    while time.monotonic() < deadline:
        if leader_lives and process.poll() is not None:
            leader_lives = False
            deadline = min(deadline, time.monotonic() + others_s)
        if not _signal_group(process, 0):
            return
        for output in outputs:
            output.cut()
        time.sleep(_TICK_S / 5)


def _signal_group(process: subprocess.Popen[bytes], number: int) -> bool:
    """Send a signal to the group; return False if nobody is left to get it (macOS says EPERM for zombies)."""
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
