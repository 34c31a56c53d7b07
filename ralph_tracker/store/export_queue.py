"""Queue iterations to be sent to other tools, and start the process that sends them beside the loop.

The records on disk are the queue. A mark says that some of them may not be sent yet; the process that sends takes it
away before it looks which, so that an iteration recorded meanwhile is not forgotten.
"""

import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, Final

from ralph_tracker.errors import StoreError
from ralph_tracker.safe_files import as_store_error, write_whole
from ralph_tracker.store.json_documents import read_json, to_json
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.lock import holder_of

_PROGRAM: Final = (sys.executable, "-P", "-c", "from ralph_tracker.cli.app import main; main()")
# The shell ends at once: nothing waits for the process that sends, and none is left as a zombie.
_BESIDE: Final = ("/bin/sh", "-c", 'out=$1; shift; "$@" </dev/null >"$out" 2>&1 &', "sh")
_WAITING: Final = ".waiting"


class PendingExport:
    """What of a loop goes to one destination, `mlflow` or `otlp`."""

    def __init__(self, paths: LoopPaths, destination: str) -> None:
        self.paths = paths
        self.destination = destination
        self.folder = paths.folder / "export"  # all that is known about exports of the loop
        self.lock = self.folder / f"{destination}.lock"  # of the process that sends
        self._mark = self.folder / f"{destination}{_WAITING}"
        self._status = self.folder / f"{destination}.json"

    def is_waiting(self) -> bool:
        """Return whether an iteration may not be sent yet."""
        return self._mark.exists()

    def wait(self) -> None:
        """Mark the loop as not sent in whole. Raises StoreError if the disk refuses."""
        with as_store_error(self._mark):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._mark.touch()

    def take(self) -> None:
        """Take the mark away, before the records are read. Raises StoreError if the disk refuses."""
        with as_store_error(self._mark):
            self._mark.unlink(missing_ok=True)

    def status(self) -> dict[str, Any]:
        """Return what is known of the last try: `sent` (the last iteration there), `problem`; {} if nothing is."""
        found = read_json(self._status)
        return found if isinstance(found, dict) else {}

    def note(self, **status: str | int | None) -> None:
        """Keep what became known in a try beside what was. Raises StoreError if the disk refuses."""
        with as_store_error(self._status):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self._status, to_json({**self.status(), "schema_version": 1, **status}) + b"\n")

    def start(self) -> None:
        """Start the process that sends, unless one is at work: it looks for the mark again when it has ended."""
        if holder_of(self.lock) is not None:
            return
        words = ["export", "--to", self.destination, "--beside"]
        words += ["--root", str(self.paths.root), "--loop-id", self.paths.loop_id]
        subprocess.run(  # noqa: S603  # our own program
            [*_BESIDE, str(self.folder / f"{self.destination}.log"), *_PROGRAM, *words],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            timeout=5.0,
            check=False,
        )


def unsent_warnings(paths: LoopPaths) -> Iterator[str]:
    """Yield a sentence for each destination that lacks iterations and to which nobody sends them now."""
    for mark in sorted((paths.folder / "export").glob(f"*{_WAITING}")):
        queue = PendingExport(paths, mark.stem)
        if holder_of(queue.lock) is None:
            problem = queue.status().get("problem")
            why = f" ({problem})" if problem else ""
            name = queue.destination
            yield f"not all sent to {name}{why}; `ralph-tracker export --to {name}` sends the rest"


def send_beside(paths: LoopPaths, destinations: Iterable[str]) -> None:
    """Have the latest records sent beside the loop. It never fails and waits for no server: what is not sent stays."""
    for destination in destinations:
        queue = PendingExport(paths, destination)
        with suppress(StoreError, OSError, subprocess.SubprocessError):
            queue.wait()
            queue.start()
