"""mypy's machine output (`mypy --output=json`): one JSON object a line, and nothing where nothing was found."""

from collections import Counter
from typing import Final

from ralph_tracker.formats import json_lines
from ralph_tracker.formats.content import Content
from ralph_tracker.formats.damage import DamageError
from ralph_tracker.formats.types import mypy_text
from ralph_tracker.formats.types.type_report import TypeReport

_KEYS: Final = frozenset({"file", "line", "message", "hint", "severity"})


def sniff(content: Content) -> bool:
    """Whether one of the first lines that look like objects is a finding of mypy."""
    return any(_is_finding(each) for each in json_lines.first_objects(content))


def read(content: Content) -> TypeReport:
    """Count the findings by severity. Raises DamageError.

    Lines that are no finding are skipped and counted. An object that the end of the file cuts short makes the whole
    unreadable; a cut between two findings cannot be seen. Some fatal errors are told on standard error alone, and
    only the summary line is here: its number counts.
    """
    severities: Counter[str] = Counter()
    summaries: list[mypy_text.Summary] = []
    skipped, stopped = 0, False
    for line, value in json_lines.objects(content):
        if value is not None and _is_finding(value):
            severities[str(value["severity"])] += 1
            stopped = stopped or _is_fatal(value)
        elif found := mypy_text.summary(line):
            summaries.append(found)
        else:
            skipped += 1
    if not severities and not summaries:
        raise DamageError("no line is a finding of mypy in JSON")
    counted = mypy_text.report(severities, summaries, skipped_lines=skipped)
    return counted._replace(stopped=counted.stopped or stopped)


def _is_finding(value: json_lines.Object) -> bool:
    return value.keys() >= _KEYS


def _is_fatal(finding: json_lines.Object) -> bool:
    """Whether mypy went no further: it stops at errors of syntax and at those without a code."""
    return finding["severity"] == "error" and finding.get("code") in (None, "syntax")
