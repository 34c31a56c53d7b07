"""A project in a scratch folder with its store, and an oracle that looks at it without git."""

import hashlib
import os
import shutil
import stat
import subprocess
from pathlib import Path

from ralph_tracker.store.snapshots.snapshot_types import Snapshot, SnapshotLimits
from ralph_tracker.store.snapshots.store import SnapshotStore


def names(folder: Path) -> list[str]:
    """Return what a folder holds."""
    return sorted(entry.name for entry in folder.iterdir())


def look(root: Path, leave_out: tuple[str, ...] = (".git", ".aiwg")) -> dict[str, tuple[str, bool, bytes]]:
    """Return path → (kind, exec bit, content) of all below a folder; an empty folder ends with a slash."""
    found: dict[str, tuple[str, bool, bytes]] = {}
    waiting = sorted(root.iterdir())
    while waiting:
        entry = waiting.pop()
        path, status = str(entry.relative_to(root)), entry.lstat()
        if entry.name in leave_out:
            continue
        if stat.S_ISLNK(status.st_mode):
            found[path] = ("link", False, os.fsencode(entry.readlink()))
        elif stat.S_ISREG(status.st_mode):
            found[path] = ("file", bool(status.st_mode & stat.S_IXUSR), entry.read_bytes())
        elif stat.S_ISDIR(status.st_mode):
            inner = list(entry.iterdir())
            waiting += inner
            found |= {} if inner else {f"{path}/": ("folder", False, b"")}
    return found


def changed(store: SnapshotStore, before: Snapshot, after: Snapshot) -> tuple[str, ...]:
    """Return the paths in which two snapshots differ."""
    return tuple(change.path for change in store.changes(before.tree, after.tree))


class Project:
    """A working tree, the git repository around it where there is one, and its store."""

    def __init__(self, root: Path, top: Path | None = None) -> None:
        self.root = root
        self.top = top or root
        root.mkdir(parents=True, exist_ok=True)

    @property
    def folder(self) -> Path:
        return self.root / ".aiwg" / "ralph" / "ralph-001" / "store"

    def store(self, limits: SnapshotLimits | None = None) -> SnapshotStore:
        """Return the store as a new call has it."""
        return SnapshotStore(self.folder, self.root, limits)

    def git(self, *arguments: str, at: Path | None = None, check: bool = True) -> str:
        """Run git as the user would."""
        done = subprocess.run(["git", *arguments], cwd=at or self.top, capture_output=True, check=False)
        if check:
            assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode("utf-8", "surrogateescape")

    def init(self) -> None:
        self.git("init", "-q", "-b", "main")

    def commit(self, message: str = "work") -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD").strip()

    def write(self, path: str, content: str | bytes = "text\n", mode: int | None = None) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        if mode is not None:
            file.chmod(mode)
        return file

    def remove(self, path: str) -> None:
        file = self.root / path
        if file.is_dir() and not file.is_symlink():
            shutil.rmtree(file)
        else:
            file.unlink()

    def link(self, path: str, target: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).symlink_to(target)

    def make_store(self, limits: SnapshotLimits | None = None) -> SnapshotStore:
        """Make the store."""
        store = self.store(limits)
        store.create()
        return store

    def stored(self, content: bytes) -> Path:
        """Return the file of the store that holds a content alone, whether it is there or not."""
        return self.object(hashlib.sha256(content).hexdigest())

    def object(self, object_id: str) -> Path:
        return self.folder / "objects" / object_id[:2] / object_id[2:]

    def look(self, *leave_out: str) -> dict[str, tuple[str, bool, bytes]]:
        return look(self.root, (".git", ".aiwg", *leave_out))

    def users_own(self) -> dict[str, str]:
        """Return path → hash of everything in the user's git directory."""
        folder = self.top / ".git"
        return {
            str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
            for file in sorted(folder.rglob("*"))
            if file.is_file()
        }
