"""Findings as commands that a CI server reads from a log, one a line: GitHub's annotations, the issues of Azure."""

from collections.abc import Iterable, Mapping

from ralph_tracker.formats.parsed_report import LintReport, Row
from ralph_tracker.formats.report_content import Content, DamageError, plain


def findings_in_lines(content: Content, rows: Iterable[Row], without: str) -> LintReport:
    """Count the findings of a text with one a line; other lines are skipped and counted.

    Raises DamageError `without` any, and for a last line without an end. A cut between two findings cannot be detected.
    """
    report = LintReport.of(rows)
    if not report.findings:
        raise DamageError(without)
    if not plain(content.text).endswith("\n"):
        raise DamageError("cut short: the last line has no end", content.text.count("\n") + 1)
    lines = sum(1 for line in content.lines() if line.strip())
    return report._replace(skipped_lines=lines - report.results)


def command_properties(text: str, separator: str, escapes: Mapping[str, str]) -> dict[str, str]:
    """Return the properties of a command that a CI server reads from a log, as `file=a.py,line=3`."""
    parts = (part.partition("=") for part in text.split(separator))
    return {key.strip(): unescaped(value, escapes) for key, _, value in parts}


def unescaped(text: str, escapes: Mapping[str, str]) -> str:
    """Return a text with the characters that stand for each escape, replaced in their order."""
    for mark, character in escapes.items():
        text = text.replace(mark, character)
    return text
