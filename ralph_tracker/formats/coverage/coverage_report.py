"""The value that every report of coverage comes down to."""

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from ralph_tracker.formats.sums import both, known_sum


class Block(NamedTuple):
    """Name a stretch of code by its place in the file, where a format counts statements and not lines."""

    place: str
    statements: int


# What can be covered in one file, lines by their numbers or blocks, and whether it was.
Lines = Mapping[int, bool] | Mapping[Block, bool]


Files = Mapping[str, Lines]


class CoverageReport(NamedTuple):
    """Line coverage, in statements where the format counts these.

    `percent` (0 to 100) is that of the lines: recounted from the rows of the lines where the report has rows, which
    is the tool's own unrounded where both agree, else the tool's own as stated, where that is of lines alone; None
    where there is no line to cover. `files` are the rows by path, None where the report has none or not all.
    `declared_…` is what the report states of itself, in the tool's own unit; None where it states nothing.
    `contradiction` says where its rows do not bear that out. `skipped_lines` are those that are no row.

    Reports with rows add up line by line: the same file in two counts once, and a line is covered where one covers
    it. Where one has none, totals add up, and whether both speak of the same file is not known.
    """

    lines_covered: int
    lines_total: int
    percent: float | None
    files: Files | None = None
    declared_covered: int | None = None
    declared_total: int | None = None
    declared_percent: float | None = None
    contradiction: str | None = None
    skipped_lines: int = 0

    def __add__(self, other: "CoverageReport") -> "CoverageReport":  # type: ignore[override]  # a sum, and no longer tuple
        files = None
        if self.files is not None and other.files is not None:
            files = _merged(self.files, other.files)
            covered, total = counted(files)
        else:
            covered, total = self.lines_covered + other.lines_covered, self.lines_total + other.lines_total
        if not other.lines_total or not self.lines_total:
            percent = self.percent if self.lines_total else other.percent
        else:
            percent = share(covered, total)
        return CoverageReport(
            lines_covered=covered,
            lines_total=total,
            percent=percent,
            files=files,
            declared_covered=known_sum(self.declared_covered, other.declared_covered),
            declared_total=known_sum(self.declared_total, other.declared_total),
            contradiction=both(self.contradiction, other.contradiction),
            skipped_lines=self.skipped_lines + other.skipped_lines,
        )


def share(covered: int, total: int) -> float | None:
    """Return the percentage, None of nothing."""
    return covered / total * 100 if total else None


def counted(files: Files) -> tuple[int, int]:
    """Return how much is covered, and of how much."""
    covered = total = 0
    for lines in files.values():
        if isinstance(next(iter(lines), None), Block):
            blocks = [(key.statements, hit) for key, hit in lines.items() if isinstance(key, Block)]
            total += sum(statements for statements, _ in blocks)
            covered += sum(statements for statements, hit in blocks if hit)
        else:
            total += len(lines)
            covered += sum(lines.values())
    return covered, total


def _merged(one: Files, other: Files) -> Files:
    merged = dict(one)
    for path, lines in other.items():
        merged[path] = _either(merged[path], lines) if path in merged else lines
    return merged


def _either(one: Lines, other: Lines) -> Lines:
    lines = dict(cast("Mapping[Any, bool]", one))
    for key, hit in other.items():
        lines[key] = hit or lines.get(key, False)
    return lines
