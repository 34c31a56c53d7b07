"""Find the loop that is meant in a project, and begin new ones."""

from pathlib import Path
from typing import Final

from ralph_tracker.errors import LoopError
from ralph_tracker.store.files import TEMPORARY, as_store_error, hide_from_git, write_whole
from ralph_tracker.store.layout import LOOP_ID, ProjectPaths
from ralph_tracker.store.loop_status import checked_root, current_loop, refuse_links
from ralph_tracker.store.loop_store import LoopStore

DEFAULT_PREFIX: Final = "ralph-"


class Project:
    """The loops of one project."""

    def __init__(self, root: Path) -> None:
        self.paths = ProjectPaths(checked_root(root))

    def current(self) -> str | None:
        """Return the id of the current loop, None if there is none yet."""
        return current_loop(self.paths)

    def set_current(self, loop_id: str) -> None:
        """Make a loop the current one."""
        with as_store_error(self.paths.current, "the loop is on record; run the same command again"):
            write_whole(self.paths.current, f"{loop_id}\n".encode())
            hide_from_git(self.paths.base)

    def store(self, loop_id: str) -> LoopStore:
        """Return the store of a loop, which may not exist yet. Raises StoreError for links in its place."""
        paths = self.paths.loop(loop_id)
        refuse_links(paths)
        return LoopStore(paths)

    def clear(self) -> None:
        """Remove what a killed call left behind."""
        with as_store_error(self.paths.base):
            for path in self.paths.base.glob(f"{TEMPORARY}*"):
                path.unlink()

    def is_taken(self, loop_id: str) -> bool:
        """Return whether a loop of that id has a baseline, ours or AIWG's."""
        paths = self.paths.loop(loop_id)
        return paths.iteration(0).is_dir() or any(paths.progress.glob("iteration-*"))

    def last_id(self) -> str | None:
        """Return the highest default id in use, None if there is none."""
        names = [path.name for path in self.paths.base.glob(f"{DEFAULT_PREFIX}*") if LOOP_ID.match(path.name)]
        numbers = {name: name.removeprefix(DEFAULT_PREFIX) for name in names if self.is_taken(name)}
        taken = {int(number): name for name, number in numbers.items() if number.isdecimal()}
        return taken[max(taken)] if taken else None

    def unused(self, loop_id: str | None) -> LoopStore:
        """Return the store for a new loop, with the next default id if none is given. Raises LoopError."""
        if loop_id is not None and self.is_taken(loop_id):
            raise LoopError(f"loop {loop_id} exists already; choose another id, or leave it out")
        return self.store(loop_id or self.next_id())

    def next_id(self) -> str:
        """Return the next default id: ralph-001, ralph-002 …"""
        last = self.last_id()
        return f"{DEFAULT_PREFIX}{1 if last is None else int(last.removeprefix(DEFAULT_PREFIX)) + 1:03d}"
