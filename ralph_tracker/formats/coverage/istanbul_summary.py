"""Istanbul's summary (`coverage-summary.json` of nyc, c8, jest and vitest): totals for all and for each file."""

import re
from typing import Annotated, Final

from msgspec import Meta, Struct

from ralph_tracker.formats import json_typed
from ralph_tracker.formats.coverage import rows
from ralph_tracker.formats.coverage.coverage_report import CoverageReport
from ralph_tracker.formats.report_bytes import Content
from ralph_tracker.formats.unreadable import DamageError

_TOTAL: Final = "total"
_KEYS: Final = frozenset({"lines", "statements", "functions", "branches"})

_KEPT: Final = re.compile(r"(?:^|[/\\])\.aiwg[/\\]ralph[/\\]")

Count = Annotated[int, Meta(ge=0)]


class _Lines(Struct):
    total: Count
    covered: Count
    pct: Annotated[float, Meta(ge=0, le=100)] | str


class _Summary(Struct):
    lines: _Lines


def sniff(content: Content) -> bool:
    """Whether it is an object with a total, and the parts that each file has."""
    return content.opening.startswith("{") and _TOTAL in content.json_keys and content.json_inner_keys >= _KEYS


def read(content: Content) -> CoverageReport:
    """Read the total of lines, without files that are kept of iterations. Raises DamageError.

    Its percentage is truncated to two digits. nyc and c8 with `all` count every file, also copies below `.aiwg`.
    """
    summaries = json_typed.decode(content, dict[str, _Summary], "Istanbul")
    if _TOTAL not in summaries:
        raise DamageError("the summary has no total")
    lines = summaries.pop(_TOTAL).lines
    percent = lines.pct if isinstance(lines.pct, float) and lines.total else None
    stated = rows.DeclaredTotals(covered=lines.covered, total=lines.total, percent=percent)
    against = (lines.covered, lines.total)
    if summaries:
        files = [summary.lines for summary in summaries.values()]
        against = (sum(file.covered for file in files), sum(file.total for file in files))
    wrong = rows.contradiction(stated, *against)
    kept = [summary.lines for path, summary in summaries.items() if _KEPT.search(path)]
    if kept and wrong is None:
        covered = against[0] - sum(file.covered for file in kept)
        stated = rows.DeclaredTotals(covered=covered, total=against[1] - sum(file.total for file in kept))
    return rows.of_totals(stated, contradiction=wrong)
