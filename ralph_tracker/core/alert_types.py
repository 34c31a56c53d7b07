"""The table of alert types, one alert as it was raised, and the order of alerts (semantics § 5)."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from ralph_tracker.codec import ValueObject
from ralph_tracker.core.integrity_result import FINDINGS_LISTED, TESTS_LISTED, Finding, Severity
from ralph_tracker.core.metrics import FAILED

_ROLL_BACK, _FLAG, _REVIEW = "immediate_alert_and_rollback", "alert_and_flag_iteration", "alert_and_review"
StandingState = Literal["new", "open", "accepted"]
AlertState = Literal[StandingState, "closed"]
# What one removal of tests raises, by the names of the tests or by counts alone.
REMOVAL_ALERTS: Final = frozenset({"test_deletion", "tests_dropped", "tests_replaced", "functionality_loss"})


class AlertType(ValueObject, shown="name severity"):
    """A type of alert: `lasting` ones stay open until fixed.

    `rule` is the id of its rule in integrity.md, None without one; iteration/explain.py says what each asks for.
    """

    name: str
    severity: Severity
    action: str
    lasting: bool = False
    rule: str | None = None

    @classmethod
    def named(cls, name: str) -> "AlertType":
        """Return the type of that name. Raises KeyError where there is none."""
        return TYPE_BY_NAME[name]

    @property
    def title(self) -> str:
        """Return the name for display."""
        return self.name.replace("_", " ").capitalize()


def _of_finding(name: str, rule: str | None = None, *, rolls_back: bool = False) -> AlertType:
    """Return the type of alert for a rule's findings, which stays open while they hold; the rule may have its name."""
    severity, action = (Severity.CRITICAL, _ROLL_BACK) if rolls_back else (Severity.HIGH, _FLAG)
    return AlertType(name, severity, action, lasting=True, rule=rule or name)


TYPES: Final[tuple[AlertType, ...]] = (
    AlertType("test_deletion", Severity.CRITICAL, _ROLL_BACK, lasting=True),
    AlertType("working_tests_failing", Severity.CRITICAL, _ROLL_BACK, lasting=True),
    AlertType("build_broken", Severity.CRITICAL, _ROLL_BACK, lasting=True),
    AlertType("infinite_loop", Severity.CRITICAL, "force_terminate"),
    AlertType("functionality_loss", Severity.HIGH, _FLAG, lasting=True),
    AlertType("coverage_regression", Severity.HIGH, _FLAG),
    AlertType("error_increase", Severity.HIGH, "alert_regression"),
    AlertType("metric_missing", Severity.HIGH, _FLAG, lasting=True),
    AlertType("metric_cycling", Severity.HIGH, "escalate_to_human"),
    AlertType("config_changed", Severity.HIGH, _REVIEW),
    AlertType("file_deletion", Severity.MEDIUM, _REVIEW),
    AlertType("complexity_explosion", Severity.MEDIUM, "alert_complexity"),
    AlertType("tests_replaced", Severity.MEDIUM, _REVIEW),
    AlertType("tests_dropped", Severity.MEDIUM, _REVIEW),
    AlertType("flaky_test", Severity.MEDIUM, _REVIEW),
    AlertType("stalled", Severity.MEDIUM, "suggest_termination"),
    _of_finding("failure_hidden", rolls_back=True),
    _of_finding("green_by_edit"),
    _of_finding("demand_changed"),
    _of_finding("outcome_forged", rolls_back=True),
    _of_finding("unproven"),
    _of_finding("removed_with_code"),
    _of_finding("test_detected", "R1"),
    _of_finding("runner_forged", "R2"),
    _of_finding("equality_overloaded", "R3"),
    _of_finding("special_cased", "R4"),
    _of_finding("gate_lowered", "R5"),
    _of_finding("records_edited", "R6", rolls_back=True),
    _of_finding("not_looked_into", "U"),
)
TYPE_BY_RULE: Final[Mapping[str, AlertType]] = {kind.rule: kind for kind in TYPES if kind.rule}
TYPE_BY_NAME: Final[Mapping[str, AlertType]] = {kind.name: kind for kind in TYPES}


class Alert(ValueObject, document="id severity type message action triggered_at", shown="id severity message"):
    """One alert as it was raised.

    `note` adds what the fixed message cannot say: compared with which iteration, at which size. `tests` maps the tests
    concerned to their earlier outcome. Without names, `until` is the metric and the value that close the alert. `group`
    is the metric group that is missing. `rollback_to` is the iteration that was kept before the alert and
    `rollback_score` its adjusted score (None: there is none). `findings` are those it reports; `severity_override` is
    its severity where it differs from its type's.
    """

    kind: AlertType
    iteration: int
    message: str
    note: str = ""
    tests: Mapping[str, str] = {}
    until: tuple[str, float] | None = None
    group: str | None = None
    rollback_to: int | None = None
    rollback_score: float | None = None
    findings: tuple[Finding, ...] = ()
    severity_override: Severity | None = None

    @property
    def type(self) -> str:
        """Return the name of its type."""
        return self.kind.name

    @property
    def id(self) -> str:
        """Return the id used to accept it; unique per type and iteration, or per group."""
        suffix = f"-{self.group}" if self.group else ""
        return f"it{self.iteration}-{self.type}{suffix}"

    @property
    def severity(self) -> Severity:
        """Return the severity, by default that of its type."""
        return self.kind.severity if self.severity_override is None else self.severity_override

    @property
    def action(self) -> str:
        """Return what its type asks for."""
        return self.kind.action

    @property
    def lasting(self) -> bool:
        """Tell whether it stays open until it is fixed."""
        return self.kind.lasting

    @property
    def triggered_at(self) -> str:
        """Return when it was raised, in the specification's format."""
        return f"iteration_{self.iteration}"

    @property
    def facts(self) -> str:
        """Return what it says, as a sentence without its full stop."""
        return self.message.removesuffix(".") + (f" ({self.note})" if self.tests else "")

    @property
    def asked(self) -> tuple[str, ...]:
        """Return the keys of what a person is asked: its findings, or failing tests that went where nothing was run."""
        if self.type == "test_deletion" and FAILED in self.tests.values():
            return (self.id,)
        return tuple(finding.key for finding in self.findings if finding.is_question)

    def to_dict(self, state: AlertState | None = None) -> dict[str, Any]:
        """Return all that a person needs to act on it; long lists are cut. A record adds its `state` there."""
        document: dict[str, Any] = ValueObject.to_dict(self)
        if state is not None:
            document["state"] = state
        if self.note:
            document["note"] = self.note
        if self.tests:
            document["tests"] = sorted(self.tests)[:TESTS_LISTED]
            document["tests_total"] = len(self.tests)
        if self.findings:
            document["findings"] = [each.to_dict() for each in self.findings[:FINDINGS_LISTED]]
            document["findings_total"] = len(self.findings)
        return document

    def in_short(self, state: AlertState) -> dict[str, Any]:
        """Return an open alert in short: the record that raised it has the rest."""
        document: dict[str, Any] = ValueObject.to_dict(self)
        del document["action"]
        return {**document, "state": state}


def in_order(alerts: Iterable[Alert]) -> tuple[Alert, ...]:
    """Sort by severity, then type, then age."""
    return tuple(sorted(alerts, key=lambda a: (a.severity, a.type, a.iteration, a.group or "")))


def open_questions(alerts: Iterable[Alert]) -> Mapping[str, str]:
    """Return the facts of alerts that ask a person, by the keys of what is asked."""
    return {key: alert.facts for alert in alerts for key in alert.asked}


def same_event(alert: Alert, alerts: Iterable[Alert]) -> tuple[Alert, ...]:
    """Return the alert, and those that its iteration raised about the same removal of tests."""
    if alert.type not in REMOVAL_ALERTS:
        return (alert,)
    others = (each for each in alerts if each.iteration == alert.iteration and each.type in REMOVAL_ALERTS)
    about = (each for each in others if each.id != alert.id and each.tests.keys() <= alert.tests.keys())
    return (alert, *about)
