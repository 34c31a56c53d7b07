"""Alerts as values: the table of their types, and how they are ordered, opened and closed (semantics § 5)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, Literal

from ralph_tracker.core.identities import restored
from ralph_tracker.core.metrics import Metrics, TestResults


class Severity(IntEnum):
    """Lower is worse, so that sorting puts the worst first."""

    CRITICAL = 0
    HIGH = 1
    MEDIUM = 2


@dataclass(frozen=True, slots=True)
class AlertType:
    """Describe a type: `lasting` ones stay open until mended, `about_tests` ones un-verify an iteration."""

    name: str
    severity: Severity
    action: str
    lasting: bool = False
    about_tests: bool = False

    @property
    def title(self) -> str:
        """Return the name as a person reads it."""
        return self.name.replace("_", " ").capitalize()


_ROLL_BACK, _FLAG, _REVIEW = "immediate_alert_and_rollback", "alert_and_flag_iteration", "alert_and_review"

TYPES: Final[tuple[AlertType, ...]] = (
    AlertType("test_deletion", Severity.CRITICAL, _ROLL_BACK, lasting=True, about_tests=True),
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
    AlertType("tests_replaced", Severity.MEDIUM, _REVIEW),
    AlertType("flaky_test", Severity.MEDIUM, _REVIEW),
    AlertType("stalled", Severity.MEDIUM, "suggest_termination"),
)
TYPE_BY_NAME: Final[Mapping[str, AlertType]] = {kind.name: kind for kind in TYPES}
AlertState = Literal["new", "open", "closed", "accepted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """Hold one alert as it was raised.

    `note` says what the message, whose words are fixed, cannot: compared with which iteration, at which size.
    `tests` maps the tests that it is about to their outcome before. `until` is the metric and the value at which it
    closes where no names are known, `fall` how far that metric fell then. `group` is what went missing.
    `rollback_to` is the best verified iteration before it was raised, None where there is none.
    """

    kind: AlertType
    iteration: int
    message: str
    note: str = ""
    tests: Mapping[str, str] = field(default_factory=dict)
    until: tuple[str, float] | None = None
    fall: int = 0
    group: str | None = None
    rollback_to: int | None = None

    @property
    def id(self) -> str:
        """Return the id that a person accepts it by; one a type and iteration, or one a group."""
        suffix = f"-{self.group}" if self.group else ""
        return f"it{self.iteration}-{self.kind.name}{suffix}"

    @property
    def triggered_at(self) -> str:
        """Return when it was raised, as the seed writes it."""
        return f"iteration_{self.iteration}"


def in_order(alerts: Iterable[Alert]) -> tuple[Alert, ...]:
    """Sort by severity, then type, then age."""
    return tuple(sorted(alerts, key=lambda a: (a.kind.severity, a.kind.name, a.iteration, a.group or "")))


def is_mended(alert: Alert, now: Metrics, tests: TestResults | None, present_groups: frozenset[str]) -> bool:
    """Tell whether a lasting alert closes with this iteration.

    Tests are back with an outcome at least as good; without names, the count is back. What is not measured now
    mends nothing.
    """
    if alert.group is not None:
        return alert.group in present_groups
    if alert.tests:
        return tests is not None and restored(alert.tests, tests)
    if alert.until is None:
        return False
    name, wanted = alert.until
    value = now.number(name)
    return value is not None and value >= wanted
