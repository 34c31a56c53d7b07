"""Read the commits of a range, and lay them out in folders outside the repository; nothing in it is written."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from ralph_tracker.errors import InputError, StoreError
from ralph_tracker.store.snapshots.user_repository import UserRepository, repository_around

_FORMAT: Final = "%H%x00%T%x00%ct%x00%s"
_RANGE: Final = ".."
# What a user may have set for the working tree: both would leave traces in the repository or files out of the checkout.
_SETTINGS: Final = ("core.splitIndex", "core.sparseCheckout", "core.untrackedCache")
_FILTERS: Final = r"^filter\..*\.(smudge|process)$"
_SHORT: Final = 10


class Commit(NamedTuple):
    """A commit: its id, the id of its tree, its time in epoch seconds, the first line of its message."""

    sha: str
    tree: str
    time: int
    subject: str

    @property
    def short(self) -> str:
        """Return the beginning of the id, as people write it."""
        return self.sha[:_SHORT]


class Choice(NamedTuple):
    """Which commits of a range are replayed.

    `every` takes each K-th, counted from the last; `touching` those that change a path that fits git's glob;
    `first_parent` follows only the first parent of merges.
    """

    every: int = 1
    touching: str | None = None
    first_parent: bool = False


class History(NamedTuple):
    """The repository around a project, of which `prefix` is the project's folder: "" or ending with a slash."""

    repository: UserRepository

    @classmethod
    def around(cls, root: Path) -> "History":
        """Return the history of a project. Raises InputError outside of a repository."""
        found = repository_around(root)
        if found is None:
            raise InputError(f"{root} is in no git repository; replay needs its commits")
        return cls(found)

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
        ids = self.repository.run("rev-list", *words).decode().split()
        ids = [each for place, each in enumerate(ids) if (len(ids) - 1 - place) % choice.every == 0]
        if not ids:
            chosen = "" if choice.touching is None else f" that changes {choice.touching}"
            raise InputError(f"{revisions}: no commit{chosen}; name the base first, then the newer end: main..HEAD")
        return self._described((first, *ids))

    def _ends(self, revisions: str) -> tuple[str, str]:
        parts = revisions.split(_RANGE)
        if len(parts) != 2 or not parts[0] or parts[1].startswith("."):  # noqa: PLR2004  # two ends
            raise InputError(f"{revisions}: no range of commits; write FROM..TO, for example main..HEAD")
        ends = [self._id(name or "HEAD") for name in parts]
        base = self.repository.ask("merge-base", *ends)
        if base.status:
            raise InputError(f"{revisions}: the two have no common commit; name an earlier commit of the same branch")
        return base.out.decode().split()[0], ends[1]

    def _id(self, name: str) -> str:
        answer = self.repository.ask("rev-parse", "-q", "--verify", "--end-of-options", f"{name}^{{commit}}")
        if answer.status:
            raise InputError(f"{name}: git knows no such commit here; `git log --oneline` lists them")
        return answer.out.decode().split()[-1]

    def _described(self, ids: Sequence[str]) -> tuple[Commit, ...]:
        words = ("log", "--no-walk=unsorted", "--no-show-signature", f"--format={_FORMAT}", "--stdin")
        told = self.repository.run(*words, stdin="".join(f"{sha}\n" for sha in ids).encode())
        fields = [line.split("\0") for line in told.decode("utf-8", "replace").split("\n") if line]
        return tuple(Commit(sha, tree, int(time), subject) for sha, tree, time, subject in fields)

    def paths(self, commits: Sequence[Commit]) -> frozenset[str]:
        """Return every path that the project has in any of the commits."""
        listed: set[bytes] = set()
        for tree in dict.fromkeys(commit.tree for commit in commits):
            listed.update(self.repository.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", tree).split(b"\0"))
        start = os.fsencode(self.prefix)
        return frozenset(os.fsdecode(path[len(start) :]) for path in listed if path and path.startswith(start))

    def blobs(self, commit: Commit, paths: Sequence[str]) -> dict[str, str]:
        """Return the ids of those files of a commit, of those that are there; paths are relative to the top."""
        listed = self.repository.run("ls-tree", "-z", "--full-tree", commit.sha, "--", *paths).split(b"\0")
        entries = (item.partition(b"\t") for item in listed if item)
        return {os.fsdecode(path): about.decode().split(" ")[2] for about, _, path in entries}

    def blobs_now(self, paths: Sequence[str]) -> dict[str, str]:
        """Return the ids that those files of the working tree would have, of those that are there."""
        there = [path for path in paths if (self.top / path).is_file()]
        ids = self.repository.run("hash-object", "--no-filters", "--", *there).decode().split() if there else []
        return dict(zip(there, ids, strict=True))

    def filters(self) -> list[str]:
        """Return the programs that the repository's own settings start where files are checked out, a line each."""
        listed = self.repository.ask("config", "--local", "--includes", "-z", "--get-regexp", _FILTERS)
        pairs = (each.partition(b"\n") for each in listed.out.split(b"\0") if each)
        return [f"git {os.fsdecode(key)}: {os.fsdecode(value)}" for key, _, value in pairs]

    def lay_out(self, commit: Commit, folder: Path) -> Path:
        """Make a folder exactly a commit, and return the project's folder in it.

        What is there from another commit is replaced, if it was laid out here. The index lies beside the folder.
        """
        folder.mkdir(parents=True, exist_ok=True)
        place = {"GIT_WORK_TREE": str(folder), "GIT_INDEX_FILE": str(folder.with_name(f"{folder.name}.index"))}
        self.repository.run("read-tree", "-u", "--reset", commit.sha, more={**place, **_settings()})
        project = folder / self.prefix
        try:
            project.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise StoreError(f"{commit.short}: {self.prefix} is no folder there; choose later commits") from None
        return project


def _settings() -> Mapping[str, str]:
    """Return the environment that overrides settings of git."""
    pairs = {f"GIT_CONFIG_KEY_{place}": name for place, name in enumerate(_SETTINGS)}
    values = {f"GIT_CONFIG_VALUE_{place}": "false" for place, _ in enumerate(_SETTINGS)}
    return {"GIT_CONFIG_COUNT": str(len(_SETTINGS)), **pairs, **values}
