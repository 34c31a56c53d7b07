"""Find the report files that a run of the checks left, and why one does not count; they are not read here."""

import hashlib
import os
import re
import shlex
import stat
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from ralph_tracker.errors import ConfigError

# Folders in which no reports are searched: the repository's own and our records of earlier iterations.
_NEVER_WALKED: Final = frozenset({".git", ".aiwg"})
PLACEHOLDER: Final = "{reports}"
# The folder of our programs that run with the project's own interpreter.
HELPERS: Final = "{helpers}"
_HELPERS_FOLDER: Final = str(Path(__file__).parent / "helpers")
_PIECES: Final = re.compile(f"{re.escape(PLACEHOLDER)}|{re.escape(HELPERS)}|.", re.DOTALL)
_IN_REPORTS: Final = f"{PLACEHOLDER}/"


def has_wildcard(pattern: str) -> bool:
    """Return whether a pattern can match more than one path."""
    return re.search(r"[*?\[]", pattern) is not None


def matcher(patterns: Iterable[str]) -> Callable[[str], bool]:
    """Return a test of paths that matches any of the patterns; without patterns it matches nothing.

    Raises ConfigError for an invalid character class.
    """
    one = "|".join(f"(?:{_compile(pattern).pattern})" for pattern in patterns)
    whole = re.compile(one or r"(?!)", re.DOTALL)
    return lambda path: whole.fullmatch(path) is not None


def matching_files(base: Path, pattern: str) -> list[str]:
    """Return the files below a folder that a pattern with wildcards matches, sorted and relative to the folder.

    Symbolic links to folders are not followed, so circular links do no harm. Files that are not regular are included:
    the caller reports them.
    """
    segments = _clean(pattern).split("/")
    wild = next((at for at, segment in enumerate(segments) if has_wildcard(segment)), len(segments))
    fixed, rest = segments[:wild], segments[wild:]
    compiled = _compile("/".join(rest))
    depth = None if "**" in rest else len(rest)
    start, found = base.joinpath(*fixed), list[str]()
    for folder, folders, files in os.walk(start):
        below = Path(folder).relative_to(start)
        enough = depth is not None and len(below.parts) + 1 >= depth
        folders[:] = [] if enough else [name for name in folders if name not in _NEVER_WALKED]
        found += (path for name in files if compiled.fullmatch(path := (below / name).as_posix()))
    return sorted("/".join([*fixed, path]) for path in found)


def _clean(pattern: str) -> str:
    return re.sub(r"^(?:\./+|/+)+", "", pattern)


def _compile(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(_regex(_clean(pattern)), re.DOTALL)
    except re.error as error:
        raise ConfigError(f"the pattern {pattern!r} cannot be used: {error}; write [ as [[] to mean itself") from error


def _regex(pattern: str) -> str:
    if pattern in {".", ""}:
        return ".+"
    if not has_wildcard(pattern):
        return re.escape(pattern.rstrip("/")) + "(?:/.+)?"
    if pattern.endswith("/"):
        pattern += "**"
    *leading, last = pattern.split("/")
    folders = ("(?:[^/]+/)*" if segment == "**" else _segment(segment) + "/" for segment in leading)
    return "".join(folders) + (".+" if last == "**" else _segment(last))


def _segment(segment: str) -> str:
    found = ""
    for part in re.split(r"(\*+|\?|\[!?\]?[^\]]*\])", segment):
        if part.startswith("*"):
            found += "[^/]*"
        elif part == "?":
            found += "[^/]"
        elif part.startswith("[") and part.endswith("]") and len(part) > 1:
            negated = part[1] == "!"
            body = re.sub(r"([^\w\s-])", r"\\\1", part[1 + negated : -1])
            found += f"(?!/)[{'^' if negated else ''}{body}]"
        else:
            found += re.escape(part)
    return found


def fill_reports_folder(text: str, folder: str) -> str:
    """Return the text with `{reports}` replaced by the folder's path, and `{helpers}` by that of our programs."""
    return text.replace(PLACEHOLDER, folder).replace(HELPERS, _HELPERS_FOLDER)


def filled_run(run: str | Sequence[str], folder: str) -> str | list[str]:
    """Return the command with `{reports}` and `{helpers}` replaced by their paths.

    In a shell command they follow the quotes, so that a space in a path does not split a word inside or outside them.
    """
    if not isinstance(run, str):
        return [fill_reports_folder(word, folder) for word in run]
    quote, escaped, done = "", False, []
    for piece in _PIECES.findall(run):
        if piece in {PLACEHOLDER, HELPERS}:
            path = fill_reports_folder(piece, folder)
            if quote == "'":
                done.append(path.replace("'", "'\\''"))
            else:
                done.append(re.sub(r'([\\$"`])', r"\\\1", path) if quote else shlex.quote(path))
            escaped = False
            continue
        done.append(piece)
        if escaped:
            escaped = False
        elif piece == "\\" and quote != "'":
            escaped = True
        elif piece == quote:
            quote = ""
        elif piece in {"'", '"'} and not quote:
            quote = piece
    return "".join(done)


class Missing(StrEnum):
    """Why a report does not count."""

    ABSENT = "absent"
    STALE = "stale"
    NO_FILE = "no file"
    LINK = "link"
    CUT = "cut"


_REASONS: Final[Mapping[Missing, str]] = {
    Missing.ABSENT: "not written by this run",
    Missing.STALE: "left from an earlier run, not rewritten by this one",
    Missing.NO_FILE: "not a file",
    Missing.LINK: "a link out of the project; let the check write the file itself",
    Missing.CUT: "cut off: standard output was longer than what is stored of it",
}


class FoundReport(NamedTuple):
    """One report of a check.

    `path` is as configured, or the match of a pattern, written the same way. `data_path` is the file, None if `missing`
    says why it does not count.
    """

    path: str
    data_path: Path | None = None
    missing: Missing | None = None

    @property
    def reason(self) -> str | None:
        """Return why it does not count, None if it does."""
        return None if self.missing is None else _REASONS[self.missing]


class Fingerprint(NamedTuple):
    """One state of a file, to detect changes; `digest` is None if it could not be read."""

    size: int
    mtime_ns: int
    digest: str | None


Before = MutableMapping[Path, Fingerprint]


def fingerprints(patterns: Iterable[str], *, cwd: Path) -> Before:
    """Return the fingerprints of existing files at fixed report paths, before the checks run."""
    found = {}
    for pattern in patterns:
        for _, path in [] if pattern.startswith(_IN_REPORTS) else _places(pattern, "", cwd):
            status = _regular(path)
            if status is not None:
                found[path] = Fingerprint(status.st_size, status.st_mtime_ns, _digest(path))
    return found


def find_reports(pattern: str, *, cwd: Path, folder: Path, before: Before, root: Path) -> list[FoundReport]:
    """Return the reports that the checks left at a path or pattern.

    It is relative to the check's `cwd`; under `{reports}` it is relative to `folder` and counts if it exists, because
    that was empty before. Elsewhere it counts only if it changed since `before`. A pattern gives an entry for each file
    that counts: files of earlier runs (the results of a deleted test class) are left out. If no file counts there is
    one entry, with the pattern and the reason. A file that is a link out of the project's `root` does not count.
    """
    if pattern.startswith(_IN_REPORTS):
        places = _places(pattern.removeprefix(_IN_REPORTS), _IN_REPORTS, folder)
    else:
        places = _places(pattern, "", cwd)
    judged = [_judge_report(name, path, before, (root, folder)) for name, path in places]
    why = judged[0].missing if judged else Missing.ABSENT
    return [report for report in judged if report.missing is None] or [FoundReport(pattern, None, why)]


def _places(pattern: str, prefix: str, base: Path) -> list[tuple[str, Path]]:
    """Return each possible file of a pattern, with its name as in the configuration."""
    if not has_wildcard(pattern) or (base / pattern).is_file():
        return [(prefix + pattern, base / pattern)]
    if pattern.startswith("/"):
        prefix, base = "/", Path("/")
    return [(prefix + name, base / name) for name in matching_files(base, pattern)]


def _judge_report(name: str, path: Path, before: Before, homes: Sequence[Path]) -> FoundReport:
    status = _regular(path)
    if path.is_symlink() and not any(path.resolve().is_relative_to(home.resolve()) for home in homes):
        return FoundReport(name, None, Missing.LINK if path.exists() else Missing.ABSENT)
    if status is None:
        return FoundReport(name, None, Missing.NO_FILE if path.exists() else Missing.ABSENT)
    old = before.get(path)
    if old is not None and (old.size, old.mtime_ns) == (status.st_size, status.st_mtime_ns):
        digest = _digest(path)
        if digest == old.digest:
            return FoundReport(name, None, Missing.STALE)
    return FoundReport(name, path)


def _regular(path: Path) -> os.stat_result | None:
    """Return the status of a regular file, through links; None for others, such as a pipe, which would block its
    reader.
    """
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
