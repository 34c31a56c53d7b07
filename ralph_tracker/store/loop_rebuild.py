"""Judge every committed iteration of a loop again, and rewrite all that is derived from them."""

from typing import NamedTuple

from ralph_tracker.codec import encode
from ralph_tracker.core.judge import judge, judge_baseline
from ralph_tracker.core.judge_state import JudgeState
from ralph_tracker.core.known_tests import KnownTests
from ralph_tracker.core.lineage import Lineage
from ralph_tracker.core.metrics import Group
from ralph_tracker.core.thresholds import Thresholds
from ralph_tracker.core.walk import WalkedIteration
from ralph_tracker.records.iteration_record import Document, IterationRecord, record_of
from ralph_tracker.store.json_documents import to_json
from ralph_tracker.store.judge_state_json import after_plain
from ralph_tracker.store.loop_store import LoopStore, row_of, summary_of
from ralph_tracker.store.loop_summary import Summary, damaged_iteration, with_events
from ralph_tracker.store.record_packs import kept_json


class RejudgedIteration(NamedTuple):
    """An iteration judged again: its record, the state after it, and what later selections keep of it."""

    record: IterationRecord
    state: JudgeState
    walked: WalkedIteration


class RejudgedLoop(NamedTuple):
    """A loop judged again: the iterations that can be read, the numbers of the others, and the final state."""

    judgements: tuple[RejudgedIteration, ...]
    lost: tuple[int, ...]
    state: JudgeState


def judge_again(
    store: LoopStore,
    thresholds: Thresholds,
    configured: frozenset[Group] = frozenset(),
) -> RejudgedLoop:
    """Judge every committed iteration again, in order, with all acceptances.

    A damaged iteration is listed and left out of the lineage. Raises RecordError if the baseline itself cannot be read.
    """
    state = store.start(thresholds)._replace(loop_id=store.paths.loop_id)
    lines: dict[int, tuple[Lineage, KnownTests]] = {}
    judgements, lost = [], []
    for number in range(store.latest() + 1):
        measured = store.measurement(number)
        if measured is None:
            if number == 0:
                raise damaged_iteration(store.paths, 0)
            lost.append(number)
            state = state._replace(iteration=number)
            continue
        measurement, previous = measured
        if previous is not None and previous != state.lineage.head and previous in lines:
            lineage, known = lines[previous]
            state = state._replace(lineage=lineage, known=known)
        judgement = judge(state, measurement) if number else judge_baseline(state, measurement, configured)
        state = judgement.state
        lines[number] = (state.lineage, state.known)
        judgements.append(RejudgedIteration(record_of(judgement), state, judgement.walked))
    return RejudgedLoop(tuple(judgements), tuple(lost), state)


def rebuild(
    store: LoopStore, thresholds: Thresholds, started_at: str, configured: frozenset[Group] = frozenset()
) -> Summary:
    """Write everything derived from the committed iterations again, and return the status of the loop.

    What acceptances, damage or repairs changed about an iteration is stored beside its record, which is never changed.
    An iteration whose measurement is damaged is left out of listings and of the choice of the best.
    """
    rejudged = judge_again(store, thresholds, configured)
    # From the first iteration with an accepted alert on, verdicts may differ.
    accepted = [event["alert"]["iteration"] for event in store.acceptances()]
    touched = min((*rejudged.lost, *accepted), default=rejudged.state.iteration + 1)
    rows = []
    for judgement in rejudged.judgements:
        number = judgement.record.iteration
        row = row_of(judgement.record.to_dict(), judgement.walked)
        rows.append(row)
        if number >= touched or not _is_as_written(store, judgement):
            summary = summary_of(judgement.record, judgement.state, started_at)
            _keep(store, judgement.state, judgement.walked, row, summary)
        store.repair_record(number)
    for number in rejudged.lost:
        # An unreadable iteration has the state of the previous one, and no row for listings.
        before = rejudged.judgements[sum(each.record.iteration < number for each in rejudged.judgements) - 1]
        summary = summary_of(before.record, before.state, started_at)._replace(iteration=number)
        _keep(store, before.state._replace(iteration=number), before.walked, {}, summary)
    store.write(store.paths.trajectory, b"".join(to_json(row) + b"\n" for row in rows))
    last = rejudged.judgements[-1]
    summary = summary_of(last.record, last.state, started_at)._replace(iteration=rejudged.state.iteration)
    summary = with_events(summary, store.events())
    store.write_summary(summary)
    return summary


def _is_as_written(store: LoopStore, judgement: RejudgedIteration) -> bool:
    """Return whether the state after an iteration was not amended, and iterations are still compared by its facts."""
    number = judgement.record.iteration
    written = kept_json(store.paths, number, "state.json")
    if not isinstance(written, dict) or store.paths.amendments_file(number).exists():
        return False
    now = [encode(judgement.state.lineage), encode(judgement.walked)]
    return to_json([written.get("line"), written.get("walked")]) == to_json(now)


def _keep(store: LoopStore, state: JudgeState, walked: WalkedIteration, row: Document, summary: Summary) -> None:
    """Store the state after an iteration beside its record, unless it is there already."""
    after = after_plain(state, walked, row, summary)
    if to_json(after) != to_json(store.after(state.iteration)):
        store.write(store.paths.amendments_file(state.iteration), to_json(after))
