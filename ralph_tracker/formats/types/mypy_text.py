"""mypy's plain output: `path:line: severity: message  [code]`, then a summary line."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ralph_tracker.formats.diagnostics import Row, by_line
from ralph_tracker.formats.report_bytes import Content, plain
from ralph_tracker.formats.types.type_report import TypeReport
from ralph_tracker.formats.unreadable import DamageError, plausible

_ROW: Final = re.compile(r"(?P<path>\S.*?)(?::\d+){0,4}: (?P<severity>error|warning|note): ")
_WITH_PLACE: Final = re.compile(
    r"(?P<file>\S.*?):(?:(?P<line>\d{1,9}):)?(?:\d{1,9}:){0,3} (?P<severity>error|warning): "
    r"(?P<message>.*?)(?:  \[(?P<code>[\w-]{1,60})\])?$"
)
_OF_PYTHON: Final = re.compile(r"^\S.*?\.pyi?(?::\d+){0,4}: (?:error|warning|note): ", re.MULTILINE)
_FOUND: Final = re.compile(r"Found (?P<errors>\d{1,9}) errors? in \d+ files? \((?P<how>checked|errors prevented) ")
_SUCCESS: Final = re.compile(r"Success: no issues found in \d+ source files?")
_SUMMARY: Final = re.compile(rf"^(?:{_FOUND.pattern}|{_SUCCESS.pattern})", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Summary:
    """The last line of a run: the number of errors, and whether they kept mypy from checking the rest."""

    errors: int
    stopped: bool


def sniff(content: Content) -> bool:
    """Whether it holds mypy's summary or a finding in a Python file; other compilers print similar findings."""
    if content.opening[:1] in ("{", "[", "<"):
        return False
    text = plain(content.text)
    return bool(_SUMMARY.search(text) or _OF_PYTHON.search(text))


def read(content: Content) -> TypeReport:
    """Count the findings; the greater of their number and the summary's is used. Raises DamageError.

    Without a summary line (`--no-error-summary`) text that ends within a line is cut short, and text without an error
    may be: neither is a report. A cut between two findings cannot be detected then.
    """
    lines = plain(content.text).splitlines()
    severities = Counter(found["severity"] for found in map(_ROW.match, lines) if found)
    summaries = [found for found in map(summary, lines) if found]
    errors = severities["error"]
    if not summaries and not errors:
        raise DamageError("mypy's summary line is missing (Found 2 errors …, Success …), and there is no error")
    if not summaries and not content.text.endswith("\n"):
        raise DamageError("cut short: the last line has no end, and mypy's summary line is missing", len(lines))
    others = len(lines) - severities.total() - len(summaries)
    return report(severities, summaries, skipped_lines=others)


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the errors and warnings."""
    yield from by_line(_WITH_PLACE, content)


def summary(line: str) -> Summary | None:
    """Return the content of a summary line, None for any other line."""
    found = _FOUND.match(line)
    if found:
        return Summary(int(found["errors"]), stopped=found["how"] != "checked")
    return Summary(0, stopped=False) if _SUCCESS.match(line) else None


def report(severities: Counter[str], summaries: list[Summary], *, skipped_lines: int) -> TypeReport:
    """Return the report for the counted findings and the summaries of one or more runs."""
    counted = severities["error"]
    declared = sum(each.errors for each in summaries) if summaries else None
    contradiction = None
    if declared is not None and declared != counted:
        contradiction = f"declared errors: {declared}, listed: {counted}"
    return TypeReport(
        errors=max(counted, plausible(declared or 0, "errors")),
        warnings=severities["warning"],
        notes=severities["note"],
        skipped_lines=skipped_lines,
        declared_errors=declared,
        stopped=any(each.stopped for each in summaries),
        contradiction=contradiction,
    )
