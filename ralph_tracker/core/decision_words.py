"""A decision in words for people, in a module without imports of ours, since `loop-decision` has to start fast."""

import re
from collections.abc import Mapping
from typing import Any, Final

# Openings of a reason that repeat the action, or that contradict the alert named after them.
_OPENINGS: Final = (
    (re.compile(r"Rollback to iteration \d+ due to regression(?:: )?"), ""),
    (re.compile(r"Continue - regression within limits(?=: |$)"), "worse, but not enough for a rollback"),
    (re.compile(r"Continue - "), ""),
    (re.compile(r"Escalate to human - "), ""),
)


def decision_in_words(decision: Mapping[str, Any]) -> str:
    """Return a decision for people: action, confidence in percent, and the reason without the action's words."""
    action, reason = decision["action"], decision["reason"]
    sure = f"confidence {decision['confidence'] * 100:.0f} %"
    if action == "rollback" and decision.get("target_iteration") is not None:
        action = f"rollback to iteration {decision['target_iteration']}"
    for opening, instead in _OPENINGS:
        found = opening.match(reason)
        if found is not None:
            reason = f"{instead}{reason[found.end() :]}"
            break
    return f"{action} ({sure}){f': {reason}' if reason else ''}"
