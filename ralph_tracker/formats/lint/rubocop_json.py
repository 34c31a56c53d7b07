"""RuboCop's JSON report (`rubocop --format json`): one object, with the offenses of each file and their number."""

from collections import Counter
from typing import Any, Final

import msgspec

from ralph_tracker.formats.json_typed import Count, decode
from ralph_tracker.formats.lint.lint_report import LintReport, Severity, named, resolved
from ralph_tracker.formats.report_bytes import Content

_KEYS: Final = frozenset({"metadata", "files", "summary"})
_VERSION: Final = "rubocop_version"


class _Offense(msgspec.Struct, gc=False):
    severity: Any
    cop_name: Any
    corrected: bool = False


class _File(msgspec.Struct, gc=False):
    offenses: list[_Offense]


class _Summary(msgspec.Struct, gc=False):
    offense_count: Count


class _Report(msgspec.Struct):
    files: list[_File]
    summary: _Summary


def sniff(content: Content) -> bool:
    """Whether it is an object with the parts of such a report."""
    return content.opening.startswith("{") and content.json_keys >= _KEYS and _VERSION in content.json_inner_keys


def severity(word: Any) -> Any:  # noqa: ANN401  # as the report has it
    """Return the word for a severity, a warning for those below at which a run of RuboCop fails all the same."""
    return "warning" if word in {"convention", "refactor"} else word


def read(content: Content) -> LintReport:
    """Count the offenses by severity and cop, without those that the run corrected. Raises DamageError."""
    report = decode(content, _Report, "RuboCop")
    findings: Counter[tuple[str, Severity]] = Counter()
    listed = 0
    for file in report.files:
        for offense in file.offenses:
            listed += 1
            if not offense.corrected:
                code = named(offense.cop_name)
                findings[code, resolved(severity(offense.severity), code)] += 1
    said = report.summary.offense_count
    wrong = None if said == listed else f"declared offenses: {said}, listed: {listed}"
    return LintReport(findings=dict(findings), contradiction=wrong)
