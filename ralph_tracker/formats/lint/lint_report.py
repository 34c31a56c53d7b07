"""The value type of linter reports."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, get_args

from ralph_tracker.formats.sums import both

Severity = Literal["error", "warning", "note", "none"]
SEVERITIES: Final[tuple[Severity, ...]] = get_args(Severity)
NO_CODE: Final = ""
_ERROR_CODE: Final = re.compile(r"[EF][0-9]+")
_WORDS: Final[Mapping[str, Severity]] = {
    **dict.fromkeys(("fatal", "critical", "high", "error"), "error"),
    **dict.fromkeys(("warning", "warn", "medium"), "warning"),
    **dict.fromkeys(("note", "info", "information", "help", "hint", "style", "low", "convention", "refactor"), "note"),
    **dict.fromkeys(("none", "ignore"), "none"),
}


def given(word: object) -> Severity | None:
    """Return the severity for a tool's word, None if there is none or it is unknown."""
    return _WORDS.get(word.lower()) if isinstance(word, str) else None


def of_code(code: str) -> Severity:
    """Return the severity of a finding whose tool gives none: error for codes of E and F, else warning."""
    return "error" if _ERROR_CODE.fullmatch(code) else "warning"


def resolved(word: object, code: str) -> Severity:
    """Return the severity for the word, else that of the code."""
    return given(word) or of_code(code)


def named(code: object) -> str:
    """Return the code as text, `NO_CODE` for anything but text or an int."""
    return str(code) if isinstance(code, str | int) else NO_CODE


def overridden(code: str, overrides: Mapping[str, Severity]) -> Severity | None:
    """Return the severity of the longest matching prefix in `overrides`, None without one."""
    fitting = [prefix for prefix in overrides if code.startswith(prefix)]
    return overrides[max(fitting, key=len)] if fitting else None


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

    def with_severity(self, overrides: Mapping[str, Severity]) -> "LintReport":
        """Return the report with the severities of `overrides`, by prefix of the code; the longest prefix wins.

        The severity "none" stays.
        """
        findings: Counter[tuple[str, Severity]] = Counter()
        for (code, severity), number in self.findings.items():
            other = None if severity == "none" else overridden(code, overrides)
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
