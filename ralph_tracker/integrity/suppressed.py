"""The findings of suppressions, the same for each of their kinds."""

from collections.abc import Iterator

from ralph_tracker.core.findings import Finding, Severity, SuppressionKind
from ralph_tracker.integrity.changes import ChangedFile
from ralph_tracker.integrity.evidence import Evidence, finding
from ralph_tracker.integrity.suppressions import line_of, risen


def suppressed(rule: str, kind: SuppressionKind, file: ChangedFile, evidence: Evidence) -> Iterator[Finding]:
    """Yield each code of a kind that is silenced more often, in this file and in all changed files together."""
    for suppression in risen(file, evidence, kind):
        line = line_of(file.new, suppression) if file.new is not None else None
        yield finding(
            rule,
            Severity.MEDIUM,
            f"more of `{suppression}`",
            file.path,
            line=line,
            new=file.new.lines[line - 1] if file.new is not None and line is not None else None,
            about=str(suppression),
        )
