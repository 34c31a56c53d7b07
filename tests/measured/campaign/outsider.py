"""What an outsider has: a shell in which to call the program, and what it tells and leaves in the tree."""

import contextlib
import io
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import ralph_tracker
from ralph_tracker.cli.app import run
from tests.forked import forked

from ..faults.promised import timeless  # noqa: TID252  # the same times

CHECKOUT = Path(ralph_tracker.__file__).resolve().parents[1]
PROGRAM = "#!{}\nfrom ralph_tracker.cli.app import main\nmain()\n"
OURS = {".aiwg", ".git"}
# What verbs write into the tree on the user's word, and an agent's settings: no iteration keeps it.
LEFT_ALONE = {
    *("report.md", "rows.csv", "verdict.xml"),
    *(".claude/settings.json", ".claude/.ralph-tracker-installed.json"),
}
PATIENCE_S = 120
DURATIONS = re.compile(r'(?<="duration_s": )[0-9.e+-]+|(?<="elapsed_s": )[0-9.e+-]+|\b[0-9.]+ s\b')
# A tree: for each path what it is, its content or where it leads, and whether it may be run.
Tree = dict[str, tuple[str, bytes, bool]]


class Told(NamedTuple):
    """Hold a command's exit code and what it printed."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Shell:
    """Call the program of this checkout on the project at `root`, in processes of its own.

    `more` is put into their environment, `limits` are those of RLIMIT_…, `user` is who they belong to (None: as here).
    """

    root: Path
    place: Path
    more: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[int, int] = field(default_factory=dict)
    user: int | None = None
    python: str = sys.executable

    def __post_init__(self) -> None:
        """Put the program where the shell finds it."""
        for folder in ("bin", "home", "tmp"):
            (self.place / folder).mkdir(parents=True, exist_ok=True)
        program = self.place / "bin/ralph-tracker"
        program.write_text(PROGRAM.format(self.python))
        program.chmod(0o755)

    @property
    def environment(self) -> dict[str, str]:
        """Return a plain environment, in which `ralph-tracker` is on the PATH."""
        return {
            "PATH": f"{self.place / 'bin'}:{os.environ['PATH']}",
            "HOME": str(self.place / "home"),
            "TMPDIR": str(self.place / "tmp"),
            "PYTHONPATH": f"{CHECKOUT}:{sysconfig.get_path('purelib')}",
            "GIT_CONFIG_NOSYSTEM": "1",
            "PYTHONDONTWRITEBYTECODE": "1",  # under a limit of file sizes Python leaves half a file for everybody
            "RALPH_TRACKER_TRUST": "1",  # the checks of these projects are the tests' own
            **self.more,
        }

    def start(self, script: str, *words: str, stdin: str = "") -> subprocess.Popen[bytes]:
        """Start a script with its words, as the leader of a process group of its own; what it prints goes to files."""
        (self.place / "in").write_text(stdin)
        with (
            (self.place / "in").open() as given,
            (self.place / "out").open("wb") as out,
            (self.place / "err").open("wb") as err,
        ):
            return self._popen(["/bin/sh", "-c", script, "sh", *words], stdin=given, stdout=out, stderr=err)

    def printed(self) -> str:
        """Return what the process that was started last has printed so far."""
        return (self.place / "out").read_text("utf-8", "replace")

    def call(self, *words: str, stdin: str = "") -> Told:
        """Call the program and wait for its end."""
        pipe = subprocess.PIPE  # a file would be under the limits, too
        with self._popen(["ralph-tracker", *words], stdin=pipe, stdout=pipe, stderr=pipe) as process:
            out, err = process.communicate(stdin.encode(), PATIENCE_S)
        return Told(process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))

    def _popen(self, words: Sequence[str], **streams: Any) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [str(self.place / "bin/ralph-tracker") if words[0] == "ralph-tracker" else words[0], *words[1:]],
            cwd=self.root,
            env=self.environment,
            start_new_session=True,
            user=self.user,
            group=self.user,
            extra_groups=None if self.user is None else [],
            preexec_fn=self._limited if self.limits else None,  # noqa: PLW1509  # no threads here
            **streams,
        )

    def _limited(self) -> None:
        for number, limit in self.limits.items():
            resource.setrlimit(number, (limit, limit))

    def ask(self, *commands: Sequence[str]) -> list[Told]:
        """Give commands one after the other in one fork of this process, which has imported what they need."""
        return forked(lambda: [self._answer(words) for words in commands], self.environment, self.root)

    def _answer(self, words: Sequence[str]) -> Told:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run([*words, "--root", str(self.root)])
        return Told(code, out.getvalue(), err.getvalue())


def kill_after(process: subprocess.Popen[bytes], delay_s: float) -> bool:
    """Kill a process group after so long, and return whether its leader was still there."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(delay_s)
    was_there = process.poll() is None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(PATIENCE_S)
    return was_there


def is_one_line(told: Told) -> bool:
    """Tell whether a command that failed says so as it is promised."""
    return told.code == 1 and told.err.count("\n") == 1 and "Traceback" not in told.err + told.out


def tree_of(root: Path) -> Tree:
    """Return what stands in a project, git's and our own folders left out."""
    found: Tree = {}
    for place, folders, names in os.walk(root):
        if Path(place) == root:
            folders[:] = [name for name in folders if name not in OURS]
        for name in (*folders, *names):
            path = Path(place, name)
            about = path.relative_to(root).as_posix()
            if path.is_symlink():
                found[about] = ("link", os.fsencode(path.readlink()), False)
            elif path.is_dir():
                found[about] = ("folder", b"", False)
            elif about != ".git":
                found[about] = ("file", path.read_bytes(), os.access(path, os.X_OK))
    return found


def kept_of(tree: Tree) -> Tree:
    """Return the files and links that a snapshot keeps of a tree; git ignores logs in these projects."""
    return {
        name: entry
        for name, entry in tree.items()
        if entry[0] != "folder" and not name.endswith(".log") and name not in LEFT_ALONE
    }


def copied(source: Path, target: Path) -> Path:
    """Put a fresh copy of a project where another one may stand."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, symlinks=True)
    return target


def numbers_in(history: str) -> list[int]:
    """Return the numbers of the iterations that `history --json` lists."""
    return [each["iteration_metrics"]["iteration"] for each in json.loads(history)]


def loops_of(root: Path) -> list[str]:
    """Return the loops of a project, in their order."""
    base = root / ".aiwg/ralph"
    return sorted(path.name for path in base.iterdir() if path.is_dir()) if base.is_dir() else []


def unhurried(text: str) -> str:
    """Return what was told without times, durations and ids."""
    return DURATIONS.sub("0 s", timeless(text.encode()).decode())


def told_by_all(shell: Shell) -> dict[str, str]:
    """Return what the reading verbs tell about every loop and iteration, without the times and ids."""
    found: dict[str, str] = {}
    for loop in loops_of(shell.root):
        (history,) = shell.ask(("history", "--json", "--loop-id", loop))
        if history.code:
            found[f"history {loop}"] = history.err
            continue
        asked = [("status", "--json"), ("history",), ("verify", "--json")]
        for number in map(str, numbers_in(history.out)):
            asked += [("show", number, "--json"), ("report", number), ("integrity", number, "--json")]
            asked += [("diff", "0", number, "--stat", "--json")]
        asked = [(*words, "--loop-id", loop) for words in asked]
        for words, told in zip(asked, shell.ask(*asked), strict=True):
            found[" ".join(words)] = unhurried(f"{told.code}\n{told.out}{told.err}")
    return found


def restorable(shell: Shell, loop: str = "ralph-001", among: Collection[int] | None = None) -> dict[int, Tree]:
    """Restore every iteration of a loop that is kept (`among` these), one after the other, and return the trees.

    The project is left as the last one; give a copy.
    """
    (history,) = shell.ask(("history", "--json", "--loop-id", loop))
    found = {}
    for number in numbers_in(history.out) if not history.code else ():
        if among is not None and number not in among:
            continue
        (told,) = shell.ask(("restore", str(number), "--loop-id", loop))
        if not told.code:
            found[number] = tree_of(shell.root)
    return found


def wait_for(condition: Callable[[], bool], what: str, patience_s: float = 30) -> None:
    deadline = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)
