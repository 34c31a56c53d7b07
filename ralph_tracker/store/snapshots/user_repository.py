"""Read the user's git repository around a tree, with GitPython, which only this module imports.

Only `make_branch` writes to it. Kept files never depend on it: ignore rules and the list of tracked files are copied
when a loop begins.
"""

import hashlib
import os
import re
import stat
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

from ralph_tracker.errors import InputError, StoreError
from ralph_tracker.safe_files import as_store_error, read_regular
from ralph_tracker.scratch import temporary_folder
from ralph_tracker.store.snapshots.snapshot_types import LOOP_FOLDER, Entry, Note, shown
from ralph_tracker.store.snapshots.trees import Chunks
from ralph_tracker.store.snapshots.working_tree_io import TreeWriter

GITLINK_MODE: Final = "160000"
_SHA256_DIGITS: Final = 64
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_AGAIN: Final = "fix that, then run it again"
_NO_GIT: Final = "git was not found: install git, so that it is on PATH"
# Options before each git command, so that no repository setting starts a program.
_QUIET: Final = (
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "gc.auto=0"),
    *("-c", "maintenance.auto=0"),
)
# Where git reads in its folder, beside the files at its top: the rest (submodules, large files) may have a million.
_READ_BELOW: Final = ("info", "logs", "objects", "refs", "reftable")
_READ_IN_TREE: Final = frozenset({".gitignore", ".gitattributes"})
_WORDS: Final = {"LANGUAGE": "C", "LC_ALL": "C"}  # git's messages in English, because we parse them
_NO_SETTINGS: Final = {**_WORDS, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
NOBODY: Final = {
    "GIT_AUTHOR_NAME": "ralph-tracker",
    "GIT_AUTHOR_EMAIL": "ralph-tracker@localhost",
    "GIT_COMMITTER_NAME": "ralph-tracker",
    "GIT_COMMITTER_EMAIL": "ralph-tracker@localhost",
}


class Answer(NamedTuple):
    """How a git command ended: its exit status (negative: a signal), its output, its error text."""

    status: int
    out: bytes
    error: str


class Branch(NamedTuple):
    """The branch of a kept tree: its commit, and whether this call made it or an earlier one."""

    commit: str
    is_new: bool


class UserRepository:
    """A repository: its folder, the folder shared by its worktrees, its top, and the path of the tree in it.

    `prefix` is "" at the top and ends with a slash below it. Raises StoreError if git is missing or fails.
    """

    def __init__(self, folder: Path, common: Path, top: Path, prefix: str) -> None:
        self.folder = folder
        self.common = common
        self.top = top
        self.prefix = prefix

    @cached_property
    def environment(self) -> dict[str, str]:
        """Return git's environment variables; setting GIT_DIR avoids its check of the owner."""
        return {
            **_WORDS,
            "GIT_DIR": str(self.folder),
            "GIT_WORK_TREE": str(self.top),
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "none",  # older versions do not know GIT_NO_LAZY_FETCH and would fetch
            "GIT_TERMINAL_PROMPT": "0",
        }

    @cached_property
    def endless(self) -> str | None:
        """Return the pipe or device that git would wait for, or read without end; None if there is none."""
        for folder in dict.fromkeys((self.folder, self.common)):
            found = _endless_in(folder)
            if found is not None:
                return found
        return self._endless_in_settings()

    def _endless_in_settings(self) -> str | None:
        """Return what the repository's own settings make git read without end: a pipe, a device, too many includes."""
        pending, known, count = [self.common / "config", self.folder / "config.worktree"], dict[Path, list[str]](), 0
        while pending:
            file = _resolve(pending.pop())
            if file is None or not file.is_file():
                continue
            count += 1
            if count > 200:  # git reads a file as often as it is included
                return str(file)
            if file not in known:
                words = ("config", "--no-includes", "--list", "-z", "--file", str(file))
                # Nowhere: git reads a repository's settings before any command.
                nowhere = {**_NO_SETTINGS, "GIT_DIR": os.devnull}
                known[file] = os.fsdecode(_run_git(words, file.parent, nowhere, b"").out).split("\0")
            for key, _, value in (item.partition("\n") for item in known[file]):
                is_include = key.startswith(("include.", "includeif.")) and key.endswith(".path")
                path = file.parent / os.path.expanduser(value)  # noqa: PTH111  "~" may stay
                if (is_include or key in ("core.attributesfile", "core.excludesfile")) and _is_endless(path):
                    return str(path)
                pending += [path] if is_include else []
        return None

    def ask(self, *words: str, stdin: bytes = b"", more: Mapping[str, str] | None = None) -> Answer:
        """Run git and return its result; `more` are additional environment variables."""
        if self.endless is not None:
            raise StoreError(
                f"{self.endless}: a pipe, a device or a folder without end, which git would wait for: {_AGAIN}"
            )
        environment = {**self.environment, **(more or {})}
        return _run_git(words, Path(environment["GIT_WORK_TREE"]), environment, stdin)

    def run(self, *words: str, stdin: bytes = b"", more: Mapping[str, str] | None = None) -> bytes:
        """Run git and return its output. Raises StoreError unless it exits with 0."""
        answer = self.ask(*words, stdin=stdin, more=more)
        if answer.status:
            lines = answer.error.splitlines()
            why = next((line for line in lines if line.startswith(("fatal:", "error:"))), *lines[:1] or ["no word"])
            raise StoreError(f"git {words[0]} failed in {self.folder} ({why}): {_AGAIN}")
        return answer.out

    def head(self) -> str | None:
        """Return the commit of HEAD, None if there are no commits."""
        answer = self.ask("rev-parse", "-q", "--verify", "HEAD^{commit}")
        return None if answer.status else answer.out.decode().strip()

    def tracked_paths(self) -> list[str]:
        """Return the paths of the tree that git tracks, without submodules."""
        start = self.prefix
        listed = os.fsdecode(self.run("ls-files", "-s", "-z")).split("\0")
        paths = (item.partition("\t")[2] for item in listed if item and not item.startswith(GITLINK_MODE))
        return [path[len(start) :] for path in paths if path.startswith(start)]

    def user_ignore_file(self) -> Path:
        """Return the file set by `core.excludesFile`, else git's default."""
        answer = self.ask("config", "--includes", "--type=path", "--get", "core.excludesFile")
        name = os.fsdecode(answer.out.rstrip(b"\n"))
        return Path(name) if not answer.status and name else default_user_ignore_file()

    def filters(self) -> list[str]:
        """Return the programs that the repository's own settings name as filters of files, a line each."""
        # Settings by which git gives files to other programs, when it takes them in or checks them out.
        words = ("--includes", "-z", "--get-regexp", r"^filter\..*\.(clean|smudge|process)$")
        listed = b"".join(self.ask("config", scope, *words).out for scope in ("--local", "--worktree"))
        pairs = (each.partition(b"\n") for each in listed.split(b"\0") if each)
        return list(dict.fromkeys(f"git {os.fsdecode(key)}: {os.fsdecode(value)}" for key, _, value in pairs))

    def trouble(self) -> str | None:
        """Return why git cannot read this repository, None if it can."""
        try:
            self.tracked_paths()
        except StoreError as error:
            return str(error).rpartition(": ")[0]
        return None

    def entries(self, more: Mapping[str, str] | None = None) -> list[Entry]:
        """Return the index entries of the tree; paths are relative to its root."""
        entries = []
        for item in self.run("ls-files", "-s", "-z", more=more).split(b"\0")[:-1]:
            about, _, name = item.partition(b"\t")
            (mode, object_id, _stage), path = about.decode().split(" "), os.fsdecode(name)
            if path.startswith(self.prefix):
                entries.append(Entry(path[len(self.prefix) :], mode, object_id))
        return entries


def new_repository(folder: Path, object_format: str) -> UserRepository:
    """Make a bare repository of ours in a new folder. Raises StoreError."""
    with as_store_error(folder):
        folder.mkdir(mode=0o700)
    words = ("init", "-q", "--bare", "--template=", f"--object-format={object_format}", str(folder))
    answer = _run_git(words, folder, _NO_SETTINGS, b"")
    if answer.status:
        raise StoreError(f"git init failed in {folder} ({answer.error.strip()}): {_AGAIN}")
    return UserRepository(folder, folder, folder, "")


def repository_around(root: Path) -> UserRepository | None:
    """Return the repository around a tree, None if there is none."""
    for top in (root, *root.parents):
        folder = _git_folder(top)
        if folder is not None:
            prefix = "" if top == root else root.relative_to(top).as_posix() + "/"
            name = os.fsdecode(bytes_of(folder / "commondir")).strip()
            common = _resolve(folder / name) if name else folder
            return UserRepository(folder, common, top, prefix) if common and common.is_dir() else None
    return None


def is_foreign_repository(folder: Path, root: Path) -> bool:
    """Return whether the files below a folder of a tree are another repository's: a worktree, a submodule, a clone.

    In a project without git, a repository with no remote was made there, as generators of projects do: it is the
    project's own work.
    """
    dot = folder / ".git"
    if bytes_of(dot).startswith(b"gitdir: "):
        return True
    if not os.path.lexists(dot / "HEAD"):
        return False
    return repository_around(root) is not None or b"[remote " in bytes_of(dot / "config")


def checked_out_commit(folder: Path) -> str | None:
    """Return the commit that the repository in a folder has checked out, None if its files do not say. No git runs."""
    found = repository_around(folder)
    if found is None or found.top != folder:
        return None
    head = os.fsdecode(bytes_of(found.folder / "HEAD")).strip()
    if named := re.fullmatch(r"ref: (refs/[^\0\n]+)", head):
        listed = os.fsdecode(bytes_of(found.common / "packed-refs")).splitlines()
        packed = (line.partition(" ")[0] for line in listed if line.endswith(f" {named[1]}"))
        head = os.fsdecode(bytes_of(found.common / named[1])).strip() or next(packed, "")
    return head if _COMMIT.fullmatch(head) else None


def changed_since_commit(root: Path) -> tuple[str, ...]:
    """Return the tracked files of a tree that differ from HEAD or are gone, as git's own filters are not run.

    A file of the committed size counts as changed only if it is newer than the index. () without a repository, without
    a commit, or if git cannot be read.
    """
    repository = repository_around(root)
    if repository is None:
        return ()
    try:
        listed = repository.ask("ls-tree", "-r", "-l", "-z", f"HEAD:{repository.prefix}").out.split(b"\0")
        index_time = (repository.folder / "index").stat().st_mtime_ns
    except (StoreError, OSError):
        return ()
    return tuple(sorted(filter(None, (_changed_path(root, item, index_time) for item in listed if item))))


def _changed_path(root: Path, item: bytes, index_time: int) -> str | None:
    """Return the path of a line of `ls-tree -l` if its file differs, None if it does not."""
    about, _, name = item.partition(b"\t")
    mode, _, object_id, size = about.split()
    path = os.fsdecode(name)
    if not mode.startswith(b"100"):
        return None  # links and submodules
    try:
        found = (root / path).lstat()
        if found.st_size == int(size) and found.st_mtime_ns <= index_time:
            return None
        content = b"" if stat.S_ISLNK(found.st_mode) else read_regular(root / path)
    except (InputError, OSError):
        return path
    new = hashlib.sha256 if len(object_id) == _SHA256_DIGITS else hashlib.sha1
    forms = (content, content.replace(b"\r\n", b"\n"))  # as committed from a tree with Windows line ends
    return None if object_id.decode() in {new(b"blob %d\0" % len(each) + each).hexdigest() for each in forms} else path


def head_of(root: Path) -> str | None:
    """Return the commit of HEAD in the repository around a folder, None if there is no repository or no git."""
    found = repository_around(root.resolve())
    try:
        return found.head() if found else None
    except StoreError:
        return None


def default_user_ignore_file() -> Path:
    """Return git's default for the user's ignore file."""
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111  "~" may stay
    return Path(base) / "git" / "ignore"


def _git_folder(top: Path) -> Path | None:
    dot = top / ".git"
    if dot.is_file():
        text = os.fsdecode(bytes_of(dot)).strip()
        dot = top / text.removeprefix("gitdir: ") if text.startswith("gitdir: ") else dot
    return _resolve(dot) if os.path.lexists(dot / "HEAD") else None


def _resolve(path: Path) -> Path | None:
    """Return a path without links, None if nothing is there, or its name cannot be one of a file."""
    try:
        return path.resolve(strict=True)
    except (OSError, ValueError, RuntimeError):
        return None


def bytes_of(file: Path) -> bytes:
    """Return a file's content, empty if it cannot be read, is no regular file or has over 64 MiB."""
    try:
        return read_regular(file)
    except (InputError, OSError):
        return b""


def endless_in_tree(root: Path) -> str | None:
    """Return a pipe or device that git would read where it takes in the files of a folder; None if there is none."""
    for at, folders, files in os.walk(root):
        for name in _READ_IN_TREE.intersection(files):
            if _is_endless(os.path.join(at, name)):  # noqa: PTH118  # of many
                return os.path.join(at, name)  # noqa: PTH118
        nested = _git_folder(Path(at)) if at != str(root) and ".git" in (*folders, *files) else None
        found = nested and _endless_in(nested)
        if found:
            return found
        folders[:] = [name for name in folders if name not in {".git", LOOP_FOLDER}]
    return None


def _endless_in(folder: Path) -> str | None:
    """Return a pipe or device that git would read in its folder, or where a link in it leads; None if there is none.

    A folder that is not through after ten seconds, because of a link to `/proc` for instance, counts as one.
    """
    until = time.monotonic() + 10.0
    pending, seen = [str(folder), *(str(folder / name) for name in _READ_BELOW)], {str(folder.resolve())}
    while pending:
        at = pending.pop()
        if time.monotonic() > until:
            return at
        try:
            with os.scandir(at) as entries:
                found = [entry for entry in entries if not entry.is_file(follow_symlinks=False)]
        except OSError:
            continue  # git says what it cannot read
        for entry in found:
            if not entry.is_dir():
                if _is_endless(entry.path):
                    return entry.path
            elif at != str(folder):
                real = os.path.realpath(entry.path) if entry.is_symlink() else entry.path
                pending += [] if real in seen else [real]
                seen.add(real)
    return None


def _is_endless(path: Path | str) -> bool:
    """Return whether a path leads to a pipe or a device other than the empty one."""
    try:
        status = os.stat(path)  # noqa: PTH116  # of many names
    except OSError:
        return False
    is_device = stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode)
    return stat.S_ISFIFO(status.st_mode) or (is_device and status.st_rdev != Path(os.devnull).stat().st_rdev)


def _run_git(words: Sequence[str], where: Path, environment: Mapping[str, str], stdin: bytes) -> Answer:
    try:
        from git.cmd import Git  # noqa: PLC0415  # takes 147 ms, and few commands need it
        from git.exc import GitCommandNotFound  # noqa: PLC0415  # as above
    except ImportError as error:
        raise StoreError(_NO_GIT) from error
    # GitPython passes the whole environment: `env` removes what the caller's shell or a git hook has set.
    foreign = sorted(name for name in os.environ if name.startswith("GIT_") and name not in environment)
    clean = ["env", *(part for name in foreign for part in ("-u", name))] if foreign else []
    with tempfile.TemporaryFile() as feed:
        feed.write(stdin)
        feed.seek(0)
        try:
            status, out, said = Git(str(where)).execute(
                [*clean, Git.GIT_PYTHON_GIT_EXECUTABLE or "git", *_QUIET, *words],
                istream=feed,
                with_extended_output=True,
                with_exceptions=False,
                stdout_as_string=False,
                strip_newline_in_stdout=False,
                env=dict(environment),
            )
        except GitCommandNotFound as missing:
            raise StoreError(_NO_GIT) from missing
    if status == 127:
        raise StoreError(_NO_GIT)
    return Answer(status, out, said)


def make_branch(repository: UserRepository, goal: Sequence[Entry], chunks: Chunks, note: Note, name: str) -> Branch:
    """Create a branch with the files of a kept tree on top of HEAD, which is not moved.

    Files are stored as `git add` would, with the user's line endings and filters. Index and working tree are temporary.
    A branch of that name with the same tree, parent and message is what a killed call has made: it is left as it is.
    Raises StoreError if the name is invalid, or taken by something else.
    """
    repository.run("rev-parse", "--git-dir")  # refuses settings that git cannot read, which are no matter of the name
    answer = repository.ask("check-ref-format", "--branch", name)
    if answer.status or answer.out.decode("utf-8", "replace").strip() != name:
        raise StoreError(f"{shown(name)} cannot be the name of a branch; give another one")
    there = repository.ask("rev-parse", "-q", "--verify", f"refs/heads/{name}").out.decode().strip()
    head = repository.head()
    message = (note.message or "Kept by ralph-tracker").encode()
    taken = StoreError(f"the branch {shown(name)} exists already; give another name, or delete that branch first")
    if there and _content_of(repository, there)[1:] != ([head] if head else [], message.strip()):
        raise taken
    # Git commits as the user if it knows one, else as ralph-tracker.
    keys = ("user.name", "user.email")
    known = all(not repository.ask("config", "--includes", "--get", key).status for key in keys)
    with temporary_folder() as scratch:
        top = scratch / "tree"
        top.mkdir()
        place = {"GIT_WORK_TREE": str(top), "GIT_INDEX_FILE": str(top.with_name("index"))}
        if not known:
            place |= NOBODY
        repository.run("read-tree", head or "--empty", more=place)
        written, removed, moved = _edit(repository, goal, chunks, note, place)
        below = top / repository.prefix
        below.mkdir(parents=True, exist_ok=True)
        with TreeWriter(below) as writer:
            for entry in written:
                writer.write(entry.path, entry.mode, chunks(entry.object_id))
        # `--remove` refuses a path behind a symbolic link.
        none = b"0" * len(head or "")  # ids of SHA-256 are longer
        gone = b"".join(b"0 %s\t%s\0" % (none, os.fsencode(repository.prefix + path)) for path in removed)
        modules = (f"{GITLINK_MODE} {commit}\t{repository.prefix}{path}\0" for path, commit in moved.items())
        gone += b"".join(map(os.fsencode, modules))
        repository.run("update-index", "-z", "--index-info", stdin=gone, more=place)
        added = b"".join(os.fsencode(f"{repository.prefix}{entry.path}\0") for entry in written)
        repository.run("update-index", "--add", "-z", "--stdin", stdin=added, more=place)
        tree = repository.run("write-tree", more=place).decode().strip()
        parent = ("-p", head) if head else ()
        if there and _content_of(repository, there)[0] != tree:
            raise taken
        if there:
            return Branch(there, is_new=False)
        commit = repository.run("commit-tree", tree, *parent, stdin=message, more=place).decode().strip()
    repository.run("update-ref", f"refs/heads/{name}", commit, "0" * len(commit))
    return Branch(commit, is_new=True)


def _content_of(repository: UserRepository, commit: str) -> tuple[str, list[str], bytes]:
    """Return the tree, the parents and the message of a commit."""
    head, _, message = repository.run("cat-file", "commit", commit).partition(b"\n\n")
    fields = [line.split(" ", 1) for line in head.decode("utf-8", "replace").split("\n")]
    parents = [rest[0] for word, *rest in fields if word == "parent"]
    return next(rest[0] for word, *rest in fields if word == "tree"), parents, message.strip()


def _edit(
    repository: UserRepository, goal: Sequence[Entry], chunks: Chunks, note: Note, place: Mapping[str, str]
) -> tuple[list[Entry], list[str], dict[str, str]]:
    """Return what to write, what to remove, and the commits of submodules, to turn HEAD's tree into the kept one.

    Paths are relative to the root. What snapshots never hold stays: our folder, what was skipped with all below it, and
    files not checked out.
    """
    head = {entry.path: entry for entry in repository.entries(place)}
    listed_now = (*head.values(), *repository.entries())  # also those that the user's index has and HEAD has not
    modules = {entry.path for entry in listed_now if entry.mode == GITLINK_MODE}
    wanted = [entry for entry in goal if not _is_below(entry.path, modules)]
    is_sha256 = any(len(entry.object_id) == _SHA256_DIGITS for entry in head.values())
    written = []
    for entry in wanted:
        digest = hashlib.sha256() if is_sha256 else hashlib.sha1(usedforsecurity=False)
        data = b"".join(chunks(entry.object_id))
        digest.update(b"blob %d\0" % len(data))
        digest.update(data)
        is_same = head.get(entry.path) == entry._replace(object_id=digest.hexdigest())
        if not is_same or entry.path.endswith(".gitattributes"):
            written.append(entry)
    # Paths that are not checked out, by the user's index, as in a sparse checkout.
    listed = repository.run("ls-files", "-t", "-z").split(b"\0")
    absent = [os.fsdecode(item[2:]) for item in listed if item.startswith(b"S ")]
    sparse = (path.removeprefix(repository.prefix) for path in absent if path.startswith(repository.prefix))
    stays = {*modules, *sparse, *(entry.path for entry in goal)}
    skipped = {skip.path.rstrip("/") for skip in note.skipped}
    gone = (path for path in head if path not in stays and LOOP_FOLDER not in path.split("/"))
    moved = {path: each for path, each in note.commits.items() if path in modules and _COMMIT.fullmatch(str(each))}
    return written, [path for path in gone if not _is_below(path, skipped)], moved


def _is_below(path: str, folders: set[str]) -> bool:
    parts = path.split("/")
    return any("/".join(parts[:depth]) in folders for depth in range(1, len(parts) + 1))
