"""Annotations for GitHub Actions, as ruff, ty, Pylint, Biome and oxlint print them: `::error file=…,line=…::text`."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from ralph_tracker.formats.parsed_report import LintReport, Row
from ralph_tracker.formats.report_content import Content, DamageError, plain, text_with


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
