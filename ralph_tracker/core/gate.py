"""The gate: whether a measurement that is not recorded passes against the line's last iteration (semantics § 8)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from ralph_tracker.core.alert_types import Alert, AlertState, in_order
from ralph_tracker.core.components import COMPONENT_BY_NAME
from ralph_tracker.core.documents import (
    SCHEMA_VERSION,
    Document,
    alert_document,
    metrics_document,
    trust_document,
)
from ralph_tracker.core.findings import Severity
from ralph_tracker.core.identities import FailingTests
from ralph_tracker.core.metrics import BY_NAME, FOUR, Direction, Group, Measure
from ralph_tracker.core.records import IterationRecord
from ralph_tracker.core.rounding import COMPLEXITY_DECIMALS, half_up, plain_number

Verdict = Literal["pass", "regression", "not_measured"]
PASS: Final[Verdict] = "pass"  # noqa: S105  # a verdict, no password
REGRESSION: Final[Verdict] = "regression"
NOT_MEASURED: Final[Verdict] = "not_measured"
UNPROVEN: Final = "integrity UNPROVEN: the loop has tests, and none ran"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Hold what a gate found.

    `record` is that of the iteration which `post_iteration` would record now; it is stored nowhere, and the ids of
    its new alerts name nothing. `compared_with` is the last iteration of the line. `failing` is None where no report
    has names of tests.
    """

    record: IterationRecord
    compared_with: int
    measures: tuple[Measure, ...]
    failing: FailingTests | None = None

    @property
    def alerts(self) -> tuple[Alert, ...]:
        """Return the new and open alerts that nobody accepted, the worst first."""
        return self.record.standing_alerts

    @property
    def findings(self) -> tuple[Alert, ...]:
        """Return those alerts that are about what was measured; `unmeasured` has the others."""
        return tuple(alert for alert in self.alerts if alert.group is None)

    @property
    def accepted(self) -> tuple[Alert, ...]:
        """Return the open alerts that a person accepted."""
        return tuple(alert for alert in self._known if alert.id in self.record.accepted)

    @property
    def critical(self) -> tuple[Alert, ...]:
        """Return the alerts that no gate lets pass."""
        return tuple(alert for alert in self.alerts if alert.severity is Severity.CRITICAL)

    @property
    def regressed(self) -> bool:
        """Tell whether the class is regression."""
        return self.record.classification == "regression"

    @property
    def unmeasured(self) -> tuple[Measure, ...]:
        """Return what gave nothing, but for what a person accepted."""
        return tuple(measure for measure in self.measures if measure.why is not None and not measure.accepted)

    @property
    def verdict(self) -> Verdict:
        """Return the verdict; a regression that was measured stands, whatever else was not measured.

        TAMPERED is a regression, since a CRITICAL alert says so; UNPROVEN is not measured.
        """
        if self.critical or self.regressed:
            return REGRESSION
        return NOT_MEASURED if self.unmeasured or self.unproven else PASS

    @property
    def unproven(self) -> bool:
        """Tell whether the loop has tests and none ran."""
        return self.record.integrity is not None and self.record.integrity.verdict == "UNPROVEN"

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return why it does not pass, a line each; () where it passes."""
        critical = [f"{alert.kind.name}: {told(alert)}" for alert in self.critical]
        regressed = [f"class regression: {self.fall}"] if self.regressed else []
        unmeasured = [f"{measure.name} could not be measured: {measure.why}" for measure in self.unmeasured]
        unproven = [UNPROVEN] if self.unproven else []
        return (*critical, *regressed, *unmeasured, *unproven)

    @property
    def next_step(self) -> str | None:
        """Say what to do, None where it passes."""
        if self.verdict == PASS:
            return None
        if self.verdict == NOT_MEASURED:
            return "mend what gave nothing (`ralph-tracker doctor` helps), then run `ralph-tracker gate` again"
        older = next((alert.id for alert in self.critical if not self.is_new(alert)), None)
        accept = "" if older is None else f"; `ralph-tracker accept {older} --reason WHY` takes it as it is"
        return f"mend it, then run `ralph-tracker gate` again{accept}"

    @property
    def fall(self) -> str:
        """Say which of the four metrics that classes are made of are worse than before, else the score."""
        deltas = self.record.from_previous
        worse = []
        for spec in (BY_NAME[name] for name in FOUR):
            now, change = self.record.metrics.number(spec.name), deltas.get(spec.delta_name, 0)
            if now is not None and (change > 0 if spec.direction is Direction.DOWN_IS_BETTER else change < 0):
                before = half_up(now - change, COMPLEXITY_DECIMALS)
                worse.append(f"{spec.name} {plain_number(before)}→{plain_number(now)}")
        return ", ".join(worse) or f"adjusted score {plain_number(self.record.adjusted_score)}"

    def is_new(self, alert: Alert) -> bool:
        """Tell whether this measurement raises the alert, and no iteration on record has."""
        return alert.iteration == self.record.iteration

    @property
    def _known(self) -> tuple[Alert, ...]:
        return in_order((*self.record.alerts, *self.record.open_alerts))


def metric_lines(gate: Gate) -> list[str]:
    """Return what was measured as lines `METRIC name=value`, which benchmark loops read; what is unknown has none.

    The scores are left out too where a part of them could not be measured: there it counts as 0.
    """
    record = gate.record
    known: dict[str, float] = {}
    if not (gate.unmeasured or gate.unproven):
        known = {"adjusted_score": record.adjusted_score, "quality_score": record.quality_score}
    for name in record.metrics.measured():
        value = record.metrics.number(name)
        if value is not None:
            known[name] = value
    return [f"METRIC {name}={value}" for name, value in known.items()]


def told(alert: Alert) -> str:
    """Return an alert's message with its note."""
    return f"{alert.message} ({alert.note})" if alert.note else alert.message


def gate_of(
    record: IterationRecord,
    compared_with: int,
    missing: Mapping[str, str],
    checks: tuple[Measure, ...] = (),
    failing: FailingTests | None = None,
) -> Gate:
    """Return what a gate found: a record that is not stored, why groups are missing, the checks that ran, what fails.

    A group of the loop that no check is named for stands for itself, and so does one that no check explains.
    """
    gaps = {a.group: a for a in (*record.open_alerts, *record.alerts) if a.group is not None}
    whys = {group: missing.get(group) or gap.message.partition(": ")[2] for group, gap in gaps.items()}
    accepted = {group for group, gap in gaps.items() if gap.id in record.accepted}
    known = tuple(check._replace(accepted=check.group in accepted) for check in checks)
    named, explained = {c.group for c in known}, {c.group for c in known if c.why is not None}
    groups = {COMPONENT_BY_NAME[name].group for name in record.components} | {Group(group) for group in gaps}
    groups |= {BY_NAME[name].group for name in record.metrics.measured()}
    rest = [
        Measure(group, group, whys.get(group), group in accepted)
        for group in Group
        if group in groups and (group not in named or (group in whys and group not in explained))
    ]
    return Gate(record=record, compared_with=compared_with, measures=(*known, *rest), failing=failing)


def gate_document(gate: Gate, exit_code: int) -> Document:
    """Return what a gate found as a document.

    `integrity` is null where nobody compared files and tests, `failing_tests` where no names of tests are known.
    """
    failing = gate.failing
    record = gate.record
    return {
        "schema_version": SCHEMA_VERSION,
        "verdict": gate.verdict,
        "exit_code": exit_code,
        "loop_id": record.loop_id,
        "compared_with": gate.compared_with,
        "classification": record.classification,
        "quality_score": record.quality_score,
        "adjusted_score": record.adjusted_score,
        **metrics_document(record.metrics),
        "deltas": dict(record.from_previous),
        "reasons": list(gate.reasons),
        "next_step": gate.next_step,
        "alerts": [_alert(gate, alert) for alert in (*gate.alerts, *gate.accepted)],
        "measures": [
            {"name": m.name, "measured": m.why is None, "why": m.why, "accepted": m.accepted} for m in gate.measures
        ],
        "failing_tests": None if failing is None else {name: list(tests) for name, tests in failing._asdict().items()},
        "integrity": trust_document(record.integrity),
        "notes": list(record.notes),
    }


def _alert(gate: Gate, alert: Alert) -> Document:
    """Return an alert; one that no iteration on record has raised has neither an id nor a time yet."""
    state: AlertState = "accepted" if alert in gate.accepted else "new" if gate.is_new(alert) else "open"
    document = alert_document(alert, state)
    return document | {"id": None, "triggered_at": None} if gate.is_new(alert) else document
