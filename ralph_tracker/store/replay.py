"""Judge a loop again from what was measured: after damage, after a killed call, after a person's acceptance."""

from dataclasses import dataclass, replace

from ralph_tracker.core.best import Candidate
from ralph_tracker.core.documents import Document, record_document
from ralph_tracker.core.identities import KnownTests
from ralph_tracker.core.judge import Judgement, LoopState, acceptance, judge, judge_baseline, rolled_back
from ralph_tracker.core.line import Line
from ralph_tracker.core.metrics import Group
from ralph_tracker.core.rules import Rules
from ralph_tracker.store import codec
from ralph_tracker.store.committed import after_plain
from ralph_tracker.store.files import to_json, told_plainly, write_whole
from ralph_tracker.store.loop_store import LoopStore, row_of, summary_of
from ralph_tracker.store.reading import read_json
from ralph_tracker.store.summary import Summary


@dataclass(frozen=True, slots=True)
class Replayed:
    """Hold a loop judged again: each iteration that can be read, the numbers of the others, the state at the end."""

    judgements: tuple[Judgement, ...]
    lost: tuple[int, ...]
    seen_at: tuple[int, ...]
    state: LoopState


def replay(store: LoopStore, loop_id: str, rules: Rules, configured: frozenset[Group] = frozenset()) -> Replayed:
    """Judge every committed iteration again, in order, with all acceptances.

    A damaged iteration is left out and named; the line goes on without it. Raises RecordError where the baseline
    itself cannot be read.
    """
    state = _start(store, loop_id, rules)
    lines: dict[int, tuple[Line, KnownTests]] = {}
    judgements, lost, seen_at, changed = [], [], [], 0
    for number in range(store.latest() + 1):
        measured = store.measurement(number)
        if measured is None:
            if number == 0:
                raise store.damaged(0)
            lost.append(number)
            state = replace(state, iteration=number)
            continue
        measurement, previous, _ = measured
        if previous is not None and previous != state.line.head and previous in lines:
            state = rolled_back(state, *lines[previous])
        judgement = judge(state, measurement) if number else judge_baseline(state, measurement, configured)
        changed = number if judgement.state.seen != state.seen else changed
        state = judgement.state
        lines[number] = (state.line, state.known)
        judgements.append(judgement)
        seen_at.append(changed)
    return Replayed(tuple(judgements), tuple(lost), tuple(seen_at), state)


def _start(store: LoopStore, loop_id: str, rules: Rules) -> LoopState:
    state = LoopState(loop_id=loop_id, rules=rules)
    for event in store.events():
        if event.get("event") == "accept":
            state = acceptance(state, codec.alert_from_plain(event["alert"]))
    return state


def rebuild(store: LoopStore, rules: Rules, started_at: str, configured: frozenset[Group] = frozenset()) -> Summary:
    """Write everything that is derived from the committed iterations again, and return where the loop stands.

    What acceptances or repairs changed about an iteration is stored beside its record, which stays as written.
    """
    loop_id = store.paths.loop_id
    replayed = replay(store, loop_id, rules, configured)
    first = _first_accepted(store)
    rows = []
    for judgement, seen_at in zip(replayed.judgements, replayed.seen_at, strict=True):
        number = judgement.record.iteration
        row = row_of(record_document(judgement.record), judgement.candidate)
        rows.append(row)
        intact = isinstance(read_json(store.paths.iteration(number) / "state.json"), dict)
        if not intact or (first is not None and number >= first):
            _amend(store, judgement.state, judgement.candidate, row, summary_of(judgement, started_at), seen_at)
        store.repair_record(number)
    last = replayed.judgements[-1]
    summary = summary_of(last, started_at)
    if replayed.state.iteration > summary.iteration:
        summary = replace(summary, iteration=replayed.state.iteration)
        _amend(store, replayed.state, last.candidate, {}, summary, replayed.seen_at[-1])
    store.write_trajectory(rows)
    store.write_seen(last.state, replayed.seen_at[-1])
    summary = store.with_events(summary)
    store.write_summary(summary)
    return summary


def _first_accepted(store: LoopStore) -> int | None:
    numbers = [e["alert"]["iteration"] for e in store.events() if e.get("event") == "accept"]
    return min(numbers, default=None)


def _amend(
    store: LoopStore, state: LoopState, candidate: Candidate, row: Document, summary: Summary, seen_at: int
) -> None:
    """Store the state after an iteration beside its record; without a row it is lost to listings."""
    path = store.paths.amended(state.iteration)
    after = after_plain(state, candidate, row, summary, seen_at)
    with told_plainly(path):
        write_whole(path, to_json(after))
