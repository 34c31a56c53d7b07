"""Run the earlier tests of an iteration on record again: what `integrity N --rerun` prints."""

from collections.abc import Iterator, Mapping, Sequence

from ralph_tracker.core.findings import Rerun
from ralph_tracker.errors import LoopError
from ralph_tracker.iteration.rerun import EarlierFile, Ran, ScratchRunner
from ralph_tracker.measure.commands import checks_from, seconds
from ralph_tracker.store.keeping import Keeper
from ralph_tracker.store.loop_store import LoopStore
from ralph_tracker.store.opened import OpenLoop
from ralph_tracker.store.records import Committed


def rerun_again(
    committed: Committed, number: int, reruns: Sequence[Rerun], environment: Mapping[str, str]
) -> Iterator[Ran]:
    """Yield each re-run of an iteration, run once more. Raises LoopError where its files are not kept any more."""
    keeper = Keeper(committed)
    config = OpenLoop.read(LoopStore(committed.paths), lambda _: frozenset()).config.document
    timeout = seconds("integrity.rerun_timeout", config["integrity"]["rerun_timeout"])
    tree = keeper.tree(number)
    runner = ScratchRunner(keeper, checks_from(config), environment, timeout, same_source=keeper.now() == tree)
    for rerun in reruns:
        ran = runner.run(tree, list(_earlier(keeper, tree, rerun)), None if rerun.whole else rerun.files)
        if ran.rerun.problem is not None:
            raise LoopError(f"iteration {number}: {ran.rerun.problem}")
        yield ran


def _earlier(keeper: Keeper, tree: str, rerun: Rerun) -> Iterator[EarlierFile]:
    for number in sorted(set(rerun.references.values())):
        wanted = {path for path, reference in rerun.references.items() if reference == number}
        for change in keeper.changes_since(number, tree):
            if change.path in wanted:
                yield EarlierFile(change.path, change.old_mode, change.old_id, number)
