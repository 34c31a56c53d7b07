"""Run git: in the store as a plain process, in the user's own repository through GitPython, which only this imports."""

import contextlib
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, Final, NamedTuple, Protocol, cast

from ralph_tracker.errors import StoreError
from ralph_tracker.store.files import AGAIN, told_plainly
from ralph_tracker.store.git.verbs import Answer, Verb

if TYPE_CHECKING:
    from git.cmd import Git
    from git.exc import GitCommandNotFound

_GIT: Final = "git"
_NOT_FOUND: Final = 127
_NO_GIT: Final = (
    "git was not found, with which this loop keeps its files: install git 2.34 or newer, so that it is on PATH"
)
_WRITING: Final = frozenset[Verb](
    {"commit-tree", "fast-import", "prune", "read-tree", "repack", "update-index", "update-ref", "write-tree"}
)
_WORDS: Final = {"LANGUAGE": "C", "LC_ALL": "C"}  # git's messages, as we read them


class Surroundings(NamedTuple):
    """Hold what a git process is started with.

    `environment` are its GIT_* variables, `feed` its standard input, `inherited` descriptors that it holds open too.
    """

    where: Path
    environment: Mapping[str, str]
    feed: int | BinaryIO
    inherited: tuple[int, ...]


class Start(Protocol):
    """Start git with output and errors as pipes; raise StoreError where there is no git."""

    def __call__(self, arguments: Sequence[str], around: Surroundings, /) -> subprocess.Popen[bytes]: ...


def plainly(arguments: Sequence[str], around: Surroundings) -> subprocess.Popen[bytes]:
    """Start git as a process of ours: a hook that follows every iteration cannot wait for GitPython's import."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        return subprocess.Popen(  # noqa: S603  # fixed verbs only
            [_GIT, *arguments],
            cwd=around.where,
            env={**ours, **_WORDS, **around.environment},
            stdin=around.feed,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=around.inherited,
        )
    except OSError as error:
        if error.filename == _GIT:
            raise StoreError(_NO_GIT) from error
        raise StoreError(f"git cannot be started in {around.where} ({error.strerror}): {AGAIN}") from error


def through_gitpython(arguments: Sequence[str], around: Surroundings) -> subprocess.Popen[bytes]:
    """Start git through GitPython."""
    # GitPython hands on the whole environment: `env` takes out what the caller's shell or a git hook has set.
    foreign = sorted(name for name in os.environ if name.startswith("GIT_") and name not in around.environment)
    clean = ["env", *(part for name in foreign for part in ("-u", name))] if foreign else []
    git, missing = _gitpython()
    program = git.GIT_PYTHON_GIT_EXECUTABLE or _GIT
    try:
        guard = git(str(around.where)).execute(
            [*clean, program, *arguments],
            istream=around.feed,
            as_process=True,
            shell=False,
            env=dict(around.environment),
            pass_fds=around.inherited,
        )
    except missing as error:
        raise StoreError(_NO_GIT) from error
    process = guard.proc
    guard.proc = None  # from here on the process is ours to end
    return cast("subprocess.Popen[bytes]", process)


class GitRunner:
    """Run git in the folder `where`, with no GIT_* variable but the given ones.

    `start` is how. `inherited` are descriptors that git holds open too: a lock then lasts as long as the last git that
    works under it. `is_troubled` tells that a git which writes did not end well, or with a warning: what it has begun
    may still be there.
    """

    def __init__(
        self, environment: Mapping[str, str], where: Path, options: tuple[str, ...] = (), start: Start = plainly
    ) -> None:
        self._environment = environment
        self._where = where
        self._options = options
        self._begin = start
        self.inherited: tuple[int, ...] = ()
        self.is_troubled = False

    def run(self, verb: Verb, *arguments: str, stdin: bytes = b"", index: Path | None = None) -> bytes:
        """Return what git prints; raise StoreError where it does not end with 0."""
        answer = self.ask(verb, *arguments, stdin=stdin, index=index)
        self._refuse_failed(verb, answer)
        return answer.out

    def ask(self, verb: Verb, *arguments: str, stdin: bytes = b"", index: Path | None = None) -> Answer:
        """Return how git ends; raise StoreError only where there is no git."""
        with self._start(verb, arguments, subprocess.PIPE, index) as process:
            out, error = process.communicate(stdin)
        return self._answer(verb, process.returncode, out, error)

    @contextlib.contextmanager
    def stream(self, verb: Verb, *arguments: str, stdin: bytes) -> Iterator[BinaryIO]:
        """Yield git's output while it runs; raise StoreError where it does not end with 0."""
        with told_plainly(self._where, AGAIN):
            asked = _holding(stdin)
        with asked as feed, self._start(verb, arguments, feed, None) as process:
            try:
                yield cast("BinaryIO", process.stdout)
            except BaseException:
                process.kill()
                raise
            error = cast("IO[bytes]", process.stderr).read().decode("utf-8", "replace")
        if process.returncode:
            raise self._failure(verb, process.returncode, error)

    @contextlib.contextmanager
    def feed(self, verb: Verb, *arguments: str) -> Iterator[BinaryIO]:
        """Yield git's input while it runs; raise StoreError where it does not end with 0."""
        with self._start(verb, arguments, subprocess.PIPE, None) as process:
            feed = cast("BinaryIO", process.stdin)
            try:
                with contextlib.suppress(BrokenPipeError):  # git has ended, and says why
                    yield feed
                _, error = process.communicate()
            except BaseException:
                process.kill()
                with contextlib.suppress(BrokenPipeError):
                    feed.close()
                raise
        self._refuse_failed(verb, self._answer(verb, process.returncode, b"", error))

    def _start(
        self, verb: Verb, arguments: tuple[str, ...], feed: int | BinaryIO, index: Path | None
    ) -> subprocess.Popen[bytes]:
        environment = dict(self._environment)
        if index:
            environment["GIT_INDEX_FILE"] = str(index)
        around = Surroundings(self._where, environment, feed, self.inherited)
        return self._begin((*self._options, verb, *arguments), around)

    def _answer(self, verb: Verb, status: int, out: bytes, error: bytes) -> Answer:
        if status == _NOT_FOUND:
            raise StoreError(_NO_GIT)
        answer = Answer(status, out, error.decode("utf-8", "replace").strip())
        if verb in _WRITING:
            self.is_troubled |= _left_something(answer)
        return answer

    def _refuse_failed(self, verb: Verb, answer: Answer) -> None:
        if answer.status:
            self.is_troubled |= verb in _WRITING
            raise self._failure(verb, answer.status, answer.error)

    def _failure(self, verb: Verb, status: int, error: str) -> StoreError:
        lines = [line for line in error.splitlines() if line.startswith(("fatal:", "error:"))] or error.splitlines()
        why = lines[0] if lines else (f"signal {-status}" if status < 0 else f"exit status {status}")
        where = self._environment.get("GIT_DIR", self._where)
        return StoreError(f"git {verb} failed in {where} ({why}): {AGAIN}")


def _holding(data: bytes) -> BinaryIO:
    """Return an input that has all of some data in it, without a name: in memory, where the system can."""
    try:
        file = open(os.memfd_create("feed"), "w+b")  # noqa: PTH123, SIM115  # a descriptor; whoever reads it closes it
    except (AttributeError, OSError):
        import tempfile  # noqa: PLC0415  # costs 6 ms, which most systems need not pay

        file = tempfile.TemporaryFile()  # noqa: SIM115  # as above
    try:
        file.write(data)
        file.seek(0)
    except OSError:
        with contextlib.suppress(OSError):  # it writes what is left once more
            file.close()
        raise
    return file


def _left_something(answer: Answer) -> bool:
    """Tell whether a git was killed, or could not take away what it had begun, which it only warns of."""
    return answer.status < 0 or (answer.error != "" and answer.status == 0) or "warning:" in answer.error


def _gitpython() -> "tuple[type[Git], type[GitCommandNotFound]]":
    try:
        from git.cmd import Git  # noqa: PLC0415  costs 147 ms, which most commands need not pay
        from git.exc import GitCommandNotFound  # noqa: PLC0415  as above
    except ImportError as error:
        raise StoreError(_NO_GIT) from error
    return Git, GitCommandNotFound
