"""Ruff's reports: one JSON array, a JSON object a line (`json-lines`), or text (`full`, `concise`, `grouped`).

Findings that the code suppresses are not in them.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from ralph_tracker.formats.json_reader import Object, decode, inside, objects
from ralph_tracker.formats.parsed_report import LintReport, Row, by_line, code_text
from ralph_tracker.formats.report_content import (
    Content,
    DamageError,
    any_of,
    empty_array,
    json_array,
    json_lines,
    plain,
)

_KEYS: Final = ("code", "filename", "location", "end_location", "message")
sniff_json: Final = any_of(json_array(*_KEYS), empty_array)


class _Finding(msgspec.Struct, gc=False):
    code: Any
    filename: Any
    location: Any
    end_location: msgspec.Raw
    message: Any
    severity: Any = None


def diagnostics_json(content: Content) -> Iterator[Row]:
    """Yield the findings; syntax errors have no code, and older versions of ruff write no severity."""
    for each in decode(content, list[_Finding], "ruff"):
        yield _row(each.filename, each.location, each.code, each.severity, each.message)


def _row(file: object, location: object, code: object, severity: object, message: object) -> Row:
    return file, inside(location, "row"), code_text(code) or "invalid-syntax", severity, message


def _is_finding(value: Object) -> bool:
    return value.keys() >= {*_KEYS}


sniff_json_lines: Final = json_lines(_is_finding)


def diagnostics_json_lines(content: Content) -> Iterator[Row]:
    """Yield the findings. Raises DamageError at a line that is no finding, as a result would be too small."""
    for line, each in objects(content):
        if each is not None and _is_finding(each):
            yield _row(*(each.get(key) for key in ("filename", "location", "code", "severity", "message")))
        elif line.startswith("{"):
            raise DamageError("a line is no finding of ruff")


_CODE: Final = r"(?P<code>[A-Z]{1,10}\d{2,4}|[a-z]+(?:-[a-z]+)+)"
_TEXT_ROW: Final = re.compile(
    rf"^(?:(?P<file>\S[^\n]*?):(?P<line>\d{{1,9}}):\d{{1,9}}: )?{_CODE}:? (?:\[\*\] )?(?P<message>\S.*)", re.MULTILINE
)
_PLACED: Final = re.compile(
    rf"^(?:\S[^\n]*?:\d{{1,9}}:\d{{1,9}}: {_CODE}:? |(?:[A-Z]{{1,10}}\d{{2,4}}|[a-z]+(?:-[a-z]+)+:) [^\n]*\n *--> )",
    re.MULTILINE,
)
# With `grouped` the findings of a file stand below its name.
_GROUP: Final = re.compile(r"^(?P<file>\S[^\n]*):$")
_GROUPED: Final = re.compile(
    rf"^ +(?P<line>\d{{1,9}}):\d{{1,9}} +{_CODE}:? (?:\[\*\] )?(?P<message>\S.*)", re.MULTILINE
)
_FOUND: Final = re.compile(
    r"^Found (?P<found>\d{1,9}) errors?(?: \(\d+ fixed, (?P<left>\d{1,9}) remaining\))?\.", re.MULTILINE
)
_CLEAN: Final = "All checks passed!"


def sniff_text(content: Content) -> bool:
    """Whether it has findings and ends with their number, or has nothing but the line of a clean run."""
    text = plain(content.text)
    return text.strip() == _CLEAN or (
        any(each.search(text) for each in (_PLACED, _GROUPED)) and _FOUND.search(text) is not None
    )


def read_text(content: Content) -> LintReport:
    """Count the findings, each an error as in ruff's JSON.

    Raises DamageError where their number is not the one that ruff ends with, or that is missing.
    """
    text = plain(content.text)
    if text.strip() == _CLEAN:
        return LintReport()
    report = LintReport.of(diagnostics_text(content))
    totals = [int(found["left"] or found["found"]) for found in _FOUND.finditer(text)]
    if not totals:
        raise DamageError("cut short: the number of errors, with which ruff ends, is missing")
    if sum(totals) != report.results:
        raise DamageError(f"ruff found {sum(totals)} errors, and {report.results} of them can be read")
    return report


def diagnostics_text(content: Content) -> Iterable[Row]:
    """Yield the findings; those of `full` have their place in the line below."""
    if _PLACED.search(plain(content.text)) is None:
        return _grouped(content)
    return (
        (file, line, code, "error", message) for file, line, code, _, message in by_line(_TEXT_ROW, content) if file
    )


def _grouped(content: Content) -> Iterator[Row]:
    file = ""
    for line in map(plain, content.lines()):
        if group := _GROUP.match(line):
            file = group["file"]
        elif file and (found := _GROUPED.match(line)):
            yield file, found["line"], found["code"], "error", found["message"]
