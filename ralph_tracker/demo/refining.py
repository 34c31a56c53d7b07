"""The loop of the demo: an agent edits, the hooks judge, until the decision is to stop."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Protocol

from ralph_tracker.core.decision import Decision
from ralph_tracker.core.records import IterationRecord
from ralph_tracker.tracker import Tracker


class Agent(Protocol):
    """Edit a project, once an iteration."""

    def act(self, number: int, root: Path) -> str | None:
        """Do the work of an iteration and return it in words, None where there is nothing left to do."""
        ...


@dataclass(frozen=True, slots=True)
class Turn:
    """Hold what an agent did, how it was judged, and what was done about it."""

    did: str
    record: IterationRecord
    decision: Decision
    carried_out: bool

    @property
    def ends(self) -> bool:
        """Tell whether the decision ends the loop."""
        return self.decision.action in {"stop", "escalate"}


def refine(tracker: Tracker, agent: Agent) -> Iterator[Turn]:
    """Let the agent work on a loop whose baseline is on record; end where the decision or the agent ends it."""
    for number in count(1):
        did = agent.act(number, tracker.root)
        if did is None:
            return
        record = tracker.post_iteration(None, iteration=number).record
        decided = tracker.loop_decision(apply=True)
        turn = Turn(did, record, decided.decision, decided.carried_out)
        yield turn
        if turn.ends:
            return
