"""Output of `cargo check`, `build` and `clippy` with `--message-format=json`: one JSON object per line.

A finding is a compiler message with a place or a code; the compiler's totals (`2 warnings emitted`) have neither. A
crate that is built for several targets has its findings once for each.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from ralph_tracker.formats.json_reader import objects, text
from ralph_tracker.formats.parsed_report import NO_CODE, LintReport, Row, Severity, code_text, severity_of
from ralph_tracker.formats.report_content import Content, DamageError, json_lines

_MESSAGE, _FINISHED = "compiler-message", "build-finished"
_REASONS: Final = frozenset({_MESSAGE, "compiler-artifact", "build-script-executed", _FINISHED})

sniff: Final = json_lines(lambda each: text(each, "reason") in _REASONS)


def read(content: Content) -> LintReport:
    """Count the findings by level and code; other lines are skipped and counted. Raises DamageError.

    A build that failed without an error among the findings is not a report: linkers and build scripts name no place.
    Without cargo's final message the text is cut short. Old versions do not write it: their output is cut short if it
    ends within a line, and a cut between two lines cannot be detected.
    """
    findings: Counter[tuple[str, Severity]] = Counter()
    messages, skipped, newer, reason = 0, 0, False, ""
    ends: list[bool] = []
    for _, value in objects(content):
        reason = text(value or {}, "reason")
        if value is None or reason not in _REASONS:
            skipped += 1
            continue
        messages += 1
        target = value.get("target")  # "test" came with the cargo that writes a final message
        newer = newer or (isinstance(target, dict) and "test" in target)
        if reason == _FINISHED:
            ends.append(value.get("success") is True)
        elif reason == _MESSAGE:
            _count(value.get("message"), findings)
    if not messages:
        raise DamageError("no line is a message of cargo")
    half = reason not in _REASONS and not content.text.endswith("\n")
    if not ends and (newer or half):
        raise DamageError("cut short: the message with which cargo ends is missing", content.text.count("\n") + 1)
    report = LintReport(findings=dict(findings), skipped_lines=skipped)
    if not all(ends) and not report.errors:
        raise DamageError("the build failed, and no error has a location; see cargo's other output")
    return report


def _count(message: object, findings: Counter[tuple[str, Severity]]) -> None:
    if not isinstance(message, dict):
        raise DamageError("a compiler-message without a message")
    owner: Any = message.get("code")
    if owner is None and not message.get("spans"):
        return
    code = code_text(owner.get("code")) if isinstance(owner, dict) else NO_CODE
    level = message.get("level")
    internal = isinstance(level, str) and level.startswith("error")  # "error: internal compiler error"
    findings[code, "error" if internal else severity_of(level, code)] += 1


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the compiler's messages that have a place, each at its primary one."""
    for _, entry in objects(content):
        message = (entry or {}).get("message")
        if isinstance(message, dict) and message.get("spans"):
            primary = [each for each in message["spans"] if each.get("is_primary")] or message["spans"]
            code = (message.get("code") or {}).get("code")
            word = "error" if str(message.get("level")).startswith("error") else message.get("level")
            yield primary[0]["file_name"], primary[0]["line_start"], code, word, message["message"]
