"""Make the view of an iteration for its reports: frozen values of strings, so that templates need no logic."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ralph_tracker.core.integrity_result import Severity
from ralph_tracker.core.metrics import BY_NAME, METRICS, MetricSpec, delta, half_up, known_score, plain_number
from ralph_tracker.core.thresholds import DIMENSIONS
from ralph_tracker.report.wording import (
    ABSENT,
    measured_in_words,
    money,
    number,
    rounded_weights,
    score,
    signed_text,
    usage_in_words,
)
from ralph_tracker.short_text import percent

Document = Mapping[str, Any]
_RANK: Final = {severity.name: int(severity) for severity in Severity}
FINDINGS_SHOWN: Final = 20
SEED_ROWS: Final = ("test_count", "pass_rate", "coverage_percentage", "error_count")


class MetricRow(NamedTuple):
    """One metric against the previous value and the baseline."""

    label: str
    current: str
    previous: str
    change: str
    baseline: str
    change_from_baseline: str


class DimensionRow(NamedTuple):
    """One dimension of the score."""

    label: str
    score: str
    weight: str
    contribution: str


class AlertRow(NamedTuple):
    """One alert; `carried` says that an earlier iteration raised it."""

    id: str
    severity: str
    type: str
    message: str
    note: str
    action: str
    state: str
    since: str
    carried: bool = False


class FindingRow(NamedTuple):
    """One integrity finding with its place, both texts and the output of a run, "" without one."""

    severity: str
    rule: str
    place: str
    message: str
    test: str
    old: str
    new: str
    failure: str
    command: str


class IterationView(NamedTuple):
    """One iteration; `integrity`, `cost`, `used` and `plan` are "" if unknown."""

    iteration: int
    sentence: str
    timestamp: str
    classification: str
    quality_score: str
    total: str
    rows: tuple[MetricRow, ...]
    more_rows: tuple[MetricRow, ...]
    dimensions: tuple[DimensionRow, ...]
    alerts: tuple[AlertRow, ...]
    all_alerts: tuple[AlertRow, ...]
    closed_alerts: tuple[str, ...]
    best: str
    best_score: str
    best_preserved: str
    action: str
    reason: str
    confidence: str
    alternatives: tuple[str, ...]
    adjusted_score: str
    adjusted_because: str
    evidence: str
    not_kept: str
    verified: str
    cost: str
    used: str
    plan: str
    notes: tuple[str, ...]
    integrity: str
    findings: tuple[FindingRow, ...]
    more_findings: int
    reruns: tuple[str, ...]
    unread: tuple[str, ...]


def new_alerts(document: Document) -> tuple[AlertRow, ...]:
    """Return the alerts that an iteration raised."""
    return tuple(_alert(alert) for alert in document["iteration_metrics"].get("alerts") or ())


def findings_of(document: Document) -> tuple[FindingRow, ...]:
    """Return the integrity findings of a record."""
    trust = document["iteration_metrics"].get("integrity") or {}
    return tuple(_finding(finding) for finding in trust.get("findings") or ())


def iteration_view(document: Document) -> IterationView:
    """Return the view of a record; values that a foreign document lacks are n/a."""
    record = document["iteration_metrics"]
    tracker, advice = document.get("best_iteration_tracker") or {}, document.get("recommendation") or {}
    given, cost = record.get("score") == "given", (record.get("usage") or {}).get("cost_usd")
    quality = score(record.get("quality_score"))
    best = tracker.get("current_best")
    alerts = new_alerts(document)
    carried = tuple(_alert(alert, carried=True) for alert in record.get("open_alerts") or ())
    trust = record.get("integrity") or {}
    findings = findings_of(document)
    return IterationView(
        iteration=record["iteration"],
        sentence=_sentence(record),
        timestamp=record.get("timestamp") or ABSENT,
        classification=record.get("classification") or ABSENT,
        quality_score=quality,
        total=f"{quality} (given)" if given else quality,
        rows=tuple(_metric_row(BY_NAME[name], record) for name in SEED_ROWS),
        more_rows=tuple(
            _metric_row(spec, record)
            for spec in METRICS
            if spec.name not in SEED_ROWS and value_of(record, spec) is not None
        )
        + tuple(_further_row(name, each) for name, each in (record.get("metrics") or {}).items()),
        dimensions=_dimensions(record),
        alerts=alerts,
        # The worst first; an unknown severity comes last.
        all_alerts=tuple(
            sorted((*alerts, *carried), key=lambda each: (_RANK.get(each.severity, len(_RANK)), each.type))
        ),
        closed_alerts=tuple(record.get("closed_alerts") or ()),
        best=ABSENT if best is None else str(best).removeprefix("iteration_"),
        best_score=score(tracker.get("best_quality_score")),
        best_preserved="yes" if record.get("tree") else "no",
        action=advice.get("action") or ABSENT,
        reason=advice.get("reason") or ABSENT,
        confidence=ABSENT if advice.get("confidence") is None else f"{advice['confidence']:.2f}",
        alternatives=tuple(advice.get("alternatives") or ()),
        adjusted_score=score(record.get("adjusted_score")),
        adjusted_because=record.get("adjusted_because") or "",
        evidence=ABSENT if record.get("evidence") is None else f"{record['evidence'] * 100:.0f}%",
        not_kept=str(record.get("not_kept") or ""),
        verified={True: "yes", False: "no"}.get(record.get("verified"), ABSENT),
        cost="" if cost is None else money(cost),
        used=usage_in_words([record.get("usage") or {}]),
        plan=plan_tasks(record),
        notes=tuple(record.get("notes") or ()),
        integrity=trust.get("verdict") or "",
        findings=findings[:FINDINGS_SHOWN],
        more_findings=max(0, trust.get("findings_total", 0) - FINDINGS_SHOWN),
        reruns=tuple(rerun_line(each) for each in trust.get("reruns") or ()),
        unread=tuple(f"{file}: {why}" for file, why in (trust.get("unread") or {}).items()),
    )


def _sentence(record: Document) -> str:
    """Return what was measured in an iteration, beside the values before it, and its score."""
    now = {spec.name: value_of(record, spec) for spec in METRICS}
    moved = (record.get("deltas") or {}).get("from_previous") or {}
    old = {spec.name: _before(now[spec.name], moved.get(spec.delta_name), spec) for spec in METRICS}
    facts = measured_in_words(now, old) or "nothing measured"
    shown = known_score(record.get("adjusted_score"), now.values())
    return f"{facts[0].upper()}{facts[1:]}{'' if shown is None else f'; score {percent(shown)}'}."


def plan_tasks(record: Document) -> str:
    """Return the done and total tasks of the plan, "" if no plan is known."""
    plan = record.get("plan")
    return "" if not plan else f"{plan['done']}/{plan['done'] + plan['open']}"


def commit_of(record: Document) -> str:
    """Return the commit that an iteration of a replay is, with its subject, "" for another iteration."""
    told = (str(note).partition("commit ") for note in record.get("notes") or ())
    return next((rest.replace(": ", " ", 1) for before, word, rest in told if word and not before), "")


def value_of(record: Document, spec: MetricSpec) -> Any:  # noqa: ANN401  # a number, a status or None
    """Return a metric of a record's document, None if it is missing."""
    return (record.get(spec.section) or {}).get(spec.name)


def current_value(record: Document, name: str) -> str:
    """Return a metric of a record's document as it is shown."""
    spec = BY_NAME[name]
    return number(value_of(record, spec), spec)


def _metric_row(spec: MetricSpec, record: Document) -> MetricRow:
    value = value_of(record, spec)
    deltas = record.get("deltas") or {}
    change = (deltas.get("from_previous") or {}).get(spec.delta_name)
    from_baseline = (deltas.get("from_baseline") or {}).get(spec.delta_name)
    return MetricRow(
        spec.label,
        number(value, spec),
        number(_before(value, change, spec), spec),
        signed_text(change, spec),
        number(_before(value, from_baseline, spec), spec),
        signed_text(from_baseline, spec),
    )


def _further_row(name: str, metric: Document) -> MetricRow:
    return MetricRow(name, with_spread(metric), ABSENT, ABSENT, ABSENT, ABSENT)


def with_spread(metric: Document) -> str:
    """Return a metric beside the table with its unit, and how many repeats it has from where to where."""
    samples = metric.get("samples") or ()
    # One number alone has no spread.
    if len(samples) < 2:
        return further_value(metric)
    least, most = (plain_number(float(f"{each:.4g}")) for each in (min(samples), max(samples)))
    return f"{further_value(metric)} ({len(samples)} from {least} to {most})"


def further_value(metric: Document) -> str:
    """Return a metric beside the table with its unit."""
    value, unit = metric.get("value"), f" {metric['unit']}" if metric.get("unit") else ""
    return ABSENT if value is None else f"{plain_number(float(f'{value:.4g}'))}{unit}"


def _before(value: Any, change: float | None, spec: MetricSpec) -> float | None:  # noqa: ANN401  # as value_of
    if change is None or not isinstance(value, int | float):
        return None
    return delta(value, change, spec.decimals)


def _dimensions(record: Document) -> tuple[DimensionRow, ...]:
    scores, weights = record.get("breakdown") or {}, record.get("weights") or {}
    shown = rounded_weights(weights)
    return tuple(
        DimensionRow(
            name.capitalize(),
            f"{half_up(scores[name], 2):.2f}" if name in scores else ABSENT,
            shown.get(name, "0.00"),
            f"{half_up(scores[name] * weights[name] / 100, 4):.4f}" if {name} <= scores.keys() & weights else "0.00",
        )
        for name in DIMENSIONS
    )


def _alert(alert: Document, *, carried: bool = False) -> AlertRow:
    return AlertRow(
        id=str(alert.get("id", "")),
        severity=str(alert.get("severity", "")),
        type=str(alert.get("type", "")),
        message=str(alert.get("message", "")),
        note=str(alert.get("note", "")),
        action=str(alert.get("action", "")),
        state=str(alert.get("state", "new")),
        since=str(alert.get("triggered_at", "")).replace("_", " "),
        carried=carried,
    )


def _finding(finding: Document) -> FindingRow:
    file, line = finding.get("file", ""), finding.get("line")
    return FindingRow(
        severity=str(finding.get("severity", "")),
        rule=str(finding.get("rule", "")),
        place=f"{file}:{line}" if line else str(file),
        message=str(finding.get("message", "")),
        test=str(finding.get("test") or ""),
        old=str(finding.get("old") or ""),
        new=str(finding.get("new") or ""),
        failure=_first_lines(str(finding.get("failure") or "")),
        command=str(finding.get("command") or ""),
    )


def _first_lines(text: str) -> str:
    lines = [line.rstrip() for line in text[:600].splitlines() if line.strip()]
    return "\n".join(lines[:12])


def rerun_line(rerun: Document) -> str:
    """Return in one line what was run again and the result."""
    references = rerun.get("references") or {}
    forms = ", ".join(str(number) for number in sorted(set(references.values())))
    files = f"{len(references)} {'file' if len(references) == 1 else 'files'} as of iteration {forms}"
    if rerun.get("problem"):
        return f"{files}: {rerun['problem']}"
    flaky = f", {len(rerun['flaky'])} flaky" if rerun.get("flaky") else ""
    seconds = f"{float(rerun.get('duration_s') or 0):.1f} s"
    return f"{files}, run on this source in {seconds}: {rerun['tests']} tests, {rerun['failed']} failed{flaky}"
