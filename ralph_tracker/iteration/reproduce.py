"""Measure a kept iteration again, in a temporary copy, and compare it with its record."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ralph_tracker.core.integrity_result import Rerun
from ralph_tracker.core.known_tests import KnownTests
from ralph_tracker.core.metrics import METRICS, Measurement, Value, half_up, plain_number
from ralph_tracker.errors import InputError, LoopError, NotReproducedError
from ralph_tracker.iteration.earlier_tests import RerunResult, ScratchRunner
from ralph_tracker.iteration.file_forms import EarlierFile
from ralph_tracker.iteration.measure_iteration import CODE_CACHE, Progress, TreeMeasurement, measure_tree, target_of
from ralph_tracker.iteration.repeat_failing import believed_tests
from ralph_tracker.iteration.trust_listing import loop_runs
from ralph_tracker.measure.linked_environments import link_environments
from ralph_tracker.measure.run_checks import configured_checks, parse_duration
from ralph_tracker.scratch import scratch_folder
from ralph_tracker.short_text import first_few
from ralph_tracker.store.configured_loop import ConfiguredLoop
from ralph_tracker.store.iteration_snapshots import IterationSnapshots, KeptIteration, VisitCount
from ralph_tracker.store.read import SealedRecords
from ralph_tracker.store.summary import damaged_iteration
from ralph_tracker.store.trust import Consent, Trust
from ralph_tracker.store.write import LoopStore

_ABSENT: Final = "not measured"
_GIVEN: Final = "--verify runs the loop's checks again, and this loop's metrics are handed in; leave --verify out"
_IGNORED: Final = "What git ignores was not there; without --verify it is applied as recorded"


class _Restored(IterationSnapshots):
    """The files of a tree that was just restored, of which nothing is kept."""

    def __init__(self, committed: SealedRecords, number: int) -> None:
        super().__init__(committed)
        self._number = number

    def capture(self, previous: int | None, segments: Sequence[tuple[int, int]]) -> KeptIteration:
        del previous, segments
        snapshot, since_baseline = self._snapshot(self._number), self.differs_from_baseline(self._number)
        return KeptIteration(snapshot=snapshot, changed=(), since_baseline=since_baseline, visits=VisitCount(0, None))

    def after_checks(self, kept: KeptIteration) -> KeptIteration:
        return kept


def verify_again(loop: ConfiguredLoop, number: int, environment: Mapping[str, str], progress: Progress | None) -> None:
    """Measure an iteration again in a temporary folder, and compare the result with its record.

    Raises NotReproducedError if anything differs, InputError for metrics handed in or a project that cannot be measured
    elsewhere, StoreError and NoSnapshotError if it cannot be restored.
    """
    if loop.origin == "given":
        raise InputError(_GIVEN)
    recorded = loop.store.measurement(number)
    if recorded is None:
        raise damaged_iteration(loop.store.paths, number)
    iteration_snapshots = _Restored(loop.store, number)
    iteration_snapshots.refuse_damaged(number)
    root = loop.store.paths.root
    with scratch_folder(root) as scratch:
        copy = scratch / "copy" / root.name  # some tools use the folder's name
        iteration_snapshots.export(number, copy)
        variables = link_environments(root, copy, configured_checks(loop.config.document), environment)
        target = target_of(loop.config, copy, scratch, scratch / CODE_CACHE, variables)
        believed = believed_tests(KnownTests().after(recorded[0].tests))
        measured = measure_tree(target, iteration_snapshots, None, (), believed=believed, progress=progress)
    differing = differences(recorded[0], measured)
    if differing:
        raise NotReproducedError(f"iteration {number} measures {first_few(differing, 3)}; not applied. {_IGNORED}")


def differences(recorded: Measurement, measured: TreeMeasurement) -> tuple[str, ...]:
    """Return the differences from the record: metrics at recorded precision, then tests by name."""
    found = []
    for spec in METRICS:
        was, now = (_recorded_text(each.metrics.get(spec.name), spec.decimals) for each in (recorded, measured))
        if was != now:
            found.append(f"{spec.name} {now} now, {was} on record")
    old, new = ({} if each.tests is None else each.tests.outcomes for each in (recorded, measured))
    tests = (
        f"{name} {new.get(name, _ABSENT)} now, {old.get(name, _ABSENT)} on record"
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    )
    return (*found, *tests)


def _recorded_text(value: Value | None, decimals: int) -> str:
    """Return a value as text at recorded precision."""
    if value is None:
        return _ABSENT
    return value if isinstance(value, str) else plain_number(half_up(value, decimals))


def rerun_again(
    committed: SealedRecords,
    number: int,
    reruns: Sequence[Rerun],
    environment: Mapping[str, str],
    trust: Consent,
) -> Iterator[RerunResult]:
    """Run the re-runs of an iteration again and yield the results.

    Raises LoopError if its files are no longer kept, UntrustedError for a loop of somebody else.
    """
    iteration_snapshots, store = IterationSnapshots(committed), LoopStore(committed.paths)
    Trust(store.paths.root, trust).require_loop(store.paths, lambda: loop_runs(store))
    config = ConfiguredLoop.read(store, lambda _: frozenset()).config.document
    timeout = parse_duration("integrity.rerun_timeout", config["integrity"]["rerun_timeout"])
    tree = iteration_snapshots.tree(number)
    runner = ScratchRunner(
        iteration_snapshots,
        configured_checks(config),
        environment,
        timeout,
        same_source=iteration_snapshots.store.snapshot().tree == tree,
    )
    for rerun in reruns:
        ran = runner.run(tree, list(_earlier(iteration_snapshots, tree, rerun)), None if rerun.whole else rerun.files)
        if ran.rerun.problem is not None:
            raise LoopError(f"iteration {number}: {ran.rerun.problem}")
        yield ran


def _earlier(iteration_snapshots: IterationSnapshots, tree: str, rerun: Rerun) -> Iterator[EarlierFile]:
    for number in sorted(set(rerun.references.values())):
        wanted = {path for path, reference in rerun.references.items() if reference == number}
        for change in iteration_snapshots.changes_since(number, tree):
            if change.path in wanted:
                yield EarlierFile(change.path, change.old_mode, change.old_id, number)
