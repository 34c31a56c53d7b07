"""Read the JSON of vale, a linter of prose: `vale --output=JSON docs`, the alerts of each file by its path."""

from collections.abc import Iterator

from ralph_tracker.formats.parsed_report import Row
from ralph_tracker.formats.registry import Format
from ralph_tracker.formats.report_content import Content

FORMAT = Format("vale-json", "lint", "json", module=__name__)
_SEVERITIES = {"suggestion": "info"}


def sniff(content: Content) -> bool:
    """Return whether it is an object of lists whose alerts name a check of vale's and a span."""
    alerts = (
        [each for each in content.json.values() if isinstance(each, list)] if isinstance(content.json, dict) else []
    )
    return any(isinstance(each, dict) and {"Check", "Span"} <= each.keys() for found in alerts for each in found[:1])


def diagnostics(content: Content) -> Iterator[Row]:
    """Yield file, line, code, severity and message of each alert."""
    for path, alerts in content.json.items():
        for each in alerts:
            severity = _SEVERITIES.get(each["Severity"], each["Severity"])
            yield path, each["Line"], each["Check"], severity, each["Message"]
