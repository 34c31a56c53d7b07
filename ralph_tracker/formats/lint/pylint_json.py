"""Pylint's JSON reports: an array with one object per message (`json`), or an object with totals (`json2`)."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from ralph_tracker.formats.diagnostics import Row
from ralph_tracker.formats.json_typed import damage_at, decode
from ralph_tracker.formats.lint.lint_report import LintReport
from ralph_tracker.formats.report_bytes import Content

_KEYS: Final = frozenset({"type", "module", "symbol", "message-id"})
_KEYS_2: Final = frozenset({"messages", "statistics"})


class _Message(msgspec.Struct, gc=False):
    type: Any
    code: Any = msgspec.field(name="message-id")
    path: Any = None
    line: Any = None
    symbol: Any = None
    message: Any = None


class _Message2(msgspec.Struct, gc=False):
    type: Any
    code: Any = msgspec.field(name="messageId")
    path: Any = None
    line: Any = None
    symbol: Any = None
    message: Any = None


class _Statistics(msgspec.Struct):
    messageTypeCount: dict[str, Any] = {}  # noqa: N815  # Pylint's names, here and below
    modulesLinted: Any = None  # noqa: N815


class _Report2(msgspec.Struct):
    messages: list[_Message2]
    statistics: _Statistics


def sniff(content: Content) -> bool:
    """Whether it is an array of messages, or an object with messages and statistics."""
    keys = content.json_keys
    return keys >= _KEYS if content.opening.startswith("[") else keys == _KEYS_2


def read(content: Content) -> LintReport:
    """Count the messages by type and code: conventions, refactorings and informations are notes. Raises DamageError.

    An empty result of a run that linted no module is not a report.
    """
    if content.opening.startswith("["):
        return _report(decode(content, list[_Message], "Pylint"))
    both = decode(content, _Report2, "Pylint")
    if both.statistics.modulesLinted == 0 and not both.messages:
        raise damage_at(content, ["statistics", "modulesLinted"], "Pylint linted no module")
    listed = Counter(str(message.type) for message in both.messages)
    declared = {name: number for name, number in both.statistics.messageTypeCount.items() if number}
    if not declared or declared == dict(listed):
        return _report(both.messages)
    return _report(both.messages, f"declared: {_shown(declared)}; listed: {_shown(listed)}")


def _report(messages: list[_Message] | list[_Message2], contradiction: str | None = None) -> LintReport:
    return LintReport.of(_rows(messages))._replace(contradiction=contradiction)


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the messages, each with the symbol before its text."""
    if content.opening.startswith("["):
        yield from _rows(decode(content, list[_Message], "Pylint"))
    else:
        yield from _rows(decode(content, _Report2, "Pylint").messages)


def _rows(messages: list[_Message] | list[_Message2]) -> Iterator[Row]:
    for each in messages:
        yield each.path, each.line, each.code, each.type, f"{each.symbol}: {each.message}"


def _shown(counts: dict[str, Any]) -> str:
    return ", ".join(f"{name} {counts[name]}" for name in sorted(counts)) or "nothing"
