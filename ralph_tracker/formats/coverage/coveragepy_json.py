"""coverage.py's JSON report (`coverage json`): the tool's totals, and the lines of each file."""

import math
from collections.abc import Mapping
from typing import Final

from ralph_tracker.formats.coverage import rows
from ralph_tracker.formats.coverage.coverage_report import CoverageReport, counted
from ralph_tracker.formats.report_bytes import Content
from ralph_tracker.formats.unreadable import DamageError, plausible

_SHOWN: Final = 40
_WHOLE: Final = 100


def mapping(owner: Mapping[str, object], key: str) -> Mapping[str, object]:
    """Return the object of that key. Raises DamageError if there is none."""
    value = owner.get(key)
    if not isinstance(value, dict):
        raise DamageError(f"{key} is {_shown(value)}, not an object")
    return value


def count(owner: Mapping[str, object], key: str) -> int:
    """Return a whole number of 0 or more. Raises DamageError for anything else."""
    value = owner.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise DamageError(f"{key} is {_shown(value)}, not a count")
    return value


def percentage(owner: Mapping[str, object], key: str) -> float:
    """Return a number from 0 to 100. Raises DamageError for anything else."""
    value = owner.get(key)
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    if not 0 <= number <= _WHOLE:  # which NaN is not
        raise DamageError(f"{key} is {_shown(value)}, not a percentage from 0 to 100")
    return float(number)


def _shown(value: object) -> str:
    if value is None:
        return "missing"
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


_KEYS: Final = frozenset({"meta", "files", "totals"})
_STATED: Final = "percent_covered"


def sniff(content: Content) -> bool:
    """Whether it is an object with the report's three keys."""
    return content.opening.startswith("{") and content.json_keys >= _KEYS


def read(content: Content) -> CoverageReport:
    """Read the totals, and the rows if they agree with these. Raises DamageError.

    Lines are the tool's statements. With branches `percent_covered` mixes both; the percentage is then
    `percent_statements_covered`, which older versions do not write, else covered / total. No statement at all is no
    data, though the tool calls it 100 %.
    """
    document = content.json_value()
    if not isinstance(document, dict):
        raise DamageError("the report is no JSON object")
    totals = mapping(document, "totals")
    covered, total = count(totals, "covered_lines"), count(totals, "num_statements")
    if covered > plausible(total, "lines"):
        raise DamageError(f"covered_lines is {covered}, more than the {total} of num_statements")
    percent = None
    if total:
        percent = covered / total * 100
        if "num_branches" not in totals:
            percent = percentage(totals, _STATED)
        elif "percent_statements_covered" in totals:
            percent = percentage(totals, "percent_statements_covered")
    files = _rows(document.get("files"))
    listed = counted(files)
    return CoverageReport(
        lines_covered=covered,
        lines_total=total,
        percent=percent,
        files=files if listed == (covered, total) else None,
        declared_covered=covered,
        declared_total=total,
        declared_percent=percentage(totals, _STATED) if _STATED in totals else None,
        contradiction=rows.contradiction(rows.DeclaredTotals(covered=covered, total=total), *listed)
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
