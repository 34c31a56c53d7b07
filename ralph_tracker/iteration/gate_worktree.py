"""Measure the current tree and judge it as the next iteration (semantics § 8), without recording anything."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, cast

from ralph_tracker.codec import ValueObject, document_of
from ralph_tracker.core.alert_types import Alert, StandingState, in_order
from ralph_tracker.core.integrity_alerts import raises_doubt
from ralph_tracker.core.integrity_result import Severity
from ralph_tracker.core.judge import judge
from ralph_tracker.core.known_tests import HELD_BACK, KnownTests
from ralph_tracker.core.lineage import Judged
from ralph_tracker.core.metrics import (
    BY_NAME,
    COMPLEXITY_DECIMALS,
    FAILED,
    KEY_METRICS,
    METRICS,
    Direction,
    Group,
    TestResults,
    half_up,
    plain_number,
)
from ralph_tracker.core.score import COMPONENT_BY_NAME
from ralph_tracker.errors import EXIT_NOT_MEASURED, EXIT_OK, EXIT_REGRESSION, LoopError
from ralph_tracker.iteration.measure_iteration import (
    IterationMeasurer,
    Progress,
    Source,
    configured_by,
    refuse_other_origin,
)
from ralph_tracker.iteration.open_problems import FailingTest, first_words, split_message
from ralph_tracker.iteration.record_and_recover import judge_or_refuse
from ralph_tracker.iteration.trust_listing import loop_runs
from ralph_tracker.measure.report_totals import MetricSource
from ralph_tracker.records.iteration_record import (
    SCHEMA_VERSION,
    AlertDocument,
    Document,
    IterationRecord,
    MetricsDocument,
    Numbers,
    SchemaVersion,
    TrustDocument,
    record_of,
)
from ralph_tracker.report.wording import measured_in_words
from ralph_tracker.store.configured_loop import ConfiguredLoop
from ralph_tracker.store.find import find_loop
from ralph_tracker.store.iteration_snapshots import folder_to_look
from ralph_tracker.store.read import SealedRecords
from ralph_tracker.store.summary import summary_at
from ralph_tracker.store.trust import Consent, Trust
from ralph_tracker.store.write import LoopStore

FAILURES_LISTED: Final = 20
GateVerdict = Literal["pass", "regression", "not_measured"]
ExitCode = Literal[0, 3, 4]
PASS: Final[GateVerdict] = "pass"  # noqa: S105  # a verdict, no password
REGRESSION: Final[GateVerdict] = "regression"
NOT_MEASURED: Final[GateVerdict] = "not_measured"
EXIT_OF: Final[Mapping[GateVerdict, ExitCode]] = {
    PASS: EXIT_OK,
    REGRESSION: EXIT_REGRESSION,
    NOT_MEASURED: EXIT_NOT_MEASURED,
}
UNPROVEN: Final = "integrity UNPROVEN: {why}"
_BRING_ALONG: Final = "on the state to compare with; in CI, do that there too, or bring .aiwg/ along as a cache"


class FailingTests(ValueObject):
    """The failing tests by current name: those that are `new` and those that failed before, `still`."""

    new: tuple[str, ...] = ()
    still: tuple[str, ...] = ()


def list_failing(known: KnownTests, tests: TestResults | None) -> FailingTests | None:
    """Return the failing tests, sorted; None if the report has no names."""
    if tests is None:
        return None
    before = {name for outcomes in (known.present, known.gone) for name, how in outcomes.items() if how == FAILED}
    now = sorted(name for name, how in tests.outcomes.items() if how == FAILED)
    return FailingTests(tuple(name for name in now if name not in before), tuple(n for n in now if n in before))


class Gate(ValueObject, shown="verdict reasons record"):
    """The result of a gate.

    `record` is what `post_iteration` would record now; it is stored nowhere, so the ids of its new alerts cannot be
    used. `compared_with` is the last iteration of the lineage. `list_failing` is None if no report names tests,
    `failures` are the first of them with place and message. With `strict`, SUSPECT does not pass.
    """

    record: IterationRecord
    compared_with: int
    measures: tuple[MetricSource, ...]
    failing: FailingTests | None = None
    strict: bool = False
    failures: tuple[str, ...] = ()

    @property
    def alerts(self) -> tuple[Alert, ...]:
        """Return the new and open alerts that were not accepted, worst first."""
        return self.record.unaccepted_alerts

    @property
    def findings(self) -> tuple[Alert, ...]:
        """Return those alerts that are about measured values; `unmeasured` has the others."""
        return tuple(alert for alert in self.alerts if alert.group is None)

    @property
    def accepted(self) -> tuple[Alert, ...]:
        """Return the open alerts that were accepted."""
        standing = in_order((*self.record.alerts, *self.record.open_alerts))
        return tuple(alert for alert in standing if alert.id in self.record.accepted)

    @property
    def critical(self) -> tuple[Alert, ...]:
        """Return the alerts that never pass."""
        return tuple(alert for alert in self.alerts if alert.severity is Severity.CRITICAL)

    @property
    def regressed(self) -> bool:
        """Return whether the class is regression."""
        return self.record.classification == "regression"

    @property
    def unmeasured(self) -> tuple[MetricSource, ...]:
        """Return the measures without a result, except those whose alert was accepted."""
        return tuple(measure for measure in self.measures if measure.why is not None and not measure.accepted)

    @property
    def verdict(self) -> GateVerdict:
        """Return the verdict; a measured regression counts even if something else was not measured.

        TAMPERED is a regression, because it has a CRITICAL alert; UNPROVEN is "not measured".
        """
        if self.critical or self.regressed or self.suspected:
            return REGRESSION
        return NOT_MEASURED if self.unmeasured or self.unproven else PASS

    @property
    def exit_code(self) -> ExitCode:
        """Return the exit code of its command."""
        return EXIT_OF[self.verdict]

    @property
    def suspected(self) -> tuple[Alert, ...]:
        """Return the new HIGH alerts that make an iteration SUSPECT, if that does not pass."""
        trust = self.record.integrity
        if not self.strict or trust is None or trust.verdict != "SUSPECT":
            return ()
        return tuple(a for a in self.alerts if self.is_new(a) and a.severity is Severity.HIGH and raises_doubt(a))

    @property
    def unproven(self) -> bool:
        """Return whether integrity is unproven: no test ran, some were not collected, or the re-run failed."""
        return self.record.integrity is not None and self.record.integrity.verdict == "UNPROVEN"

    @property
    def why_unproven(self) -> str:
        """Return why integrity is UNPROVEN."""
        trust = self.record.integrity
        problem = None if trust is None else trust.found.unproven
        return UNPROVEN.format(why=problem or "tests of the loop did not run")

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return why it does not pass, a line each; () where it passes."""
        critical = [f"{alert.type}: {alert_text(alert)}" for alert in self.critical]
        regressed = [f"class regression: {self.fall}"] if self.regressed else []
        suspected = [f"SUSPECT, and --strict was asked for: {alert_text(alert)}" for alert in self.suspected]
        unmeasured = [f"{measure.name} could not be measured: {measure.why}" for measure in self.unmeasured]
        unproven = [self.why_unproven] if self.unproven else []
        return (*critical, *regressed, *suspected, *unmeasured, *unproven)

    @property
    def next_step(self) -> str | None:
        """Return what to do next, None if the gate passes."""
        if self.verdict == PASS:
            return None
        if self.verdict == NOT_MEASURED:
            return "fix what gave nothing (`ralph-tracker doctor` helps), then run `ralph-tracker gate` again"
        older = next((alert.id for alert in self.critical if not self.is_new(alert)), None)
        accept = "" if older is None else f"; `ralph-tracker accept {older} --reason WHY` accepts it"
        return f"fix it, then run `ralph-tracker gate` again{accept}"

    @property
    def fall(self) -> str:
        """Return which of the four metrics that define the class got worse, else the score's change."""
        deltas = self.record.from_previous
        worse = []
        for spec in (BY_NAME[name] for name in KEY_METRICS):
            now, change = self.record.metrics.number(spec.name), deltas.get(spec.delta_name, 0)
            if now is not None and (change > 0 if spec.direction is Direction.DOWN_IS_BETTER else change < 0):
                before = half_up(now - change, COMPLEXITY_DECIMALS)
                worse.append(f"{spec.name} {plain_number(before)}→{plain_number(now)}")
        return ", ".join(worse) or f"score {plain_number(half_up(self.record.adjusted_score * 100, 1))} %"

    def is_new(self, alert: Alert) -> bool:
        """Return whether this measurement raises the alert for the first time."""
        return alert.iteration == self.record.iteration

    def to_dict(self) -> "GateDocument":
        """Return what the gate found."""
        record = self.record
        return {
            "schema_version": SCHEMA_VERSION,
            "verdict": self.verdict,
            "exit_code": self.exit_code,
            "loop_id": record.loop_id,
            "compared_with": self.compared_with,
            "classification": cast("Judged", record.classification),  # a gate compares, so that it is no baseline
            "quality_score": record.quality_score,
            "adjusted_score": record.adjusted_score,
            **cast("MetricsDocument", record.metrics.to_dict()),
            "deltas": dict(record.from_previous),
            "reasons": list(self.reasons),
            "next_step": self.next_step,
            "alerts": [self._alert(alert) for alert in (*self.alerts, *self.accepted)],
            "measures": [each.to_dict() for each in self.measures],
            "failing_tests": None if self.failing is None else self.failing.to_dict(),
            "failures": list(self.failures),
            "integrity": None if record.integrity is None else record.integrity.to_dict(),
            "notes": list(record.notes),
        }

    def _alert(self, alert: Alert) -> "GateAlertDocument":
        """Return an alert; one that no iteration on record has raised has neither an id nor a time yet."""
        new = self.is_new(alert)
        document = alert.to_dict("accepted" if alert in self.accepted else "new" if new else "open")
        return {**document, "id": None, "triggered_at": None} if new else document


def metric_lines(gate: Gate) -> list[str]:
    """Return the measured values as lines `METRIC name=value`, for benchmark loops; unknown values have no line.

    Scores with an unmeasured part, which counts as 0, are left out too.
    """
    record = gate.record
    known: dict[str, float] = {}
    if not (gate.unmeasured or gate.unproven):
        known = {"adjusted_score": record.adjusted_score, "quality_score": record.quality_score}
    for name in record.metrics.known_values():
        value = record.metrics.number(name)
        if value is not None:
            known[name] = value
    return [f"METRIC {name}={value}" for name, value in known.items()]


def alert_text(alert: Alert) -> str:
    """Return an alert's message with its note."""
    return f"{alert.message} ({alert.note})" if alert.note else alert.message


def gate_of(
    record: IterationRecord,
    compared_with: int,
    missing: Mapping[str, str],
    checks: tuple[MetricSource, ...] = (),
    failing: FailingTests | None = None,
    *,
    strict: bool = False,
) -> Gate:
    """Build the gate from a record that is not stored, why groups are missing, the checks that ran, and failing tests.

    A missing group that no check explains is listed under its own name.
    """
    gaps = {a.group: a for a in (*record.open_alerts, *record.alerts) if a.group is not None}
    whys = {group: missing.get(group) or gap.message.partition(": ")[2] for group, gap in gaps.items()}
    accepted = {group for group, gap in gaps.items() if gap.id in record.accepted}
    known = tuple(check._replace(accepted=check.group in accepted) for check in checks)
    named, explained = {c.group for c in known}, {c.group for c in known if c.why is not None}
    groups = {COMPONENT_BY_NAME[name].group for name in record.components} | {Group(group) for group in gaps}
    groups |= {BY_NAME[name].group for name in record.metrics.known_values()}
    rest = [
        MetricSource(group, group, whys.get(group), group in accepted)
        for group in Group
        if group in groups and (group not in named or (group in whys and group not in explained))
    ]
    return Gate(record=record, compared_with=compared_with, measures=(*known, *rest), failing=failing, strict=strict)


if TYPE_CHECKING:  # mypy knows no TypedDict that is made
    FailingDocument = dict[str, list[str]]
    MeasureDocument = Document
    GateAlertDocument = Document
else:
    FailingDocument, MeasureDocument = document_of(FailingTests), document_of(MetricSource)

    class GateAlertDocument(AlertDocument):
        """What no iteration on record has raised has neither an id nor a time yet."""

        id: str | None
        action: str
        triggered_at: str | None
        state: StandingState


class GateDocument(MetricsDocument):
    """`integrity` is null where nobody compared files and tests, `failing_tests` where no names of tests are known.

    `failures` are the first failing tests as `file:line name: message`, new ones first.
    """

    schema_version: SchemaVersion
    verdict: GateVerdict
    exit_code: ExitCode
    loop_id: str
    compared_with: int
    classification: Judged
    quality_score: float
    adjusted_score: float
    deltas: Numbers
    reasons: list[str]
    next_step: str | None
    alerts: list[GateAlertDocument]
    measures: list[MeasureDocument]
    failing_tests: FailingDocument | None
    failures: list[str]
    integrity: TrustDocument | None
    notes: list[str]


def gate(
    root: Path,
    loop_id: str | None,
    metrics: Source | None,
    *,
    now: datetime,
    environment: Mapping[str, str],
    progress: Progress | None = None,
    strict: bool = False,
    trust: Consent = False,
) -> Gate:
    """Measure, or take the given metrics, and judge them against the last iteration of the lineage.

    Nothing of the loop is written and no lock is taken; a loop that has ended works too. With `strict`, SUSPECT does
    not pass. Raises LoopError if there is no loop, InputError for unusable metrics, RecordError for an unreadable loop,
    UntrustedError for one of somebody else.
    """
    try:
        paths = find_loop(root, loop_id, environment)
    except LoopError as error:
        raise LoopError(f"{error}, {_BRING_ALONG}") from None
    loop = ConfiguredLoop.read(LoopStore(paths), configured_by)
    refuse_other_origin(loop, metrics)
    if metrics is None:
        Trust(loop.store.paths.root, trust).require_loop(loop.store.paths, lambda: loop_runs(loop.store))
    summary = summary_at(loop.store.paths)
    state = SealedRecords(loop.store.paths).state(summary, loop.config.thresholds)  # for a reader: nothing is repaired
    with folder_to_look() as folder:
        measured = IterationMeasurer(now, loop).preview(loop, state, metrics, environment, folder, progress=progress)
    judgement = judge_or_refuse(lambda: judge(state, measured.measurement))
    fails = list_failing(state.known, measured.measurement.tests)
    checks = () if measured.tree_measurement is None else measured.tree_measurement.measures
    found = gate_of(record_of(judgement), summary.head, measured.measurement.missing, checks, fails, strict=strict)
    said = {} if measured.measurement.tests is None else measured.measurement.tests.messages
    failing = () if fails is None else (*fails.new, *fails.still)
    named = [name for name in failing if not name.startswith(HELD_BACK)]
    told = (first_words(FailingTest(name, *split_message(said.get(name, "")))) for name in named[:FAILURES_LISTED])
    return found._replace(failures=tuple(told))


def counts_in_words(record: IterationRecord) -> str:
    """Return tests, coverage and findings in words, with a comma after them; "" where nothing was measured."""
    words = measured_in_words({spec.name: record.metrics.get(spec.name) for spec in METRICS})
    return f"{words}, " if words else ""
