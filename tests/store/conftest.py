"""What the store's tests share: the documents of a project, readers at the command line, calls that are cut short."""

import errno
import hashlib
import json
import os
import pickle
import shutil
import signal
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ralph_tracker.cli.app import run
from ralph_tracker.errors import RalphTrackerError

# What Python tells an audit hook before it changes the disk, or reads it (an open for reading).
CHANGES = frozenset(
    {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.truncate", "fcntl.flock"}
)
BELOW = frozenset({"os.remove", "os.rmdir"})
RELATIVE = BELOW | {"os.rename"}  # also within a folder that is open already
FOR_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


@dataclass(frozen=True)
class Said:
    """What a command printed and its exit code."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class CutShort:
    """How a call ended: `points` it passed, whether it was `killed`, else what it raised (None: it ended well)."""

    points: int
    killed: bool
    error: Exception | None


class Counter:
    """Count what a call does to the files below a folder, and strike at one of these points."""

    def __init__(self, root: Path, strike: Callable[[], None], at: int | None, *, reading: bool) -> None:
        self._root, self._strike, self._at, self._reading = str(root), strike, at, reading
        self.points = 0

    def install(self) -> None:
        """Watch this process from now on; there is no way back, so it has to be one that ends soon."""
        sys.addaudithook(self._heard)
        os.fsync, os.pwrite = self._syncing(os.fsync), self._believed_now(os.pwrite)

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event not in CHANGES or not self._concerns(arguments[0], event):
            return
        reads = event == "open" and not arguments[2] & FOR_WRITING
        if not reads or self._reading:
            self._point(writes=not reads and event not in BELOW)

    def _concerns(self, path: Any, event: str) -> bool:
        if isinstance(path, int):
            return True
        name = os.fsdecode(path)
        return name.startswith(self._root) or (event in RELATIVE and not Path(name).is_absolute())

    def _believed_now(self, act: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any) -> Any:
            self._point()
            return act(*arguments)

        return counted

    def _syncing(self, sync: Callable[[int], None]) -> Callable[[int], None]:
        """Strike once when the last bytes of a file have not arrived, and once when they have."""

        def synced(descriptor: int) -> None:
            found = os.fstat(descriptor)
            if stat.S_ISREG(found.st_mode):
                self.points += 1
                if self.points == self._at:
                    os.truncate(descriptor, max(0, found.st_size - 3))
                    self._strike()
            self._point()
            sync(descriptor)

        return synced

    def _point(self, *, writes: bool = True) -> None:
        """Count a point; a disk that was full once stays full."""
        self.points += 1
        if self._at is not None and (self.points == self._at or (writes and self.points > self._at)):
            self._strike()


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _refuse() -> None:
    code = errno.ENOSPC
    raise OSError(code, os.strerror(code))


def _called(root: Path, act: Callable[[], object], at: int | None, *, kill: bool) -> tuple[int, Exception | None]:
    counter = Counter(root, _die if kill else _refuse, at, reading=not kill)
    counter.install()
    try:
        act()
    except Exception as error:
        return counter.points, error
    return counter.points, None


@pytest.fixture(scope="session")
def cut_short():
    """Call a function in a process of its own, which dies at one of its points, or finds the disk full from there."""

    def call(root: Path, act: Callable[[], object], at: int | None = None, *, kill: bool = True) -> CutShort:
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            os.close(reader)
            try:
                answer = pickle.dumps(_called(root, act, at, kill=kill))
                os.write(writer, answer)
            finally:
                os._exit(0)
        os.close(writer)
        with open(reader, "rb") as pipe:  # noqa: PTH123  # a descriptor
            told = pipe.read()
        killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
        points, error = pickle.loads(told) if told else (0, None)
        return CutShort(points, killed, error)

    return call


@pytest.fixture
def together():
    """Call functions at the same time, each in a process of its own; `wait` collects what they returned or raised."""
    running: list[tuple[int, int]] = []

    def start(*acts: Callable[[], object]) -> None:
        for act in acts:
            reader, writer = os.pipe()
            child = os.fork()
            if not child:
                try:
                    os.write(writer, pickle.dumps(_outcome(act)))
                finally:
                    os._exit(0)
            os.close(writer)
            running.append((child, reader))

    def wait() -> list[Any]:
        found = []
        for child, reader in running:
            with open(reader, "rb") as pipe:  # noqa: PTH123  # a descriptor
                told = pipe.read()
            found.append(pickle.loads(told) if told else None)
            os.waitpid(child, 0)
        running.clear()
        return found

    start.wait = wait
    return start


def _outcome(act: Callable[[], object]) -> object:
    try:
        return act()
    except Exception as error:
        return error


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    """Run a command line on a project in this process; a bug of ours fails the test."""
    monkeypatch.delenv("RALPH_LOOP_ID", raising=False)

    def asked(root: Path, *words: str) -> Said:
        capsys.readouterr()
        code = run([*words, "--root", str(root)])
        told = capsys.readouterr()
        assert code != 70, told.err
        assert "Traceback" not in told.out + told.err
        return Said(code, told.out, told.err)

    return asked


@pytest.fixture(scope="session")
def temporaries():
    """Return what writers have left behind in a project; an empty staging folder is a sign for the next writer."""

    def found(root: Path) -> list[str]:
        return [str(path) for path in root.rglob("*") if path.name.startswith(".tmp-")]

    return found


@pytest.fixture(scope="session")
def unsealed():
    """Return the iterations of a loop that differ from their seals, or whose seals are not chained."""

    def check(folder: Path) -> list[str]:
        wrong, previous = [], None
        for iteration in sorted((folder / "iterations").glob("iteration-*")):
            seal = json.loads((iteration / "seal.json").read_bytes())
            sums = {name: _digest(iteration / name) for name in seal["files"]}
            if sums != seal["files"] or seal["previous_seal"] != previous:
                wrong.append(iteration.name)
            previous = _digest(iteration / "seal.json")
        return wrong

    return check


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory, drive: Any):
    """Return a function that makes a project once, and a copy of it for every asking.

    A `light` copy shares its files with all others: whoever wants to change one takes it away first, as our writers do.
    """
    made: dict[tuple[str, str], Path] = {}  # by the module that asks, too: two may use one name

    def copy(name: str, prepare: Callable[[Any], object], destination: Path, *, light: bool = False) -> Any:
        key = prepare.__module__, name
        if key not in made:
            made[key] = (tmp_path_factory.mktemp(name) / "project").resolve()
            made[key].mkdir()
            prepare(drive(made[key]))
        shutil.copytree(made[key], destination, symlinks=True, copy_function=_linked if light else shutil.copyfile)
        return drive(destination.resolve())

    return copy


def _linked(source: str, destination: str) -> None:
    grows = source.endswith((".jsonl", "lock"))
    (shutil.copyfile if grows else os.link)(source, destination)


@pytest.fixture(scope="session")
def expected_failure():
    """Tell whether a call ended with one of our own errors, in one line."""

    def is_ours(error: Exception | None) -> bool:
        return isinstance(error, RalphTrackerError) and "\n" not in str(error)

    return is_ours
