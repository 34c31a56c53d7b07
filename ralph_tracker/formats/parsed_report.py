"""The reports that the readers return: one value type per kind, which add up, and Unreadable for everything else.

A finding of a linter or type checker is a Row as the tool wrote it, and a Diagnostic at its place.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from operator import add
from typing import Any, Final, Literal, NamedTuple, cast, get_args

from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED, TestResults
from ralph_tracker.formats.report_content import EMPTY, Content, Unreadable, plain

__all__ = [
    "EMPTY",
    "Block",
    "CoverageReport",
    "Diagnostic",
    "LintReport",
    "Report",
    "ReportKind",
    "Row",
    "Severity",
    "TestReport",
    "TypeReport",
    "Unreadable",
]

MAX_FAILURES: Final = 200  # messages of failing tests: nobody reads more


def known_sum(one: int | None, other: int | None) -> int | None:
    """Add two numbers; None if either is unknown, since a partial total is useless."""
    return None if one is None or other is None else one + other


def both(one: str | None, other: str | None) -> str | None:
    """Join two remarks; None if there is neither."""
    return "; ".join(text for text in (one, other) if text) or None


class DeclaredCounts(NamedTuple):
    """The counts that a test report declares; None if it declares none."""

    tests: int | None = None
    failures: int | None = None
    errors: int | None = None
    skipped: int | None = None

    def __add__(self, other: "DeclaredCounts") -> "DeclaredCounts":  # type: ignore[override]  # a sum, and no longer tuple
        return DeclaredCounts(*map(known_sum, self, other))


class Counts(NamedTuple):
    """The numbers of tests by outcome, if the report does not name them."""

    passed: int = 0
    failed: int = 0
    errors: int = 0
    skipped: int = 0

    @property
    def tests(self) -> int:
        return sum(self)

    def __add__(self, other: "Counts") -> "Counts":  # type: ignore[override]  # a sum, and no longer tuple
        return Counts(*map(add, self, other))


class TestReport(NamedTuple):
    """The outcome of each test, in the order of the report.

    `in_error` are the failed tests that ended in error (set-up, tear-down, collection). `durations` are seconds, only
    if stated. `rerun` are the tests that ran more than once, `flaky` those of them whose runs disagree. `unnamed`
    counts further tests of which only the number is known. `broken` names failures that are not completed tests: a
    package that does not build, a test that a crash cut off; the tool counts no test for them, and neither do `tests`
    and `errors`, but `results` has them as failed. `contradiction` says how the declared counts differ from the cases,
    `note` what else to know about the source of the numbers. `skipped_lines` were no part of the report. `messages` and
    `not_loaded` are as in TestResults; only the first messages are kept, shortened.
    """

    outcomes: Mapping[str, str] = {}
    durations: Mapping[str, float] = {}
    in_error: frozenset[str] = frozenset()
    rerun: frozenset[str] = frozenset()
    flaky: frozenset[str] = frozenset()
    declared: DeclaredCounts = DeclaredCounts()
    contradiction: str | None = None
    note: str | None = None
    unnamed: Counts = Counts()
    broken: frozenset[str] = frozenset()
    skipped_lines: int = 0
    messages: Mapping[str, str] = {}
    not_loaded: Mapping[str, str] = {}

    @property
    def tests(self) -> int:
        return len(self.outcomes) + self.unnamed.tests

    @property
    def passed(self) -> int:
        return self._count(PASSED) + self.unnamed.passed

    @property
    def failed(self) -> int:
        """Return how many failed without being in error; semantics § 1 counts both as failed."""
        return self._count(FAILED) - len(self.in_error) + self.unnamed.failed

    @property
    def errors(self) -> int:
        return len(self.in_error) + self.unnamed.errors

    @property
    def skipped(self) -> int:
        return self._count(SKIPPED) + self.unnamed.skipped

    def _count(self, outcome: str) -> int:
        return list(self.outcomes.values()).count(outcome)

    @property
    def results(self) -> TestResults | None:
        """Return the identities for the core; None if some tests are unnamed, since partial identities are useless."""
        if self.unnamed.tests:
            return None
        return TestResults(
            {**self.outcomes, **dict.fromkeys(sorted(self.broken), FAILED)},
            self.durations,
            self.flaky,
            self.messages,
            self.not_loaded,
        )

    def __add__(self, other: "TestReport") -> "TestReport":  # type: ignore[override]  # a sum, and no longer tuple
        return add_tests((self, other))


TestReport.__test__ = False  # type: ignore[attr-defined]  # pytest would collect it by its name


def add_tests(reports: Iterable[TestReport]) -> TestReport:
    """Add up test reports, the earliest first, in linear time.

    An id in several reports counts once: the last run wins, and the test is flaky if the runs disagree. A skip is not a
    run: it neither replaces a run nor disagrees with one. Tests without an id are assumed to be different.
    """
    total = _TestTotal()
    for report in reports:
        total.add(report)
    return TestReport(
        outcomes=total.outcomes,
        durations=total.durations,
        in_error=frozenset(total.in_error),
        rerun=frozenset(total.rerun),
        flaky=frozenset(total.flaky),
        declared=total.declared or DeclaredCounts(),
        contradiction="; ".join(total.contradictions) or None,
        note="; ".join(total.notes) or None,
        unnamed=total.unnamed,
        broken=frozenset(total.broken),
        skipped_lines=total.skipped_lines,
        messages=dict(islice(total.messages.items(), MAX_FAILURES)),
        not_loaded=total.not_loaded,
    )


class _TestTotal:
    """The sum of several reports, added in order of time."""

    def __init__(self) -> None:
        self.outcomes: dict[str, str] = {}
        self.durations: dict[str, float] = {}
        self.in_error: set[str] = set()
        self.rerun: set[str] = set()
        self.flaky: set[str] = set()
        self.declared: DeclaredCounts | None = None
        self.contradictions: list[str] = []
        self.notes: dict[str, None] = {}
        self.unnamed = Counts()
        self.broken: set[str] = set()
        self.skipped_lines = 0
        self.messages: dict[str, str] = {}
        self.not_loaded: dict[str, str] = {}

    def add(self, report: TestReport) -> None:
        before, now = self.outcomes, report.outcomes
        again = before.keys() & now.keys()
        kept = {case for case in again if now[case] == SKIPPED}
        ran_twice = {case for case in again - kept if before[case] != SKIPPED}
        self.rerun |= report.rerun | ran_twice
        self.flaky |= report.flaky | {case for case in ran_twice if before[case] != now[case]}
        self.in_error -= again - kept
        self.in_error |= report.in_error
        self.outcomes.update((case, outcome) for case, outcome in now.items() if case not in kept)
        self.durations.update((case, time) for case, time in report.durations.items() if case not in kept)
        self.declared = report.declared if self.declared is None else self.declared + report.declared
        if report.contradiction:
            self.contradictions.append(report.contradiction)
        if report.note:
            self.notes[report.note] = None
        self.unnamed += report.unnamed
        self.broken |= report.broken
        self.skipped_lines += report.skipped_lines
        for case in again - kept if self.messages else ():
            self.messages.pop(case, None)
        self.messages.update((case, said) for case, said in report.messages.items() if case not in kept)
        self.not_loaded = {**report.not_loaded, **self.not_loaded}


class Block(NamedTuple):
    """A block of code identified by its place in the file, for formats that count statements instead of lines."""

    place: str
    statements: int


# The lines by number, or the blocks, of one file, and whether each was covered.
Lines = Mapping[int, bool] | Mapping[Block, bool]


Files = Mapping[str, Lines]


class CoverageReport(NamedTuple):
    """Line coverage, in statements for formats that count these.

    `percent` (0 to 100) is that of the lines: computed from the rows, which equals the tool's own unrounded value if
    both agree; without rows the tool's own, if that is of lines only; None if there is no line to cover. `files` are
    the rows by path, None if they are missing or incomplete. `declared_…` is what the report states, in the tool's own
    unit; None without a statement. `contradiction` says how its rows differ from that. `skipped_lines` were not rows.

    Reports with rows add up line by line: the same file in two counts once, and a line is covered if either covers it.
    If one has no rows, totals are added, even though both may cover the same files.
    """

    lines_covered: int
    lines_total: int
    percent: float | None
    files: Files | None = None
    declared_covered: int | None = None
    declared_total: int | None = None
    declared_percent: float | None = None
    contradiction: str | None = None
    skipped_lines: int = 0

    def __add__(self, other: "CoverageReport") -> "CoverageReport":  # type: ignore[override]  # a sum, and no longer tuple
        files: dict[str, Lines] | None = None
        if self.files is not None and other.files is not None:
            files = dict(self.files)
            for path, lines in other.files.items():
                either = dict(cast("Mapping[Any, bool]", files.get(path, {})))
                for key, hit in lines.items():
                    either[key] = hit or either.get(key, False)
                files[path] = either
            covered, total = count_lines(files)
        else:
            covered, total = self.lines_covered + other.lines_covered, self.lines_total + other.lines_total
        if not other.lines_total or not self.lines_total:
            percent = self.percent if self.lines_total else other.percent
        else:
            percent = share(covered, total)
        return CoverageReport(
            lines_covered=covered,
            lines_total=total,
            percent=percent,
            files=files,
            declared_covered=known_sum(self.declared_covered, other.declared_covered),
            declared_total=known_sum(self.declared_total, other.declared_total),
            contradiction=both(self.contradiction, other.contradiction),
            skipped_lines=self.skipped_lines + other.skipped_lines,
        )


def share(covered: int, total: int) -> float | None:
    """Return the percentage, None if the total is 0."""
    return covered / total * 100 if total else None


def count_lines(files: Files) -> tuple[int, int]:
    """Return the covered count and the total."""
    covered = total = 0
    for lines in files.values():
        if isinstance(next(iter(lines), None), Block):
            blocks = [(key.statements, hit) for key, hit in lines.items() if isinstance(key, Block)]
            total += sum(statements for statements, _ in blocks)
            covered += sum(statements for statements, hit in blocks if hit)
        else:
            total += len(lines)
            covered += sum(lines.values())
    return covered, total


Severity = Literal["error", "warning", "note", "none"]
SEVERITIES: Final[tuple[Severity, ...]] = get_args(Severity)
NO_CODE: Final = ""
_PLACE_BELOW: Final = re.compile(r" *--> (?P<file>.+?):(?P<line>\d{1,9}):\d{1,9}")
_WORDS: Final[Mapping[str, Severity]] = {
    **dict.fromkeys(("fatal", "critical", "high", "error"), "error"),
    **dict.fromkeys(("warning", "warn", "medium"), "warning"),
    **dict.fromkeys(("note", "info", "information", "help", "hint", "style", "low", "convention", "refactor"), "note"),
    **dict.fromkeys(("none", "ignore"), "none"),
}
MAX_DIAGNOSTICS: Final = 5_000
_MAX_MESSAGE: Final = 300

Row = tuple[Any, Any, Any, Any, Any]
"""As a report has it, of whatever type: file, line, code, the tool's word for the severity, message."""


class Diagnostic(NamedTuple):
    """One finding at its place: `line` is None if the report has none, `code` "" without a rule.

    `message` is its first line, at most 300 characters.
    """

    file: str
    line: int | None
    code: str
    message: str
    severity: Severity = "error"

    @property
    def text(self) -> str:
        """Return `file:line code message`, without what is unknown; a message that begins with its place, alone."""
        if self.message.startswith((f"{self.file}:", f"{self.file}(")):
            return self.message
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return " ".join(filter(None, (place, self.code, self.message)))


def first_line(message: object) -> str:
    """Return the first line of a tool's message that is not empty, at most 300 characters; "" for none."""
    lines = (line.strip() for line in message.splitlines()) if isinstance(message, str) else iter(())
    text = next(filter(None, lines), "")
    return text if len(text) <= _MAX_MESSAGE else f"{text[: _MAX_MESSAGE - 1]}…"


def by_line(pattern: re.Pattern[str], content: Content) -> Iterator[Row]:
    """Yield the lines of a text that the pattern matches.

    Its groups are named `file`, `line` or `row`, `code` or `in_brackets`, `severity`, and `message`. A line without a
    file may have its place in the one below (`--> a.py:1:2`).
    """
    without_place: Row | None = None
    for line in map(plain, content.lines()):
        if without_place is not None:
            place = _PLACE_BELOW.match(line)
            yield (place["file"], place["line"], *without_place[2:]) if place else without_place
            without_place = None
        if found := pattern.match(line.rstrip("\r")):
            parts = found.groupdict()
            code = parts.get("code") or parts.get("in_brackets") or ""
            number = parts.get("line") or parts.get("row")
            row = parts["file"], number, code, parts.get("severity"), parts["message"]
            if row[0] is None:
                without_place = row
            else:
                yield row
    if without_place is not None:
        yield without_place


def severity_of_word(word: object) -> Severity | None:
    """Return the severity for a tool's word, None if there is none or it is unknown."""
    return _WORDS.get(word.lower()) if isinstance(word, str) else None


def severity_of(word: object, code: str) -> Severity:
    """Return the severity for the tool's word; without one error for E, F and what does not parse, else warning."""
    return severity_of_word(word) or ("error" if re.fullmatch(r"[EF][0-9]+|invalid-syntax", code) else "warning")


def code_text(code: object) -> str:
    """Return the code as text, `NO_CODE` for anything but text or an int."""
    return str(code) if isinstance(code, str | int) else NO_CODE


def overridden_severity(code: str, overrides: Mapping[str, Severity]) -> Severity | None:
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
    def results(self) -> int:
        """Return the number of findings of any severity, including "none", without suppressed ones."""
        return sum(self.findings.values())

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

    @staticmethod
    def of_findings(report: LintReport) -> "TypeReport":
        """Return a report whose format linters and type checkers share, as that of a type checker."""
        return TypeReport(
            errors=report.errors,
            warnings=report.warnings,
            notes=report.notes,
            skipped_lines=report.skipped_lines,
            contradiction=report.contradiction,
        )

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


ReportKind = Literal["tests", "coverage", "lint", "types"]
Report = TestReport | CoverageReport | LintReport | TypeReport
