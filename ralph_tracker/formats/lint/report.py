"""The value that every report of a linter comes down to."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class LintReport:
    """Hold the findings of a linter by severity; those that the code suppresses stand apart.

    `codes` is how often each rule was found, the tool's word for a finding without a rule included.
    """

    errors: int = 0
    warnings: int = 0
    notes: int = 0
    suppressed: int = 0
    codes: Mapping[str, int] = field(default_factory=dict)

    @property
    def results(self) -> int:
        """Return how many findings count: the suppressed ones do not."""
        return self.errors + self.warnings + self.notes

    def __add__(self, other: "LintReport") -> "LintReport":
        codes = dict(self.codes)
        for code, number in other.codes.items():
            codes[code] = codes.get(code, 0) + number
        return LintReport(
            errors=self.errors + other.errors,
            warnings=self.warnings + other.warnings,
            notes=self.notes + other.notes,
            suppressed=self.suppressed + other.suppressed,
            codes=codes,
        )
