"""coverage.py's table on the terminal (`coverage report`, `pytest --cov`): the TOTAL row."""

import re
from typing import Final

from ralph_tracker.formats.coverage import rows
from ralph_tracker.formats.coverage.coverage_report import CoverageReport, share
from ralph_tracker.formats.report_bytes import Content
from ralph_tracker.formats.unreadable import DamageError

_HEADER: Final = re.compile(r"^[ \t]*Name +Stmts +Miss +(?P<branches>Branch +BrPart +)?Cover\b", re.MULTILINE)
_TOTAL: Final = re.compile(
    r"^[ \t]*TOTAL +(?P<all>\d{1,18}) +(?P<missed>\d{1,18}) +(?:\d+ +\d+ +)?(?P<percent>\d+(?:\.\d+)?)%[ \t\r]*$",
    re.MULTILINE | re.ASCII,
)
_WHOLE: Final = 100
_JSON: Final = "write a report with `coverage json` and name that one"


def sniff(content: Content) -> bool:
    """Whether it has the table's header."""
    return content.opening[:1] not in ("{", "[", "<") and _HEADER.search(content.text) is not None


def read(content: Content) -> CoverageReport:
    """Read the TOTAL row, which counts statements. Raises DamageError.

    With branches its percentage mixes both; that of the lines is then computed.
    """
    headers = list(_HEADER.finditer(content.text))
    totals = list(_TOTAL.finditer(content.text))
    if not headers or not totals:
        raise DamageError(f"the table of coverage.py has no row TOTAL; {_JSON}")
    if len(totals) > 1:
        raise DamageError(f"it holds {len(totals)} tables, of which none is the whole; {_JSON}")
    total, missed, percent = int(totals[0]["all"]), int(totals[0]["missed"]), float(totals[0]["percent"])
    if missed > total:
        raise DamageError(f"{missed} of {total} statements are missed, it says")
    if percent > _WHOLE:
        raise DamageError(f"{percent} % is no percentage")
    stated = rows.DeclaredTotals(covered=total - missed, total=total, percent=percent, rounding=1)
    report = rows.of_totals(stated)
    if headers[0]["branches"]:
        return report._replace(percent=share(total - missed, total))
    return report._replace(contradiction=rows.contradiction(stated, total - missed, total))
