"""Pylint's output: `path:line:column: code: text`, or `path:line: [code(symbol), object] text` (`parseable`)."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from ralph_tracker.formats import json_lines
from ralph_tracker.formats.diagnostics import Row, Severity, by_line, severity_of_code
from ralph_tracker.formats.lint.lint_report import LintReport
from ralph_tracker.formats.report_bytes import Content, plain
from ralph_tracker.formats.unreadable import DamageError

_CODE: Final = r"[CRWEFI]\d{4}"
_FINDING: Final = re.compile(
    rf"^(?P<file>\S[^\n]*?):(?P<line>\d{{1,9}}):(?:\d{{1,9}}: (?P<code>{_CODE}): "
    rf"| \[(?P<in_brackets>{_CODE})(?:\([^)\n]{{0,80}}\))?(?:, [^\]\n]{{0,200}})?\] )(?P<message>.*)",
    re.MULTILINE,
)
_RATING: Final = re.compile(r"^Your code has been rated at -?\d", re.MULTILINE)


def sniff(content: Content) -> bool:
    """Whether a line is a message of pylint, or its rating."""
    if content.opening[:1] in ("{", "["):
        return False
    text = plain(content.text)
    return bool(_FINDING.search(text) or _RATING.search(text))


def read(content: Content) -> LintReport:
    """Count the messages by code; other lines, such as pylint's own tables, are skipped and counted.

    The rating shows that the run finished. Without it (`--score=n`) text that ends within a line is cut short; a cut
    between two messages cannot be detected then. Raises DamageError.
    """
    findings: Counter[tuple[str, Severity]] = Counter()
    skipped, rated = 0, False
    for line in map(plain, json_lines.lines(content)):
        found = _FINDING.match(line)
        if found:
            code = found["code"] or found["in_brackets"]
            findings[code, severity_of_code(code)] += 1
        elif line.strip():
            rated = rated or _RATING.match(line) is not None
            skipped += 1
    if not findings and not rated:
        raise DamageError("no line is a message of pylint")
    if not rated and not content.text.endswith("\n"):
        raise DamageError("cut short: the last line has no end, and pylint's rating is missing")
    return LintReport(findings=dict(findings), skipped_lines=skipped)


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the lines that are messages."""
    yield from by_line(_FINDING, content)
