"""Read the output of `tampercheck --from BASE --json`."""

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from ralph_tracker.core.findings import Finding, Severity
from ralph_tracker.integrity.changes import one_line
from ralph_tracker.integrity.foreign.document import decoded, unknown
from ralph_tracker.integrity.test_files import is_test_path

NAME: Final = "tampercheck"
COMMAND: Final = "tampercheck --from BASE --json"
_SEVERITIES: Final[Mapping[str, Severity]] = {
    "critical": Severity.CRITICAL,
    "high": Severity.HIGH,
    "medium": Severity.MEDIUM,
}
# None: missing and skipped tests are known from the reports, or the kind is about neither tests nor gates.
_ROWS: Final[Mapping[str, str | None]] = {
    "assertion-weakened": "W",
    "placeholder": None,
    "swallowed-error": "W",
    "test-deleted": None,
    "test-filtered": "R5",
    "test-focused": "R5",
    "test-skipped": None,
    "unconditional-success": "W",
}
_ALWAYS: Final = "unconditional-success"
_EXIT: Final = "exit"


class _Finding(msgspec.Struct):
    kind: str
    severity: Literal["critical", "high", "medium"]
    path: str
    evidence: str
    line: int | None = None


class _Document(msgspec.Struct):
    schema: Literal[1]
    tool: Literal["tampercheck"]
    version: str
    findings: list[_Finding]


def read(data: bytes) -> tuple[Finding, ...]:
    """Return its findings in order, including those allowed by a comment, because the agent may write one.

    The tool names no tests; `assertion-weakened` counts lines, which move, so there is one per file. Raises InputError;
    a kind of a later version is refused, not ignored.
    """
    document = decoded(data, _Document, NAME, COMMAND)
    found = [_finding(each, document.version) for each in document.findings]
    return tuple(each for each in found if each is not None)


def _finding(told: _Finding, version: str) -> Finding | None:
    if told.kind not in _ROWS:
        raise unknown(NAME, version, told.kind)
    rule = _row(told)
    if rule is None:
        return None
    counted = told.line is None
    return Finding(
        rule=rule,
        severity=_SEVERITIES[told.severity],
        message=f"{told.kind}: {one_line(told.evidence)}",
        file=told.path,
        line=told.line,
        new=None if counted else one_line(told.evidence),
        about=told.kind if counted else f"{told.kind} {told.evidence}",
    )


def _row(told: _Finding) -> str | None:
    """Return the row of integrity.md; one kind covers assertions, exits of a runner and CI steps."""
    if told.kind != _ALWAYS:
        return _ROWS[told.kind]
    if not is_test_path(told.path):
        return "R5"
    return "R2" if _EXIT in told.evidence else "W"
