"""mypy's JSON output (`mypy --output=json`): one JSON object per line, and none if nothing was found."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from ralph_tracker.formats import json_lines
from ralph_tracker.formats.diagnostics import Row
from ralph_tracker.formats.report_bytes import Content
from ralph_tracker.formats.types import mypy_text
from ralph_tracker.formats.types.type_report import TypeReport
from ralph_tracker.formats.unreadable import DamageError

_KEYS: Final = frozenset({"file", "line", "message", "hint", "severity"})


def sniff(content: Content) -> bool:
    """Whether one of the first JSON objects is a finding of mypy."""
    return any(_is_finding(each) for each in json_lines.first_objects(content))


def read(content: Content) -> TypeReport:
    """Count the findings by severity. Raises DamageError.

    Other lines are skipped and counted. An object cut short by the end of the file makes the whole unreadable; a cut
    between two findings cannot be detected. Some fatal errors are only on standard error; then the number in the
    summary line counts.
    """
    severities: Counter[str] = Counter()
    summaries: list[mypy_text.Summary] = []
    skipped, stopped = 0, False
    for line, value in json_lines.objects(content):
        if value is not None and _is_finding(value):
            severities[str(value["severity"])] += 1
            # Mypy stops at syntax errors and at errors without a code.
            stopped = stopped or (value["severity"] == "error" and value.get("code") in (None, "syntax"))
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


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the findings."""
    for _, each in json_lines.objects(content):
        if each is not None and _is_finding(each):
            yield each["file"], each["line"], each.get("code"), each["severity"], each["message"]
