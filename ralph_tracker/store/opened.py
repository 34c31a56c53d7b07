"""A loop with its frozen configuration, made whole before it is used."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, Literal, NamedTuple

from ralph_tracker.config.load import Config, changed_keys, frozen_config, validity_mark
from ralph_tracker.config.yaml_io import load_yaml
from ralph_tracker.core.documents import SCHEMA_VERSION
from ralph_tracker.core.judge import Judgement
from ralph_tracker.core.loop_state import LoopState
from ralph_tracker.core.metrics import Group
from ralph_tracker.core.records import IterationRecord
from ralph_tracker.errors import ConfigError, InputError, RecordError
from ralph_tracker.store.loop_store import LoopStore
from ralph_tracker.store.reading import read_bytes, refuse_newer
from ralph_tracker.store.summary import Summary

Origin = Literal["given", "measured"]
_RESTORE: Final = "restore it from a copy, or start with --new"


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


class OpenLoop(NamedTuple):
    """Hold a loop's store with its frozen configuration.

    `origin` says whether metrics are handed in or measured by the loop's checks, since the baseline; `configured` are
    the groups that belong to the loop because a check measures them.
    """

    store: LoopStore
    config: Config
    started: datetime
    origin: Origin
    configured: frozenset[Group]

    @classmethod
    def read(cls, store: LoopStore, configured_by: Any) -> "OpenLoop":  # noqa: ANN401  # document → groups
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
        from ralph_tracker.store.replay import rebuild  # noqa: PLC0415  # after damage only

        return rebuild(self.store, self.config.rules, self._started_at, self.configured)

    def judged(self) -> tuple[Judgement, ...]:
        """Judge every iteration again, as of now."""
        from ralph_tracker.store.replay import replay  # noqa: PLC0415  # few calls judge again

        return replay(self.store, self.store.paths.loop_id, self.config.rules, self.configured).judgements

    def state_without(self, summary: Summary, retiring: frozenset[str]) -> LoopState:
        """Return what the judge needs where tests count for no iteration any more: every one is judged again."""
        from ralph_tracker.store.replay import replay  # noqa: PLC0415  as above

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
