"""ESLint's JSON report (`eslint --format=json`, or `json-with-metadata`): an array with one object per file."""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from ralph_tracker.formats.json_reader import decode
from ralph_tracker.formats.parsed_report import LintReport, Row, Severity, code_text
from ralph_tracker.formats.report_content import Content, any_of, json_array, json_object

sniff: Final = any_of(json_array("filePath", "messages"), json_object("results", "metadata", only=True))
_SEVERITIES: Final[dict[str, Severity]] = {"1": "warning", "2": "error"}


class _Message(msgspec.Struct, gc=False):
    ruleId: Any = None  # noqa: N815  # ESLint's names, here and below
    severity: Any = None
    fatal: Any = None
    line: Any = None
    message: Any = None


class _File(msgspec.Struct, gc=False):
    messages: list[_Message]
    filePath: Any = None  # noqa: N815
    suppressedMessages: list[msgspec.Raw] = []  # noqa: N815
    errorCount: Any = None  # noqa: N815
    warningCount: Any = None  # noqa: N815


class _WithMetadata(msgspec.Struct):
    results: list[_File]


def read(content: Content) -> LintReport:
    """Count the messages by severity and rule; those of a file that ESLint cannot parse are errors. Raises DamageError.

    A message without a severity, which ESLint does not write, does not count.
    """
    files = _files(content)
    suppressed = sum(len(file.suppressedMessages) for file in files)
    report = LintReport.of(_rows(files))._replace(suppressed=suppressed)
    errors, warnings = _total([each.errorCount for each in files]), _total([each.warningCount for each in files])
    if errors in (None, report.errors) and warnings in (None, report.warnings):
        return report
    declared, listed = (
        f"errors: {errors}, warnings: {warnings}",
        f"errors: {report.errors}, warnings: {report.warnings}",
    )
    return report._replace(contradiction=f"declared {declared}; listed {listed}")


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the messages of all files."""
    yield from _rows(_files(content))


def _rows(files: list[_File]) -> Iterator[Row]:
    for file in files:
        for each in file.messages:
            fatal = each.fatal is True
            word = "error" if fatal else _SEVERITIES.get(str(each.severity), "none")
            yield file.filePath, each.line, code_text(each.ruleId) or ("fatal" if fatal else ""), word, each.message


def _files(content: Content) -> list[_File]:
    if content.opening.startswith("["):
        return decode(content, list[_File], "ESLint")
    return decode(content, _WithMetadata, "ESLint").results


def _total(counts: list[Any]) -> int | None:
    return sum(counts) if all(isinstance(each, int) for each in counts) else None
