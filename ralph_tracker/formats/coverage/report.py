"""The value that every report of coverage comes down to."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageReport:
    """Hold line coverage; `percent` (0 to 100) is the tool's own, None where there is no line to cover.

    Reports add up line by line; whether two of them speak of the same file is not known.
    """

    lines_covered: int
    lines_total: int
    percent: float | None

    def __add__(self, other: "CoverageReport") -> "CoverageReport":
        covered, total = self.lines_covered + other.lines_covered, self.lines_total + other.lines_total
        if not other.lines_total or not self.lines_total:
            percent = self.percent if self.lines_total else other.percent
        else:
            percent = covered / total * 100
        return CoverageReport(lines_covered=covered, lines_total=total, percent=percent)
