"""A loop with its frozen configuration, made whole before it is used."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, Literal, NamedTuple

from ralph_tracker.config.load import Config, changed_keys, frozen_config, validity_mark
from ralph_tracker.config.yaml_io import load_yaml
from ralph_tracker.core.best import Candidate
from ralph_tracker.core.codec import encode
from ralph_tracker.core.documents import SCHEMA_VERSION, Document
from ralph_tracker.core.identities import KnownTests
from ralph_tracker.core.judge import Judgement, judge, judge_baseline, rolled_back
from ralph_tracker.core.lineage import Lineage
from ralph_tracker.core.loop_state import LoopState
from ralph_tracker.core.metrics import Group
from ralph_tracker.core.records import IterationRecord
from ralph_tracker.core.rules import Rules
from ralph_tracker.errors import ConfigError, InputError, RecordError
from ralph_tracker.store.files import to_json
from ralph_tracker.store.loop_status import Summary
from ralph_tracker.store.loop_store import LoopStore, row_of, summary_of
from ralph_tracker.store.reading import read_bytes, refuse_newer
from ralph_tracker.store.records import after_plain

Origin = Literal["given", "measured"]
_RESTORE: Final = "restore it from a copy, or start with --new"


class Replayed(NamedTuple):
    """A loop judged again: each iteration that can be read, the numbers of the others, the state at the end."""

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
    lines: dict[int, tuple[Lineage, KnownTests]] = {}
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
        row = row_of(judgement.record.to_dict(), judgement.candidate)
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
    now = [encode(judgement.state.line), encode(judgement.candidate)]
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


def loop_document(
    loop_id: str, config: Config, at: str, *, linked_to: str | None, origin: Origin, facts: Mapping[str, str]
) -> dict[str, Any]:
    """Return the loop's own document: what is frozen at pre_loop."""
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

    `origin` says whether metrics are handed in or measured by the loop's checks, since the baseline; `configured` are
    the groups that belong to the loop because a check measures them.
    """

    store: LoopStore
    config: Config
    started: datetime
    origin: Origin
    configured: frozenset[Group]

    @classmethod
    def read(cls, store: LoopStore, configured_by: Any) -> "LoopReader":  # noqa: ANN401  # document → groups
        """Read the loop's own document.

        Raises RecordError where it cannot be used, StoreError where the system refuses: what cannot be read now is not
        lost.
        """
        name = f"{store.paths.shown}/loop.yaml"
        data = read_bytes(store.paths.loop_file)
        if data is None:
            raise RecordError(f"{name}: missing; {_RESTORE}")
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
            _ = document["environment"]  # the last key: what was cut short before it may still be good YAML
        except (InputError, ConfigError) as error:
            raise RecordError(f"{error}; {_RESTORE}") from None
        except (KeyError, TypeError, ValueError):
            raise RecordError(f"{name}: damaged; {_RESTORE}") from None
        configured = configured_by(config.document) if origin == "measured" else frozenset()
        return cls(store, config, started, origin, configured)

    def changed_keys(self) -> tuple[str, ...]:
        """Name what differs now from the frozen configuration."""
        return changed_keys(self.store.paths.root, self.config)

    def recovered(self, *, unfinished: bool) -> Summary:
        """Return where the loop stands; what a killed call or damage left behind the iterations is made again."""
        summary = None if unfinished else self.store.standing()
        return self.rebuilt() if summary is None else summary

    def rebuilt(self) -> Summary:
        """Write everything that is derived again, and return where the loop stands."""
        return rebuild(self.store, self.config.rules, self._started_at, self.configured)

    def judged(self) -> tuple[Judgement, ...]:
        """Judge every iteration again, as of now."""
        return replay(self.store, self.store.paths.loop_id, self.config.rules, self.configured).judgements

    def state_without(self, summary: Summary, retiring: frozenset[str]) -> LoopState:
        """Return what the judge needs where tests count for no iteration any more: every one is judged again."""
        replayed = replay(self.store, self.store.paths.loop_id, self.config.rules, self.configured, retiring)
        head = self.store.state(summary, self.config.rules)
        return replayed.state._replace(line=head.line, known=head.known)

    def record(self, number: int) -> IterationRecord:
        """Return the record of an iteration that can be read, as of now."""
        return next(j.record for j in self.judged() if j.record.iteration == number)

    def state(self, summary: Summary) -> tuple[LoopState, Summary]:
        """Return what the judge needs; what is damaged or behind is made again from the measurements."""
        try:
            return self.store.state(summary, self.config.rules), summary
        except RecordError:
            summary = self.rebuilt()
            return self.store.state(summary, self.config.rules), summary

    @property
    def _started_at(self) -> str:
        return self.started.isoformat(timespec="seconds").replace("+00:00", "Z")
