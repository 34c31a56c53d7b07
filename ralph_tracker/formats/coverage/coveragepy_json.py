"""coverage.py's JSON report (`coverage json`): the totals, as the tool counted them."""

from typing import Final

from ralph_tracker.formats import json_numbers
from ralph_tracker.formats.content import Content
from ralph_tracker.formats.coverage.report import CoverageReport
from ralph_tracker.formats.damage import DamageError

_KEYS: Final = frozenset({"meta", "files", "totals"})


def sniff(content: Content) -> bool:
    """Whether it is an object with the three parts of such a report."""
    return content.opening.startswith("{") and content.json_keys >= _KEYS


def read(content: Content) -> CoverageReport:
    """Read the totals. Raises DamageError.

    Lines are the tool's statements. With branches its `percent_covered` mixes both; the percentage is then
    `percent_statements_covered`, which older versions do not write, else covered / total. No statement at all
    is no data, though the tool calls it 100 %.
    """
    document = content.json_value()
    if not isinstance(document, dict):
        raise DamageError("the report is no JSON object")
    totals = json_numbers.mapping(document, "totals")
    covered, total = json_numbers.count(totals, "covered_lines"), json_numbers.count(totals, "num_statements")
    if covered > total:
        raise DamageError(f"covered_lines is {covered}, more than the {total} of num_statements")
    if not total:
        return CoverageReport(lines_covered=0, lines_total=0, percent=None)
    if "num_branches" not in totals:
        percent = json_numbers.percent(totals, "percent_covered")
    elif "percent_statements_covered" in totals:
        percent = json_numbers.percent(totals, "percent_statements_covered")
    else:
        percent = covered / total * 100
    return CoverageReport(lines_covered=covered, lines_total=total, percent=percent)
