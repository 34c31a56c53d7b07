"""Say what only a person can say: was a demand changed on purpose, is a green earned (semantics § 8)."""

from collections.abc import Iterable, Mapping
from typing import Any

from ralph_tracker.codec import ValueObject
from ralph_tracker.core.alert_types import Alert
from ralph_tracker.core.integrity_result import TESTS_LISTED, Finding, Severity
from ralph_tracker.core.metrics import FAILED


class Question(ValueObject, document="alert iteration facts tests otherwise accept refuse"):
    """One open question about the iteration to take.

    `alert` is the id that `accept` takes for a yes. `iteration` raised it, `facts` is a sentence without its full stop.
    `otherwise` is the iteration to take if the answer is no, None if there is none.
    """

    alert: str
    iteration: int
    facts: str
    tests: tuple[str, ...]
    otherwise: int | None

    def yes(self, loop: str = "") -> str:
        """Return the command that answers yes; `loop` is the option that names another loop than the current one."""
        return f"ralph-tracker accept {self.alert}{loop} --reason WHY"

    def no(self, loop: str = "") -> str | None:
        """Return the command that answers no, by taking the other iteration; None without one."""
        if self.otherwise is None:
            return None
        return f"ralph-tracker select-best --iteration {self.otherwise}{loop} --reason WHY"

    @property
    def accept(self) -> str:
        """Return the command that answers yes."""
        return self.yes()

    @property
    def refuse(self) -> str | None:
        """Return the command that answers no."""
        return self.no()

    def to_dict(self) -> dict[str, Any]:
        """Return it with the commands that answer it; a long list of tests is cut."""
        document: dict[str, Any] = ValueObject.to_dict(self)
        return {**document, "tests": document["tests"][:TESTS_LISTED]}

    def sentence(self, loop: str = "") -> str:
        """Return the facts, and what answers them."""
        return f"Iteration {self.iteration}: {self.facts}. {self.answers(loop)}"

    def answers(self, loop: str = "") -> str:
        """Return what to do for a yes and for a no, with the commands in backticks."""
        no = "" if self.otherwise is None else f" Not intended? Take {self.otherwise}: `{self.no(loop)}`."
        return f"Intended? `{self.yes(loop)}`.{no}"


def is_question(finding: Finding) -> bool:
    """Return whether a person is asked about a finding; MEDIUM ones are notes."""
    return finding.severity <= Severity.HIGH


def open_questions(alerts: Iterable[Alert]) -> Mapping[str, str]:
    """Return the facts of open alerts that nobody accepted, by the keys of their findings, or by the alert's id."""
    return {key: _facts(alert) for alert in alerts for key in _keys(alert)}


def questions_of(alerts: Iterable[Alert]) -> tuple[Question, ...]:
    """Return the questions that alerts raise, one an alert, in their order."""
    found = []
    for alert in alerts:
        if _keys(alert):
            asked = [test for finding in alert.findings if is_question(finding) for test in finding.tests]
            tests = tuple(dict.fromkeys(asked or alert.tests))
            found.append(Question(alert.id, alert.iteration, _facts(alert), tests, alert.rollback_to))
    return tuple(found)


def _keys(alert: Alert) -> tuple[str, ...]:
    """Return what is asked about an alert: its findings; failing tests that are gone, where nothing could be run."""
    if alert.type == "test_deletion" and FAILED in alert.tests.values():
        return (alert.id,)
    return tuple(finding.key for finding in alert.findings if is_question(finding))


def _facts(alert: Alert) -> str:
    return alert.message.removesuffix(".") + (f" ({alert.note})" if alert.tests else "")
