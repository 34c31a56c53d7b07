"""Which report files a run of the checks has left, and why one does not count; nothing is read from them here."""

import hashlib
import os
import stat
from collections.abc import Iterable, Mapping, MutableMapping
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from ralph_tracker.measure.globs import has_wildcard, matching_files
from ralph_tracker.measure.placeholders import PLACEHOLDER

_IN_REPORTS: Final = f"{PLACEHOLDER}/"


class Missing(StrEnum):
    """Why a report does not count."""

    ABSENT = "absent"
    STALE = "stale"
    NO_FILE = "no file"
    CUT = "cut"


_REASONS: Final[Mapping[Missing, str]] = {
    Missing.ABSENT: "absent: not written by this run",
    Missing.STALE: "stale: not rewritten by this run",
    Missing.NO_FILE: "no file: a folder or something else stands there",
    Missing.CUT: "cut: standard output was longer than what is kept of it",
}


class FoundReport(NamedTuple):
    """Name one report of a check.

    `path` is as configured, or what a pattern matched, written the same way. `data_path` is where the bytes are,
    None where `missing` says why they do not count.
    """

    path: str
    data_path: Path | None = None
    missing: Missing | None = None

    @property
    def reason(self) -> str | None:
        """Say why it does not count, None where it does."""
        return None if self.missing is None else _REASONS[self.missing]


class Fingerprint(NamedTuple):
    """Tell one state of a file from another; `digest` is None where it could not be read."""

    size: int
    mtime_ns: int
    digest: str | None


Before = MutableMapping[Path, Fingerprint]


def fingerprints(patterns: Iterable[str], *, cwd: Path) -> Before:
    """Record the files at fixed report paths before the checks run; what is not there is left out."""
    found = {}
    for pattern in patterns:
        for _, path in [] if pattern.startswith(_IN_REPORTS) else _places(pattern, "", cwd):
            status = _regular(path)
            if status is not None:
                found[path] = Fingerprint(status.st_size, status.st_mtime_ns, _digest(path))
    return found


def find_reports(pattern: str, *, cwd: Path, folder: Path, before: Before) -> list[FoundReport]:
    """Find what the checks have left at a path or pattern.

    It is relative to the check's `cwd`; under `{reports}` it is relative to `folder` and counts if it exists, as
    that was empty before. Elsewhere it counts only if it changed since `before`. A pattern gives an entry for each
    file that counts: what stands beside them from earlier runs (the results of a test class that is gone) is left
    out. Where no file counts there is one entry, with the pattern, that says why.
    """
    if pattern.startswith(_IN_REPORTS):
        places = _places(pattern.removeprefix(_IN_REPORTS), _IN_REPORTS, folder)
    else:
        places = _places(pattern, "", cwd)
    judged = [_judged(name, path, before) for name, path in places]
    why = judged[0].missing if judged else Missing.ABSENT
    return [report for report in judged if report.missing is None] or [FoundReport(pattern, None, why)]


def _places(pattern: str, prefix: str, base: Path) -> list[tuple[str, Path]]:
    """List each file that a pattern may mean, with its name as the configuration would write it."""
    if not has_wildcard(pattern) or (base / pattern).is_file():
        return [(prefix + pattern, base / pattern)]
    if pattern.startswith("/"):
        prefix, base = "/", Path("/")
    return [(prefix + name, base / name) for name in matching_files(base, pattern)]


def _judged(name: str, path: Path, before: Before) -> FoundReport:
    status = _regular(path)
    if status is None:
        return FoundReport(name, None, Missing.NO_FILE if path.exists() else Missing.ABSENT)
    old = before.get(path)
    if old is not None and (old.size, old.mtime_ns) == (status.st_size, status.st_mtime_ns):
        digest = _digest(path)
        if digest == old.digest:
            return FoundReport(name, None, Missing.STALE)
    return FoundReport(name, path)


def _regular(path: Path) -> os.stat_result | None:
    """Look at a file, through links; a pipe would block its reader, so only a regular file is one."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _digest(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
