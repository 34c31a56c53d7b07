"""mypy's machine output (`mypy --output=json`): one JSON object a line, and nothing where nothing was found."""

import re
from collections import Counter
from dataclasses import replace
from itertools import islice
from typing import Final

from ralph_tracker.formats import mypy_text
from ralph_tracker.formats.content import Content, DamageError, parse_json
from ralph_tracker.formats.report import TypeReport, Unreadable

_TRIED: Final = 20
_KEYS: Final = frozenset({"file", "line", "message", "hint", "severity"})
_OBJECT_LINE: Final = re.compile(r"^\{.*\}\s*$", re.MULTILINE)


def sniff(content: Content) -> bool:
    """Whether one of the first lines that look like objects is a finding of mypy."""
    found = islice(_OBJECT_LINE.finditer(content.text), _TRIED)
    return any(_is_finding(parse_json(each[0])) for each in found)


def read(content: Content) -> TypeReport:
    """Count the findings by severity. Raises DamageError.

    Lines that are no finding are skipped and counted. An object that the end of the file cuts short makes the whole
    unreadable; a cut between two findings cannot be seen. Some fatal errors are told on standard error alone, and
    only the summary line is here: its number counts.
    """
    lines = content.text.split("\n")
    findings = [finding for finding in map(_finding, lines) if finding is not None]
    summaries = [found for found in map(mypy_text.summary, lines) if found]
    last = lines[-1]
    if last.startswith("{") and isinstance(parse_json(last), Unreadable):
        raise DamageError("cut short: the last line is half an object", len(lines), len(last) + 1)
    if not findings and not summaries:
        raise DamageError("no line is a finding of mypy in JSON")
    severities = Counter(str(finding["severity"]) for finding in findings)
    written = sum(bool(line.strip()) for line in lines)
    counted = mypy_text.report(severities, summaries, skipped_lines=written - len(findings) - len(summaries))
    return replace(counted, stopped=counted.stopped or any(map(_is_fatal, findings)))


def _finding(line: str) -> dict[str, object] | None:
    """Return the finding on a line, None where it holds something else."""
    if not line.startswith("{"):
        return None
    value = parse_json(line)
    return value if isinstance(value, dict) and _is_finding(value) else None


def _is_finding(value: object) -> bool:
    return isinstance(value, dict) and value.keys() >= _KEYS


def _is_fatal(finding: dict[str, object]) -> bool:
    """Whether mypy went no further: it stops at errors of syntax and at those without a code."""
    return finding["severity"] == "error" and finding.get("code") in (None, "syntax")
