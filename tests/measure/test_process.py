"""One command: how it ends, what is kept of its output, and that nothing of its group is left."""

import contextlib
import fcntl
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ralph_tracker.measure.process import FinishedCommand, Streams, run_command

pytestmark = pytest.mark.slow

PYTHON = [sys.executable, "-I", "-S", "-c"]
PATIENCE_S = 20
CAP = 100_000

# Holds a lock for as long as it lives; `ignore` makes it deaf to SIGTERM.
HOLDER = """
import fcntl, os, signal, sys, time
path, manner = sys.argv[1:3]
if manner == "ignore":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if manner == "escape":
    os.setsid()
file = open(path, "w")
fcntl.flock(file, fcntl.LOCK_EX)
open(path + ".ready", "w").close()
while os.path.exists(os.path.dirname(path)) and not os.path.exists(path + ".go"):
    time.sleep(0.01)
"""
# Starts a holder, holds a lock of its own, and ends only if told to by a third argument.
PARENT = f"""
import os, subprocess, sys, time
path, manner, *leave = sys.argv[1:]
holder = {HOLDER!r}
child = subprocess.Popen([sys.executable, "-I", "-S", "-c", holder, path + ".child", manner])
while not os.path.exists(path + ".child.ready"):
    time.sleep(0.01)
if leave:
    os._exit(int(leave[0]))
exec(holder)
"""


@pytest.fixture
def run(tmp_path) -> Callable[..., FinishedCommand]:
    def run(command, **options) -> FinishedCommand:
        settings = {"cwd": tmp_path, "env": dict(os.environ), "timeout_s": PATIENCE_S} | options
        given = {name: settings.pop(name) for name in ("stdin", "cap") if name in settings}
        return run_command(command, Streams(tmp_path / "out", tmp_path / "err", **given), **settings)

    return run


def is_held(path: Path) -> bool:
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def wait_for(path: Path) -> None:
    end = time.monotonic() + PATIENCE_S
    while not path.exists():
        assert time.monotonic() < end, f"{path.name} never came"
        time.sleep(0.01)


@contextlib.contextmanager
def interrupted_once(ready: Path) -> Iterator[None]:
    """Press Ctrl-C when a file is there."""

    def press() -> None:
        wait_for(ready)
        os.kill(os.getpid(), signal.SIGINT)

    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=press)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        thread.join()
        signal.signal(signal.SIGINT, old)


class TestEnd:
    @pytest.mark.parametrize("code", [0, 1, 3, 126, 255])
    def test_exit_code(self, run, code):
        """The exit code is kept as it is; only 0 is success."""
        finished = run(["/bin/sh", "-c", f"exit {code}"])

        assert (finished.exit_code, finished.signal, finished.problem) == (code, None, None)
        assert finished.succeeded == (code == 0)
        assert finished.summary.startswith(f"exit {code} after 0.")

    def test_signal(self, run):
        """A signal is named and leaves no exit code."""
        finished = run("kill -9 $$")

        assert (finished.exit_code, finished.signal, finished.succeeded) == (None, "SIGKILL", False)
        assert finished.summary.startswith("killed by SIGKILL after")

    @pytest.mark.skipif(not hasattr(signal, "SIGRTMIN"), reason="no real-time signals here")
    def test_signal_without_a_name(self, run):
        """A signal that has no name has its number."""
        number = signal.SIGRTMIN + 3

        finished = run([*PYTHON, f"import os; os.kill(os.getpid(), {number})"])

        assert finished.signal == f"signal {number}"

    def test_duration(self, run):
        """The duration covers the whole run."""
        assert run("sleep 0.2").duration_s >= 0.2


class TestStart:
    def test_string_goes_through_the_shell(self, run, tmp_path):
        """A string may hold pipes, variables and quotes."""
        run("printf '%s\\n' \"$A b\" | tr a-z A-Z", env={"PATH": os.defpath, "A": "x"})

        assert (tmp_path / "out").read_text() == "X B\n"

    def test_list_is_argv(self, run, tmp_path):
        """Nothing in a list is read by a shell."""
        run([*PYTHON, "import sys; print(sys.argv[1:])", "$HOME | *", "a b"])

        assert (tmp_path / "out").read_text() == "['$HOME | *', 'a b']\n"

    def test_environment_is_what_is_given(self, run, tmp_path):
        """Nothing of our own environment gets through by itself."""
        run(["/usr/bin/env"], env={"ONE": "1"})

        assert (tmp_path / "out").read_text() == "ONE=1\n"

    def test_command_is_looked_up_in_the_given_path(self, run, tmp_path):
        """PATH is the one of the check, not ours."""
        tool = tmp_path / "bin" / "some-tool"
        tool.parent.mkdir()
        tool.write_text("#!/bin/sh\nexit 7\n")
        tool.chmod(0o755)

        assert run(["some-tool"], env={"PATH": str(tool.parent)}).exit_code == 7
        assert run(["some-tool"], env={"PATH": os.defpath}).not_found

    def test_folder(self, run, tmp_path):
        """A command runs in its folder, and a relative command is found there."""
        (tmp_path / "sub").mkdir()
        tool = tmp_path / "sub" / "tool"
        tool.write_text("#!/bin/sh\npwd\n")
        tool.chmod(0o755)

        finished = run(["./tool"], cwd=tmp_path / "sub")

        assert finished.succeeded
        assert Path((tmp_path / "out").read_text().strip()).samefile(tmp_path / "sub")

    def test_standard_input_is_empty(self, run, tmp_path):
        """A command that asks gets the end of the file and does not wait."""
        assert run("cat; echo end").succeeded
        assert (tmp_path / "out").read_text() == "end\n"

    def test_own_session(self, run, tmp_path):
        """A command has a session of its own: Ctrl-C on our terminal is ours to handle."""
        run([*PYTHON, "import os; print(os.getsid(0) == os.getpid())"])

        assert (tmp_path / "out").read_text() == "True\n"


class TestNotStarted:
    @pytest.mark.parametrize("command", [["no-such-tool-here", "-x"], ["./no/such"], ["/bin/sh/x"]])
    def test_list(self, run, command):
        """A command that is not there is a value that names it."""
        finished = run(command)

        assert finished.not_found
        assert finished.problem == finished.summary == f"command not found: {command[0]}"
        assert (finished.exit_code, finished.signal, finished.succeeded) == (None, None, False)

    def test_string(self, run, tmp_path):
        """In a string it is the shell that says so, with exit 127 and its own words."""
        finished = run("no-such-tool-here -x")

        assert (finished.not_found, finished.exit_code) == (True, 127)
        assert finished.problem == "command not found (exit 127 of /bin/sh)"
        assert "no-such-tool-here" in (tmp_path / "err").read_text()

    def test_exit_127_of_a_list_is_its_own(self, run):
        """A program that exits with 127 was found."""
        finished = run(["/bin/sh", "-c", "exit 127"])

        assert (finished.not_found, finished.problem, finished.exit_code) == (False, None, 127)

    def test_not_executable(self, run, tmp_path):
        """A file that may not be run is there, and says why not."""
        (tmp_path / "tool").write_text("")

        finished = run(["./tool"])

        assert not finished.not_found
        assert finished.problem == "cannot be started: ./tool: Permission denied"

    def test_no_folder(self, run, tmp_path):
        """A folder that is gone is not taken for a missing command."""
        finished = run(["/bin/sh"], cwd=tmp_path / "gone")

        assert not finished.not_found
        assert finished.problem == f"no such folder: {tmp_path / 'gone'}"

    def test_impossible_argument(self, run):
        """What the system cannot take as an argument is a value too."""
        finished = run(["/bin/echo", "a\0b"])

        assert finished.problem == "cannot be started: /bin/echo: embedded null byte"

    def test_output_that_cannot_be_written(self, tmp_path):
        """Where output cannot be kept nothing is run."""
        with pytest.raises(FileNotFoundError):
            run_command(
                "touch ran", Streams(tmp_path / "no" / "out", tmp_path / "e"), cwd=tmp_path, env={}, timeout_s=None
            )
        assert not (tmp_path / "ran").exists()


class TestOutput:
    def test_streams_are_kept_apart(self, run, tmp_path):
        """Both streams are kept, byte for byte, whatever bytes they are."""
        run([*PYTHON, r"import os; os.write(1, b'\xff\x00\xfe\r\n'); os.write(2, b'\x80')"])

        assert (tmp_path / "out").read_bytes() == b"\xff\x00\xfe\r\n"
        assert (tmp_path / "err").read_bytes() == b"\x80"

    def test_old_output_is_replaced(self, run, tmp_path):
        """Nothing of an earlier run stays in the files."""
        (tmp_path / "out").write_text("old and longer")

        run("echo new")

        assert (tmp_path / "out").read_text() == "new\n"

    def test_much_output_fills_neither_memory_nor_disk(self, run, tmp_path):
        """50 MB are cut to the cap, with a note, and never pass through our memory."""
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        finished = run("echo first; head -c 50000000 /dev/zero; echo small >&2", cap=CAP)

        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert grown * (1 if sys.platform == "darwin" else 1024) < 20_000_000
        assert (finished.stdout_truncated, finished.stderr_truncated) == (True, False)
        kept = (tmp_path / "out").read_bytes()
        assert kept[:8] == b"first\n\0\0"
        assert kept[CAP:] == f"\n[ralph-tracker: cut here, after {CAP} bytes]\n".encode()
        assert (tmp_path / "err").read_text() == "small\n"

    def test_output_is_cut_while_the_command_runs(self, run):
        """A command that prints for hours cannot fill the disk in the meantime."""
        script = f"""
import os, sys, time
end = time.monotonic() + {PATIENCE_S}
os.write(1, b"x" * {3 * CAP})
while os.fstat(1).st_size > {CAP}:
    if time.monotonic() > end:
        sys.exit(1)
    time.sleep(0.01)
"""
        finished = run([*PYTHON, script], cap=CAP)

        assert (finished.exit_code, finished.stdout_truncated) == (0, True)

    def test_output_up_to_the_cap_is_whole(self, run, tmp_path):
        """Exactly as much as the cap is not too much."""
        finished = run(f"head -c {CAP} /dev/zero", cap=CAP)

        assert not finished.stdout_truncated
        assert not finished.stderr_truncated
        assert (tmp_path / "out").stat().st_size == CAP


class TestNothingIsLeft:
    def test_limit_ends_a_tree_that_ignores_sigterm(self, run, tmp_path):
        """At the limit the whole group goes, also those that do not want to."""
        finished = run([*PYTHON, PARENT, str(tmp_path / "lock"), "ignore"], timeout_s=2)

        assert (finished.timed_out, finished.signal, finished.succeeded) == (True, "SIGKILL", False)
        assert finished.summary.startswith("ended at its time limit after")
        assert not is_held(tmp_path / "lock")
        assert not is_held(tmp_path / "lock.child")

    def test_limit_lets_a_command_say_goodbye(self, run, tmp_path):
        """SIGTERM comes first: what a command does at its end is still done and kept."""
        finished = run("trap 'echo bye; exit 4' TERM; while :; do sleep 0.05; done", timeout_s=0.5)

        assert (finished.timed_out, finished.exit_code) == (True, 4)
        assert (tmp_path / "out").read_text() == "bye\n"

    def test_what_stays_behind_is_ended(self, run, tmp_path):
        """A server that a check has started does not outlive it; the check's own result stands."""
        finished = run([*PYTHON, PARENT, str(tmp_path / "lock"), "obey", "3"])

        assert (finished.exit_code, finished.timed_out) == (3, False)
        assert not is_held(tmp_path / "lock.child")

    def test_ctrl_c_ends_the_group(self, run, tmp_path):
        """Ctrl-C goes on to the caller, after the group is gone."""
        with interrupted_once(tmp_path / "lock.ready"):
            run([*PYTHON, PARENT, str(tmp_path / "lock"), "obey"])

        assert not is_held(tmp_path / "lock")
        assert not is_held(tmp_path / "lock.child")

    def test_stop_ends_the_group(self, run, tmp_path):
        """Another thread can end a command; that is no time-out."""
        stop = threading.Event()
        finished = []
        command = [*PYTHON, PARENT, str(tmp_path / "lock"), "obey"]
        thread = threading.Thread(target=lambda: finished.append(run(command, stop=stop)))
        thread.start()
        wait_for(tmp_path / "lock.ready")

        stop.set()
        thread.join(PATIENCE_S)

        assert [(end.signal, end.timed_out) for end in finished] == [("SIGTERM", False)]
        assert not is_held(tmp_path / "lock.child")

    def test_a_session_of_its_own_is_not_waited_for(self, run, tmp_path):
        """A daemon that keeps our output open does not keep us."""
        run([*PYTHON, PARENT, str(tmp_path / "lock"), "escape", "0"])

        assert is_held(tmp_path / "lock.child")
        (tmp_path / "lock.child.go").touch()
