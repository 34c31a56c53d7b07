"""Output of TypeScript's compiler: `path(line,column): error TS…: text`, or the layout of `--pretty`."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from ralph_tracker.formats.parsed_report import Row, TypeReport, by_line
from ralph_tracker.formats.report_content import Content, DamageError, plain, plausible, text_with

_FINDING: Final = re.compile(
    r"^(?:(?P<file>\S[^\n]*?)(?:\((?P<line>\d{1,9}),\d{1,9}\):|:(?P<row>\d{1,9}):\d{1,9} -) )?"
    r"(?P<severity>error|warning|message) (?P<code>TS\d{1,6}): (?P<message>.*)",
    re.MULTILINE,
)
sniff: Final = text_with(_FINDING, not_opening="{[<")
_PLACELESS: Final = re.compile(r"error TS")
_FOUND: Final = re.compile(r"Found (?P<errors>\d{1,9}) errors?(?: in |\.|$)")
# The codes of parse errors: nothing else is checked then.
_UNPARSED: Final = frozenset(
    {*range(1002, 1006), 1010, 1109, 1110, *range(1121, 1147), 1160, 1161, *range(1179, 1186), 1199, 1351, 1381, 1382}
    | {*range(1434, 1444), *range(8002, 8018)}
)


def read(content: Content) -> TypeReport:
    """Count the diagnostics; the greater of listed and declared errors is used. Raises DamageError.

    With `--pretty` the compiler ends with their number: without it the text is cut short, as is any text that ends
    within a line. A plain text cut between two diagnostics cannot be detected.
    """
    severities: Counter[str] = Counter()
    declared: list[int] = []
    skipped, pretty, stopped = 0, False, False
    for line in map(plain, content.lines()):
        if found := _FINDING.match(line):
            severities[found["severity"]] += 1
            pretty = pretty or found["row"] is not None
            stopped = stopped or _PLACELESS.match(line) is not None or int(found["code"][2:]) in _UNPARSED
        elif end := _FOUND.match(line):
            declared.append(int(end["errors"]))
        elif line.strip():
            skipped += 1
    if not severities and not declared:
        raise DamageError("no line is a diagnostic of tsc")
    if not declared and (pretty or not content.text.endswith("\n")):
        raise DamageError("cut short: the number of errors, with which tsc ends, is missing")
    listed, total = severities["error"], sum(declared) if declared else None
    return TypeReport(
        errors=max(listed, plausible(total or 0, "errors")),
        warnings=severities["warning"],
        notes=severities["message"],
        skipped_lines=skipped,
        declared_errors=total,
        stopped=stopped,
        contradiction=None if total in (None, listed) else f"declared errors: {total}, listed: {listed}",
    )


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield the errors and warnings that have a place."""
    yield from (row for row in by_line(_FINDING, content) if row[3] != "message")
