"""Say what only a person can say: was a demand changed on purpose, is a green earned (semantics § 8)."""

from collections.abc import Iterable
from typing import Any

from ralph_tracker.codec import ValueObject
from ralph_tracker.core.alert_types import Alert
from ralph_tracker.core.integrity_result import TESTS_LISTED


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


def questions_of(alerts: Iterable[Alert]) -> tuple[Question, ...]:
    """Return the questions that alerts raise, one an alert, in their order."""
    found = []
    for alert in alerts:
        if alert.asked:
            asked = [test for finding in alert.findings if finding.is_question for test in finding.tests]
            tests = tuple(dict.fromkeys(asked or alert.tests))
            found.append(Question(alert.id, alert.iteration, alert.facts, tests, alert.rollback_to))
    return tuple(found)
