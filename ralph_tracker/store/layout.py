"""The paths of everything that is kept of a loop (README, "What is kept")."""

import re
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from ralph_tracker.errors import InputError

LOOP_ID: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}\Z")
# The version of every document that is kept.
SCHEMA_VERSION: Final = 1
BASE: Final = Path(".aiwg") / "ralph"
RESERVED: Final = frozenset({"current", "lock", "loops", "trust"})
# How many iterations' records a pack has. Packs are named by it: another number finds none of those on disk.
PACKED_TOGETHER: Final = 25
PACKS: Final = "packed"
# The list of an iteration's kept files, in its folder.
MANIFEST: Final = "manifest.json"
_SHOWN: Final = 40


def checked_loop_id(loop_id: str) -> str:
    """Return a loop id if it is safe as a folder name, else raise InputError."""
    if not LOOP_ID.match(loop_id) or loop_id in RESERVED or ".." in loop_id:
        shown = loop_id if len(loop_id) <= _SHOWN else f"{loop_id[:_SHOWN]}…"
        raise InputError(
            f"loop id {shown!r}: use 1 to 64 of a-z, 0-9, dot, underscore and hyphen, a letter or digit first"
        )
    return loop_id


class ProjectPaths(NamedTuple):
    """The files shared by all loops of a project."""

    root: Path

    @property
    def base(self) -> Path:
        """Return the folder of all loops."""
        return self.root / BASE

    @property
    def current(self) -> Path:
        """Return the file that names the current loop."""
        return self.base / "current"

    @property
    def lock(self) -> Path:
        """Return the lock for starting loops."""
        return self.base / "lock"

    @property
    def trust(self) -> Path:
        """Return the file with the marks of what a user of the project trusts."""
        return self.base / "trust"

    def loop(self, loop_id: str) -> "LoopPaths":
        """Return the paths of one loop. Raises InputError for an unsafe id."""
        return LoopPaths(self.root, checked_loop_id(loop_id))


class LoopPaths(NamedTuple):
    """The files of one loop; nothing here touches the disk."""

    root: Path
    loop_id: str

    @property
    def shown(self) -> str:
        """Return the folder as users see it, relative to the root."""
        return (BASE / self.loop_id).as_posix()

    @property
    def folder(self) -> Path:
        """Return the loop's folder."""
        return _folder(self.root, self.loop_id)

    @property
    def loop_file(self) -> Path:
        """Return the loop's own document: id, frozen configuration, versions."""
        return self.folder / "loop.yaml"

    @property
    def continuation(self) -> Path:
        """Return the copy of the frozen configuration's `continuation`, for hooks too short-lived to load YAML."""
        return self.folder / "continuation.json"

    @property
    def state(self) -> Path:
        """Return the file of the derived state that `loop-decision` reads."""
        return self.folder / "state.json"

    @property
    def seen(self) -> Path:
        """Return the file of all tests ever seen."""
        return self.folder / "tests-seen.json"

    @property
    def attempt(self) -> Path:
        """Return the mark of an iteration that is being recorded, or whose recording failed."""
        return self.folder / "attempt.json"

    @property
    def store(self) -> Path:
        """Return the folder of the snapshot store."""
        return self.folder / "store"

    @property
    def old_store(self) -> Path:
        """Return the git directory in which earlier versions kept files."""
        return self.folder / "store.git"

    @property
    def trees(self) -> Path:
        """Return the folder of the index of iterations by their trees."""
        return self.folder / "trees"

    @property
    def restoring(self) -> Path:
        """Return the mark of a restore that has begun and is not recorded yet."""
        return self.folder / "restoring.json"

    @property
    def staging(self) -> Path:
        """Return the folder where files are made before they are renamed into place."""
        return self.folder / "tmp"

    @property
    def lock(self) -> Path:
        """Return the lock of all writers of this loop."""
        return self.folder / "lock"

    @property
    def progress(self) -> Path:
        """Return the folder of the human-readable records."""
        return self.folder / "progress"

    @property
    def trajectory(self) -> Path:
        """Return the file with one line per iteration."""
        return self.progress / "trajectory.jsonl"

    @property
    def events(self) -> Path:
        """Return the log of rollbacks, acceptances, selections and changes of status."""
        return self.progress / "events.jsonl"

    @property
    def iterations(self) -> Path:
        """Return the folder of all iterations."""
        return self.folder / "iterations"

    @property
    def reports(self) -> Path:
        """Return the folder of the reports."""
        return self.folder / "reports"

    @property
    def best(self) -> Path:
        """Return the document of the best iteration."""
        return self.folder / "best-tracker.yaml"

    @property
    def selection(self) -> Path:
        """Return the document of the selection."""
        return self.folder / "selection.yaml"

    @property
    def packs(self) -> Path:
        """Return the folder of the packs of older iterations' records."""
        return self.folder / PACKS

    def pack(self, number: int) -> Path:
        """Return the pack that an iteration's records go to once it is old: iterations-001-025.zip."""
        return self.folder / pack_name(number)

    def record(self, number: int) -> Path:
        """Return the human-readable record of an iteration."""
        return self.folder / record_name(number)

    def iteration(self, number: int) -> Path:
        """Return the folder of an iteration."""
        return self.folder / document_name(number)

    def amended(self, number: int) -> Path:
        """Return the file with what acceptances changed about an iteration."""
        return self.progress / "amended" / f"{iteration_name(number)}.json"

    def report(self, number: int) -> Path:
        """Return the report of an iteration."""
        return self.folder / report_name(number)


def iteration_name(number: int) -> str:
    """Return the folder name of an iteration: iteration-007."""
    return f"iteration-{number:03d}"


def document_name(number: int, name: str = "") -> str:
    """Return the path of a document of an iteration, or of its folder, in the loop's folder."""
    return f"iterations/{iteration_name(number)}/{name}"


def record_name(number: int) -> str:
    """Return the path of a record in the loop's folder: iteration 0 is the baseline."""
    return f"progress/{iteration_name(number)}-{'metrics' if number else 'baseline'}.yaml"


def report_name(number: int) -> str:
    """Return the path of the report of an iteration in the loop's folder."""
    return f"reports/{iteration_name(number)}-report.md"


def pack_name(number: int) -> str:
    """Return the path of an iteration's pack in the loop's folder."""
    first = (number - 1) // PACKED_TOGETHER * PACKED_TOGETHER + 1
    return f"{PACKS}/iterations-{first:03d}-{first + PACKED_TOGETHER - 1:03d}.zip"


@lru_cache(maxsize=16)  # each path of a loop begins with it, and pathlib is slow
def _folder(root: Path, loop_id: str) -> Path:
    return root / BASE / loop_id
