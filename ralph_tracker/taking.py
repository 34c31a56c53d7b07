"""Take the measurement of one iteration: handed in, or observed by the loop's own checks."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ralph_tracker.config.load import Config, config_of
from ralph_tracker.core.loop_state import LoopState
from ralph_tracker.core.metrics import Group, Measurement, Metrics
from ralph_tracker.errors import ConfigError, InputError
from ralph_tracker.measure.configured import checks_from
from ralph_tracker.measure.detect import detect
from ralph_tracker.measure.given import read_metrics, read_usage
from ralph_tracker.measure.measuring import configured_groups
from ralph_tracker.observing import Observation, Place, Progress, observe
from ralph_tracker.store.keeping import Keeper
from ralph_tracker.store.loop_store import LoopStore
from ralph_tracker.store.opened import OpenLoop

Source = Mapping[str, Any] | str | Path


@dataclass(frozen=True, slots=True)
class Taken:
    """Hold a measurement, and what was observed and kept where it is our own."""

    measurement: Measurement
    observation: Observation | None = None
    keeper: Keeper | None = None

    def fill(self, number: int) -> Callable[[Path], None] | None:
        """Return what puts the observation's files into the iteration's folder, None where there are none."""
        observation, keeper = self.observation, self.keeper
        if observation is None or keeper is None:
            return None
        return lambda folder: observation.fill(folder, keeper, number)

    def name(self, number: int) -> None:
        """Name the kept files as those of an iteration, once it is on record, and clear what is left over."""
        if self.observation is not None and self.keeper is not None:
            self.keeper.name(number, self.observation.kept)
            shutil.rmtree(self.observation.scratch, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class Taking:
    """Hold the circumstances of an iteration: when, in which loop (None: its baseline), at what cost.

    `blocked` is the runner's word that a person is needed.
    """

    now: datetime
    loop: OpenLoop | None = None
    usage: Source | None = None
    blocked: str | None = None

    def given(self, metrics: Source) -> Taken:
        """Take metrics that were measured by somebody else. Raises InputError for what cannot be used."""
        values, score, tests = read_metrics(metrics)
        return Taken(replace(self._circumstances(), metrics=values, quality_score=score, tests=tests))

    def observed(
        self,
        store: LoopStore,
        config: Config,
        state: LoopState,
        environment: Mapping[str, str],
        *,
        allow_missing: bool,
        progress: Progress | None,
    ) -> Taken:
        """Keep the tree, run the loop's own checks and count its code.

        Raises ConfigError for checks that cannot be run, StoreError where the disk or git refuses.
        """
        circumstances = self._circumstances()
        keeper = Keeper(store)
        if self.loop is None:
            keeper.create()
        place = Place(
            root=store.paths.root,
            checks=checks_from(config.document),
            codebase=config.document["codebase"],
            scratch=store.paths.staging / "measuring",
            cache=store.paths.folder / "code-cache.json",
            environment=environment,
        )
        line = state.line
        seen = observe(place, keeper, line.head, line.segments, allow_missing=allow_missing, progress=progress)
        measurement = replace(
            circumstances,
            metrics=seen.metrics,
            tests=seen.tests,
            missing=seen.missing,
            notes=seen.notes,
            tree=seen.kept.snapshot.tree,
            tree_visits=seen.kept.visits.count,
            tree_last=seen.kept.visits.last,
        )
        return Taken(measurement, seen, keeper)

    def _circumstances(self) -> Measurement:
        """Return a measurement that holds all but what was measured."""
        loop = self.loop
        return Measurement(
            metrics=Metrics(),
            timestamp=stamp(self.now),
            usage=None if self.usage is None else read_usage(self.usage),
            blocked=self.blocked,
            elapsed_s=None if loop is None else (self.now - loop.started).total_seconds(),
            config_changed=() if loop is None else loop.changed_keys(),
        )


def with_detected_checks(config: Config, root: Path, environment: Mapping[str, str]) -> Config:
    """Return the configuration with the checks that the project can be measured with, where it names none.

    Raises ConfigError where nothing is found.
    """
    if config.document["checks"]:
        return config
    found = detect(root, environment)
    if not found.checks:
        raise ConfigError(f"nothing to measure with: {'; '.join(found.notes)}; or hand metrics in with --metrics FILE")
    document = {**config.document, "checks": {name: dict(check) for name, check in found.checks.items()}}
    return config_of(document, config.source, config.digest)


def configured_by(document: Mapping[str, Any]) -> frozenset[Group]:
    """Return the groups that the checks of a configuration measure."""
    return configured_groups(checks_from(document))


def refuse_other_origin(loop: OpenLoop, metrics: Source | None) -> None:
    """Raise InputError where metrics are handed in to a loop that measures, or the reverse."""
    if loop.origin == "given" and metrics is None:
        raise InputError("this loop's metrics are handed in since its baseline; name them with --metrics FILE")
    if loop.origin == "measured" and metrics is not None:
        raise InputError("this loop is measured by its own checks since its baseline; leave --metrics out")


def stamp(moment: datetime) -> str:
    """Write a moment in UTC, to the second."""
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
