"""coverage.py's JSON report (`coverage json`), table (`coverage report`, `pytest --cov`) and data (`.coverage`)."""

import math
import re
from collections.abc import Mapping
from typing import Final, NoReturn

from ralph_tracker.formats.coverage import coverage_builder
from ralph_tracker.formats.parsed_report import CoverageReport, count_lines, share
from ralph_tracker.formats.report_content import Content, DamageError, Unreadable, json_object, plausible
from ralph_tracker.short_text import shorten

sniff_json: Final = json_object("meta", "files", "totals")
_STATED: Final = "percent_covered"
_WHOLE: Final = 100

_HEADER: Final = re.compile(r"^[ \t]*Name +Stmts +Miss +(?P<branches>Branch +BrPart +)?Cover\b", re.MULTILINE)
_TOTAL: Final = re.compile(
    r"^[ \t]*TOTAL +(?P<all>\d{1,18}) +(?P<missed>\d{1,18}) +(?:\d+ +\d+ +)?(?P<percent>\d+(?:\.\d+)?)%[ \t\r]*$",
    re.MULTILINE | re.ASCII,
)
_ADVICE: Final = "write a report with `coverage json` and name that one"

_BEFORE_5: Final = b"!coverage.py: This is a private format"


def read_json(content: Content) -> CoverageReport:
    """Read the totals, and the rows if they agree with these. Raises DamageError.

    Lines are the tool's statements. With branches `percent_covered` mixes both; the percentage is then
    `percent_statements_covered`, which older versions do not write, else covered / total. No statement at all is no
    data, though the tool calls it 100 %.
    """
    document = content.json
    if isinstance(document, Unreadable):
        raise DamageError(*document)
    if not isinstance(document, dict):
        raise DamageError("the report is no JSON object")
    totals = document.get("totals")
    if not isinstance(totals, dict):
        raise DamageError(f"totals is {_value_text(totals)}, not an object")
    covered, total = _count(totals, "covered_lines"), _count(totals, "num_statements")
    if covered > plausible(total, "lines"):
        raise DamageError(f"covered_lines is {covered}, more than the {total} of num_statements")
    percent = None
    if total:
        percent = covered / total * 100
        if "num_branches" not in totals:
            percent = _percentage(totals, _STATED)
        elif "percent_statements_covered" in totals:
            percent = _percentage(totals, "percent_statements_covered")
    files = _rows(document.get("files"))
    listed = count_lines(files)
    return CoverageReport(
        lines_covered=covered,
        lines_total=total,
        percent=percent,
        files=files if listed == (covered, total) else None,
        declared_covered=covered,
        declared_total=total,
        declared_percent=_percentage(totals, _STATED) if _STATED in totals else None,
        contradiction=coverage_builder.contradiction(
            coverage_builder.DeclaredTotals(covered=covered, total=total), *listed
        )
        if listed[1]
        else None,
    )


def _rows(files: object) -> dict[str, dict[int, bool]]:
    """Return the lines of each file; empty for a file without them, as only the totals are required."""
    found: dict[str, dict[int, bool]] = {}
    for path, file in files.items() if isinstance(files, dict) else ():
        lines = found[path] = {}
        for key, hit in (("missing_lines", False), ("executed_lines", True)):
            numbers = file.get(key) if isinstance(file, dict) else None
            lines |= {number: hit for number in numbers if isinstance(number, int)} if isinstance(numbers, list) else {}
    return found


def _count(owner: Mapping[str, object], key: str) -> int:
    """Return a whole number of 0 or more. Raises DamageError for anything else."""
    value = owner.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise DamageError(f"{key} is {_value_text(value)}, not a count")
    return value


def _percentage(owner: Mapping[str, object], key: str) -> float:
    """Return a number from 0 to 100. Raises DamageError for anything else."""
    value = owner.get(key)
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    if not 0 <= number <= _WHOLE:  # which NaN is not
        raise DamageError(f"{key} is {_value_text(value)}, not a percentage from 0 to 100")
    return float(number)


def _value_text(value: object) -> str:
    if value is None:
        return "missing"
    return shorten(repr(value), 41)


def sniff_text(content: Content) -> bool:
    """Whether it has the table's header."""
    return content.opening[:1] not in ("{", "[", "<") and _HEADER.search(content.text) is not None


def read_text(content: Content) -> CoverageReport:
    """Read the TOTAL row, which counts statements. Raises DamageError.

    With branches its percentage mixes both; that of the lines is then computed.
    """
    headers = list(_HEADER.finditer(content.text))
    totals = list(_TOTAL.finditer(content.text))
    if not headers or not totals:
        raise DamageError(f"the table of coverage.py has no row TOTAL; {_ADVICE}")
    if len(totals) > 1:
        raise DamageError(f"it holds {len(totals)} tables, of which none is the whole; {_ADVICE}")
    total, missed, percent = int(totals[0]["all"]), int(totals[0]["missed"]), float(totals[0]["percent"])
    if missed > total:
        raise DamageError(f"{missed} of {total} statements are missed, it says")
    if percent > _WHOLE:
        raise DamageError(f"{percent} % is no percentage")
    stated = coverage_builder.DeclaredTotals(covered=total - missed, total=total, percent=percent, rounding=1)
    report = coverage_builder.of_totals(stated)
    if headers[0]["branches"]:
        return report._replace(percent=share(total - missed, total))
    return report._replace(contradiction=coverage_builder.contradiction(stated, total - missed, total))


def sniff_sqlite(content: Content) -> bool:
    """Whether it is a database or data of coverage.py before version 5; no other report is either."""
    return content.data.startswith((b"SQLite format 3\0", _BEFORE_5))


def read_sqlite(content: Content) -> NoReturn:
    """Refuse it, saying what to do. Raises DamageError.

    The total needs the sources, which a reader does not have: measure/report_totals.py asks coverage.py.
    """
    if content.data.startswith(_BEFORE_5):
        raise DamageError("coverage.py's data of before its version 5; write a report with `coverage json`", 1, 1)
    raise DamageError("coverage.py's data says which lines ran, not of how many; write a report with `coverage json`")
