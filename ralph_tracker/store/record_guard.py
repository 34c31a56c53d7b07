"""Keep the sealed records of a loop as they are while checks run: a formatter among them would rewrite them, too."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from ralph_tracker.errors import StoreError
from ralph_tracker.safe_files import read_own_file, write_whole
from ralph_tracker.short_text import first_few
from ralph_tracker.store.layout import MANIFEST, LoopPaths

_DOCUMENTS: Final = (
    *("metrics.json", "measurement.json", "tests.json", "state.json", "seal.json"),
    *(MANIFEST, "checks.json", "findings.json"),
)

_Status = tuple[int, int, int]


class RecordGuard:
    """The sealed documents of a loop, which nobody writes again once they are there.

    What an iteration brought along, such as captured output, is not among them, nor what is derived from them.
    """

    def __init__(self, paths: LoopPaths) -> None:
        self._paths = paths
        self._kept: dict[Path, tuple[_Status, bytes]] = {}
        self._notes: dict[str, list[str]] = {}

    @contextmanager
    def read_only(self) -> Iterator[None]:
        """Take the right to write from the documents, and give it back; a killed call leaves them read-only.

        Root writes all the same: `put_back` finds that.
        """
        rights: dict[Path, int] = {}
        for path in self._documents():
            with suppress(OSError, StoreError):
                data = read_own_file(path)
                mode = path.lstat().st_mode & 0o777
                path.chmod(mode & ~0o222)
                if data is not None:
                    rights[path] = mode
                    self._kept[path] = (_status(path), data)
        try:
            yield
        finally:
            for path, mode in rights.items():
                with suppress(OSError):
                    path.chmod(mode)

    def put_back(self, check: str) -> None:
        """Put back the documents that changed since the last call, and remember that this check ran meanwhile.

        One that is gone was packed, or its loop was removed: it stays so.
        """
        for path, (status, data) in self._kept.items():
            with suppress(OSError, StoreError):
                now = _status(path)
                if now == status or read_own_file(path) == data:
                    continue
                self._notes.setdefault(check, []).append(path.relative_to(self._paths.folder).as_posix())
                write_whole(path, data, mode=0o444, durable=False)
                self._kept[path] = (_status(path), data)

    @property
    def notes(self) -> list[str]:
        """Return a note for each check that rewrote records, and what to do about it."""
        return [self._note(check, names) for check, names in self._notes.items()]

    def _note(self, check: str, names: list[str]) -> str:
        return (
            f"records_changed_by_checks: {check} rewrote {self._paths.shown}/{first_few(names, 1)}, put back as "
            "recorded; exclude .aiwg from the files that it formats"
        )

    def _documents(self) -> Iterator[Path]:
        yield from (self._paths.loop_file, self._paths.continuation)
        yield from _first_and_last(self._paths.progress.glob("iteration-*"))
        for folder in _first_and_last(self._paths.iterations.glob("iteration-*")):
            yield from (folder / name for name in _DOCUMENTS)


def _first_and_last(paths: Iterable[Path]) -> list[Path]:
    """Return the baseline's and those of the latest iterations, which are read again, so that each step costs the same.

    A formatter that leaves the values alone is no edit of the others.
    """
    found = sorted(paths)
    return sorted({*found[:1], *found[-3:]})


def _status(path: Path) -> _Status:
    found = path.lstat()
    return found.st_ino, found.st_size, found.st_mtime_ns
