"""mypy's output: `path:line: severity: message  [code]`, then a summary line; or JSON (`--output=json`).

In JSON there is one object per line, and none if nothing was found.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from ralph_tracker.formats.json_reader import Object, objects
from ralph_tracker.formats.parsed_report import Row, TypeReport, by_line
from ralph_tracker.formats.report_content import Content, DamageError, json_lines, plain, plausible, text_with

_ROW: Final = re.compile(r"(?P<file>\S.*?):(?:(?P<line>\d{1,9}):)?(?:\d{1,9}:){0,3} (?P<severity>error|warning|note): ")
_WHOLE_ROW: Final = re.compile(_ROW.pattern + r"(?P<message>.*?)(?:  \[(?P<code>[\w-]{1,60})\])?$")  # takes longer
_OF_PYTHON: Final = re.compile(r"^\S.*?\.pyi?(?::\d+){0,4}: (?:error|warning|note): ", re.MULTILINE)
_FOUND: Final = re.compile(r"Found (?P<errors>\d{1,9}) errors? in \d+ files? \((?P<how>checked|errors prevented) ")
_SUCCESS: Final = re.compile(r"Success: no issues found in \d+ source files?")
_SUMMARY: Final = re.compile(rf"^(?:{_FOUND.pattern}|{_SUCCESS.pattern})", re.MULTILINE)
sniff_text: Final = text_with(_SUMMARY, _OF_PYTHON, not_opening="{[<")


def read_text(content: Content) -> TypeReport:
    """Count the findings; the greater of their number and the summary's is used. Raises DamageError.

    Without a summary line (`--no-error-summary`) text that ends within a line is cut short, and text without an error
    may be: neither is a report. A cut between two findings cannot be detected then.
    """
    lines = plain(content.text).splitlines()
    severities = Counter(found["severity"] for found in map(_ROW.match, lines) if found)
    summaries = [found for found in map(_summary, lines) if found]
    errors = severities["error"]
    if not summaries and not errors:
        raise DamageError("mypy's summary line is missing (Found 2 errors …, Success …), and there is no error")
    if not summaries and not content.text.endswith("\n"):
        raise DamageError("cut short: the last line has no end, and mypy's summary line is missing", len(lines))
    others = len(lines) - severities.total() - len(summaries)
    return _report(severities, summaries, skipped_lines=others)


diagnostics_text: Final = partial(by_line, _WHOLE_ROW)


def _is_finding(value: Object) -> bool:
    return value.keys() >= {"file", "line", "message", "hint", "severity"}


sniff_json: Final = json_lines(_is_finding)


def read_json(content: Content) -> TypeReport:
    """Count the findings by severity. Raises DamageError.

    Other lines are skipped and counted. An object cut short by the end of the file makes the whole unreadable; a cut
    between two findings cannot be detected. Some fatal errors are only on standard error; then the number in the
    summary line counts.
    """
    severities: Counter[str] = Counter()
    summaries: list[_Summary] = []
    skipped, stopped = 0, False
    for line, value in objects(content):
        if value is not None and _is_finding(value):
            severities[str(value["severity"])] += 1
            # Mypy stops at syntax errors and at errors without a code.
            stopped = stopped or (value["severity"] == "error" and value.get("code") in (None, "syntax"))
        elif found := _summary(line):
            summaries.append(found)
        else:
            skipped += 1
    if not severities and not summaries:
        raise DamageError("no line is a finding of mypy in JSON")
    counted = _report(severities, summaries, skipped_lines=skipped)
    return counted._replace(stopped=counted.stopped or stopped)


def diagnostics_json(content: Content) -> Iterator[Row]:
    """Yield the findings."""
    for _, each in objects(content):
        if each is not None and _is_finding(each):
            yield each["file"], each["line"], each.get("code"), each["severity"], each["message"]


@dataclass(frozen=True, slots=True)
class _Summary:
    """The last line of a run: the number of errors, and whether they kept mypy from checking the rest."""

    errors: int
    stopped: bool


def _summary(line: str) -> _Summary | None:
    """Return the content of a summary line, None for any other line."""
    found = _FOUND.match(line)
    if found:
        return _Summary(int(found["errors"]), stopped=found["how"] != "checked")
    return _Summary(0, stopped=False) if _SUCCESS.match(line) else None


def _report(severities: Counter[str], summaries: list[_Summary], *, skipped_lines: int) -> TypeReport:
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
