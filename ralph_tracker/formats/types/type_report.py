"""The value type of type checker reports."""

from typing import NamedTuple

from ralph_tracker.formats.sums import both, known_sum


class TypeReport(NamedTuple):
    """The findings of a type checker.

    `errors` is the greater of the errors listed and `declared_errors`, the checker's own total (None: it gave none).
    `stopped` means that an error kept the checker from going on: there may be more errors than counted, so a lower
    number is no progress. `skipped_lines` were not findings.
    """

    errors: int = 0
    warnings: int = 0
    notes: int = 0
    skipped_lines: int = 0
    declared_errors: int | None = None
    stopped: bool = False
    contradiction: str | None = None

    def __add__(self, other: "TypeReport") -> "TypeReport":  # type: ignore[override]  # a sum, and no longer tuple
        return TypeReport(
            errors=self.errors + other.errors,
            warnings=self.warnings + other.warnings,
            notes=self.notes + other.notes,
            skipped_lines=self.skipped_lines + other.skipped_lines,
            declared_errors=known_sum(self.declared_errors, other.declared_errors),
            stopped=self.stopped or other.stopped,
            contradiction=both(self.contradiction, other.contradiction),
        )
