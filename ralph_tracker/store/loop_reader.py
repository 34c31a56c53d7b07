"""Read a loop with its frozen configuration, and repair what is derived before it is used."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

from ralph_tracker.config.load import Config, frozen_config, validity_mark
from ralph_tracker.config.yaml_io import load_yaml
from ralph_tracker.core.best_so_far import Candidate
from ralph_tracker.core.codec import encode
from ralph_tracker.core.iteration_record import SCHEMA_VERSION, Document, IterationRecord
from ralph_tracker.core.judge import Judgement, judge, judge_baseline
from ralph_tracker.core.judge_state import JudgeState
from ralph_tracker.core.known_tests import KnownTests
from ralph_tracker.core.lineage import Lineage
from ralph_tracker.core.metrics import Group
from ralph_tracker.core.thresholds import Thresholds
from ralph_tracker.errors import ConfigError, InputError, RecordError
from ralph_tracker.store.loop_store import LoopStore, row_of, summary_of
from ralph_tracker.store.loop_summary import START_ANEW, Summary, damaged_iteration, with_events
from ralph_tracker.store.record_packs import kept_json
from ralph_tracker.store.record_reader import after_plain
from ralph_tracker.store.safe_files import read_bytes, refuse_newer, to_json

Origin = Literal["given", "measured"]


class ReplayedLoop(NamedTuple):
    """A loop judged again: the iterations that can be read, the numbers of the others, and the final state."""

    judgements: tuple[Judgement, ...]
    lost: tuple[int, ...]
    state: JudgeState


def replay(
    store: LoopStore,
    loop_id: str,
    thresholds: Thresholds,
    configured: frozenset[Group] = frozenset(),
    retiring: frozenset[str] = frozenset(),
) -> ReplayedLoop:
    """Judge every committed iteration again, in order, with all acceptances.

    Tests that any iteration retired, and those in `retiring`, count for none. A damaged iteration is listed and left
    out of the lineage. Raises RecordError if the baseline itself cannot be read.
    """
    state = store.start(thresholds)._replace(loop_id=loop_id)
    retired = state.seen.excluded | store.retired_tests() | retiring
    state = state._replace(seen=state.seen._replace(excluded=retired))
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
        judgements.append(judgement)
    return ReplayedLoop(tuple(judgements), tuple(lost), state)


def rebuild(
    store: LoopStore, thresholds: Thresholds, started_at: str, configured: frozenset[Group] = frozenset()
) -> Summary:
    """Write everything derived from the committed iterations again, and return the status of the loop.

    What acceptances, damage or repairs changed about an iteration is stored beside its record, which is never changed.
    An acceptance affects earlier iterations too: tests whose removal was accepted count for none, so scores change. An
    iteration whose measurement is damaged is left out of listings and of the choice of the best.
    """
    replayed = replay(store, store.paths.loop_id, thresholds, configured)
    # From the first iteration with an accepted alert on, verdicts may differ.
    accepted = [event["alert"]["iteration"] for event in store.acceptances()]
    touched = min((*replayed.lost, *accepted), default=replayed.state.iteration + 1)
    rows = []
    for judgement in replayed.judgements:
        number = judgement.record.iteration
        row = row_of(judgement.record.to_dict(), judgement.candidate)
        rows.append(row)
        if number >= touched or not _is_as_written(store, judgement):
            _keep(store, judgement.state, judgement.candidate, row, summary_of(judgement, started_at))
        store.repair_record(number)
    for number in replayed.lost:
        # An unreadable iteration has the state of the previous one, and no row for listings.
        before = replayed.judgements[sum(each.record.iteration < number for each in replayed.judgements) - 1]
        summary = summary_of(before, started_at)._replace(iteration=number)
        _keep(store, before.state._replace(iteration=number), before.candidate, {}, summary)
    store.write(store.paths.trajectory, b"".join(to_json(row) + b"\n" for row in rows))
    store.write_seen(replayed.state)
    summary = summary_of(replayed.judgements[-1], started_at)._replace(iteration=replayed.state.iteration)
    summary = with_events(summary, store.events())
    store.write_summary(summary)
    return summary


def _is_as_written(store: LoopStore, judgement: Judgement) -> bool:
    """Return whether the state after an iteration was not amended, and iterations are still compared by its facts."""
    number = judgement.record.iteration
    written = kept_json(store.paths, number, "state.json")
    if not isinstance(written, dict) or store.paths.amendments_file(number).exists():
        return False
    now = [encode(judgement.state.lineage), encode(judgement.candidate)]
    return to_json([written.get("line"), written.get("candidate")]) == to_json(now)


def _keep(store: LoopStore, state: JudgeState, candidate: Candidate, row: Document, summary: Summary) -> None:
    """Store the state after an iteration beside its record, unless it is there already."""
    after = after_plain(state, candidate, row, summary)
    if to_json(after) != to_json(store.after(state.iteration)):
        store.write(store.paths.amendments_file(state.iteration), to_json(after))


def loop_document(
    loop_id: str, config: Config, at: str, *, linked_to: str | None, origin: Origin, facts: Mapping[str, str]
) -> dict[str, Any]:
    """Return the loop's own document: all that is frozen at pre_loop."""
    return {
        "schema_version": SCHEMA_VERSION,
        "loop_id": loop_id,
        "created_at": at,
        "linked_to": linked_to,
        "metrics": origin,
        "configuration_source": config.source,
        "configuration_digest": config.digest,
        "checks_detected": config.detected,
        "limits_given": list(config.limits),
        "checks_given": list(config.given),
        "configuration_validated": validity_mark(dict(config.document)),
        "configuration": dict(config.document),
        "environment": dict(facts),
    }


class LoopReader(NamedTuple):
    """A loop's store with its frozen configuration.

    `origin` says whether metrics are handed in or measured by checks; `configured` are the metric groups that every
    iteration must have because a check measures them.
    """

    store: LoopStore
    config: Config
    started: datetime
    origin: Origin
    configured: frozenset[Group]

    @classmethod
    def read(cls, store: LoopStore, configured_by: Any) -> "LoopReader":  # noqa: ANN401  # document → groups
        """Read the loop's own document.

        Raises RecordError if it cannot be used, StoreError for an OSError, after which it may still be intact.
        """
        name = f"{store.paths.shown}/loop.yaml"
        data = read_bytes(store.paths.loop_file)
        if data is None:
            raise RecordError(f"{name}: missing; {START_ANEW}")
        try:
            document = load_yaml(data.decode("utf-8"), name)
            refuse_newer(document, name)
            frozen, mark = document["configuration"], document.get("configuration_validated")
            config = frozen_config(frozen, name, document["configuration_digest"], mark)
            config = config._replace(
                detected=document.get("checks_detected") is True,
                limits=tuple(key for key in document.get("limits_given", ()) if key in frozen["loop"]),
                given=tuple(name for name in document.get("checks_given", ()) if name in frozen["checks"]),
            )
            origin: Origin = "measured" if document.get("metrics") == "measured" else "given"
            started = datetime.fromisoformat(document["created_at"]).astimezone(UTC)
            _ = document["environment"]  # the last key: a truncated file may still be valid YAML
        except (InputError, ConfigError) as error:
            raise RecordError(f"{error}; {START_ANEW}") from None
        except (KeyError, TypeError, ValueError):
            raise RecordError(f"{name}: damaged; {START_ANEW}") from None
        configured = configured_by(config.document) if origin == "measured" else frozenset()
        return cls(store, config, started, origin, configured)

    def recover(self, *, unfinished: bool) -> Summary:
        """Return the status of the loop, after repairing what a killed call or damage left inconsistent."""
        summary = None if unfinished else self.store.current_summary()
        return self.rebuilt() if summary is None else summary

    def rebuilt(self) -> Summary:
        """Write everything derived again, and return the status of the loop."""
        started_at = self.started.isoformat(timespec="seconds").replace("+00:00", "Z")
        return rebuild(self.store, self.config.thresholds, started_at, self.configured)

    def judge_again(self) -> tuple[Judgement, ...]:
        """Judge every iteration again with the acceptances of now."""
        return replay(self.store, self.store.paths.loop_id, self.config.thresholds, self.configured).judgements

    def state_without(self, summary: Summary, retiring: frozenset[str]) -> JudgeState:
        """Return the judge's state without the `retiring` tests: every iteration is judged again."""
        replayed = replay(self.store, self.store.paths.loop_id, self.config.thresholds, self.configured, retiring)
        head = self.store.state(summary, self.config.thresholds)
        return replayed.state._replace(lineage=head.lineage, known=head.known)

    def record(self, number: int) -> IterationRecord:
        """Return the up-to-date record of a readable iteration."""
        return next(j.record for j in self.judge_again() if j.record.iteration == number)

    def state(self, summary: Summary) -> tuple[JudgeState, Summary]:
        """Return the judge's state, rebuilt from the measurements if it is damaged or outdated."""
        try:
            return self.store.state(summary, self.config.thresholds), summary
        except RecordError:
            summary = self.rebuilt()
            return self.store.state(summary, self.config.thresholds), summary
