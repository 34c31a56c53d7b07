"""Build a coverage report from its rows and declared totals, and parse the parts of a row."""

import re
from typing import Final, NamedTuple

from ralph_tracker.formats.parsed_report import CoverageReport, Files, count_lines, share
from ralph_tracker.formats.report_content import DamageError, plausible

_REMEMBERED: Final = 10_000


class LineNumbers(dict[str, int]):
    """Parse line numbers, caching some: the files of a project share them. Raises DamageError."""

    def __missing__(self, text: str) -> int:
        if not (text.isascii() and text.isdecimal() and len(text) <= 18):
            raise DamageError(f"{text[:40]!r} is no line number")
        found = int(text)
        if len(self) < _REMEMBERED:
            self[text] = found
        return found


class Hits(dict[str, bool]):
    """Parse hit counts into whether the line ran, up to a comma, after which LCOV has a checksum.

    A negative count is an overflow in the tool; large ones may have an exponent (`1.2e+06`). Raises DamageError.
    """

    def __missing__(self, text: str) -> bool:
        number = text.partition(",")[0].strip()
        count = re.fullmatch(r"-?(?P<digits>\d+(?:(?:\.\d+)?(?=[eE]))?)(?:[eE][+-]?\d{1,3})?", number, flags=re.ASCII)
        if count is None:
            raise DamageError(f"{text[:40]!r} is no number of hits")
        found = not number.startswith("-") and count["digits"].strip("0.") != ""
        if len(self) < _REMEMBERED:
            self[text] = found
        return found


class DeclaredTotals(NamedTuple):
    """The totals that a report declares; None if it declares none.

    `percent` may be off by `rounding` without contradicting the rows. `of_lines` says that they count lines only, so
    that they can be used without rows.
    """

    covered: int | None = None
    total: int | None = None
    percent: float | None = None
    rounding: float = 0.01
    of_lines: bool = True


NOTHING: Final = DeclaredTotals()


def report(
    files: Files, stated: DeclaredTotals = NOTHING, *, listed: tuple[int, int] | None = None, skipped_lines: int = 0
) -> CoverageReport:
    """Return the report from its rows, or without rows from its declared totals. Raises DamageError.

    `listed` is the sum of the rows as the tool counts them; None: as we do.
    """
    covered, total = count_lines(files)
    if not total:
        return of_totals(stated, skipped_lines=skipped_lines)
    return CoverageReport(
        lines_covered=covered,
        lines_total=total,
        percent=share(covered, total),
        files=files,
        declared_covered=stated.covered,
        declared_total=stated.total,
        declared_percent=stated.percent,
        contradiction=contradiction(stated, *(listed or (covered, total))),
        skipped_lines=skipped_lines,
    )


def of_totals(stated: DeclaredTotals, *, contradiction: str | None = None, skipped_lines: int = 0) -> CoverageReport:
    """Return the report from its declared totals; no data without a total of lines. Raises DamageError."""
    covered, total = (stated.covered, stated.total) if stated.of_lines else (None, None)
    if covered is None or total is None:
        covered = total = 0
    elif covered > plausible(total, "lines") or covered < 0:
        raise DamageError(f"{_ratio_text(covered, total)} lines are covered, it says")
    percent = share(covered, total)
    return CoverageReport(
        lines_covered=covered,
        lines_total=total,
        percent=percent if percent is None or stated.percent is None else stated.percent,
        declared_covered=stated.covered,
        declared_total=stated.total,
        declared_percent=stated.percent,
        contradiction=contradiction,
        skipped_lines=skipped_lines,
    )


def contradiction(stated: DeclaredTotals, covered: int, total: int) -> str | None:
    """Return how the declared totals differ from the listed ones beyond rounding, None if they agree."""
    if stated.covered not in (None, covered) or stated.total not in (None, total):
        return f"declared lines: {_ratio_text(stated.covered, stated.total)}, listed: {_ratio_text(covered, total)}"
    percent = share(covered, total)
    if stated.percent is None or percent is None or abs(stated.percent - percent) <= stated.rounding + 1e-6:
        return None
    return f"declared: {stated.percent:.2f} % of the lines, listed: {percent:.2f} %"


def mark(lines: dict[int, bool], number: int, *, hit: bool) -> None:
    """Add one row; a line listed twice is covered if one row covers it."""
    lines[number] = hit or lines.get(number, False)


def _ratio_text(covered: int | None, total: int | None) -> str:
    return f"{'?' if covered is None else covered} of {'?' if total is None else total}"
