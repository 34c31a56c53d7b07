"""Output of flake8 and pycodestyle: `path:line:column: code text`; `path:line: [code] text` is ruff's `pylint` too."""

import re
from collections import Counter
from functools import partial
from typing import Final

from ralph_tracker.formats.parsed_report import LintReport, Severity, by_line, severity_of
from ralph_tracker.formats.report_content import Content, DamageError, plain, text_with

_PLACE: Final = r"^\S[^\n]*?:\d{1,9}:"
_BRACKETED: Final = r"(?:[A-Z]{1,3}\d{1,4}|invalid-syntax)"  # which is ruff's alone
_ANY: Final = re.compile(rf"{_PLACE}\d{{1,9}}: [A-Z]{{1,3}}\d{{3}} |{_PLACE} \[{_BRACKETED}\] ", re.MULTILINE)
_FINDING: Final = re.compile(
    r"^(?P<file>\S[^\n]*?):(?P<line>\d{1,9}):"
    rf"(?:\d{{1,9}}: (?P<code>[A-Z]{{1,3}}\d{{1,3}}) | \[(?P<in_brackets>{_BRACKETED})\] )(?P<message>.*)"
)
_OF_ANOTHER: Final = re.compile(rf"{_PLACE}(?:\d{{1,9}}:)? (?:\[|[\w-]+:)")
# The last line of ruff's output, whose other lines look the same, except for syntax errors.
_OF_RUFF: Final = re.compile(r"^(?:Found \d+ errors?\b|\[\*\] \d+ fixable)", re.MULTILINE)
sniff: Final = text_with(_ANY, unless=_OF_RUFF, not_opening="{[")


def read(content: Content) -> LintReport:
    """Count the findings by code; other lines, such as source code, are skipped and counted.

    Raises DamageError for a line that looks like another tool's finding, and for a last line that is cut short. A cut
    after the code of a finding, or between two, cannot be detected.
    """
    findings: Counter[tuple[str, Severity]] = Counter()
    skipped, line, found = 0, "", None
    for number, line in enumerate(map(plain, content.lines()), start=1):
        found = _FINDING.match(line)
        if found:
            code = found["code"] or found["in_brackets"]
            findings[code, severity_of(None, code)] += 1
        elif _OF_ANOTHER.match(line):
            raise DamageError("a finding, but not of flake8", number)
        elif line.strip():
            skipped += 1
    if not findings:
        raise DamageError("no line is a finding of flake8")
    if not found and line.strip() and not content.text.endswith("\n"):
        raise DamageError("cut short: the last line is half a finding", number)
    return LintReport(findings=dict(findings), skipped_lines=skipped)


diagnostics: Final = partial(by_line, _FINDING)
