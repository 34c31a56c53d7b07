"""Which loop is meant, and where a new one begins."""

from pathlib import Path
from typing import Final

from ralph_tracker.store.files import told_plainly, write_whole
from ralph_tracker.store.layout import LOOP_ID, ProjectPaths
from ralph_tracker.store.loop_store import LoopStore
from ralph_tracker.store.standing import checked_root, current_loop

DEFAULT_PREFIX: Final = "ralph-"


class Project:
    """Find and start the loops of one project."""

    def __init__(self, root: Path) -> None:
        self.paths = ProjectPaths(checked_root(root))

    def current(self) -> str | None:
        """Return the id of the current loop, None where there is none yet."""
        return current_loop(self.paths)

    def set_current(self, loop_id: str) -> None:
        """Name the current loop."""
        with told_plainly(self.paths.current):
            write_whole(self.paths.current, f"{loop_id}\n".encode())

    def store(self, loop_id: str) -> LoopStore:
        """Return the store of a loop, which need not exist yet."""
        return LoopStore(self.paths.loop(loop_id))

    def loop_ids(self) -> list[str]:
        """Return the ids of the loops that have a baseline, in order of their names."""
        if not self.paths.base.is_dir():
            return []
        names = sorted(path.name for path in self.paths.base.iterdir() if LOOP_ID.match(path.name))
        return [name for name in names if (self.paths.base / name / "iterations" / "iteration-000").is_dir()]

    def next_id(self) -> str:
        """Return the next default id: ralph-001, ralph-002 …"""
        numbers = [name.removeprefix(DEFAULT_PREFIX) for name in self.loop_ids() if name.startswith(DEFAULT_PREFIX)]
        highest = max((int(number) for number in numbers if number.isdecimal()), default=0)
        return f"{DEFAULT_PREFIX}{highest + 1:03d}"
