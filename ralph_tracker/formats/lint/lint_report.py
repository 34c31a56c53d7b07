"""The value type of linter reports."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ralph_tracker.formats.diagnostics import Row, Severity, code_text, overridden_severity, severity_of
from ralph_tracker.formats.sums import both


class LintReport(NamedTuple):
    """The findings of a linter by rule and severity; those suppressed in the code are counted separately.

    `findings` counts each pair of code and severity: the code of a finding without a rule is the tool's word for it, or
    empty. The severity "none" is for results that are not complaints. `skipped_lines` were not findings.
    """

    findings: Mapping[tuple[str, Severity], int] = {}
    suppressed: int = 0
    skipped_lines: int = 0
    contradiction: str | None = None

    @property
    def errors(self) -> int:
        return self._of("error")

    @property
    def warnings(self) -> int:
        return self._of("warning")

    @property
    def notes(self) -> int:
        return self._of("note")

    @property
    def none(self) -> int:
        return self._of("none")

    @property
    def results(self) -> int:
        """Return the number of findings of any severity, including "none", without suppressed ones."""
        return sum(self.findings.values())

    @property
    def codes(self) -> Mapping[str, int]:
        """Return the number of findings per rule."""
        codes: Counter[str] = Counter()
        for (code, _), number in self.findings.items():
            codes[code] += number
        return dict(codes)

    @staticmethod
    def of(rows: Iterable[Row]) -> "LintReport":
        """Count the rows by code and severity."""
        findings: Counter[tuple[str, Severity]] = Counter()
        for _, _, code, word, _ in rows:
            name = code_text(code)
            findings[name, severity_of(word, name)] += 1
        return LintReport(findings=dict(findings))

    def with_severity(self, overrides: Mapping[str, Severity]) -> "LintReport":
        """Return the report with the severities of `overrides`, by prefix of the code; the longest prefix wins.

        The severity "none" stays.
        """
        findings: Counter[tuple[str, Severity]] = Counter()
        for (code, severity), number in self.findings.items():
            other = None if severity == "none" else overridden_severity(code, overrides)
            findings[code, other or severity] += number
        return self._replace(findings=dict(findings))

    def __add__(self, other: "LintReport") -> "LintReport":  # type: ignore[override]  # a sum, and no longer tuple
        return LintReport(
            findings=dict(Counter(self.findings) + Counter(other.findings)),
            suppressed=self.suppressed + other.suppressed,
            skipped_lines=self.skipped_lines + other.skipped_lines,
            contradiction=both(self.contradiction, other.contradiction),
        )

    def _of(self, severity: Severity) -> int:
        return sum(number for (_, each), number in self.findings.items() if each == severity)
