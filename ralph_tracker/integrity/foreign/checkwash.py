"""Read the output of `checkwash check BASE..HEAD --format json`."""

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from ralph_tracker.core.findings import Finding, Severity
from ralph_tracker.integrity.changes import one_line
from ralph_tracker.integrity.foreign.document import decoded, unknown
from ralph_tracker.integrity.source_tests import SEPARATOR

NAME: Final = "checkwash"
COMMAND: Final = "checkwash check BASE..HEAD --format json"
# "info" is not a finding; "warn" is below the level at which the tool rejects a change.
_SEVERITIES: Final[Mapping[str, Severity | None]] = {
    "critical": Severity.CRITICAL,
    "high": Severity.HIGH,
    "warn": Severity.MEDIUM,
    "info": None,
}
# None: missing and skipped tests are known from the reports, or the kind is about neither tests nor gates.
_ROWS: Final[Mapping[str, str | None]] = {
    "ASSERT_REMOVED": "W",
    "ASSERT_SUBSTITUTED": "W",
    "ASSERT_WEAKENED": "W",
    "BROAD_EXCEPT_ADDED": "W",
    "CI_WORKFLOW_TOUCHED": "R5",
    "CONFTEST_PATCHES_PROD": "R2",
    "EXEMPTION_ADDED": "R5",
    "EXPECTATION_DEFINITION_CHANGED": "W",
    "EXPECTED_VALUE_CHANGED": "W",
    "EXPECTED_VALUE_DERIVED": "W",
    "EXPECTED_VALUE_HARDCODED": "W",
    "GUARDRAIL_TOUCHED": "R5",
    "HIDDEN_UNICODE": None,
    "IMPORT_UNRESOLVED": None,
    "SCOPE_DRIFT": None,
    "SNAPSHOT_CODE_COCHANGE": "W",
    "SUBJECT_INPUT_CHANGED": "W",
    "SUBJECT_NORMALIZED": "W",
    "SUPPRESSION_ADDED": None,
    "TEST_DISABLED": None,
    "TEST_FILE_UNPARSEABLE": "R5",
    "TEST_PATCHES_SUBJECT": "W",
    "TOLERANCE_LOOSENED": "W",
}
_NARROWING: Final = "collection_control"
_WHOLE: Final = "<"  # <suite>, <file>: about no single test


class _Evidence(msgspec.Struct):
    text: str


class _Finding(msgspec.Struct):
    rule: str
    severity: Literal["critical", "high", "warn", "info"]
    message: str
    path: str
    fingerprint: str
    unit: str | None = None
    before: _Evidence | None = None
    after: _Evidence | None = None
    shape: str | None = None


class _Run(msgspec.Struct):
    checkwash_version: str


class _Document(msgspec.Struct):
    checkwash_findings_version: Literal[2]
    run: _Run
    findings: list[_Finding]


def read(data: bytes) -> tuple[Finding, ...]:
    """Return its findings in order, including allowlisted ones, because the agent may edit the allowlist. Raises
    InputError.

    The tool reports no lines. A rule of a later version is refused, not ignored.
    """
    document = decoded(data, _Document, NAME, COMMAND)
    found = [_finding(each, document.run.checkwash_version) for each in document.findings]
    return tuple(each for each in found if each is not None)


def _finding(told: _Finding, version: str) -> Finding | None:
    if told.rule not in _ROWS:
        raise unknown(NAME, version, told.rule)
    rule = "R5" if told.shape == _NARROWING else _ROWS[told.rule]
    severity = _SEVERITIES[told.severity]
    if rule is None or severity is None:
        return None
    return Finding(
        rule=rule,
        severity=severity,
        message=told.message,
        file=told.path,
        test=None if told.unit is None or told.unit.startswith(_WHOLE) else told.unit.replace(".", SEPARATOR),
        old=None if told.before is None else one_line(told.before.text),
        new=None if told.after is None else one_line(told.after.text),
        about=told.fingerprint,
    )
