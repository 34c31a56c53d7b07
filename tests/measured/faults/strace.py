"""Real system calls that fail: commands under strace, which kills them or makes one call of theirs refuse."""

import ctypes
import importlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ralph_tracker.cli.app import run

ANY_TRACER = (0x59616D61, ctypes.c_ulong(-1))  # prctl: PR_SET_PTRACER, PR_SET_PTRACER_ANY
PATIENCE_S = 120
# What changes the disk; calls that a machine does not know are passed over ("?").
ON_DESCRIPTORS = (
    "write", "pwrite64", "writev", "fsync", "fdatasync", "sync_file_range", "ftruncate", "fchmod", "copy_file_range",
)  # fmt: skip
ON_NAMES = (
    "open", "openat", "rename", "renameat", "renameat2", "mkdir", "mkdirat", "unlink", "unlinkat", "rmdir", "link",
    "linkat", "symlink", "symlinkat", "chmod", "fchmodat", "truncate", "utimensat",
)  # fmt: skip
CALLS = (*ON_DESCRIPTORS, *ON_NAMES)
LINE = re.compile(r"(?:(?P<process>\d+) +)?(?P<call>\w+)\((?P<rest>.*)")
QUOTED, FOLDER = re.compile(r'"((?:[^"\\]|\\.)*)"'), re.compile(r"<([^<>]*)>, $")


class Call(NamedTuple):
    """Hold a system call: who made it, its name, the files that it names, how often that process had made it."""

    process: str
    name: str
    paths: tuple[str, ...]
    count: int
    writing: bool
    done: bool


class Point(NamedTuple):
    """Hold where a fault strikes: at the so many-th of these calls."""

    call: str
    count: int


@dataclass(frozen=True)
class Ended:
    """Hold how a command ended: its exit code (137: it was killed), what it said, what strace saw of it."""

    code: int
    out: str
    err: str
    log: str = ""


def calls_in(log: str, root: Path) -> Iterator[Call]:
    """Read what strace wrote; a path is absolute where the call said so, or named its folder."""
    counts: dict[tuple[str, str], int] = {}
    for line in joined(log):
        found = LINE.match(line)
        if found is None or found["call"] not in CALLS:
            continue
        process, name, rest = found["process"] or "", found["call"], found["rest"]
        counts[process, name] = counts.get((process, name), 0) + 1
        done = " = -1 " not in rest and " = ? " not in rest
        yield Call(process, name, tuple(paths_of(name, rest, root)), counts[process, name], writes(name, rest), done)


def joined(log: str) -> Iterator[str]:
    """Put together the two halves of calls between which another process had its turn."""
    halves: dict[str, str] = {}
    for line in log.splitlines():
        process = line.partition(" ")[0]
        if line.endswith("<unfinished ...>"):
            halves[process] = line.removesuffix("<unfinished ...>")
        elif " resumed>" in line and "<... " in line:
            yield halves.pop(process, "") + line.partition(" resumed>")[2]
        else:
            yield line
    yield from (f"{half} = ? " for half in halves.values())


def writes(name: str, rest: str) -> bool:
    return name not in {"open", "openat"} or any(flag in rest for flag in ("O_WRONLY", "O_RDWR", "O_CREAT"))


def paths_of(name: str, rest: str, root: Path) -> Iterator[str]:
    if name in ON_DESCRIPTORS:
        yield rest.partition("<")[2].partition(">")[0]
        return
    for quoted in QUOTED.finditer(rest.partition(" = ")[0]):
        folder = FOLDER.search(rest[: quoted.start()])
        yield os.path.join(folder[1] if folder else str(root), quoted[1])  # noqa: PTH118  # it may be absolute


def concerns(call: Call, root: Path) -> bool:
    """Tell whether a call changes something in the tree or in the loop's folder."""
    return call.writing and any(f"{path}/".startswith(f"{root}/") for path in call.paths)


def traced(fault: str) -> list[str]:
    """Return strace's options, and a fault in its words ("" for none)."""
    known = ",".join(f"?{call}" for call in CALLS)
    return ["-y", "-s", "0", "-e", f"trace={known}", "-e", "signal=none", *(["-e", f"inject={fault}"] if fault else [])]


class Bench:
    """Run the command line on a project in a process of its own, whose system calls strace sees."""

    def __init__(self, root: Path, place: Path) -> None:
        self.root, self._place = root, place

    def plain(self, *words: str) -> Ended:
        """Run it undisturbed and unseen."""
        return self._run(words, None)

    def seen(self, *words: str) -> Ended:
        """Run it undisturbed; strace notes its own calls, and none of the programs that it starts."""
        return self._run(words, "")

    def watched(self, *words: str) -> Ended:
        """Run it undisturbed; strace notes the calls of all processes and threads in the order in which they happen."""
        return self._run(words, "", follow=("-f",))

    def struck(self, point: Point, fault: str, *words: str) -> Ended:
        """Run it with a fault at a point."""
        return self._run(words, f"{point.call}:{fault}:when={point.count}")

    def _run(self, words: Sequence[str], fault: str | None, follow: Sequence[str] = ()) -> Ended:
        self._place.mkdir(exist_ok=True)
        out, err, log = (self._place / name for name in ("out", "err", "log"))
        log.unlink(missing_ok=True)
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            os.close(writer)
            _become(words, self.root, reader, (out, err))
        os.close(reader)
        tracer = None
        if fault is not None:
            options = [*follow, *traced(fault)]
            tracer = subprocess.Popen(["strace", *options, "-o", log, "-p", str(child)], stderr=subprocess.PIPE)
            assert b"attached" in tracer.stderr.readline()
        os.write(writer, b"!")
        os.close(writer)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if tracer is not None:
            tracer.communicate(timeout=PATIENCE_S)
        code = status if status >= 0 else 128 - status
        return Ended(code, _text(out), _text(err), _text(log))


def _text(path: Path) -> str:
    return path.read_text("utf-8", "replace") if path.exists() else ""


def _become(words: Sequence[str], root: Path, reader: int, told: tuple[Path, Path]) -> None:
    """Be the command line from here on, once whoever traces this process is there."""
    code = 99
    try:
        os.environ.update(HOME=str(root.parent), GIT_CONFIG_NOSYSTEM="1")
        os.environ.pop("RALPH_LOOP_ID", None)
        for number, path in enumerate(told, 1):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.stdout, sys.stderr = (io.TextIOWrapper(open(n, "wb", closefd=False)) for n in (1, 2))  # noqa: SIM115  # descriptors
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(*ANY_TRACER, 0, 0, 0)
        os.chdir(root)
        importlib.invalidate_caches()  # or what its parent has listed decides how many calls an import makes
        os.read(reader, 1)
        code = run([*words, "--root", str(root)])
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def points_of(seen: Ended, root: Path) -> list[Point]:
    """List where faults can strike a command."""
    return [Point(call.name, call.count) for call in calls_in(seen.log, root) if concerns(call, root)]


def was_hit(ended: Ended, point: Point, root: Path) -> bool:
    """Tell whether the fault came, and came to a call that concerns the project."""
    for line in joined(ended.log):
        if "(INJECTED)" in line or " = ?" in line:
            found = next(calls_in(line, root), None)
            if found is not None and found.name == point.call and concerns(found, root):
                return True
    return False
