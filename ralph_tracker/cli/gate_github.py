"""What a gate found for GitHub Actions: annotations as workflow commands, and a summary in Markdown."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final, Literal

from ralph_tracker.core.alert_types import Alert
from ralph_tracker.core.findings import Severity
from ralph_tracker.core.metrics import METRICS
from ralph_tracker.iteration.gate import PASS, Gate, Verdict, told
from ralph_tracker.report.text import for_markdown, for_terminal, number, score, signed

SHOWN: Final = 10  # GitHub shows as many errors of a step, and as many warnings
SUMMARY_CAP: Final = 1024 * 1024  # bytes that a step's summary may have
HEADINGS: Final[Mapping[Verdict, str]] = {
    "pass": "pass",
    "regression": "regression",
    "not_measured": "could not measure",
}
_HERE: Final = PurePath()
_CUT: Final = "\n_Cut here: a step summary holds 1 MiB; `ralph-tracker gate --json` has the rest._\n"

Level = Literal["error", "warning", "notice"]
Locate = Callable[[str], tuple[str, int | None] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """Hold one annotation; `file` is relative to the repository, None where it is about no file."""

    level: Level
    title: str
    message: str
    file: str | None = None
    line: int | None = None

    @property
    def command(self) -> str:
        """Return the workflow command, one line whatever the texts hold."""
        places = (("file", self.file), ("line", None if self.line is None else str(self.line)), ("title", self.title))
        properties = ",".join(f"{name}={_property(value)}" for name, value in places if value is not None)
        return f"::{self.level} {properties}::{_data(self.message)}"


def _data(text: str) -> str:
    """Escape what would end the command or begin another; hidden characters stand by their number."""
    lines = (for_terminal(line) for line in text.replace("\r", "\n").split("\n"))
    return "\n".join(lines).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def plain_log(text: str) -> str:
    """Make of a line one that the runner takes for no command, wherever in it one would stand."""
    calm = text.replace("##[", "# #[")
    return calm.replace("::", ": :", 1) if calm.lstrip().startswith("::") else calm


def annotations(gate: Gate, locate: Locate, root: PurePath = _HERE) -> tuple[Annotation, ...]:
    """Return what GitHub shows: the first errors and warnings, and how many more there are.

    `root` is the project's folder in the repository: findings name files relative to it.
    """
    found = tuple(_all(gate, locate, root))
    shown = {level: [a for a in found if a.level == level][:SHOWN] for level in ("error", "warning")}
    left = [f"{sum(a.level == level for a in found) - len(kept)} {level}s" for level, kept in shown.items()]
    more = [words for words in left if not words.startswith("0 ")]
    note = Annotation(level="notice", title="ralph-tracker gate", message=f"and {', '.join(more)} more, not shown here")
    return (*shown["error"], *shown["warning"], *([note] if more else []))


def _all(gate: Gate, locate: Locate, root: PurePath) -> Iterator[Annotation]:
    for alert in gate.findings:
        yield from _of_findings(alert, root) if alert.findings else _of_alert(alert, locate)
    if gate.regressed:
        yield Annotation(level="error", title="Class regression", message=gate.fall)
    for measure in gate.unmeasured:
        yield Annotation(level="error", title=f"Not measured: {measure.name}", message=measure.why or "")
    if gate.unproven:
        yield Annotation(level="error", title="Integrity", message=gate.why_unproven)


def _of_findings(alert: Alert, root: PurePath) -> Iterator[Annotation]:
    """Annotate each finding where it stands."""
    for each in alert.findings:
        level: Level = "error" if each.severity is Severity.CRITICAL else "warning"
        yield Annotation(
            level=level,
            title=alert.kind.title,
            message=each.message if each.test is None else f"{each.test}: {each.message}",
            file=(root / each.file).as_posix(),
            line=each.line,
        )


def _of_alert(alert: Alert, locate: Locate) -> Iterator[Annotation]:
    """Annotate each test that has a place, so that it is shown there; an alert about none stands for itself."""
    level: Level = "error" if alert.severity is Severity.CRITICAL else "warning"
    message, placed = told(alert), False
    for test in sorted(alert.tests):
        place = locate(test)
        if place is not None:
            placed = True
            file, line = place
            yield Annotation(level=level, title=alert.kind.title, message=f"{test}: {message}", file=file, line=line)
    if not placed:
        yield Annotation(level=level, title=alert.kind.title, message=message)


def step_summary(gate: Gate, room: int = SUMMARY_CAP) -> bytes:
    """Return the summary in Markdown, at most `room` bytes: the verdict, why, the alerts with all tests, the numbers.

    It is cut at a line, with a line that says so; nothing is returned where not even that has room.
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
    yield f"## ralph-tracker gate: {HEADINGS[gate.verdict]}"
    yield ""
    yield (
        f"Compared with iteration {gate.compared_with} of {for_markdown(record.loop_id)}: {record.classification}, "
        f"quality {score(record.quality_score)}, adjusted {score(record.adjusted_score)}."
    )
    if gate.verdict != PASS:
        yield from _section("Why", (for_markdown(reason) for reason in gate.reasons))
    yield from _section("Alerts", _alert_lines(gate))
    for title, tests in zip(("Now failing", "Still failing"), gate.failing or (), strict=False):
        yield from _section(title, map(for_markdown, tests))
    yield from _section("Accepted", (for_markdown(f"{alert.id}: {alert.message}") for alert in gate.accepted))
    yield ""
    yield "| metric | now | change |"
    yield "|---|---|---|"
    for spec in METRICS:
        value = record.metrics.get(spec.name)
        if value is not None:
            change = signed(record.from_previous.get(spec.delta_name), spec)
            yield f"| {spec.label} | {number(value, spec)} | {change} |"


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    listed = list(lines)
    if listed:
        yield ""
        yield f"### {title}"
        yield ""
        yield from (line if line.startswith("  ") else f"- {line}" for line in listed)


def _alert_lines(gate: Gate) -> Iterator[str]:
    for alert in gate.findings:
        since = "" if gate.is_new(alert) else f" (open since iteration {alert.iteration})"
        yield f"**{alert.severity.name}** {for_markdown(f'{alert.kind.name}: {told(alert)}{since}')}"
        yield from (f"  - {for_markdown(test)}" for test in sorted(alert.tests))
