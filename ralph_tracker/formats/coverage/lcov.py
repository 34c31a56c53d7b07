"""LCOV tracefiles, written by geninfo, Istanbul, llvm-cov, coverage.py and many others: one record per file."""

from typing import Final

from ralph_tracker.formats.coverage import coverage_builder
from ralph_tracker.formats.parsed_report import CoverageReport, count_lines
from ralph_tracker.formats.report_content import Content, DamageError, attribute_count

_BEGIN: Final = "SF:"
_END: Final = "end_of_record"
_MARKS: Final = ("\nDA:", "\nLF:", f"\n{_END}")


def sniff(content: Content) -> bool:
    """Whether it has lines that begin and continue a record."""
    if content.opening[:1] in ("{", "[", "<"):
        return False
    text = content.text
    begins = text.startswith(_BEGIN) or f"\n{_BEGIN}" in text
    return begins and any(mark in text for mark in _MARKS)


def read(content: Content) -> CoverageReport:
    """Read the rows (`DA`), or the totals (`LF`, `LH`) of a record without rows. Raises DamageError.

    Damaged rows are skipped and counted. Several records may be of one file; each is compared with its own totals. A
    cut between two records cannot be detected.
    """
    tracefile = _Tracefile()
    line = ""
    found, parsed = tracefile.rows, _Rows()
    for line in content.lines():
        if line.startswith("DA:"):
            try:
                number, ran = parsed[line]
            except DamageError:
                tracefile.skipped += 1
                continue
            if ran:
                found[number] = True
            else:
                found.setdefault(number, False)
        else:
            tracefile.other(line.rstrip())
            found = tracefile.rows
    if line and line != _END and not content.text.endswith("\n"):
        raise DamageError("cut short: the last line has no end", content.text.count("\n") + 1)
    return tracefile.report()


class _Rows(dict[str, tuple[int, bool]]):
    """Parse rows, caching some: rows with small numbers recur in many files. Raises DamageError."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers = coverage_builder.LineNumbers()
        self._hits = coverage_builder.Hits()

    def __missing__(self, line: str) -> tuple[int, bool]:
        number, _, hits = line[3:].partition(",")
        found = self._numbers[number], self._hits[hits]
        if len(self) < 20_000:
            self[line] = found
        return found


class _Tracefile:
    """Handle all lines but rows; `rows` are those of the open record."""

    def __init__(self) -> None:
        self.rows: dict[int, bool] = {}
        self.skipped = 0
        self._files: dict[str, dict[int, bool]] = {}
        self._path: str | None = None
        self._totals: dict[str, int | None] = {}
        self._declared: dict[str, int] = {}
        self._listed = (0, 0)  # covered and all, of the records that declare these
        self._without_rows = (0, 0)

    def other(self, line: str) -> None:
        tag, _, value = line.partition(":")
        if tag == "SF":
            if self._path is not None:
                raise DamageError(f"the record of {self._path} has no end")
            self._forget()
            self._path = value
        elif tag in ("LF", "LH"):
            self._totals[tag] = attribute_count({tag: value}, tag)
        elif tag == _END and self._path is not None:
            self._close(self._path)

    def _forget(self) -> None:
        """Drop the rows that belong to no file."""
        self.skipped += len(self.rows)
        self.rows = {}
        self._totals = {}

    def _close(self, path: str) -> None:
        covered, total = sum(self.rows.values()), len(self.rows)
        hit, found = self._totals.get("LH"), self._totals.get("LF")
        if not total and found:
            if hit is None or not 0 <= hit <= found:
                raise DamageError(f"the record of {path} states {'no' if hit is None else hit} LH of {found} LF")
            self._without_rows = (self._without_rows[0] + hit, self._without_rows[1] + found)
            covered, total = hit, found
        for tag, value in (("LH", hit), ("LF", found)):
            if value is not None:
                self._declared[tag] = self._declared.get(tag, 0) + value
        if found is not None or hit is not None:
            self._listed = (self._listed[0] + covered, self._listed[1] + total)
        known = self._files.get(path)
        if known is None:
            self._files[path] = self.rows
        else:
            for number, ran in self.rows.items():
                coverage_builder.mark(known, number, hit=ran)
        self._path, self._totals, self.rows = None, {}, {}

    def report(self) -> CoverageReport:
        """Return the report; if a record has no rows, totals are added."""
        if self._path is not None:
            raise DamageError(f"cut short: the record of {self._path} has no end")
        if not self._files:
            raise DamageError("no record is that of a file")
        self._forget()
        covered, total = count_lines(self._files)
        if self.skipped and not total and not self._without_rows[1]:
            raise DamageError(f"no row can be read, {self.skipped} are damaged")
        stated = coverage_builder.DeclaredTotals(covered=self._declared.get("LH"), total=self._declared.get("LF"))
        if not self._without_rows[1]:
            return coverage_builder.report(self._files, stated, listed=self._listed, skipped_lines=self.skipped)
        both = coverage_builder.DeclaredTotals(
            covered=covered + self._without_rows[0], total=total + self._without_rows[1]
        )
        return coverage_builder.of_totals(both, skipped_lines=self.skipped)._replace(
            declared_covered=stated.covered,
            declared_total=stated.total,
            contradiction=coverage_builder.contradiction(stated, *self._listed),
        )
