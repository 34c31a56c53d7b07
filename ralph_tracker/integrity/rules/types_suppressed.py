"""S2: a type checker is silenced more often than it was."""

from collections.abc import Iterator

from ralph_tracker.core.findings import Finding
from ralph_tracker.integrity.changes import ChangedFile
from ralph_tracker.integrity.evidence import Evidence
from ralph_tracker.integrity.suppressed import suppressed


def find(file: ChangedFile, evidence: Evidence) -> Iterator[Finding]:
    """Yield each code of which there are more, in this file and in all changed files together."""
    return suppressed("S2", "types", file, evidence)
