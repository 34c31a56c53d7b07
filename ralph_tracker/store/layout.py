"""The paths of everything that is kept of a loop (docs/files.md)."""

import re
from pathlib import Path
from typing import Final

from ralph_tracker.errors import InputError
from ralph_tracker.short_text import shorten

LOOP_ID: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}\Z")
# The version of every document that is kept.
SCHEMA_VERSION: Final = 1
BASE: Final = Path(".aiwg") / "ralph"
RESERVED: Final = frozenset({"current", "lock", "loops", "trust"})
# How many iterations' records a pack has. Packs are named by it: another number finds none of those on disk.
PACKED_TOGETHER: Final = 25
PACKS: Final = "packed"
# Beside the folder of all loops: the states of plans.
PLANS: Final = "plans"
# In the folder of a loop of commits: what was measured.
REPLAYED: Final = "replay.json"
# In the loop's folder: where a run of `ralph-tracker run` stands, and what it holds while it drives the loop.
RUN: Final = "run.json"
RUN_LOCK: Final = "run.lock"
# The list of an iteration's kept files, in its folder.
MANIFEST: Final = "manifest.json"
# Plain copies of the files that an iteration changed, in its folder.
ARTIFACTS: Final = "artifacts"


def checked_loop_id(loop_id: str) -> str:
    """Return a loop id if it is safe as a folder name, else raise InputError."""
    if not LOOP_ID.match(loop_id) or loop_id in RESERVED or ".." in loop_id:
        shown = shorten(loop_id, 41)
        raise InputError(
            f"loop id {shown!r}: use 1 to 64 of a-z, 0-9, dot, underscore and hyphen, a letter or digit first"
        )
    return loop_id


class ProjectPaths:
    """The files shared by all loops of a project."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.base = root / BASE  # the folder of all loops
        self.current = self.base / "current"  # names the current loop
        self.lock = self.base / "lock"  # for starting loops
        self.trust = self.base / "trust"  # the marks of what a user of the project trusts
        self.plans = self.base.parent / PLANS  # the states of plans

    def loop(self, loop_id: str) -> "LoopPaths":
        """Return the paths of one loop. Raises InputError for an unsafe id."""
        return LoopPaths(self.root, checked_loop_id(loop_id))


class LoopPaths:
    """The files of one loop; nothing here touches the disk."""

    def __init__(self, root: Path, loop_id: str) -> None:
        self.root = root
        self.loop_id = loop_id
        self.shown = (BASE / loop_id).as_posix()  # the folder as users see it, relative to the root
        self.folder = folder = root / BASE / loop_id
        self.loop_file = folder / "loop.yaml"  # the loop's own document: id, frozen configuration, versions
        # The copy of the frozen configuration's `continuation`, for hooks too short-lived to load YAML.
        self.continuation = folder / "continuation.json"
        self.state = folder / "state.json"  # the derived state that `loop-decision` reads
        self.attempt = folder / "attempt.json"  # the mark of an iteration that is being recorded, or failed to be
        self.restoring = folder / "restoring.json"  # the mark of a restore that has begun and is not recorded yet
        self.store = folder / "store"  # of the snapshots
        self.trees = folder / "trees"  # the index of iterations by their trees
        self.staging = folder / "tmp"  # where files are made before they are renamed into place
        self.lock = folder / "lock"  # of all writers of this loop
        self.progress = folder / "progress"  # the human-readable records
        self.trajectory = self.progress / "trajectory.jsonl"  # one line per iteration
        self.events = self.progress / "events.jsonl"  # rollbacks, acceptances, selections and changes of status
        self.iterations = folder / "iterations"
        self.reports = folder / "reports"
        self.best = folder / "best-tracker.yaml"  # the document of the best iteration
        self.selection = folder / "selection.yaml"
        self.packs = folder / PACKS  # the packs of older iterations' records

    def pack(self, number: int) -> Path:
        """Return the pack that an iteration's records go to once it is old: iterations-001-025.zip."""
        return self.folder / pack_name(number)

    def record(self, number: int) -> Path:
        """Return the human-readable record of an iteration."""
        return self.folder / record_name(number)

    def iteration(self, number: int) -> Path:
        """Return the folder of an iteration."""
        return self.folder / document_name(number)

    def amendments_file(self, number: int) -> Path:
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
