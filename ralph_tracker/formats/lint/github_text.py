"""Annotations for GitHub Actions, as ruff, ty, Pylint, Biome and oxlint print them: `::error file=…,line=…::text`."""

import re
from collections.abc import Iterator
from typing import Final

from ralph_tracker.formats.log_commands import command_properties, findings_in_lines, unescaped
from ralph_tracker.formats.parsed_report import LintReport, Row
from ralph_tracker.formats.report_content import Content, plain, text_with

_FINDING: Final = re.compile(
    r"^::(?P<word>error|warning|notice|debug) (?P<properties>(?=[^\n]*?\btitle=)(?=[^\n]*?\bfile=)[^\n]*?)"
    r"::(?P<message>.*)",
    re.MULTILINE,
)
_RULE: Final = re.compile(r"\w+ \((.+)\)$")  # `ruff (F401)`
_WORDS: Final = {"notice": "note", "debug": "none"}
_ESCAPES: Final = {"%0A": "\n", "%0D": "\r", "%3A": ":", "%2C": ",", "%25": "%"}
sniff: Final = text_with(_FINDING, not_opening="{[<")


def read(content: Content) -> LintReport:
    """Count the findings. Raises DamageError as `findings_in_lines`."""
    return findings_in_lines(content, diagnostics(content), "no line is an annotation with a file and a title")


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the findings; the rule is in the title."""
    for line in map(plain, content.lines()):
        if found := _FINDING.match(line.rstrip("\r")):
            properties = command_properties(found["properties"], ",", _ESCAPES)
            title = properties.get("title", "")
            rule = _RULE.match(title)
            word, message = found["word"], unescaped(found["message"], _ESCAPES)
            yield (
                properties.get("file"),
                properties.get("line"),
                rule[1] if rule else title,
                _WORDS.get(word, word),
                message,
            )
