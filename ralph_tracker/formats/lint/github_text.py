"""Annotations for GitHub Actions, as ruff, ty, Pylint, Biome and oxlint print them: `::error file=…,line=…::text`."""

import re
from collections.abc import Iterator
from typing import Final

from ralph_tracker.formats.parsed_report import LintReport, Row
from ralph_tracker.formats.report_content import Content, DamageError, plain, text_with

_FINDING: Final = re.compile(
    r"^::(?P<word>error|warning|notice|debug) (?P<properties>(?=[^\n]*?\btitle=)(?=[^\n]*?\bfile=)[^\n]*?)"
    r"::(?P<message>.*)",
    re.MULTILINE,
)
_RULE: Final = re.compile(r"\w+ \((.+)\)$")  # `ruff (F401)`
_WORDS: Final = {"notice": "note", "debug": "none"}
sniff: Final = text_with(_FINDING, not_opening="{[<")


def read(content: Content) -> LintReport:
    """Count the findings; other lines are skipped and counted.

    Raises DamageError for a last line without an end. A cut between two findings cannot be detected.
    """
    report = LintReport.of(diagnostics(content))
    if not report.findings:
        raise DamageError("no line is an annotation with a file and a title")
    if not plain(content.text).endswith("\n"):
        raise DamageError("cut short: the last line has no end", content.text.count("\n") + 1)
    lines = sum(1 for line in content.lines() if line.strip())
    return report._replace(skipped_lines=lines - report.results)


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the findings; the rule is in the title."""
    for line in map(plain, content.lines()):
        if found := _FINDING.match(line.rstrip("\r")):
            parts = (part.partition("=") for part in found["properties"].split(","))
            properties = {key.strip(): _unescaped(value) for key, _, value in parts}
            title = properties.get("title", "")
            rule = _RULE.match(title)
            word, message = found["word"], _unescaped(found["message"])
            yield (
                properties.get("file"),
                properties.get("line"),
                rule[1] if rule else title,
                _WORDS.get(word, word),
                message,
            )


def _unescaped(text: str) -> str:
    for mark, character in (("%0A", "\n"), ("%0D", "\r"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(mark, character)
    return text
