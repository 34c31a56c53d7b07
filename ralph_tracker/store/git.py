"""The snapshot store: a private bare git directory beside the loop's records. Only this file imports GitPython.

The user's repository lends objects and ignore rules when the store is made; after that only `branch` reads it or writes
to it. The store holds no absolute path: it moves with the tree.
"""

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, Final, cast

from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.store import git_objects
from ralph_tracker.store.files import told_plainly
from ralph_tracker.store.git_branch import make_branch
from ralph_tracker.store.git_create import BULK, DURABLE, fill, make_folder, private_environment, refuse_root
from ralph_tracker.store.git_lock import hold
from ralph_tracker.store.git_note import Note, snapshot_of, write_commit
from ralph_tracker.store.git_source import QUIET, find_source
from ralph_tracker.store.git_verbs import NO_OBJECT, Answer, Runner, Verb
from ralph_tracker.store.restore import restore_tree
from ralph_tracker.store.snapshots import Change, Limits, Snapshot, shown
from ralph_tracker.store.tree_capture import Captured, capture
from ralph_tracker.store.tree_scan import TreeScanner

if TYPE_CHECKING:
    from git.cmd import Git
    from git.exc import GitCommandNotFound

_NOT_FOUND: Final = 127
_UNDO_ID: Final = re.compile(r"undo-[0-9a-f]{12}")
_AGAIN: Final = "look at free space and rights, then run it again"
_NO_GIT: Final = "git was not found: install git 2.34 or newer, so that it is on PATH"


class GitRunner:
    """Run git through GitPython in the folder `where`, with no GIT_* variable but the given ones.

    `inherited` are descriptors that git holds open too: a lock then lasts as long as the last git that works under it.
    """

    def __init__(self, environment: Mapping[str, str], where: Path, options: tuple[str, ...] = ()) -> None:
        self._environment = environment
        self._where = where
        self._options = options
        self.inherited: tuple[int, ...] = ()

    def run(self, verb: Verb, *arguments: str, stdin: bytes = b"", index: Path | None = None) -> bytes:
        """Return what git prints; raise StoreError where it does not end with 0."""
        answer = self.ask(verb, *arguments, stdin=stdin, index=index)
        if answer.status:
            raise self._failure(verb, answer.status, answer.error)
        return answer.out

    def ask(self, verb: Verb, *arguments: str, stdin: bytes = b"", index: Path | None = None) -> Answer:
        """Return how git ends; raise StoreError only where there is no git."""
        with self._start(verb, arguments, subprocess.PIPE, index) as process:
            out, error = process.communicate(stdin)
        if process.returncode == _NOT_FOUND:
            raise StoreError(_NO_GIT)
        return Answer(process.returncode, out, error.decode("utf-8", "replace").strip())

    @contextlib.contextmanager
    def stream(self, verb: Verb, *arguments: str, stdin: bytes) -> Iterator[BinaryIO]:
        """Yield git's output while it runs; raise StoreError where it does not end with 0."""
        with tempfile.TemporaryFile() as feed:
            feed.write(stdin)
            feed.seek(0)
            with self._start(verb, arguments, cast("BinaryIO", feed), None) as process:
                try:
                    yield cast("BinaryIO", process.stdout)
                except BaseException:
                    process.kill()
                    raise
                error = cast("IO[bytes]", process.stderr).read().decode("utf-8", "replace")
        if process.returncode:
            raise self._failure(verb, process.returncode, error)

    def _start(
        self, verb: Verb, arguments: tuple[str, ...], feed: int | BinaryIO, index: Path | None
    ) -> subprocess.Popen[bytes]:
        environment = dict(self._environment)
        if index:
            environment["GIT_INDEX_FILE"] = str(index)
        # GitPython hands on the whole environment: `env` takes out what the caller's shell or a git hook has set.
        foreign = sorted(name for name in os.environ if name.startswith("GIT_") and name not in environment)
        clean = ["env", *(part for name in foreign for part in ("-u", name))] if foreign else []
        git, missing = _gitpython()
        program = git.GIT_PYTHON_GIT_EXECUTABLE or "git"
        try:
            guard = git(str(self._where)).execute(
                [*clean, program, *self._options, verb, *arguments],
                istream=feed,
                as_process=True,
                shell=False,
                env=environment,
                pass_fds=self.inherited,
            )
        except missing as error:
            raise StoreError(_NO_GIT) from error
        process = guard.proc
        guard.proc = None  # from here on the process is ours to end
        return cast("subprocess.Popen[bytes]", process)

    def _failure(self, verb: Verb, status: int, error: str) -> StoreError:
        lines = [line for line in error.splitlines() if line.startswith(("fatal:", "error:"))] or error.splitlines()
        why = lines[0] if lines else (f"signal {-status}" if status < 0 else f"exit status {status}")
        where = self._environment.get("GIT_DIR", self._where)
        return StoreError(f"git {verb} failed in {where} ({why}): {_AGAIN}")


class GitStore:
    """Keep states of the tree at `root` in the git directory `folder`; the protocol is `SnapshotStore`.

    Every method raises StoreError where git or the system refuses, and NoSnapshotError for what is not kept.
    """

    def __init__(self, folder: Path, root: Path, limits: Limits | None = None) -> None:
        self._folder = folder.absolute()
        self._root = root.resolve()
        self._limits = limits or Limits()
        self._git = _private(self._folder, self._root)
        self._bulk = _private(self._folder, self._root, BULK)
        self._last = _private(self._folder, self._root, DURABLE)

    @property
    def exists(self) -> bool:
        return (self._folder / "HEAD").is_file()

    def create(self) -> None:
        """Make the store; one that exists stays as it is, with the ignore rules it was made with."""
        refuse_root(self._root, self._folder.resolve())
        if self.exists:
            return
        new = self._folder.with_name(self._folder.name + ".new")
        with told_plainly(self._folder, _AGAIN):
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir(mode=0o700, parents=True)
            source = find_source(self._root, _of_user)
            user = _of_user(source.environment, source.top) if source else None
            make_folder(GitRunner(private_environment(new, None), new), new)
            fill(_private(new, self._root), new, self._root, source, user)
            new.rename(self._folder)

    def snapshot(self, previous: str | None = None, message: str = "", number: int | None = None) -> Snapshot:
        """Keep the tree as it is; with a number also under that one, as `keep` does.

        `previous` is the tree or commit that `changed` is counted from.
        """
        with self._held():
            seen = self._capture()
            note = Note(
                message=message,
                skipped=seen.skipped,
                empty_directories=seen.empty_directories,
                quiescent=seen.quiescent,
            )
            commit = write_commit(self._last, seen.tree, note)
            found = git_objects.differences(self._git, previous, seen.tree) if previous else []
            if number is not None:
                self._keep(number, commit)
        return snapshot_of(seen.tree, commit, note, tuple(item.path for item in found))

    def keep(self, number: int, commit: str) -> None:
        """Name a snapshot as that of an iteration, once; the same again is no change, another one is refused."""
        with self._held():
            self._keep(number, commit)

    def find(self, number: int) -> Snapshot:
        """Return the snapshot of an iteration; `changed` is ()."""
        self._require()
        try:
            content = self._describe(f"refs/iterations/{number}")
        except NoSnapshotError:
            raise NoSnapshotError(f"iteration {number} has no snapshot; `ralph-tracker history` names those") from None
        if content.commit is None or content.note is None:
            raise StoreError(f"the snapshot of iteration {number} is no commit; run `ralph-tracker verify`")
        return snapshot_of(content.tree, content.commit, content.note)

    def changes(self, before: str | None, after: str | None) -> tuple[Change, ...]:
        """Compare two kept contents; None is the tree without files."""
        self._require()
        return git_objects.changes(self._git, before, after)

    def read(self, content: str, path: str) -> bytes:
        """Return one kept file; for a symbolic link its text."""
        self._require()
        return git_objects.read_file(self._git, content, path)

    def paths(self, content: str) -> tuple[str, ...]:
        """Return the paths of the files of a kept content."""
        kept = self._describe(content)
        return tuple(entry.path for entry in git_objects.entries_of(self._git, kept.tree, None))

    def export(self, content: str, destination: Path, paths: Iterable[str] | None = None) -> None:
        """Write kept files, all or those named, into an empty folder, which is made where it is missing."""
        kept = self._describe(content)
        with told_plainly(destination, _AGAIN):
            git_objects.export(self._git, kept, destination, paths)

    def restore(self, content: str) -> str:
        """Make the working tree exactly what was kept and return the id that undoes it.

        A commit brings back its empty folders too and leaves alone what it had skipped; a tree is its files only.
        """
        with self._held():
            return self._restore(self._describe(content))

    def undo(self, undo_id: str) -> str:
        """Bring back what stood there before a restore, and return the id that undoes this."""
        if not _UNDO_ID.fullmatch(undo_id):
            raise NoSnapshotError(f"{shown(undo_id)} is no undo id: they look like undo-0123456789ab")
        with self._held():
            return self._restore(self._describe(f"refs/safety/{undo_id}"))

    def branch(self, content: str, name: str) -> str:
        """Make a branch with that content on top of HEAD in the user's repository, and return its commit."""
        kept = self._describe(content)
        source = find_source(self._root, _of_user)
        if source is None:
            raise StoreError(f"{self._root} is in no git repository: apply it as output or worktree")
        with told_plainly(source.folder, _AGAIN):
            return make_branch(self._git, source, _of_user, kept, name)

    def verify(self, content: str) -> tuple[str, ...]:
        """Return the paths whose kept content is missing or damaged, () where all is intact."""
        return git_objects.damaged(self._git, self._describe(content))

    def pack(self) -> None:
        """Put the loose objects into packs; nothing is thrown away."""
        with self._held():
            self._git.run("repack", "-d", "-q", "--geometric=2")

    def _restore(self, goal: git_objects.Content) -> str:
        return restore_tree(self._git, self._last, self._root, self._folder, self._capture(), goal)

    def _keep(self, number: int, commit: str) -> None:
        name = f"refs/iterations/{number}"
        (self._folder / f"{name}.lock").unlink(missing_ok=True)
        answer = self._last.ask("update-ref", name, commit, NO_OBJECT)
        if not answer.status:
            return
        known = self._git.ask("rev-parse", "-q", "--verify", name).out.decode().strip()
        if not known:
            raise StoreError(f"iteration {number} could not be named ({answer.error}): run it again")
        if known != commit:
            raise StoreError(f"iteration {number} is kept already as {known}: give the next number")

    def _describe(self, content: str) -> git_objects.Content:
        self._require()
        return git_objects.describe(self._git, content)

    def _require(self) -> None:
        if not self.exists:
            raise NoSnapshotError(f"nothing is kept in {self._folder}: run `ralph-tracker hook pre-loop` first")

    def _capture(self) -> Captured:
        return capture(self._git, self._bulk, TreeScanner(self._git, self._root, self._folder, self._limits))

    @contextlib.contextmanager
    def _held(self) -> Iterator[None]:
        self._require()
        with told_plainly(self._folder, _AGAIN), hold(self._folder) as descriptor:
            runners = (self._git, self._bulk, self._last)
            for runner in runners:
                runner.inherited = (descriptor,)
            try:
                yield
            finally:
                for runner in runners:
                    runner.inherited = ()


def _private(folder: Path, root: Path, options: tuple[str, ...] = ()) -> GitRunner:
    return GitRunner(private_environment(folder, root), root, options)


def _of_user(environment: Mapping[str, str], where: Path) -> Runner:
    return GitRunner(environment, where, QUIET)


def _gitpython() -> "tuple[type[Git], type[GitCommandNotFound]]":
    try:
        from git.cmd import Git  # noqa: PLC0415  costs 147 ms, which most commands need not pay
        from git.exc import GitCommandNotFound  # noqa: PLC0415  as above
    except ImportError as error:
        raise StoreError(_NO_GIT) from error
    return Git, GitCommandNotFound
