"""Read the findings of another tool that compares files; `integrity.tool` names one in place of our own rules."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

import msgspec

from ralph_tracker.core.integrity_result import Finding, Severity
from ralph_tracker.errors import InputError
from ralph_tracker.integrity.deciding_files import is_test_path
from ralph_tracker.integrity.file_versions import one_line
from ralph_tracker.integrity.report_ids import SEPARATOR, split_id


class Tool(NamedTuple):
    """A checker: `command` prints a document of that shape, from which `read` takes the findings in order."""

    command: str
    shape: type[msgspec.Struct]
    read: Callable[[Any], Iterator[Finding]]


def read(tool: str, data: bytes, ids: Iterable[str] = ()) -> tuple[Finding, ...]:
    """Return the findings of a tool in the table; tests that they name get their ids from `ids`. Raises InputError."""
    known, ids = TOOLS[tool], tuple(ids)
    try:
        found = known.read(msgspec.json.decode(data, type=known.shape))
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError, RecursionError) as error:
        why = "is nested too deeply" if isinstance(error, RecursionError) else str(error).partition("\n")[0]
        raise InputError(f"integrity.tool {tool}: not what it prints: {why}; make it with `{known.command}`") from None
    return tuple(
        each if each.test is None else each._replace(tests=_ids_of(each.file, each.test, ids)) for each in found
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


# Below "high" neither tool rejects a change; what only informs is not a finding.
_SEVERITIES: Final[Mapping[str, Severity]] = {
    "critical": Severity.CRITICAL,
    "high": Severity.HIGH,
    "medium": Severity.MEDIUM,
    "warn": Severity.MEDIUM,
}
# The row of integrity.md for each kind of finding; None where missing and skipped tests are known from the reports, or
# the kind is about neither tests nor gates.
_ROWS: Final[Mapping[str, str | None]] = {
    **dict.fromkeys(
        (
            *("ASSERT_REMOVED", "ASSERT_SUBSTITUTED", "ASSERT_WEAKENED", "BROAD_EXCEPT_ADDED", "TEST_PATCHES_SUBJECT"),
            *("EXPECTATION_DEFINITION_CHANGED", "EXPECTED_VALUE_CHANGED", "EXPECTED_VALUE_DERIVED"),
            *("EXPECTED_VALUE_HARDCODED", "SNAPSHOT_CODE_COCHANGE", "SUBJECT_INPUT_CHANGED", "SUBJECT_NORMALIZED"),
            *("TOLERANCE_LOOSENED", "assertion-weakened", "swallowed-error", "unconditional-success"),
        ),
        "W",
    ),
    **dict.fromkeys(("CI_WORKFLOW_TOUCHED", "EXEMPTION_ADDED", "GUARDRAIL_TOUCHED", "TEST_FILE_UNPARSEABLE"), "R5"),
    **dict.fromkeys(("test-filtered", "test-focused"), "R5"),
    "CONFTEST_PATCHES_PROD": "R2",
    **dict.fromkeys(("HIDDEN_UNICODE", "IMPORT_UNRESOLVED", "SCOPE_DRIFT", "SUPPRESSION_ADDED", "TEST_DISABLED")),
    **dict.fromkeys(("placeholder", "test-deleted", "test-skipped")),
}


def _row(tool: str, version: str, kind: str) -> str | None:
    """Return the row of a kind of finding. Raises InputError for one that a later version of the tool has."""
    if kind not in _ROWS:
        raise InputError(
            f"integrity.tool {tool}: version {version} tells of {kind!r}, which is not known here; "
            f"use a version of {tool} that this one was made for, or leave integrity.tool out"
        )
    return _ROWS[kind]


class _Evidence(msgspec.Struct):
    text: str


class _CheckwashFinding(msgspec.Struct):
    rule: str
    severity: Literal["critical", "high", "warn", "info"]
    message: str
    path: str
    fingerprint: str
    unit: str | None = None
    before: _Evidence | None = None
    after: _Evidence | None = None
    shape: str | None = None


class _CheckwashRun(msgspec.Struct):
    checkwash_version: str


class _CheckwashDocument(msgspec.Struct):
    checkwash_findings_version: Literal[2]
    run: _CheckwashRun
    findings: list[_CheckwashFinding]


def _read_checkwash(document: _CheckwashDocument) -> Iterator[Finding]:
    """Yield its findings, including allowlisted ones, because the agent may edit the allowlist; it reports no lines."""
    for raw in document.findings:
        row = _row("checkwash", document.run.checkwash_version, raw.rule)
        rule = "R5" if raw.shape == "collection_control" else row
        severity = _SEVERITIES.get(raw.severity)
        if rule is None or severity is None:
            continue
        # <suite> and <file> are about no single test
        unit = None if raw.unit is None or raw.unit.startswith("<") else raw.unit.replace(".", SEPARATOR)
        yield Finding(
            rule=rule,
            severity=severity,
            message=raw.message,
            file=raw.path,
            test=unit,
            old=None if raw.before is None else one_line(raw.before.text),
            new=None if raw.after is None else one_line(raw.after.text),
            about=raw.fingerprint,
        )


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


def _read_tampercheck(document: _TampercheckDocument) -> Iterator[Finding]:
    """Yield its findings, including those allowed by a comment, because the agent may write one.

    The tool names no tests; `assertion-weakened` counts lines, which move, so there is one per file.
    """
    for raw in document.findings:
        rule = _row("tampercheck", document.version, raw.kind)
        if raw.kind == "unconditional-success":  # of assertions, exits of a runner and steps of CI
            rule = "R5" if not is_test_path(raw.path) else "R2" if "exit" in raw.evidence else rule
        if rule is None:
            continue
        counted, evidence = raw.line is None, one_line(raw.evidence)
        yield Finding(
            rule=rule,
            severity=_SEVERITIES[raw.severity],
            message=f"{raw.kind}: {evidence}",
            file=raw.path,
            line=raw.line,
            new=None if counted else evidence,
            about=raw.kind if counted else f"{raw.kind} {raw.evidence}",
        )


TOOLS: Final[Mapping[str, Tool]] = {
    "checkwash": Tool("checkwash check BASE..HEAD --format json", _CheckwashDocument, _read_checkwash),
    "tampercheck": Tool("tampercheck --from BASE --json", _TampercheckDocument, _read_tampercheck),
}
