"""Alerts as values: the table of their types, and how they are ordered, opened and closed (semantics § 5)."""

from collections.abc import Iterable, Mapping
from typing import Final, Literal, NamedTuple

from ralph_tracker.core.findings import Finding, Severity
from ralph_tracker.core.identities import NO_ALIASES, Aliases, restored
from ralph_tracker.core.metrics import Metrics, TestResults

_ROLL_BACK, _FLAG, _REVIEW = "immediate_alert_and_rollback", "alert_and_flag_iteration", "alert_and_review"
StandingState = Literal["new", "open", "accepted"]
AlertState = Literal[StandingState, "closed"]
# What one removal of tests raises, by the names of the tests or by counts alone.
OF_A_REMOVAL: Final = frozenset({"test_deletion", "tests_replaced", "functionality_loss"})


class AlertType(NamedTuple):
    """Describe a type: `lasting` ones stay open until fixed, `about_tests` ones un-verify an iteration.

    `rule` is the row of integrity.md that it stands for, None where it has none.
    """

    name: str
    severity: Severity
    action: str
    lasting: bool = False
    about_tests: bool = False
    rule: str | None = None

    @classmethod
    def named(cls, name: str) -> "AlertType":
        """Return the type of that name. Raises KeyError where there is none."""
        return TYPE_BY_NAME[name]

    @property
    def title(self) -> str:
        """Return the name as a person reads it."""
        return self.name.replace("_", " ").capitalize()


TYPES: Final[tuple[AlertType, ...]] = (
    AlertType("test_deletion", Severity.CRITICAL, _ROLL_BACK, lasting=True, about_tests=True),
    AlertType("working_tests_failing", Severity.CRITICAL, _ROLL_BACK, lasting=True, about_tests=True),
    AlertType("build_broken", Severity.CRITICAL, _ROLL_BACK, lasting=True, about_tests=True),
    AlertType("infinite_loop", Severity.CRITICAL, "force_terminate"),
    AlertType("functionality_loss", Severity.HIGH, _FLAG, lasting=True, about_tests=True),
    AlertType("coverage_regression", Severity.HIGH, _FLAG),
    AlertType("error_increase", Severity.HIGH, "alert_regression"),
    AlertType("metric_missing", Severity.HIGH, _FLAG, lasting=True),
    AlertType("metric_cycling", Severity.HIGH, "escalate_to_human"),
    AlertType("config_changed", Severity.HIGH, _REVIEW),
    AlertType("file_deletion", Severity.MEDIUM, _REVIEW),
    AlertType("complexity_explosion", Severity.MEDIUM, "alert_complexity"),
    AlertType("tests_replaced", Severity.MEDIUM, _REVIEW),
    AlertType("tests_merged", Severity.MEDIUM, _REVIEW),
    AlertType("flaky_test", Severity.MEDIUM, _REVIEW),
    AlertType("stalled", Severity.MEDIUM, "suggest_termination"),
    AlertType("failure_hidden", Severity.CRITICAL, _ROLL_BACK, lasting=True, rule="failure_hidden"),
    AlertType("green_by_edit", Severity.HIGH, _FLAG, lasting=True, rule="green_by_edit"),
    AlertType("demand_changed", Severity.HIGH, _FLAG, lasting=True, rule="demand_changed"),
    AlertType("outcome_forged", Severity.CRITICAL, _ROLL_BACK, lasting=True, rule="outcome_forged"),
    AlertType("removed_with_code", Severity.HIGH, _FLAG, rule="removed_with_code"),
    AlertType("test_detected", Severity.HIGH, _FLAG, lasting=True, rule="R1"),
    AlertType("runner_forged", Severity.HIGH, _FLAG, lasting=True, rule="R2"),
    AlertType("equality_overloaded", Severity.HIGH, _FLAG, lasting=True, rule="R3"),
    AlertType("special_cased", Severity.HIGH, _FLAG, lasting=True, rule="R4"),
    AlertType("gate_lowered", Severity.HIGH, _FLAG, rule="R5"),
    AlertType("records_edited", Severity.CRITICAL, _ROLL_BACK, lasting=True, rule="R6"),
    AlertType("assertion_weakened", Severity.MEDIUM, _REVIEW, rule="W"),
    AlertType("not_looked_into", Severity.HIGH, _FLAG, lasting=True, rule="U"),
)


TYPE_BY_RULE: Final[Mapping[str, AlertType]] = {kind.rule: kind for kind in TYPES if kind.rule}


TYPE_BY_NAME: Final[Mapping[str, AlertType]] = {kind.name: kind for kind in TYPES}


class Alert(NamedTuple):
    """One alert as it was raised.

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
    def type(self) -> str:
        """Return the name of its type."""
        return self.kind.name

    @property
    def id(self) -> str:
        """Return the id that a person accepts it by; one a type and iteration, or one a group."""
        suffix = f"-{self.group}" if self.group else ""
        return f"it{self.iteration}-{self.type}{suffix}"

    @property
    def severity(self) -> Severity:
        """Return its severity, its type's where nothing else was said."""
        return self.kind.severity if self.rated is None else self.rated

    @property
    def lasting(self) -> bool:
        """Tell whether it stays open until it is fixed; tests that were replaced do where names were matched."""
        return self.kind.lasting or (self.type == "tests_replaced" and self.rated is not None)

    @property
    def triggered_at(self) -> str:
        """Return when it was raised, as the seed writes it."""
        return f"iteration_{self.iteration}"


def in_order(alerts: Iterable[Alert]) -> tuple[Alert, ...]:
    """Sort by severity, then type, then age."""
    return tuple(sorted(alerts, key=lambda a: (a.severity, a.type, a.iteration, a.group or "")))


def same_event(alert: Alert, alerts: Iterable[Alert]) -> tuple[Alert, ...]:
    """Return the alert, and those that its iteration raised about the same removal of tests."""
    if alert.type not in OF_A_REMOVAL:
        return (alert,)
    others = (each for each in alerts if each.iteration == alert.iteration and each.kind.name in OF_A_REMOVAL)
    about = (each for each in others if each.id != alert.id and each.tests.keys() <= alert.tests.keys())
    return (alert, *about)


class ClosingFacts(NamedTuple):
    """What alerts are closed by: what was measured now, and the findings that stand, by their keys.

    `findings` is None where nobody looked for them: what is not measured now fixes nothing. `loads` says that tests
    were measured and none is missing because its file does not load, `not_collected` which are (None: no names).
    """

    metrics: Metrics
    tests: TestResults | None
    groups: frozenset[str]
    findings: Mapping[str, Finding] | None = None
    aliases: Aliases = NO_ALIASES
    loads: bool = True
    not_collected: Mapping[str, str] | None = None

    def left_of(self, alert: Alert) -> Alert | None:
        """Return a lasting alert as it stands now, None where it is fixed.

        Tests are back, under whichever name, with an outcome at least as good; without names, the count is back; of
        its findings none stands any more.
        """
        if alert.findings:
            return self._standing(alert)
        if alert.type == "build_broken":
            return None if self.loads else self._unloaded(alert)
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

    def _unloaded(self, alert: Alert) -> Alert | None:
        if not alert.tests or self.not_collected is None:
            return alert
        left = {name: was for name, was in alert.tests.items() if name in self.not_collected}
        return alert._replace(tests=left) if left else None

    def _standing(self, alert: Alert) -> Alert | None:
        if self.findings is None:
            return alert
        left = tuple(self.findings[each.key] for each in alert.findings if each.key in self.findings)
        return alert._replace(findings=left) if left else None
