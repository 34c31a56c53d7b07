"""The state of a loop in short: all that `loop-decision` and the start of the next iteration read."""

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, get_args

SCHEMA_VERSION: Final = 1
Status = Literal["running", "finished", "abandoned", "rebaselined"]
_DECISION: Final = frozenset({"action", "reason", "confidence", "target_iteration", "alternatives", "rule"})
_ACTIONS: Final = frozenset({"continue", "stop", "rollback", "escalate"})
_ALERT: Final = frozenset({"id", "type", "severity", "message"})


class Summary(NamedTuple):
    """Hold where a loop stands.

    `iteration` is the latest on record, `head` the one that the next will descend from (another one after a
    rollback that was carried out). `decision` is the stored decision as a plain mapping. `alerts` are new and open
    ones in short. `carried_out` holds `target` and `after` once the rollback of this decision was carried out.
    Costs are in USD, None where unknown. `integrity` is the verdict, None where nobody compared files and tests.
    """

    loop_id: str
    status: Status
    iteration: int
    head: int
    started_at: str
    updated_at: str
    classification: str
    message: str
    quality_score: float
    adjusted_score: float
    best_iteration: int | None
    best_quality_score: float
    best_adjusted_score: float
    verified: bool
    decision: Mapping[str, Any]
    alerts: tuple[Mapping[str, Any], ...] = ()
    accepted: tuple[str, ...] = ()
    cost_usd: float | None = None
    carried_out: Mapping[str, int] | None = None
    integrity: str | None = None

    def plain(self) -> dict[str, Any]:
        """Return it as it is written."""
        return {"schema_version": SCHEMA_VERSION, **self._asdict()}


def summary_from(plain: Any) -> Summary | None:  # noqa: ANN401  # whatever the file held
    """Return the summary, None where the document is damaged."""
    if not isinstance(plain, dict) or plain.get("schema_version") != SCHEMA_VERSION:
        return None
    values = {key: value for key, value in plain.items() if key != "schema_version"}
    try:
        summary = Summary(**{**values, "alerts": tuple(values["alerts"]), "accepted": tuple(values["accepted"])})
        decision = summary.decision
        known = summary.status in get_args(Status) and decision["action"] in _ACTIONS
        whole = isinstance(summary.iteration, int) and isinstance(summary.head, int)
        decided = decision.keys() == _DECISION and isinstance(decision["confidence"], int | float)
        alerted = all(alert.keys() >= _ALERT for alert in summary.alerts)
    except (KeyError, TypeError, AttributeError):
        return None
    return summary if known and whole and decided and alerted else None
