"""See at a glance whether a loop's kept files are still there; no content is read."""

from typing import Any, Final

from ralph_tracker.store.layout import MANIFEST, LoopPaths
from ralph_tracker.store.reading import read_lines
from ralph_tracker.store.snapshots.values import ITERATIONS, OBJECTS, RULES

REPAIR: Final = "`ralph-tracker verify` says what is lost, `ralph-tracker verify --repair` rebuilds what can be"


def missing_files(paths: LoopPaths) -> str | None:
    """Return what of the kept files is missing at a glance, None if nothing is; no content is read.

    The latest iteration is named last: while a writer is at work, or was killed, it may have no name yet.
    """
    numbers = [int(path.parent.name.rpartition("-")[2]) for path in paths.iterations.glob(f"iteration-*/{MANIFEST}")]
    if not numbers or paths.old_store.is_dir():
        return None
    if not (paths.store / RULES).is_file() or not (paths.store / OBJECTS).is_dir():
        return f"the store of the kept files is missing or damaged ({paths.shown}/store)"
    named = {path.name for path in (paths.store / ITERATIONS).glob("*")}
    lost = {number for number in numbers if str(number) not in named}
    if lost and paths.staging.is_dir():
        lost.discard(max(numbers))
    if lost:
        lost.difference_update(*(event["iterations"] for event in read_lines(paths.events) if _is_collection(event)))
    if not lost:
        return None
    shown = ", ".join(map(str, sorted(lost)))
    return f"the snapshots of iterations {shown} are missing in {paths.shown}/store"


def _is_collection(event: Any) -> bool:  # noqa: ANN401  # any JSON value
    return isinstance(event, dict) and event.get("event") == "gc" and isinstance(event.get("iterations"), list)
