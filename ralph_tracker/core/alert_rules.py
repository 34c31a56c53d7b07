"""Raise the alerts of an iteration, one function per type, and close those that are fixed (semantics § 5)."""

from collections.abc import Callable, Collection, Mapping
from typing import Final, NamedTuple

from ralph_tracker.core.alert_types import TYPE_BY_NAME, Alert, in_order
from ralph_tracker.core.integrity_result import NOTHING_FOUND, EarlierTests, Finding
from ralph_tracker.core.judge_state import JudgeState
from ralph_tracker.core.known_tests import ChangedTests, are_restored, is_of_run, names_in_short
from ralph_tracker.core.lineage import Classification, Cycle, Lineage
from ralph_tracker.core.metrics import (
    BY_NAME,
    PASSED,
    MeasuredValue,
    Measurement,
    Metrics,
    delta,
    errors_at_size,
    plain_number,
    without_noise,
)
from ralph_tracker.core.score import COMPONENT_BY_NAME, Basis
from ralph_tracker.core.walk import are_too_many


class AlertFacts(NamedTuple):
    """The facts that alerts are raised on: the state before, and what was measured.

    `metrics` are those recorded, `tests` the comparison by name (None: no names on one side), `components` those of the
    score (None: not measured). `dropped` are the believed tests of the kept iteration that are gone for nothing.
    """

    state: JudgeState
    basis: Basis
    metrics: Metrics
    measurement: Measurement
    components: Mapping[str, float | None]
    tests: ChangedTests | None
    dropped: tuple[str, ...] = ()

    @property
    def iteration(self) -> int:
        """Return the number of this iteration."""
        return self.state.iteration + 1

    @property
    def line(self) -> Lineage:
        """Return the lineage before it."""
        return self.state.lineage

    @property
    def passing(self) -> int:
        """Return how many believed tests the kept iteration has."""
        return 0 if self.state.kept is None else self.state.kept.passing

    @property
    def not_loaded(self) -> Mapping[str, str]:
        """Return what does not load and did before, with the reason."""
        known = self.line.not_loaded
        return {place: why for place, why in self.measurement.not_loaded.items() if place not in known}

    @property
    def failing_runs(self) -> frozenset[str]:
        """Return the runs that fail as a whole, whatever their tests say, and did not always do so."""
        return self.line.failing_runs_now(self.measurement.not_loaded)

    @property
    def earlier(self) -> EarlierTests | None:
        """Return what earlier tests showed; None where nothing can be run, so that names and counts alone decide."""
        found = self.measurement.integrity
        return None if found is None or self.tests is None else found.earlier

    @property
    def dropped_too_many(self) -> bool:
        """Return whether the tests that are gone for nothing are more than the walk allows."""
        return are_too_many(len(self.dropped), self.passing)

    @property
    def fall_is_explained(self) -> bool:
        """Return whether a lower test count is no loss: few tests went for nothing, and no failing one is hidden."""
        if self.earlier is None or self.dropped_too_many:
            return False
        return all(each.rule != "failure_hidden" for each in self.new_findings)

    @property
    def new_findings(self) -> tuple[Finding, ...]:
        """Return the findings that this iteration raises and nobody accepted."""
        known = {each.key for alert in self.line.open_alerts for each in alert.findings}
        found, accepted = self.measurement.integrity or NOTHING_FOUND, self.state.accepted_findings
        return tuple(each for each in found.findings if each.key not in known and each.stamp not in accepted)

    @property
    def build_broke(self) -> bool:
        """Return whether tests are no longer collected because something stopped loading in this loop."""
        if not self.not_loaded or not self.iteration:
            return False
        if self.tests is None and all(is_of_run(place) for place in self.not_loaded):
            return self.metrics.tests_passed is None or self.fall("tests_passed") is not None
        return self.tests is None or bool(self.tests.not_collected)

    @property
    def not_collected(self) -> bool:
        """Return whether tests of earlier iterations are missing because something does not load, now or still."""
        return self.build_broke or (self.tests is not None and bool(self.tests.not_collected))

    @property
    def gained(self) -> bool:
        """Return whether tests are believed now that did not pass before; without names, whether more pass."""
        if self.tests is not None:
            return bool(self.tests.gained)
        return (self.change("tests_passed") or 0) > 0

    @property
    def lost(self) -> bool:
        """Return whether tests that passed before do not pass now; without names, whether fewer pass."""
        if self.tests is not None:
            return bool(self.tests.broken or self.tests.lost or self.tests.not_collected)
        return (self.change("tests_passed") or 0) < 0

    def change(self, name: str) -> float | None:
        """Return the change of a metric since it was last measured, None if either value is unknown."""
        now, before = self.metrics.number(name), self.line.readings.get(name)
        return None if now is None or before is None else now - before.value

    def fall(self, name: str) -> tuple[float, MeasuredValue] | None:
        """Return the value now and the previous reading if the metric fell, else None."""
        now, before = self.metrics.number(name), self.line.readings.get(name)
        if now is None or before is None or now >= before.value:
            return None
        return now, before

    def age(self, reading: MeasuredValue) -> str:
        """Return a note if a value was last measured before the previous iteration, else ""."""
        if reading.iteration >= (self.line.head or 0):
            return ""
        return f"compared with iteration {reading.iteration}, the last that measured it"

    @property
    def stale_names_note(self) -> str:
        """Return a note if tests were last reported before the previous iteration, else ""."""
        reading = self.line.readings.get("test_count")
        return "" if reading is None else self.age(reading)

    def alert(self, kind: str, message: str, *notes: str, tests: Mapping[str, str] | None = None) -> Alert:
        """Return an alert of this iteration."""
        return Alert(
            kind=TYPE_BY_NAME[kind],
            iteration=self.iteration,
            message=message,
            note="; ".join(note for note in notes if note),
            tests=tests or {},
        )


def working_tests_failing(facts: AlertFacts) -> Alert | None:
    """Raise an alert if a test that passed before fails now; without names, if fewer pass and more fail."""
    kind = "working_tests_failing"
    if facts.tests is not None:
        if not facts.tests.broken:
            return None
        names = names_in_short(facts.tests.broken)
        return facts.alert(
            kind, f"Previously passing tests now failing: {names}", facts.stale_names_note, tests=facts.tests.broken
        )
    passed, failed = facts.fall("tests_passed"), facts.line.readings.get("tests_failed")
    now_failed = facts.metrics.tests_failed
    if passed is None or failed is None or now_failed is None or now_failed <= failed.value:
        return None
    now, before = passed
    names = (
        f"failing: {names_in_short(facts.measurement.failing_named)}"
        if facts.measurement.failing_named
        else "names are not known"
    )
    counts = f"passed {before.value:g}→{now:g}, failed {failed.value:g}→{now_failed}; {names}"
    alert = facts.alert(kind, "Previously passing tests now failing", counts, facts.age(before))
    return alert._replace(until=("tests_passed", before.value))


def build_broken(facts: AlertFacts) -> Alert | None:
    """Raise an alert if tests are not collected, rather than deleted, because a file no longer loads."""
    if not facts.build_broke:
        return None
    files = [why for place, why in facts.not_loaded.items() if not is_of_run(place)]
    more = f", and {len(files) - 1} more" if len(files) > 1 else ""
    message = f"Does not build: {files[0]}{more}" if files else next(iter(facts.not_loaded.values()))
    lost = {} if facts.tests is None else facts.tests.not_collected
    note = f"{len(lost)} tests are not collected: {names_in_short(lost)}" if lost else "no test was collected"
    return facts.alert("build_broken", message, note, tests=lost)


def _functionality_loss(facts: AlertFacts) -> Alert | None:
    if facts.earlier is not None or working_tests_failing(facts) is not None or facts.build_broke:
        return None
    lost = facts.tests.lost if facts.tests else {}
    fall = facts.fall("tests_passed")
    if fall is None or (facts.tests is not None and fall[1].value - fall[0] <= len(facts.tests.flaky)):
        skipped = {name: was for name, was in lost.items() if facts.tests and name not in facts.tests.vanished}
        message = f"Passing tests are skipped now: {names_in_short(skipped)}"
        return facts.alert("functionality_loss", message, facts.stale_names_note, tests=skipped) if skipped else None
    now, before = fall
    message = f"Passing tests decreased from {before.value:g} to {now:g}"
    if lost:
        note = f"deleted, skipped or renamed away: {names_in_short(lost)}"
        return facts.alert("functionality_loss", message, note, facts.age(before), tests=lost)
    return facts.alert("functionality_loss", message, facts.age(before))._replace(until=("tests_passed", before.value))


def _coverage_regression(facts: AlertFacts) -> Alert | None:
    fall, limit = facts.fall("coverage_percentage"), facts.state.thresholds.alerts.coverage_drop
    if fall is None:
        return None
    now, before = fall
    if delta(now, before.value, BY_NAME["coverage_percentage"].decimals) >= -limit:
        return None
    drop = f"{plain_number(before.value)}%→{plain_number(now)}%"
    message = f"Coverage dropped {drop} (exceeds -{plain_number(limit)}% threshold)"
    return facts.alert("coverage_regression", message, facts.age(before))


def _error_increase(facts: AlertFacts) -> Alert | None:
    count, before = facts.metrics.error_count, facts.line.readings.get("error_count")
    if count is None or before is None:
        return None
    loc = facts.line.readings.get("loc_total")
    sized = errors_at_size(count, facts.metrics.loc_total, loc.value if loc else None)
    rise = sized - before.value
    if rise <= facts.state.thresholds.alerts.error_increase:
        return None
    note = "" if sized == count else f"{count} in the grown code count as {sized} at the previous size"
    return facts.alert("error_increase", f"Error count increased by {rise:g}", note, facts.age(before))


def _config_changed(facts: AlertFacts) -> Alert | None:
    if not facts.measurement.config_changed:
        return None
    keys = ", ".join(facts.measurement.config_changed)
    return facts.alert("config_changed", f"Configuration changed: {keys}; the frozen one is used")


def _file_deletion(facts: AlertFacts) -> Alert | None:
    fall = facts.fall("file_count")
    if fall is None:
        return None
    now, before = fall
    note = f"{before.value:g}→{now:g} files"
    return facts.alert("file_deletion", "File count decreased (potential code deletion)", note, facts.age(before))


def _complexity_explosion(facts: AlertFacts) -> Alert | None:
    now, before = facts.metrics.complexity_score, facts.line.readings.get("complexity_score")
    growth = facts.state.thresholds.alerts.complexity_growth
    if now is None or before is None or now <= without_noise((1 + growth) * before.value):
        return None
    note = f"{plain_number(before.value)}→{plain_number(now)} a function"
    message = f"Complexity increased >{plain_number(growth * 100)}%"
    return facts.alert("complexity_explosion", message, note, facts.age(before))


def _flaky_test(facts: AlertFacts) -> Alert | None:
    flaky = {} if facts.tests is None else facts.tests.flaky
    reported = facts.measurement.tests
    failed_first = frozenset[str]() if reported is None else reported.failed_first
    told = [f"Flaky test failed: {names_in_short(flaky)}"] if flaky else []
    if failed_first:
        told.append(f"Flaky test failed, then passed: {names_in_short(failed_first)}")
    tests = {**flaky, **dict.fromkeys(sorted(failed_first), PASSED)}
    return facts.alert("flaky_test", "; ".join(told), facts.stale_names_note, tests=tests) if told else None


_RULES: Final[tuple[Callable[[AlertFacts], Alert | None], ...]] = (
    working_tests_failing,
    build_broken,
    _functionality_loss,
    _coverage_regression,
    _error_increase,
    _config_changed,
    _file_deletion,
    _complexity_explosion,
    _flaky_test,
)


def missing_groups(facts: AlertFacts) -> dict[str, tuple[str, ...]]:
    """Return the metrics that are missing from the loop's components, by group.

    For error_count, those of its parts that are missing.
    """
    groups: dict[str, list[str]] = {}
    for name, value in facts.components.items():
        if value is not None:
            continue
        spec = COMPONENT_BY_NAME[name]
        reads = [(metric, spec.group) for metric in spec.reads]
        if name == "error_count_inverted" and facts.basis.error_parts:
            reads = [(part, BY_NAME[part].group) for part in facts.basis.error_parts]
        for metric, group in reads:
            if facts.metrics.get(metric) is None and metric not in groups.setdefault(group, []):
                groups[group].append(metric)
    return {group: tuple(metrics) for group, metrics in groups.items()}


def raise_alerts(facts: AlertFacts, classification: Classification, cycle: Cycle | None) -> tuple[Alert, ...]:
    """Return the new alerts of an iteration, except those of integrity, the worst first."""
    alerts = [alert for rule in _RULES if (alert := rule(facts)) is not None]
    already = {alert.group for alert in facts.line.open_alerts}
    for group, metrics in missing_groups(facts).items():
        if group in already:
            continue
        why = facts.measurement.missing.get(group) or f"no {', '.join(metrics)} in the metrics handed in"
        message = f"{group.capitalize()} could not be measured: {why}"
        alerts.append(
            Alert(kind=TYPE_BY_NAME["metric_missing"], iteration=facts.iteration, message=message, group=group)
        )
    if cycle is not None:
        repeats = f"iteration {facts.iteration} repeats iteration {cycle.repeats}"
        same = "the same tree for the third time" if cycle.same_tree else ""
        if facts.iteration > facts.state.thresholds.cycling.terminate_after:
            alerts.append(facts.alert("infinite_loop", "Infinite loop detected: metrics cycling", repeats, same))
        else:
            alerts.append(facts.alert("metric_cycling", f"Metrics cycling: {repeats}", same))
    if classification == "stalled":
        window = facts.state.thresholds.stall.window
        alerts.append(facts.alert("stalled", f"No meaningful progress for {window} iterations"))
    return in_order(alerts)


def remaining_alert(alert: Alert, facts: AlertFacts, explained: Collection[str] = ()) -> Alert | None:
    """Return what is left of a lasting alert, None if it is fixed; what was not measured fixes nothing.

    It is fixed once its tests are back with an outcome at least as good, or `explained` (held, or retired); without
    names, once the count is back; or once none of its findings holds.
    """
    if alert.findings:
        if facts.measurement.integrity is None:
            return alert
        now = {each.key: each for each in facts.measurement.integrity.findings}
        left = tuple(now[each.key] for each in alert.findings if each.key in now)
        return alert._replace(findings=left) if left else None
    if alert.type == "build_broken":
        # Tests that were not measured may not load yet; a loop without any has nothing else to wait for.
        measured = facts.metrics.test_count is not None or "all_tests_pass" not in facts.components
        if measured and not facts.not_collected:
            return None
        if not alert.tests or facts.tests is None:
            return alert
        still = {name: was for name, was in alert.tests.items() if name in facts.tests.not_collected}
        return alert._replace(tests=still) if still else None
    if alert.group is not None:
        return alert if alert.group in missing_groups(facts) else None
    if alert.tests:
        reported = facts.measurement.tests
        return None if reported is not None and are_restored(alert.tests, reported, explained) else alert
    if alert.until is None:
        return alert
    name, wanted = alert.until
    value = facts.metrics.number(name)
    return None if value is not None and value >= wanted else alert
