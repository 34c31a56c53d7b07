"""Alerts as values: the table of their types, and how they are ordered, opened and closed (semantics § 5)."""

from collections.abc import Iterable, Mapping
from typing import Final, Literal, NamedTuple

from ralph_tracker.core.aliases import NO_ALIASES, Aliases
from ralph_tracker.core.findings import Finding, Severity
from ralph_tracker.core.identities import restored
from ralph_tracker.core.metrics import Metrics, TestResults


class AlertType(NamedTuple):
    """Describe a type: `lasting` ones stay open until mended, `about_tests` ones un-verify an iteration.

    `rule` is the row of integrity.md that it stands for, None where it has none.
    """

    name: str
    severity: Severity
    action: str
    lasting: bool = False
    about_tests: bool = False
    rule: str | None = None

    @property
    def title(self) -> str:
        """Return the name as a person reads it."""
        return self.name.replace("_", " ").capitalize()


_ROLL_BACK, _FLAG, _REVIEW = "immediate_alert_and_rollback", "alert_and_flag_iteration", "alert_and_review"

TYPES: Final[tuple[AlertType, ...]] = (
    AlertType("test_deletion", Severity.CRITICAL, _ROLL_BACK, lasting=True, about_tests=True, rule="T1"),
    AlertType("working_tests_failing", Severity.CRITICAL, _ROLL_BACK, lasting=True, about_tests=True),
    AlertType("infinite_loop", Severity.CRITICAL, "force_terminate"),
    AlertType("functionality_loss", Severity.HIGH, _FLAG, lasting=True),
    AlertType("coverage_regression", Severity.HIGH, _FLAG),
    AlertType("error_increase", Severity.HIGH, "alert_regression"),
    AlertType("metric_missing", Severity.HIGH, _FLAG, lasting=True),
    AlertType("metric_cycling", Severity.HIGH, "escalate_to_human"),
    AlertType("config_changed", Severity.HIGH, _REVIEW),
    AlertType("file_deletion", Severity.MEDIUM, _REVIEW),
    AlertType("complexity_explosion", Severity.MEDIUM, "alert_complexity"),
    AlertType("tests_replaced", Severity.MEDIUM, _REVIEW, rule="T1"),
    AlertType("tests_merged", Severity.MEDIUM, _REVIEW),
    AlertType("flaky_test", Severity.MEDIUM, _REVIEW),
    AlertType("stalled", Severity.MEDIUM, "suggest_termination"),
    AlertType("tests_skipped", Severity.HIGH, _FLAG, lasting=True, rule="T2"),
    AlertType("run_narrowed", Severity.HIGH, _FLAG, lasting=True, rule="T3"),
    AlertType("vacuous_assertion", Severity.CRITICAL, _ROLL_BACK, lasting=True, rule="T4"),
    AlertType("assertions_removed", Severity.HIGH, _FLAG, lasting=True, rule="T5"),
    AlertType("assertion_weakened", Severity.HIGH, _FLAG, lasting=True, rule="T6"),
    AlertType("expectation_edited", Severity.MEDIUM, _REVIEW, lasting=True, rule="T7"),
    AlertType("failure_swallowed", Severity.HIGH, _FLAG, lasting=True, rule="T8"),
    AlertType("runner_forged", Severity.CRITICAL, _ROLL_BACK, lasting=True, rule="T9"),
    AlertType("test_rigged", Severity.CRITICAL, _ROLL_BACK, lasting=True, rule="T10"),
    AlertType("test_detected", Severity.HIGH, _FLAG, lasting=True, rule="T11"),
    AlertType("special_cased", Severity.MEDIUM, _REVIEW, lasting=True, rule="T12"),
    AlertType("lint_suppressed", Severity.MEDIUM, _REVIEW, lasting=True, rule="S1"),
    AlertType("types_suppressed", Severity.MEDIUM, _REVIEW, lasting=True, rule="S2"),
    AlertType("coverage_suppressed", Severity.MEDIUM, _REVIEW, lasting=True, rule="S3"),
    AlertType("gate_lowered", Severity.HIGH, _FLAG, lasting=True, rule="G1"),
    AlertType("ci_edited", Severity.HIGH, _FLAG, lasting=True, rule="G2"),
    AlertType("not_looked_into", Severity.HIGH, _FLAG, lasting=True, rule="U1"),
    AlertType("records_edited", Severity.CRITICAL, _ROLL_BACK, lasting=True, rule="G3"),
)
# T1 and T2 are raised by what the reports say; the others by findings.
TYPE_BY_RULE: Final[Mapping[str, AlertType]] = {kind.rule: kind for kind in TYPES if kind.rule and kind.rule != "T1"}
TYPE_BY_NAME: Final[Mapping[str, AlertType]] = {kind.name: kind for kind in TYPES}
AlertState = Literal["new", "open", "closed", "accepted"]


class Alert(NamedTuple):
    """Hold one alert as it was raised.

    `note` says what the message, whose words are fixed, cannot: compared with which iteration, at which size.
    `tests` maps the tests that it is about to their outcome before. `until` is the metric and the value at which it
    closes where no names are known, `fall` how far that metric fell then. `group` is what went missing.
    `rollback_to` is the best verified iteration before it was raised, None where there is none. `findings` are those
    that it stands for; `rated` is its severity where that is not its type's.
    """

    kind: AlertType
    iteration: int
    message: str
    note: str = ""
    tests: Mapping[str, str] = {}
    until: tuple[str, float] | None = None
    fall: int = 0
    group: str | None = None
    rollback_to: int | None = None
    findings: tuple[Finding, ...] = ()
    rated: Severity | None = None

    @property
    def id(self) -> str:
        """Return the id that a person accepts it by; one a type and iteration, or one a group."""
        suffix = f"-{self.group}" if self.group else ""
        return f"it{self.iteration}-{self.kind.name}{suffix}"

    @property
    def severity(self) -> Severity:
        """Return its severity, its type's where nothing else was said."""
        return self.kind.severity if self.rated is None else self.rated

    @property
    def lasting(self) -> bool:
        """Tell whether it stays open until mended; tests that were replaced do where names were matched."""
        return self.kind.lasting or (self.kind.rule is not None and self.rated is not None)

    @property
    def triggered_at(self) -> str:
        """Return when it was raised, as the seed writes it."""
        return f"iteration_{self.iteration}"


def in_order(alerts: Iterable[Alert]) -> tuple[Alert, ...]:
    """Sort by severity, then type, then age."""
    return tuple(sorted(alerts, key=lambda a: (a.severity, a.kind.name, a.iteration, a.group or "")))


class Mending(NamedTuple):
    """Hold what alerts are closed by: what was measured now, and the findings that stand, by their keys.

    `findings` is None where nobody looked for them: what is not measured now mends nothing.
    """

    metrics: Metrics
    tests: TestResults | None
    groups: frozenset[str]
    findings: Mapping[str, Finding] | None = None
    aliases: Aliases = NO_ALIASES

    def left_of(self, alert: Alert) -> Alert | None:
        """Return a lasting alert as it stands now, None where it is mended.

        Tests are back, under whichever name, with an outcome at least as good; without names, the count is back; of
        its findings none stands any more.
        """
        if alert.findings:
            return self._standing(alert)
        if alert.group is not None:
            return None if alert.group in self.groups else alert
        if alert.tests:
            back = self.tests is not None and restored(alert.tests, self.tests, self.aliases)
            return None if back else alert
        if alert.until is None:
            return alert
        name, wanted = alert.until
        value = self.metrics.number(name)
        return None if value is not None and value >= wanted else alert

    def _standing(self, alert: Alert) -> Alert | None:
        if self.findings is None:
            return alert
        left = tuple(self.findings[each.key] for each in alert.findings if each.key in self.findings)
        return alert._replace(findings=left) if left else None
