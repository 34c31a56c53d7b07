"""Istanbul's reports, as nyc, c8, jest and vitest write them.

`coverage-final.json` has statements and their hits, `coverage-summary.json` totals for all and for each file.
"""

import re
from typing import Annotated, Final

from msgspec import Meta, Struct, field

from ralph_tracker.formats.coverage import coverage_builder
from ralph_tracker.formats.json_reader import Count, decode
from ralph_tracker.formats.parsed_report import CoverageReport
from ralph_tracker.formats.report_content import Content, DamageError, json_object

_TOTAL: Final = "total"
sniff_final: Final = json_object(inner={"statementMap", "s"})
sniff_summary: Final = json_object(_TOTAL, inner={"lines", "statements", "functions", "branches"})
_KEPT: Final = re.compile(r"(?:^|[/\\])\.aiwg[/\\]ralph[/\\]")


class _Position(Struct):
    line: Count


class _Statement(Struct):
    start: _Position


class _File(Struct):
    statements: dict[str, _Statement] = field(name="statementMap")
    hits: dict[str, int] = field(name="s")


def read_final(content: Content) -> CoverageReport:
    """Read the lines as Istanbul counts them: those on which a statement begins. Raises DamageError."""
    files: dict[str, dict[int, bool]] = {}
    for path, file in decode(content, dict[str, _File], "Istanbul").items():
        lines = files[path] = {}
        for name, hits in file.hits.items():
            statement = file.statements.get(name)
            if statement is not None:
                coverage_builder.mark(lines, statement.start.line, hit=hits > 0)
    return coverage_builder.report(files)


class _Lines(Struct):
    total: Count
    covered: Count
    pct: Annotated[float, Meta(ge=0, le=100)] | str


class _Summary(Struct):
    lines: _Lines


def read_summary(content: Content) -> CoverageReport:
    """Read the total of lines, without files that are kept of iterations. Raises DamageError.

    Its percentage is truncated to two digits. nyc and c8 with `all` count every file, also copies below `.aiwg`.
    """
    summaries = decode(content, dict[str, _Summary], "Istanbul")
    if _TOTAL not in summaries:
        raise DamageError("the summary has no total")
    lines = summaries.pop(_TOTAL).lines
    percent = lines.pct if isinstance(lines.pct, float) and lines.total else None
    stated = coverage_builder.DeclaredTotals(covered=lines.covered, total=lines.total, percent=percent)
    against = (lines.covered, lines.total)
    if summaries:
        files = [summary.lines for summary in summaries.values()]
        against = (sum(file.covered for file in files), sum(file.total for file in files))
    wrong = coverage_builder.contradiction(stated, *against)
    kept = [summary.lines for path, summary in summaries.items() if _KEPT.search(path)]
    if kept and wrong is None:
        covered = against[0] - sum(file.covered for file in kept)
        stated = coverage_builder.DeclaredTotals(covered=covered, total=against[1] - sum(file.total for file in kept))
    return coverage_builder.of_totals(stated, contradiction=wrong)
