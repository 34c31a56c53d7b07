"""Read the findings of another tool that compares files; `integrity.tool` names one in place of our own rules."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeVar

import msgspec

from ralph_tracker.core.integrity_result import Finding, Severity
from ralph_tracker.errors import InputError
from ralph_tracker.integrity.deciding_files import is_test_path
from ralph_tracker.integrity.file_versions import one_line
from ralph_tracker.integrity.report_ids import SEPARATOR, split_id

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Tool:
    """A checker: `command` prints the document that `read` takes; `read` raises InputError for any other."""

    name: str
    command: str
    read: Callable[[bytes], tuple[Finding, ...]]


def read(tool: str, data: bytes, ids: Iterable[str] = ()) -> tuple[Finding, ...]:
    """Return the findings of a tool in the table; tests that they name get their ids from `ids`. Raises InputError."""
    ids = tuple(ids)
    return tuple(
        each if each.test is None else each._replace(tests=_ids_of(each.file, each.test, ids))
        for each in TOOLS[tool].read(data)
    )


def _ids_of(path: str, test: str, ids: Iterable[str]) -> tuple[str, ...]:
    """Return the ids with the name of a test, its scopes and its file; for Go, the folder stands for the file."""
    *scopes, function = test.split(SEPARATOR)
    folder, _, name = path.rpartition("/")
    place = folder.rpartition("/")[2] if name.endswith(".go") else name.partition(".")[0]
    wanted = {*scopes, place} - {""}
    return tuple(
        each
        for each in ids
        if (parts := split_id(each)).function.rpartition(" > ")[2] == function
        and wanted <= {*parts.owner, *parts.function.split(" > ")}
    )


def _decode(data: bytes, shape: type[T], tool: str, command: str) -> T:
    """Return the output decoded into that shape; `command` is what prints it. Raises InputError."""
    try:
        return msgspec.json.decode(data, type=shape)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError) as error:
        why = (str(error) or type(error).__name__).splitlines()[0]
        if isinstance(error, RecursionError):
            why = "is nested too deeply"
        raise InputError(f"integrity.tool {tool}: not what it prints: {why}; make it with `{command}`") from None


def _unknown_kind(tool: str, version: str, kind: str) -> InputError:
    """Return the error for an unknown kind of finding in a version of the tool."""
    return InputError(
        f"integrity.tool {tool}: version {version} tells of {kind!r}, which is not known here; "
        f"use a version of {tool} that this one was made for, or leave integrity.tool out"
    )


_CHECKWASH: Final = "checkwash"
_CHECKWASH_COMMAND: Final = "checkwash check BASE..HEAD --format json"
# "info" is not a finding; "warn" is below the level at which the tool rejects a change.
_CHECKWASH_SEVERITIES: Final[Mapping[str, Severity | None]] = {
    "critical": Severity.CRITICAL,
    "high": Severity.HIGH,
    "warn": Severity.MEDIUM,
    "info": None,
}
# None: missing and skipped tests are known from the reports, or the kind is about neither tests nor gates.
_CHECKWASH_ROWS: Final[Mapping[str, str | None]] = {
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


class _CheckwashEvidence(msgspec.Struct):
    text: str


class _CheckwashFinding(msgspec.Struct):
    rule: str
    severity: Literal["critical", "high", "warn", "info"]
    message: str
    path: str
    fingerprint: str
    unit: str | None = None
    before: _CheckwashEvidence | None = None
    after: _CheckwashEvidence | None = None
    shape: str | None = None


class _CheckwashRun(msgspec.Struct):
    checkwash_version: str


class _CheckwashDocument(msgspec.Struct):
    checkwash_findings_version: Literal[2]
    run: _CheckwashRun
    findings: list[_CheckwashFinding]


def _read_checkwash(data: bytes) -> tuple[Finding, ...]:
    """Return its findings in order, including allowlisted ones, because the agent may edit the allowlist. Raises
    InputError.

    The tool reports no lines. A rule of a later version is refused, not ignored.
    """
    document = _decode(data, _CheckwashDocument, _CHECKWASH, _CHECKWASH_COMMAND)
    found = []
    for raw in document.findings:
        if raw.rule not in _CHECKWASH_ROWS:
            raise _unknown_kind(_CHECKWASH, document.run.checkwash_version, raw.rule)
        rule = "R5" if raw.shape == _NARROWING else _CHECKWASH_ROWS[raw.rule]
        severity = _CHECKWASH_SEVERITIES[raw.severity]
        if rule is None or severity is None:
            continue
        found.append(
            Finding(
                rule=rule,
                severity=severity,
                message=raw.message,
                file=raw.path,
                test=None if raw.unit is None or raw.unit.startswith(_WHOLE) else raw.unit.replace(".", SEPARATOR),
                old=None if raw.before is None else one_line(raw.before.text),
                new=None if raw.after is None else one_line(raw.after.text),
                about=raw.fingerprint,
            )
        )
    return tuple(found)


_TAMPERCHECK: Final = "tampercheck"
_TAMPERCHECK_COMMAND: Final = "tampercheck --from BASE --json"
_TAMPERCHECK_SEVERITIES: Final[Mapping[str, Severity]] = {
    "critical": Severity.CRITICAL,
    "high": Severity.HIGH,
    "medium": Severity.MEDIUM,
}
# None: missing and skipped tests are known from the reports, or the kind is about neither tests nor gates.
_TAMPERCHECK_ROWS: Final[Mapping[str, str | None]] = {
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


class _TampercheckFinding(msgspec.Struct):
    kind: str
    severity: Literal["critical", "high", "medium"]
    path: str
    evidence: str
    line: int | None = None


class _TampercheckDocument(msgspec.Struct):
    schema: Literal[1]
    tool: Literal["tampercheck"]
    version: str
    findings: list[_TampercheckFinding]


def _read_tampercheck(data: bytes) -> tuple[Finding, ...]:
    """Return its findings in order, including those allowed by a comment, because the agent may write one.

    The tool names no tests; `assertion-weakened` counts lines, which move, so there is one per file. Raises InputError;
    a kind of a later version is refused, not ignored.
    """
    document = _decode(data, _TampercheckDocument, _TAMPERCHECK, _TAMPERCHECK_COMMAND)
    found = []
    for raw in document.findings:
        if raw.kind not in _TAMPERCHECK_ROWS:
            raise _unknown_kind(_TAMPERCHECK, document.version, raw.kind)
        rule = _tampercheck_row(raw)
        if rule is None:
            continue
        counted, evidence = raw.line is None, one_line(raw.evidence)
        found.append(
            Finding(
                rule=rule,
                severity=_TAMPERCHECK_SEVERITIES[raw.severity],
                message=f"{raw.kind}: {evidence}",
                file=raw.path,
                line=raw.line,
                new=None if counted else evidence,
                about=raw.kind if counted else f"{raw.kind} {raw.evidence}",
            )
        )
    return tuple(found)


def _tampercheck_row(raw: _TampercheckFinding) -> str | None:
    """Return the row of integrity.md; one kind covers assertions, exits of a runner and CI steps."""
    if raw.kind != _ALWAYS:
        return _TAMPERCHECK_ROWS[raw.kind]
    if not is_test_path(raw.path):
        return "R5"
    return "R2" if _EXIT in raw.evidence else "W"


TOOLS: Final[Mapping[str, Tool]] = {
    tool.name: tool
    for tool in (
        Tool(_CHECKWASH, _CHECKWASH_COMMAND, _read_checkwash),
        Tool(_TAMPERCHECK, _TAMPERCHECK_COMMAND, _read_tampercheck),
    )
}
