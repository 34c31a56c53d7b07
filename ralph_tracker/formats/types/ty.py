"""ty's text (`ty check`, `--output-format=concise`): the diagnostics, then their number.

Its other reports are GitLab's, GitHub's, SARIF and JUnit, which are read in a check of types.
"""

import re
from collections import Counter
from functools import partial
from typing import Final

from ralph_tracker.formats.parsed_report import TypeReport, by_line
from ralph_tracker.formats.report_content import Content, DamageError, plain

_FINDING: Final = re.compile(
    r"^(?:(?P<file>\S[^\n]*?):(?P<line>\d{1,9}):\d{1,9}: )?(?P<severity>error|warning|info|fatal)"
    r"\[(?P<code>[a-z][\w-]{0,80})\]:? (?P<message>.*)",
    re.MULTILINE,
)
_FOUND: Final = re.compile(r"^Found (\d{1,9}) diagnostics?\s*$", re.MULTILINE)


def sniff_text(content: Content) -> bool:
    """Whether it has diagnostics and ends with their number."""
    text = plain(content.text)
    return _FINDING.search(text) is not None and _FOUND.search(text) is not None


def read_text(content: Content) -> TypeReport:
    """Count the diagnostics. Raises DamageError where their number is not the one that ty ends with."""
    severities = Counter(str(row[3]) for row in diagnostics_text(content))
    totals = [int(found[1]) for found in _FOUND.finditer(plain(content.text))]
    if not totals:
        raise DamageError("cut short: the number of diagnostics, with which ty ends, is missing")
    if sum(totals) != severities.total():
        raise DamageError(f"ty found {sum(totals)} diagnostics, and {severities.total()} of them can be read")
    errors = severities["error"] + severities["fatal"]
    return TypeReport(errors=errors, warnings=severities["warning"], notes=severities["info"])


diagnostics_text: Final = partial(by_line, _FINDING)
