"""Issues for Azure Pipelines, as ruff and formatters of ESLint print them: `##vso[task.logissue type=…;…]text`."""

import re
from collections.abc import Iterator
from typing import Final

from ralph_tracker.formats.parsed_report import LintReport, Row
from ralph_tracker.formats.report_content import Content, DamageError, plain, text_with

_FINDING: Final = re.compile(
    r"^##vso\[task\.logissue (?P<properties>(?=[^\n\]]*?\btype=)(?=[^\n\]]*?\bsourcepath=)[^\n\]]*)\](?P<message>.*)",
    re.MULTILINE,
)
sniff: Final = text_with(_FINDING, not_opening="{[<")


def read(content: Content) -> LintReport:
    """Count the findings; other lines are skipped and counted.

    Raises DamageError for a last line without an end. A cut between two findings cannot be detected.
    """
    report = LintReport.of(diagnostics(content))
    if not report.findings:
        raise DamageError("no line is an issue with a source path")
    if not plain(content.text).endswith("\n"):
        raise DamageError("cut short: the last line has no end", content.text.count("\n") + 1)
    lines = sum(1 for line in content.lines() if line.strip())
    return report._replace(skipped_lines=lines - report.results)


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the findings."""
    for line in map(plain, content.lines()):
        if found := _FINDING.match(line.rstrip("\r")):
            parts = (part.partition("=") for part in found["properties"].split(";"))
            properties = {key.strip(): _unescaped(value) for key, _, value in parts}
            yield (
                properties.get("sourcepath"),
                properties.get("linenumber"),
                properties.get("code", ""),
                properties.get("type"),
                _unescaped(found["message"]),
            )


def _unescaped(text: str) -> str:
    for mark, character in (("%3B", ";"), ("%0D", "\r"), ("%0A", "\n"), ("%5D", "]"), ("%AZP25", "%")):
        text = text.replace(mark, character)
    return text
