"""The value type of coverage reports."""

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from ralph_tracker.formats.sums import both, known_sum


class Block(NamedTuple):
    """A block of code identified by its place in the file, for formats that count statements instead of lines."""

    place: str
    statements: int


# The lines by number, or the blocks, of one file, and whether each was covered.
Lines = Mapping[int, bool] | Mapping[Block, bool]


Files = Mapping[str, Lines]


class CoverageReport(NamedTuple):
    """Line coverage, in statements for formats that count these.

    `percent` (0 to 100) is that of the lines: computed from the rows, which equals the tool's own unrounded value if
    both agree; without rows the tool's own, if that is of lines only; None if there is no line to cover. `files` are
    the rows by path, None if they are missing or incomplete. `declared_…` is what the report states, in the tool's own
    unit; None without a statement. `contradiction` says how its rows differ from that. `skipped_lines` were not rows.

    Reports with rows add up line by line: the same file in two counts once, and a line is covered if either covers it.
    If one has no rows, totals are added, even though both may cover the same files.
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
        files: dict[str, Lines] | None = None
        if self.files is not None and other.files is not None:
            files = dict(self.files)
            for path, lines in other.files.items():
                either = dict(cast("Mapping[Any, bool]", files.get(path, {})))
                for key, hit in lines.items():
                    either[key] = hit or either.get(key, False)
                files[path] = either
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
    """Return the percentage, None if the total is 0."""
    return covered / total * 100 if total else None


def counted(files: Files) -> tuple[int, int]:
    """Return the covered count and the total."""
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
