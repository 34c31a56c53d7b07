"""Which files may still change without git seeing it.

Git compares times in whole seconds. An edit that keeps the size and puts the time of modification back is seen by the
time of change, which nobody can set, but only once the second is over in which git last looked at the file.
"""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from ralph_tracker.store.tree.view import TreeView

_SECOND: Final = 1_000_000_000
Noted = tuple[int, ...] | None


class Unsettled:
    """Remember the files below `root` that changed in the second in which git looked at them, for one capture.

    They stand in a file of the store in `folder`, as what is looked at now may be edited between two calls.
    """

    def __init__(self, folder: Path, root: Path) -> None:
        self._file = folder / "info" / "unsettled"
        self._root = root
        self._saved = self._load()
        self._noted = dict(self._saved)

    def moment(self) -> int:
        """Return the time (ns) of now by the clock that stamps files: what changes from now on is not older."""
        self._file.touch()
        return self._file.stat().st_mtime_ns

    def altered(self) -> list[str]:
        """Return the files that may have changed since git looked at them; they are forgotten with the next `note`."""
        prints = TreeView(self._root).prints(self._noted)
        found = [path for path, known in self._noted.items() if known is None or prints[path] != known]
        for path in found:
            del self._noted[path]
        return found

    def note(self, paths: Collection[str], began: int) -> None:
        """Remember those of the files that git has looked at since `began` (ns) which may change without a sign.

        A file that changed since then may be another one than git saw: it counts as altered from the start.
        """
        prints = TreeView(self._root).prints(paths)
        noted = {path: known for path, known in self._noted.items() if path not in prints and _is_open(known, began)}
        for path in paths:
            known = prints[path]
            if _is_open(known, began):
                noted[path] = known if known is not None and known[-1] < began else None
        self._noted = noted
        if noted != self._saved:
            rows = [[path, known] for path, known in noted.items()]
            self._file.write_bytes(json.dumps(rows).encode() if rows else b"")
            self._saved = dict(noted)

    def _load(self) -> Mapping[str, Noted]:
        """Read what earlier calls noted; what a killed one left half-written is as good as nothing."""
        try:
            return {
                path: None if known is None else tuple(known) for path, known in json.loads(self._file.read_bytes())
            }
        except (FileNotFoundError, ValueError, TypeError):
            return {}


def _is_open(known: Noted, began: int) -> bool:
    """Tell whether a file may change once more in the second that git knows of it; its time of change comes last."""
    return known is None or known[-1] // _SECOND >= began // _SECOND
