"""Ruff's JSON report (`ruff check --output-format=json`): an array with one object a finding."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final, Literal

from ralph_tracker.formats.content import Content
from ralph_tracker.formats.damage import DamageError
from ralph_tracker.formats.lint.report import LintReport

_KEYS: Final = frozenset({"code", "filename", "location", "end_location", "message"})
_SYNTAX: Final = "invalid-syntax"
_ERROR_CODE: Final = re.compile(r"[EF][0-9]+")

Severity = Literal["error", "warning", "note"]
_SEVERITIES: Final[Mapping[str, Severity]] = {
    "fatal": "error",
    "error": "error",
    "warning": "warning",
    "info": "note",
    "note": "note",
    "help": "note",
}


def sniff(content: Content) -> bool:
    """Whether it is an array of findings; an empty one is what ruff writes where it finds nothing."""
    return content.opening.startswith("[") and (content.json_keys >= _KEYS or content.is_empty_array)


def read(content: Content) -> LintReport:
    """Count the findings by severity and by code; suppressed ones are not in the report. Raises DamageError."""
    findings = content.json_value()
    if not isinstance(findings, list):
        raise DamageError("the report is no JSON array")
    severities: Counter[Severity] = Counter()
    codes: Counter[str] = Counter()
    for number, finding in enumerate(findings, start=1):
        if not _is_finding(finding):
            raise DamageError(f"item {number} of the array is no finding of ruff")
        code = finding["code"] or _SYNTAX
        severities[_severity(finding.get("severity"), str(code))] += 1
        codes[str(code)] += 1
    return LintReport(
        errors=severities["error"], warnings=severities["warning"], notes=severities["note"], codes=dict(codes)
    )


def _is_finding(value: object) -> bool:
    return isinstance(value, dict) and value.keys() >= _KEYS


def _severity(given: object, code: str) -> Severity:
    """Take a given severity; without one that is known, syntax errors and the codes of E and F are errors."""
    known = _SEVERITIES.get(given.lower()) if isinstance(given, str) else None
    if known is not None:
        return known
    return "error" if code == _SYNTAX or _ERROR_CODE.fullmatch(code) else "warning"
