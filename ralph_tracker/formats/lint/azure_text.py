"""Issues for Azure Pipelines, as ruff and formatters of ESLint print them: `##vso[task.logissue type=…;…]text`."""

import re
from collections.abc import Iterator
from typing import Final

from ralph_tracker.formats.lint.github_text import command_properties, findings_in_lines, unescaped
from ralph_tracker.formats.parsed_report import LintReport, Row
from ralph_tracker.formats.report_content import Content, plain, text_with

_FINDING: Final = re.compile(
    r"^##vso\[task\.logissue (?P<properties>(?=[^\n\]]*?\btype=)(?=[^\n\]]*?\bsourcepath=)[^\n\]]*)\](?P<message>.*)",
    re.MULTILINE,
)
_ESCAPES: Final = {"%3B": ";", "%0D": "\r", "%0A": "\n", "%5D": "]", "%AZP25": "%"}
sniff: Final = text_with(_FINDING, not_opening="{[<")


def read(content: Content) -> LintReport:
    """Count the findings. Raises DamageError as `findings_in_lines`."""
    return findings_in_lines(content, diagnostics(content), "no line is an issue with a source path")


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the findings."""
    for line in map(plain, content.lines()):
        if found := _FINDING.match(line.rstrip("\r")):
            properties = command_properties(found["properties"], ";", _ESCAPES)
            yield (
                properties.get("sourcepath"),
                properties.get("linenumber"),
                properties.get("code", ""),
                properties.get("type"),
                unescaped(found["message"], _ESCAPES),
            )
