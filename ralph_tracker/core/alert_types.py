"""The table of alert types, one alert as it was raised, and the order of alerts (semantics § 5)."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from ralph_tracker.codec import ValueObject
from ralph_tracker.core.integrity_result import FINDINGS_LISTED, TESTS_LISTED, Finding, Severity

_ROLL_BACK, _FLAG, _REVIEW = "immediate_alert_and_rollback", "alert_and_flag_iteration", "alert_and_review"
StandingState = Literal["new", "open", "accepted"]
AlertState = Literal[StandingState, "closed"]
# What one removal of tests raises, by the names of the tests or by counts alone.
REMOVAL_ALERTS: Final = frozenset({"test_deletion", "tests_dropped", "tests_replaced", "functionality_loss"})


class AlertType(ValueObject, shown="name severity"):
    """A type of alert: `lasting` ones stay open until fixed.

    `asks` says what must hold, and `metric` names what is shown beside it, before and now; where thresholds belong to
    it, iteration/explain.py has the words. `rule` is the id of its rule in integrity.md, None without one.
    """

    name: str
    severity: Severity
    action: str
    asks: str = ""
    metric: str | None = None
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


def _of_finding(name: str, asks: str, rule: str | None = None, *, rolls_back: bool = False) -> AlertType:
    """Return the type of alert for a rule's findings, which stays open while they hold; the rule may have its name."""
    severity, action = (Severity.CRITICAL, _ROLL_BACK) if rolls_back else (Severity.HIGH, _FLAG)
    return AlertType(name, severity, action, asks, lasting=True, rule=rule or name)


TYPES: Final[tuple[AlertType, ...]] = (
    AlertType(
        "test_deletion",
        Severity.CRITICAL,
        _ROLL_BACK,
        "the count of tests must not fall",
        metric="test_count",
        lasting=True,
    ),
    AlertType("working_tests_failing", Severity.CRITICAL, _ROLL_BACK, lasting=True),
    AlertType("build_broken", Severity.CRITICAL, _ROLL_BACK, lasting=True),
    AlertType("infinite_loop", Severity.CRITICAL, "force_terminate"),
    AlertType(
        "functionality_loss",
        Severity.HIGH,
        _FLAG,
        "passing tests must not be deleted, skipped or renamed away",
        metric="tests_passed",
        lasting=True,
    ),
    AlertType("coverage_regression", Severity.HIGH, _FLAG),
    AlertType("error_increase", Severity.HIGH, "alert_regression"),
    AlertType(
        "metric_missing",
        Severity.HIGH,
        _FLAG,
        "what the loop has is to be measured in every iteration; missing, it counts 0",
        lasting=True,
    ),
    AlertType("metric_cycling", Severity.HIGH, "escalate_to_human"),
    AlertType(
        "config_changed",
        Severity.HIGH,
        _REVIEW,
        "the configuration is frozen at pre-loop; a change is reported but not used",
    ),
    AlertType(
        "file_deletion", Severity.MEDIUM, _REVIEW, "the count of source files must not fall", metric="file_count"
    ),
    AlertType("complexity_explosion", Severity.MEDIUM, "alert_complexity"),
    AlertType("tests_replaced", Severity.MEDIUM, _REVIEW),
    AlertType("tests_dropped", Severity.MEDIUM, _REVIEW, "a passing test should not go while nothing replaces it"),
    AlertType("flaky_test", Severity.MEDIUM, _REVIEW),
    AlertType("stalled", Severity.MEDIUM, "suggest_termination"),
    _of_finding(
        "failure_hidden",
        "a red test must not be deleted or skipped: its earlier form fails on this source",
        rolls_back=True,
    ),
    _of_finding("green_by_edit", "a red test must turn green by the source: its earlier form fails on this source"),
    _of_finding(
        "demand_changed", "a test that passed must not be edited to pass: its earlier form fails on this source"
    ),
    _of_finding(
        "outcome_forged", "settings and hooks must not decide how a test ends: the unedited test fails", rolls_back=True
    ),
    _of_finding("unproven", "a test turned green or went, and its earlier form could not be run on this source"),
    _of_finding(
        "removed_with_code", "a person confirms that a feature was to be removed together with its failing test"
    ),
    _of_finding("test_detected", "the source must not ask whether it is under test", "R1"),
    _of_finding("runner_forged", "only the runner says how a test ended", "R2"),
    _of_finding("equality_overloaded", "a comparison must compare", "R3"),
    _of_finding("special_cased", "the source must not know the values of its tests", "R4"),
    _of_finding("gate_lowered", "a gate must not be lowered within a loop", "R5"),
    _of_finding("records_edited", "records and frozen configuration are the tracker's own", "R6", rolls_back=True),
    _of_finding("not_looked_into", "a file that decides about tests must stay readable", "U"),
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


def same_event(alert: Alert, alerts: Iterable[Alert]) -> tuple[Alert, ...]:
    """Return the alert, and those that its iteration raised about the same removal of tests."""
    if alert.type not in REMOVAL_ALERTS:
        return (alert,)
    others = (each for each in alerts if each.iteration == alert.iteration and each.type in REMOVAL_ALERTS)
    about = (each for each in others if each.id != alert.id and each.tests.keys() <= alert.tests.keys())
    return (alert, *about)
