"""Take the measurement of one iteration: handed in, or observed by the loop's own checks."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from ralph_tracker.config.load import Config, config_of
from ralph_tracker.core.findings import BUILTIN
from ralph_tracker.core.loop_state import LoopState
from ralph_tracker.core.metrics import Group, Measurement, Metrics, Usage
from ralph_tracker.errors import ConfigError, InputError, StoreError
from ralph_tracker.measure.configured import checks_from
from ralph_tracker.measure.measuring import configured_groups
from ralph_tracker.observing import Observation, Place, Progress, observe, tree_notes
from ralph_tracker.store.keeping import Keeper, Kept
from ralph_tracker.store.loop_store import LoopStore
from ralph_tracker.store.opened import OpenLoop

Source = Mapping[str, Any] | str | Path
CODE_CACHE: Final = "code-cache.json"


class Taken(NamedTuple):
    """Hold a measurement, what was kept with it, and what was observed where it is our own."""

    measurement: Measurement
    keeper: Keeper | None = None
    kept: Kept | None = None
    observation: Observation | None = None

    def fill(self, number: int) -> Callable[[Path], None] | None:
        """Return what puts the files into the iteration's folder, None where there are none."""
        observation, keeper, kept = self.observation, self.keeper, self.kept
        if keeper is None or kept is None:
            return None
        if observation is None:
            return lambda folder: keeper.fill(folder, kept, number)
        return lambda folder: observation.fill(folder, keeper, number)

    def name(self, number: int) -> None:
        """Name the kept files as those of an iteration, once it is on record, and clear what is left over."""
        if self.keeper is not None and self.kept is not None:
            self.keeper.name(number, self.kept)
        if self.observation is not None:
            shutil.rmtree(self.observation.scratch, ignore_errors=True)

    def tidy(self, number: int) -> None:
        """Put the store in order from time to time; it never fails."""
        if self.keeper is not None:
            self.keeper.tidy(number)


class Taking(NamedTuple):
    """Hold the circumstances of an iteration: when, in which loop (None: its baseline), at what cost.

    `blocked` is the runner's word that a person is needed, `notes` are what it has to say of the agent's work.
    """

    now: datetime
    loop: OpenLoop | None = None
    usage: Source | None = None
    blocked: str | None = None
    notes: tuple[str, ...] = ()

    def given(self, metrics: Source) -> Taken:
        """Take metrics that were measured by somebody else. Raises InputError for what cannot be used."""
        from ralph_tracker.measure.given import read_metrics  # noqa: PLC0415  for what is handed in only

        values, score, tests = read_metrics(metrics)
        return Taken(self._circumstances()._replace(metrics=values, quality_score=score, tests=tests))

    def with_files(self, given: Taken, store: LoopStore, config: Config, state: LoopState) -> Taken:
        """Keep the tree beside metrics that were handed in, if the baseline's is kept or is to be.

        Raises StoreError where the disk, git or the size of the tree is in the way.
        """
        keeper = Keeper(store)
        keep = config.document["codebase"]["keep"]
        if not (keeper.begins(keep) if self.loop is None else keeper.goes_on):
            return given
        try:
            if self.loop is None:
                keeper.create()
            kept = keeper.capture(state.line.head, state.line.segments)
        except StoreError as error:
            if self.loop is None and keep == "auto":
                raise StoreError(f"{error}; or set codebase.keep: never") from None
            raise
        measurement = self._examined(_with_tree(given.measurement, kept, tree_notes(kept)), keeper, kept, state)
        return Taken(measurement, keeper, kept)

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
        if self.loop is None and config.document["codebase"]["keep"] == "never":
            raise ConfigError(
                f"{config.source}: codebase.keep: never is for metrics handed in; checks read what is kept"
            )
        keeper = Keeper(store)
        if self.loop is None:
            keeper.create()
        cache = store.paths.folder / CODE_CACHE
        place = place_of(config, store.paths.root, store.paths.staging, cache, environment)
        return self._observed(place, keeper, state, allow_missing=allow_missing, progress=progress)

    def unrecorded(
        self,
        loop: OpenLoop,
        state: LoopState,
        metrics: Source | None,
        environment: Mapping[str, str],
        folder: Path,
        *,
        progress: Progress | None,
    ) -> Taken:
        """Take the metrics, or observe, as for the next iteration; what is written goes to `folder`, an empty one.

        Raises as `given` and `observed` do.
        """
        from ralph_tracker.store.onlooker import STORE, Onlooker  # noqa: PLC0415  who only looks needs it

        store = loop.store
        if metrics is not None:
            given = self.given(metrics)
            if not Keeper(store).goes_on:
                return given
            onlooker = Onlooker(store, folder / STORE)
            kept = onlooker.capture(state.line.head, state.line.segments)
            measurement = _with_tree(given.measurement, kept, tree_notes(kept))
            return Taken(self._examined(measurement, onlooker, kept, state))
        cache = folder / CODE_CACHE
        with suppress(OSError):  # without it every file is read
            shutil.copyfile(store.paths.folder / CODE_CACHE, cache)
        place = place_of(loop.config, store.paths.root, folder, cache, environment)
        return self._observed(place, Onlooker(store, folder / STORE), state, allow_missing=True, progress=progress)

    def _observed(
        self, place: Place, keeper: Keeper, state: LoopState, *, allow_missing: bool, progress: Progress | None
    ) -> Taken:
        circumstances, line = self._circumstances(), state.line
        seen = observe(place, keeper, line.head, line.segments, allow_missing=allow_missing, progress=progress)
        measurement = circumstances._replace(
            metrics=seen.metrics,
            tests=seen.tests,
            missing=seen.missing,
        )
        measurement = _with_tree(measurement, seen.kept, seen.notes)
        by = (place.tool, seen.judged)
        return Taken(self._examined(measurement, keeper, seen.kept, state, by), keeper, seen.kept, seen)

    def _examined(
        self,
        measurement: Measurement,
        keeper: Keeper,
        kept: Kept,
        state: LoopState,
        by: tuple[str, bytes | str | None] = (BUILTIN, None),
    ) -> Measurement:
        """Add what comparing the kept files and the tests with earlier iterations finds; `by` a tool and its report."""
        from ralph_tracker.examining import Examination  # noqa: PLC0415  only where files are kept

        tool, judged = by
        examination = Examination(keeper, state, kept, measurement.tests, tool=tool, judged=judged)
        return measurement._replace(integrity=examination.integrity())

    def _circumstances(self) -> Measurement:
        """Return a measurement that holds all but what was measured."""
        loop = self.loop
        return Measurement(
            metrics=Metrics(),
            timestamp=stamp(self.now),
            usage=self._usage(),
            blocked=self.blocked,
            notes=self.notes,
            elapsed_s=None if loop is None else (self.now - loop.started).total_seconds(),
            config_changed=() if loop is None else loop.changed_keys(),
        )

    def _usage(self) -> Usage | None:
        if self.usage is None:
            return None
        from ralph_tracker.measure.given import read_usage  # noqa: PLC0415  as above

        return read_usage(self.usage)


def _with_tree(measurement: Measurement, kept: Kept, notes: Sequence[str]) -> Measurement:
    return measurement._replace(
        notes=(*measurement.notes, *notes),
        tree=kept.snapshot.tree,
        tree_visits=kept.visits.times,
        tree_last=kept.visits.last,
    )


def place_of(config: Config, root: Path, folder: Path, cache: Path, environment: Mapping[str, str]) -> Place:
    """Return where to observe by a configuration; the results go to `folder`."""
    return Place(
        root=root,
        checks=checks_from(config.document),
        codebase=config.document["codebase"],
        scratch=folder / "measuring",
        cache=cache,
        environment=environment,
        severity=config.document["severity"],
        tool=(config.document.get("integrity") or {}).get("tool", BUILTIN),
        may_be_absent=frozenset(config.given),
    )


def with_detected_checks(config: Config, root: Path, environment: Mapping[str, str]) -> Config:
    """Return the configuration with the checks that the project can be measured with, where it names none.

    Raises ConfigError where nothing is found.
    """
    if config.document["checks"]:
        return config
    from ralph_tracker.measure.detect import detect  # noqa: PLC0415  a loop looks once

    found = detect(root, environment)
    if not found.checks:
        raise ConfigError(f"nothing to measure with: {'; '.join(found.notes)}; or hand metrics in with --metrics FILE")
    document = {**config.document, "checks": {name: dict(check) for name, check in found.checks.items()}}
    return config_of(document, config.source, config.digest)._replace(detected=True)


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
