"""Put a gate's verdict in the forms that CI shows: GitHub's annotations and step summary, and JUnit XML."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final, Literal

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from ralph_tracker.core.alert_types import TYPES, Alert
from ralph_tracker.core.integrity_result import Severity
from ralph_tracker.core.metrics import METRICS
from ralph_tracker.iteration.gate_worktree import NOT_MEASURED, PASS, FailingTests, Gate, alert_text, counts_in_words
from ralph_tracker.report.escaping import for_markdown, for_terminal
from ralph_tracker.report.wording import number, signed_text, without_repeats
from ralph_tracker.short_text import percent

SHOWN: Final = 10  # the number of errors, and of warnings, that GitHub shows per step
SUMMARY_CAP: Final = 1024 * 1024  # the limit of a step's summary in bytes
LONGEST: Final = 500  # characters of a line of the summary
_HERE: Final = PurePath()
_CUT: Final = "\n_Cut here: a step summary holds 1 MiB; `ralph-tracker gate --json` has the rest._\n"
Level = Literal["error", "warning", "notice"]
Locate = Callable[[str], tuple[str, int | None] | None]
SUITE: Final = "ralph-tracker gate"
RULES: Final = "ralph-tracker.rules"
CHECKS: Final = "ralph-tracker.checks"
CLASS_RULE: Final = "class_regression"


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """An annotation; `file` is relative to the repository, None if it is not about a file."""

    level: Level
    title: str
    message: str
    file: str | None = None
    line: int | None = None

    @property
    def command(self) -> str:
        """Return the workflow command, in one line whatever the texts contain."""
        places = (("file", self.file), ("line", None if self.line is None else str(self.line)), ("title", self.title))
        escaped = (
            (name, _data(value).replace(":", "%3A").replace(",", "%2C")) for name, value in places if value is not None
        )
        properties = ",".join(f"{name}={value}" for name, value in escaped)
        return f"::{self.level} {properties}::{_data(self.message)}"


def _data(text: str) -> str:
    """Escape characters that end a command or begin another; hidden characters become their code."""
    lines = (for_terminal(line) for line in text.replace("\r", "\n").split("\n"))
    return "\n".join(lines).replace("%", "%25").replace("\n", "%0A")


def annotations(gate: Gate, locate: Locate, root: PurePath = _HERE) -> tuple[Annotation, ...]:
    """Return what GitHub shows: the first errors and warnings, and the number of others.

    `root` is the project's folder in the repository: findings name files relative to it.
    """
    found = [note for alert in gate.findings for note in _of_alert(alert, locate, root)]
    if gate.regressed:
        found.append(Annotation(level="error", title="Class regression", message=gate.fall))
    found += [
        Annotation(level="error", title=f"Not measured: {measure.name}", message=measure.why or "")
        for measure in gate.unmeasured
    ]
    if gate.unproven:
        found.append(Annotation(level="error", title="Integrity", message=gate.why_unproven))
    shown = {level: [a for a in found if a.level == level][:SHOWN] for level in ("error", "warning")}
    left = [f"{sum(a.level == level for a in found) - len(kept)} {level}s" for level, kept in shown.items()]
    more = [words for words in left if not words.startswith("0 ")]
    note = Annotation(level="notice", title="ralph-tracker gate", message=f"and {', '.join(more)} more, not shown here")
    return (*shown["error"], *shown["warning"], *([note] if more else []))


def _of_alert(alert: Alert, locate: Locate, root: PurePath) -> Iterator[Annotation]:
    """Annotate each finding at its line, else each test that has a location, else the alert by itself."""
    level: Level
    for each in alert.findings:
        level = "error" if each.severity is Severity.CRITICAL else "warning"
        message = each.message if each.test is None else f"{each.test}: {each.message}"
        file = (root / each.file).as_posix()
        yield Annotation(level=level, title=alert.kind.title, message=message, file=file, line=each.line)
    if alert.findings:
        return
    level = "error" if alert.severity is Severity.CRITICAL else "warning"
    message, placed = without_repeats(alert_text(alert), alert.tests, ()), False
    for test in sorted(alert.tests):
        place = locate(test)
        if place is not None:
            placed = True
            file, line = place
            yield Annotation(level=level, title=alert.kind.title, message=f"{test}: {message}", file=file, line=line)
    if not placed:
        yield Annotation(level=level, title=alert.kind.title, message=alert_text(alert))


def step_summary(gate: Gate, room: int = SUMMARY_CAP) -> bytes:
    """Return the summary as Markdown, 60 lines and `room` bytes at most: verdict, reasons, alerts, tests, numbers.

    If necessary it is cut at a line, with a note; it is empty if there is no room for that.
    """
    kept, size = [], len(_CUT.encode())
    lines = [f"{line}\n".encode() for line in _summary(gate)]
    if sum(map(len, lines)) <= room:
        return b"".join(lines)
    for line in lines:
        size += len(line)
        if size > room:
            break
        kept.append(line)
    return b"".join(kept) + _CUT.encode() if len(_CUT.encode()) <= room else b""


def _summary(gate: Gate) -> Iterator[str]:
    record = gate.record
    yield f"## ralph-tracker gate: {'could not measure' if gate.verdict == NOT_MEASURED else gate.verdict}"
    yield ""
    yield (
        f"Compared with iteration {gate.compared_with} of {for_markdown(record.loop_id)}: {record.classification}, "
        f"{counts_in_words(record)}score {percent(record.adjusted_score)}."
    )
    if gate.verdict != PASS:
        yield from _section("Why", map(for_markdown, gate.reasons), 4)
    alerts = []
    for alert in gate.findings:
        since = "" if gate.is_new(alert) else f" (open since iteration {alert.iteration})"
        alerts.append(f"**{alert.severity.name}** {for_markdown(f'{alert.type}: {alert_text(alert)}{since}')}")
    yield from _section("Alerts", alerts, 6)
    failing = gate.failing or FailingTests()
    yield from _section("Now failing", map(for_markdown, failing.new), 8)
    yield from _section("Still failing", map(for_markdown, failing.still), 3)
    yield from _section("Accepted", (for_markdown(f"{alert.id}: {alert.message}") for alert in gate.accepted), 2)
    rows = []  # the metrics that changed, and those of which nobody knows whether they did
    for spec in METRICS:
        value, change = record.metrics.get(spec.name), record.from_previous.get(spec.delta_name)
        if value is not None and change != 0:
            rows.append(f"| {spec.label} | {number(value, spec)} | {signed_text(change, spec)} |")
    if rows:
        yield from ("", "| metric | now | change |", "|---|---|---|", *rows[:8])


def _section(title: str, lines: Iterable[str], most: int) -> Iterator[str]:
    """Yield a heading and the first lines of a list, each cut to a readable length, then how many more there are."""
    listed = list(lines)
    if not listed:
        return
    yield from ("", f"### {title}", "")
    yield from (f"- {line if len(line) <= LONGEST else f'{line[:LONGEST]}…'}" for line in listed[:most])
    if len(listed) > most:
        yield f"- and {len(listed) - most} more"


def gate_junit(gate: Gate) -> bytes:
    """Return the document, with alerts as failures, unmeasured values as errors, and accepted alerts as skipped."""
    suite = TestSuite(SUITE)
    suite.add_property("verdict", gate.verdict)
    suite.add_property("loop_id", _text(gate.record.loop_id))
    suite.add_property("compared_with", f"iteration {gate.compared_with}")
    regression = TestCase(CLASS_RULE, RULES)
    if gate.regressed:
        regression.result = [Failure(_text(gate.fall), "regression")]
    suite.add_testcases([regression, *(_rule(gate, kind.name) for kind in TYPES)])
    for measure in gate.measures:
        check = TestCase(_text(measure.name), CHECKS)
        if measure.why is not None:
            kind = Skipped if measure.accepted else Error
            check.result = [kind(_text(f"could not be measured: {measure.why}"))]
        suite.add_testcase(check)
    document = JUnitXml(SUITE)
    document.add_testsuite(suite)
    document.update_statistics()  # type: ignore[no-untyped-call]  # the library does not do so itself
    text: str | bytes = document.tostring()  # type: ignore[no-untyped-call]  # as above
    return b"<?xml version='1.0' encoding='utf-8'?>\n" + (text if isinstance(text, bytes) else text.encode())


def _rule(gate: Gate, name: str) -> TestCase:
    """Return one rule; alerts of the same type share a case, since most readers allow one result per case."""
    case = TestCase(name, RULES)
    raised = [alert for alert in gate.alerts if alert.type == name]
    accepted = [alert for alert in gate.accepted if alert.type == name]
    if raised:
        failure = Failure(_text("; ".join(alert_text(alert) for alert in raised)), raised[0].severity.name)
        named: list[str] = []
        for alert in raised:
            places = (f"{finding.place}: {finding.message}" for finding in alert.findings)
            named += sorted(for_terminal(name) for name in (*alert.tests, *places))
        failure.text = _text("\n".join(named))
        case.result = [failure]
    elif accepted:
        case.result = [Skipped(_text(f"accepted: {', '.join(alert.id for alert in accepted)}"))]
    return case


def _text(text: str) -> str:
    """Replace what XML cannot hold, control characters and surrogates, by their code."""
    lines = (for_terminal(line) for line in text.split("\n"))
    return re.sub("[\ufffe\uffff]", lambda found: f"\\u{ord(found[0]):04x}", "\n".join(lines))
