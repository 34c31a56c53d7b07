"""Count the code of a tree: files, lines and complexity, any language that lizard reads."""

import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from ralph_tracker.core.rounding import COMPLEXITY_DECIMALS, half_up
from ralph_tracker.measure.analyser import Analyser, FileCount, LizardAnalyser
from ralph_tracker.measure.code_cache import CodeCache, Known, content_key, load_cache, save_cache, settled_stamp
from ralph_tracker.measure.globs import matcher

SIZE_CAP: Final = 1_000_000
EVERYTHING: Final = ("**",)
_CHUNK: Final = 1 << 20
# Lines of code are rarely longer on average than 60 characters; what a bundler has put on a few lines is not written.
_LONG_LINES: Final = 500
_SMALL: Final = 50_000
_NAMED: Final = 5
_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")


class CodeCount(NamedTuple):
    """Hold the size and complexity of the code in scope.

    `complexity_score` is the mean cyclomatic complexity of all functions, 2 decimals, None where there is no
    function. `tool` names what counted, with its version: numbers of different tools do not compare. `notes` say
    which files were counted in another way, and why.
    """

    file_count: int
    loc_total: int
    complexity_score: float | None
    tool: str
    notes: tuple[str, ...] = ()


def count_code(
    root: Path,
    paths: Iterable[str],
    *,
    cache: Path,
    include: Iterable[str] = EVERYTHING,
    exclude: Iterable[str] = (),
    size_cap: int = SIZE_CAP,
    analyser: Analyser | None = None,
    now_ns: Callable[[], int] = time.time_ns,
) -> CodeCount:
    """Count the source files among `paths`, which are relative to `root` and written with `/`.

    A file counts if the analyser reads files of its name, `include` matches it and `exclude` does not (patterns as
    in `globs`). A path that is gone, a folder or a symbolic link counts nothing: what a link points to counts where
    it lies. Lines are those that are neither blank nor comment. A file over `size_cap` bytes, with very long lines,
    binary, or that the analyser cannot read counts by its non-blank lines, adds no function, and is in the notes.
    `cache` is a file of ours, made, replaced and thrown away as needed. Raises ConfigError for a pattern that cannot
    be.
    """
    reader = LizardAnalyser() if analyser is None else analyser
    included, excluded = matcher(include), matcher(exclude)
    made_by = {"tool": reader.tool, "size_cap": size_cap}
    known = load_cache(cache, made_by)
    counting = _Counting(os.fspath(root), reader, size_cap, now_ns, known, known.by_content())
    files = {}
    for path in sorted(set(paths)):
        if reader.reads(path) and included(path) and not excluded(path):
            found = counting.known(path)
            if found is not None:
                files[path] = found
    current = files == known.files and known.note is None
    unsaved = None if current else save_cache(cache, made_by, files)
    return _summed(files, reader.tool, [known.note, unsaved])


def _summed(files: Mapping[str, Known], tool: str, notes: Iterable[str | None]) -> CodeCount:
    counts = [known.counted for known in files.values()]
    functions = sum(count.functions for count in counts)
    complexity = sum(count.complexity for count in counts)
    return CodeCount(
        file_count=len(counts),
        loc_total=sum(count.loc for count in counts),
        complexity_score=half_up(complexity / functions, COMPLEXITY_DECIMALS) if functions else None,
        tool=tool,
        notes=(*_file_notes(files), *(note for note in notes if note is not None)),
    )


def _file_notes(files: Mapping[str, Known]) -> list[str]:
    """Name the files that were counted otherwise, one note a reason."""
    named: dict[str, list[str]] = {}
    for path, known in files.items():
        if known.counted.note is not None:
            named.setdefault(known.counted.note, []).append(path)
    return [f"{note}: {_shortened(paths)}" for note, paths in sorted(named.items())]


def _shortened(paths: list[str]) -> str:
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    # A name that is not UTF-8 must not break whoever prints the note.
    return ", ".join(paths[:_NAMED]).encode(errors="backslashreplace").decode() + more


class _Counting(NamedTuple):
    """One pass over the files, with what is known from the pass before."""

    root: str
    analyser: Analyser
    size_cap: int
    now_ns: Callable[[], int]
    cache: CodeCache
    by_content: dict[tuple[str, str], FileCount]

    def known(self, path: str) -> Known | None:
        """Return what one file holds, counted where need be; None where it is not a file of its own."""
        try:
            status = os.lstat(f"{self.root}/{path}")
        except OSError:
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        return self.cache.unchanged(path, status) or self._read(path, status)

    def _read(self, path: str, status: os.stat_result) -> Known:
        stamp = settled_stamp(status, self.now_ns())
        try:
            content = _read(Path(self.root, path), self.size_cap)
        except OSError as error:
            return Known("", None, FileCount(0, note=f"counted as 0 lines, cannot be opened ({error.strerror})"))
        key = content_key(path, content.sha256)
        if key not in self.by_content:
            self.by_content[key] = self._analysed(path, content)
        return Known(content.sha256, stamp, self.by_content[key])

    def _analysed(self, path: str, content: "_Content") -> FileCount:
        reason = content.unfit(self.size_cap)
        if reason is None:
            try:
                return self.analyser.analyse(path, content.text())
            except Exception as error:  # noqa: BLE001  # a parser of 27 languages on any text at all
                reason = f"{self.analyser.tool} cannot read it ({type(error).__name__})"
        return FileCount(content.lines, note=f"counted by non-blank lines, {reason}")


class _Content(NamedTuple):
    """What is in a file: its lines that are not blank, and the bytes unless they are too many."""

    sha256: str
    lines: int
    data: bytes | None

    def unfit(self, size_cap: int) -> str | None:
        """Say why it is not worth an analysis, None where it is."""
        if self.data is None:
            return f"larger than {size_cap} bytes"
        if len(self.data) > _SMALL and len(self.data) > _LONG_LINES * (self.lines + 1):
            return f"lines of more than {_LONG_LINES} characters on average"
        if b"\0" in self.data and not self.data.startswith(_UTF16_MARKS):
            return "binary"
        return None

    def text(self) -> str:
        """Decode leniently, as what cannot be decoded is in comments and strings, and make line ends one."""
        data = self.data or b""
        encoding = "utf-16" if data.startswith(_UTF16_MARKS) else "utf-8-sig"
        return data.decode(encoding, "replace").replace("\r\n", "\n").replace("\r", "\n")


def _read(file: Path, size_cap: int) -> _Content:
    """Read a file piece by piece, so that a huge one does not fill the memory."""
    digest, kept, lines, in_line = hashlib.sha256(), bytearray(), 0, False
    with file.open("rb") as source:
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
            first, *rest = chunk.split(b"\n")
            in_line = in_line or bool(first.strip())
            for line in rest:
                lines += in_line
                in_line = bool(line.strip())
            if len(kept) <= size_cap:
                kept += chunk
    return _Content(digest.hexdigest(), lines + in_line, bytes(kept) if len(kept) <= size_cap else None)
