"""Judge a loop again from what was measured: after damage, after a killed call, after a person's acceptance."""

from typing import NamedTuple

from ralph_tracker.core.best import Candidate
from ralph_tracker.core.documents import Document, record_document
from ralph_tracker.core.identities import KnownTests
from ralph_tracker.core.judge import Judgement, judge, judge_baseline, rolled_back
from ralph_tracker.core.lineage import Line
from ralph_tracker.core.loop_state import LoopState
from ralph_tracker.core.metrics import Group
from ralph_tracker.core.rules import Rules
from ralph_tracker.store import codec
from ralph_tracker.store.derived import row_of, summary_of
from ralph_tracker.store.files import to_json
from ralph_tracker.store.loop_store import LoopStore
from ralph_tracker.store.records import after_plain
from ralph_tracker.store.summary import Summary


class Replayed(NamedTuple):
    """Hold a loop judged again: each iteration that can be read, the numbers of the others, the state at the end."""

    judgements: tuple[Judgement, ...]
    lost: tuple[int, ...]
    state: LoopState


def replay(
    store: LoopStore,
    loop_id: str,
    rules: Rules,
    configured: frozenset[Group] = frozenset(),
    retiring: frozenset[str] = frozenset(),
) -> Replayed:
    """Judge every committed iteration again, in order, with all acceptances.

    Tests that were retired by any iteration, and those `retiring` now, count for none. A damaged iteration is left out
    and named; the line goes on without it. Raises RecordError where the baseline itself cannot be read.
    """
    state = store.start(rules)._replace(loop_id=loop_id)
    retired = state.seen.excluded | store.retired() | retiring
    state = state._replace(seen=state.seen._replace(excluded=retired))
    lines: dict[int, tuple[Line, KnownTests]] = {}
    judgements, lost = [], []
    for number in range(store.latest() + 1):
        measured = store.measurement(number)
        if measured is None:
            if number == 0:
                raise store.damaged(0)
            lost.append(number)
            state = state._replace(iteration=number)
            continue
        measurement, previous = measured
        if previous is not None and previous != state.line.head and previous in lines:
            state = rolled_back(state, *lines[previous])
        judgement = judge(state, measurement) if number else judge_baseline(state, measurement, configured)
        state = judgement.state
        lines[number] = (state.line, state.known)
        judgements.append(judgement)
    return Replayed(tuple(judgements), tuple(lost), state)


def rebuild(store: LoopStore, rules: Rules, started_at: str, configured: frozenset[Group] = frozenset()) -> Summary:
    """Write everything that is derived from the committed iterations again, and return where the loop stands.

    What acceptances, damage or repairs changed about an iteration is stored beside its record, which stays as
    written. That reaches back: tests whose removal was accepted count for no iteration, so all that had them are
    worth something else. One whose measurement is damaged is left out of listings and of the choice of the best.
    """
    replayed = replay(store, store.paths.loop_id, rules, configured)
    touched = min((*replayed.lost, *_raised_at(store)), default=replayed.state.iteration + 1)
    rows = []
    for judgement in replayed.judgements:
        number = judgement.record.iteration
        row = row_of(record_document(judgement.record), judgement.candidate)
        rows.append(row)
        if number >= touched or not store.is_as_written(number) or not _counts_the_same(store, judgement):
            _keep(store, judgement.state, judgement.candidate, row, summary_of(judgement, started_at))
        store.repair_record(number)
    for number in replayed.lost:
        before = sum(judgement.record.iteration < number for judgement in replayed.judgements) - 1
        _lose(store, number, replayed.judgements[before], started_at)
    store.write_trajectory(rows)
    store.write_seen(replayed.state)
    summary = summary_of(replayed.judgements[-1], started_at)._replace(iteration=replayed.state.iteration)
    summary = store.with_events(summary)
    store.write_summary(summary)
    return summary


def _raised_at(store: LoopStore) -> list[int]:
    """Return the iterations whose alerts were accepted: from the first of them on, verdicts may differ."""
    return [event["alert"]["iteration"] for event in store.acceptances()]


def _counts_the_same(store: LoopStore, judgement: Judgement) -> bool:
    """Tell whether what an iteration and those before it are compared by is what is stored of them."""
    stored = store.after(judgement.record.iteration)
    now = [codec.line_to_plain(judgement.state.line), codec.candidate_to_plain(judgement.candidate)]
    return to_json([stored.get("line"), stored.get("candidate")]) == to_json(now)


def _lose(store: LoopStore, number: int, before: Judgement, started_at: str) -> None:
    """Let an iteration that cannot be read stand as the one before it, without a row for listings."""
    summary = summary_of(before, started_at)._replace(iteration=number)
    _keep(store, before.state._replace(iteration=number), before.candidate, {}, summary)


def _keep(store: LoopStore, state: LoopState, candidate: Candidate, row: Document, summary: Summary) -> None:
    """Store the state after an iteration beside its record, where it is not what stands there already."""
    after = after_plain(state, candidate, row, summary)
    if to_json(after) != to_json(store.after(state.iteration)):
        store.write_json(store.paths.amended(state.iteration), after)
