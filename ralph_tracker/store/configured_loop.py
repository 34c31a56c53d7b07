"""Write and read a loop's own document, loop.yaml, and open a loop with the configuration that is frozen there."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from ralph_tracker.config.load import Config, frozen_config, validity_mark
from ralph_tracker.config.yaml_io import load_yaml
from ralph_tracker.core.judge_state import JudgeState
from ralph_tracker.core.metrics import Group
from ralph_tracker.errors import ConfigError, InputError, RecordError
from ralph_tracker.records.iteration_record import SCHEMA_VERSION, IterationRecord
from ralph_tracker.safe_files import read_own_file
from ralph_tracker.store.json_documents import refuse_newer
from ralph_tracker.store.summary import START_ANEW, Summary
from ralph_tracker.store.write import LoopStore, RejudgedIteration, judge_again, rebuild

Origin = Literal["given", "measured"]


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


class ConfiguredLoop(NamedTuple):
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
    def read(cls, store: LoopStore, configured_by: Any) -> "ConfiguredLoop":  # noqa: ANN401  # document → groups
        """Read the loop's own document.

        Raises RecordError if it cannot be used, StoreError for an OSError, after which it may still be intact.
        """
        name = f"{store.paths.shown}/loop.yaml"
        data = read_own_file(store.paths.loop_file)
        if data is None:
            raise RecordError(f"{name}: missing; {START_ANEW}")
        try:
            config, started, origin = _frozen(data, name)
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

    def judge_again(self) -> tuple[RejudgedIteration, ...]:
        """Judge every iteration again with the acceptances of now."""
        return judge_again(self.store, self.config.thresholds, self.configured).judgements

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


@lru_cache(maxsize=4)
def _frozen(data: bytes, name: str) -> tuple[Config, datetime, Origin]:
    """Return what a loop's own document says; a process that records many iterations parses the same bytes once.

    Raises InputError, ConfigError, KeyError, TypeError or ValueError for what cannot be used.
    """
    document = load_yaml(data.decode("utf-8"), name)
    refuse_newer(document, name)
    frozen, mark = document["configuration"], document.get("configuration_validated")
    config = frozen_config(frozen, name, document["configuration_digest"], mark)
    config = config._replace(
        detected=document.get("checks_detected") is True,
        limits=tuple(key for key in document.get("limits_given", ()) if key in frozen["loop"]),
        given=tuple(name for name in document.get("checks_given", ()) if name in frozen["checks"]),
    )
    started = datetime.fromisoformat(document["created_at"]).astimezone(UTC)
    _ = document["environment"]  # the last key: a truncated file may still be valid YAML
    return config, started, "measured" if document.get("metrics") == "measured" else "given"
