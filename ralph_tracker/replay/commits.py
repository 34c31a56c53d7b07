"""Read the commits of a range, and check them out outside the repository; nothing in it is written.

A checkout is moved from commit to commit, so that only what differs between two commits is written; before that,
whatever the checks of the earlier commit made or changed there is removed.
"""

import os
import re
import shutil
import stat
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count, pairwise
from pathlib import Path
from typing import Final, NamedTuple

from ralph_tracker.errors import InputError, StoreError
from ralph_tracker.measure.git_root import CommittedFiles, make_git_root
from ralph_tracker.safe_files import as_store_error
from ralph_tracker.scratch import remove_folder
from ralph_tracker.store.snapshots.snapshot_types import LOOP_FOLDER
from ralph_tracker.store.snapshots.user_repository import Answer, UserRepository, endless_in_tree, repository_around

# What a user may have set for the working tree: both would leave traces in the repository or files out of the checkout.
_SETTINGS: Final = ("core.splitIndex", "core.sparseCheckout", "core.untrackedCache")
_CHECKOUT: Final = ("core.autocrlf", "core.eol", "core.symlinks", "core.fileMode")
_ATTRIBUTES: Final = ("--", ":(top,glob)**/.gitattributes")
# How `diff-tree --stdin` begins the paths of each pair.
_PAIR: Final = re.compile(rb"^[0-9a-f]{40,64} [0-9a-f]{40,64}\n")
# The mode of a folder; of all else also what changes with its content, its owner or its links.
_State = tuple[int, ...]


class Commit(NamedTuple):
    """A commit: its id, the id of its tree, its time in epoch seconds, the first line of its message."""

    sha: str
    tree: str
    time: int
    subject: str

    @property
    def short(self) -> str:
        """Return the beginning of the id, as people write it."""
        return self.sha[:10]


class Choice(NamedTuple):
    """Which commits of a range are replayed.

    `every` takes each K-th, counted from the last; `touching` those that change a path that fits git's glob;
    `first_parent` follows only the first parent of merges.
    """

    every: int = 1
    touching: str | None = None
    first_parent: bool = False


class History(NamedTuple):
    """The repository around a project, of which `prefix` is the project's folder: "" or ending with a slash.

    `objects` is a folder of ours for the objects that are made of folders, None where none are. `settings` of git are
    used beside the repository's own.
    """

    repository: UserRepository
    objects: Path | None = None
    settings: tuple[tuple[str, str], ...] = ()

    @classmethod
    def around(cls, root: Path) -> "History":
        """Return the history of a project. Raises InputError outside of a repository."""
        found = repository_around(root)
        if found is None:
            raise InputError(f"{root} is in no git repository; replay needs its commits")
        return cls(found)

    def _run(self, *words: str, stdin: bytes = b"", more: Mapping[str, str] | None = None) -> bytes:
        return self.repository.run(*words, stdin=stdin, more={**(more or {}), **self._lookup})

    def _ask(self, *words: str, more: Mapping[str, str] | None = None) -> Answer:
        return self.repository.ask(*words, more={**(more or {}), **self._lookup})

    @property
    def _lookup(self) -> Mapping[str, str]:
        """Return the environment by which git writes objects only to our folder, and reads the repository's too."""
        if self.objects is None:
            return {}
        theirs = str(self.repository.common / "objects")
        return {"GIT_OBJECT_DIRECTORY": str(self.objects), "GIT_ALTERNATE_OBJECT_DIRECTORIES": theirs}

    @property
    def top(self) -> Path:
        """Return the folder of the whole repository."""
        return self.repository.top

    @property
    def prefix(self) -> str:
        """Return the project's folder in the repository."""
        return self.repository.prefix

    def commits(self, revisions: str, choice: Choice) -> tuple[Commit, ...]:
        """Return the base, then the chosen commits of FROM..TO, oldest first, parents before children.

        The base is FROM, or where TO left it. Raises InputError for a range that is none or has no commit.
        """
        first, last = self._ends(revisions)
        words = ["--reverse", "--topo-order", *(["--first-parent"] if choice.first_parent else []), f"{first}..{last}"]
        words += [] if choice.touching is None else ["--", f":(glob){self.prefix}{choice.touching}"]
        ids = self._run("rev-list", *words).decode().split()
        ids = [each for place, each in enumerate(ids) if (len(ids) - 1 - place) % choice.every == 0]
        if not ids:
            if choice.touching is not None:
                raise InputError(
                    f"{revisions}: no commit that changes {choice.touching}; write a path from the project's folder, "
                    "for example src/**"
                )
            raise InputError(f"{revisions}: no commit; name the base first, then the newer end: main..HEAD")
        return self._describe_commits((first, *ids))

    def _ends(self, revisions: str) -> tuple[str, str]:
        parts = revisions.split("..")
        if len(parts) != 2 or not parts[0] or parts[1].startswith("."):  # two ends
            raise InputError(f"{revisions}: no range of commits; write FROM..TO, for example main..HEAD")
        ends = [self._id(name or "HEAD") for name in parts]
        base = self._ask("merge-base", *ends)
        if base.status:
            raise InputError(f"{revisions}: the two have no common commit; name an earlier commit of the same branch")
        return base.out.decode().split()[0], ends[1]

    def _id(self, name: str) -> str:
        found = self._find_commit(name)
        if found is None:
            raise InputError(f"{name}: git knows no such commit here; `git log --oneline` lists them")
        return found

    def candidates(self, names: Iterable[str], base: str | None) -> tuple[Commit, ...]:
        """Return the base, then each candidate: a commit by its name, else a folder with its present files.

        Without `base` that is where they all, and HEAD, come from. Needs `objects` for folders. Raises InputError.
        """
        names = list(names)
        commits = {name: found for name in names if (found := self._find_commit(name)) is not None}
        folders = [name for name in names if name not in commits]
        missing = [name for name in folders if not Path(name).is_dir()]
        if missing:
            raise InputError(f"{missing[0]}: neither a commit here nor a folder; `git branch` lists branches")
        if base is None:
            answer = self._ask("merge-base", "--octopus", "HEAD", *commits.values())
            if answer.status:
                raise InputError("the candidates have no common commit; name one with --base REV")
            base = answer.out.decode().split()[0]
        (start,) = self._describe_commits([self._id(base)])
        known = self._describe_commits(list(commits.values())) if commits else ()
        described = {name: each._replace(subject=name) for name, each in zip(commits, known, strict=True)}
        return (start, *(described.get(name) or self._of_folder(Path(name), start) for name in names))

    def _of_folder(self, folder: Path, base: Commit) -> Commit:
        """Return the files of a folder, but for what git ignores, as a commit; its id is that of its tree."""
        if self.objects is None:
            raise InputError(f"{folder}: a folder, where a commit is needed")
        around = repository_around(folder.resolve())
        top = around.top if self.prefix and around is not None and around.prefix == self.prefix else folder.resolve()
        if self.prefix and not (top / self.prefix).is_dir():
            raise InputError(f"{folder}: no checkout of the whole repository; name one, with {self.prefix} in it")
        endless = endless_in_tree(top)
        if endless is not None:
            raise InputError(f"{endless}: a pipe or a device, which git would wait for; remove it")
        index = str(self.objects.with_name(f"{len(list(self.objects.parent.iterdir()))}.index"))
        place = {"GIT_WORK_TREE": str(top), "GIT_INDEX_FILE": index, **_settings()}
        self._run("read-tree", base.sha, more=place)
        # Git refuses to exclude by name what is ignored anyway.
        is_ignored = not self.repository.ask("check-ignore", "-q", "--no-index", LOOP_FOLDER, more=place).status
        self._run("add", "-A", "--", ".", *([] if is_ignored else [f":(exclude){LOOP_FOLDER}"]), more=place)
        tree = self._run("write-tree", more=place).decode().strip()
        return Commit(tree, tree, base.time, str(folder))

    def _find_commit(self, name: str) -> str | None:
        answer = self._ask("rev-parse", "-q", "--verify", "--end-of-options", f"{name}^{{commit}}")
        return None if answer.status else answer.out.decode().split()[-1]

    def _describe_commits(self, ids: Sequence[str]) -> tuple[Commit, ...]:
        words = ("log", "--no-walk=unsorted", "--no-show-signature", "--format=%H%x00%T%x00%ct%x00%s", "--stdin")
        told = self._run(*words, stdin="".join(f"{sha}\n" for sha in ids).encode())
        fields = [line.split("\0") for line in told.decode("utf-8", "replace").split("\n") if line]
        return tuple(Commit(sha, tree, int(time), subject) for sha, tree, time, subject in fields)

    def paths(self, commits: Sequence[Commit]) -> frozenset[str]:
        """Return every path that the project has in any of the commits."""
        trees = list(dict.fromkeys(commit.tree for commit in commits))
        listed = set(self._run("ls-tree", "-r", "-z", "--name-only", "--full-tree", trees[0]).split(b"\0"))
        pairs = "".join(f"{before} {after}\n" for before, after in pairwise(trees))
        words = ("diff-tree", "--stdin", "-r", "-z", "--name-only", "--no-renames")
        changed = self._run(*words, stdin=pairs.encode()).split(b"\0")
        listed.update(_PAIR.sub(b"", path) for path in changed)
        start = os.fsencode(self.prefix)
        return frozenset(os.fsdecode(path[len(start) :]) for path in listed if path and path.startswith(start))

    def blobs(self, commit: Commit, paths: Sequence[str]) -> dict[str, str]:
        """Return the ids of those files of a commit, of those that are there; paths are relative to the top."""
        listed = self._run("ls-tree", "-z", "--full-tree", commit.sha, "--", *paths).split(b"\0")
        entries = (item.partition(b"\t") for item in listed if item)
        return {os.fsdecode(path): about.decode().split(" ")[2] for about, _, path in entries}

    def versions(self, commits: Sequence[Commit], paths: Sequence[str]) -> dict[str, set[str | None]]:
        """Return the ids that each file has in commits, None among them for a commit without it.

        A file that no commit has is left out.
        """
        asked = "".join(f"{commit.sha}:{path}\n" for path in paths for commit in commits)
        listed = self._run("cat-file", "--batch-check=%(objectname)", stdin=os.fsencode(asked)).decode().splitlines()
        ids = [None if line.endswith(" missing") else line for line in listed]
        count = len(commits)
        found = {path: set(ids[place * count : (place + 1) * count]) for place, path in enumerate(paths)}
        return {path: versions for path, versions in found.items() if any(versions)}

    def blobs_now(self, paths: Sequence[str]) -> dict[str, str]:
        """Return the blob ids of those files of the working tree that exist."""
        there = [path for path in paths if (self.top / path).is_file()]
        ids = self._run("hash-object", "--no-filters", "--", *there).decode().split() if there else []
        return dict(zip(there, ids, strict=True))

    @property
    def object_format(self) -> str:
        """Return the kind of the repository's ids: sha1 or sha256."""
        answer = self._ask("rev-parse", "--show-object-format")
        return "sha1" if answer.status else answer.out.decode().strip()

    def checkout_settings(self) -> dict[str, str]:
        """Return the settings that decide how files are checked out, as they are here."""
        any_of = "|".join(name.lower().replace(".", r"\.") for name in _CHECKOUT)
        listed = self._ask("config", "--includes", "-z", "--get-regexp", f"^({any_of})$").out.decode().split("\0")
        found = {key: value for key, _, value in (item.partition("\n") for item in listed)}  # the last one counts
        return {name: found[name.lower()].strip() for name in _CHECKOUT if name.lower() in found}

    def trees_with_filters(self, commits: Sequence[Commit]) -> frozenset[str]:
        """Return the trees whose files git gives to other programs when it checks them out."""
        if (self.repository.common / "info" / "attributes").exists():
            return frozenset(commit.tree for commit in commits)
        words = ("grep", "-q", "-e", "filter=")
        trees = dict.fromkeys(commit.tree for commit in commits)
        return frozenset(tree for tree in trees if not self._ask(*words, tree, *_ATTRIBUTES).status)

    def lay_out(self, commit: Commit, folder: Path) -> Path:
        """Make a folder exactly a commit, and return the project's folder in it.

        What was laid out there of another commit is replaced. The index lies beside the folder.
        """
        index = _index_of(folder)
        place = {"GIT_WORK_TREE": str(folder), "GIT_INDEX_FILE": str(index)}
        words = ("diff-index", "--cached", "--quiet", commit.sha, *_ATTRIBUTES)
        if folder.is_dir() and (not index.exists() or self._ask(*words, more=place).status):
            shutil.rmtree(folder)  # by other attributes git writes the same content differently
            index.unlink(missing_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        self._run("read-tree", "-u", "--reset", commit.sha, more={**place, **_settings(self.settings)})
        project = folder / self.prefix
        try:
            project.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise StoreError(f"{commit.short}: {self.prefix} is no folder there; choose later commits") from None
        return project

    def make_root(self, commit: Commit, folder: Path, settings: Mapping[str, str]) -> None:
        """Make a folder with a commit laid out the top of a repository of its own, which has that commit's files."""
        objects = [self.repository.common / "objects", *([self.objects] if self.objects else [])]
        format_ = "sha1" if len(commit.tree) == 40 else "sha256"
        files = CommittedFiles(commit.tree, objects, _index_of(folder), settings, format_, commit.subject, commit.time)
        with as_store_error(folder):
            make_git_root(folder, files)


def _index_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.index")


def _settings(more: Sequence[tuple[str, str]] = ()) -> Mapping[str, str]:
    """Return the environment that overrides settings of git."""
    settings = [*((name, "false") for name in _SETTINGS), *more]
    pairs = {f"GIT_CONFIG_KEY_{place}": name for place, (name, _) in enumerate(settings)}
    values = {f"GIT_CONFIG_VALUE_{place}": value for place, (_, value) in enumerate(settings)}
    return {"GIT_CONFIG_COUNT": str(len(settings)), **pairs, **values}


class Checkouts:
    """The checkouts of a history in a `folder` of ours, each the top of a repository; several threads may use one each.

    `builds` is the folder of what compilers share between commits.
    """

    def __init__(self, history: History, folder: Path) -> None:
        self.folder, self.builds = folder, folder / "builds"
        self._history = history
        self._idle: deque[tuple[Path, Mapping[str, _State]]] = deque()
        self._numbers = count()
        self._settings = {**history.checkout_settings(), **dict(history.settings)}

    @contextmanager
    def of(self, commit: Commit) -> Iterator[Path]:
        """Yield a folder with exactly the files of a commit, which nobody else uses until the block ends."""
        place = self._place()
        copy = place / self._history.top.name  # some tools use the folder's name
        self._history.lay_out(commit, copy)
        self._history.make_root(commit, copy, self._settings)
        laid_out = dict(_states(str(place)))
        yield copy
        self._idle.append((place, laid_out))

    def _place(self) -> Path:
        """Return the place of an idle checkout, cleaned, else of a new one."""
        while True:
            try:
                place, laid_out = self._idle.pop()
            except IndexError:
                return self.folder / f"checkout-{next(self._numbers)}"
            if _clean(str(place), laid_out):
                return place


def _clean(place: str, laid_out: Mapping[str, _State]) -> bool:
    """Remove all that is not as it was laid out, so that git writes it again; return False if that is impossible."""
    for path, state in _states(place):
        if laid_out.get(path) == state:
            continue
        if path in laid_out and os.path.dirname(path) == place:  # noqa: PTH120  # the checkout or its index itself
            return False
        remove_folder(Path(path)) if stat.S_ISDIR(state[0]) else os.unlink(path)  # noqa: PTH108  # as in _states
        if os.path.lexists(path):  # as in _states
            return False
    return True


def _states(folder: str) -> Iterator[tuple[str, _State]]:
    """Yield the path and state of all that is in a folder; a folder's content after it, if it is still there."""
    with os.scandir(folder) as entries:
        listed = [(entry.path, entry.stat(follow_symlinks=False)) for entry in entries]
    for path, found in listed:  # plain strings: a checkout has thousands of files
        if not stat.S_ISDIR(found.st_mode):
            yield path, (found.st_mode, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
            continue
        yield path, (found.st_mode,)
        if os.path.lexists(path):  # as above
            yield from _states(path)
