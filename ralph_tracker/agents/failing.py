"""The names of the tests that fail in an iteration, as they are kept beside its record."""

from ralph_tracker.core.metrics import FAILED
from ralph_tracker.store.committed import Committed
from ralph_tracker.store.layout import LoopPaths


def failing_tests(paths: LoopPaths, number: int) -> tuple[str, ...] | None:
    """Return the names in order, None where no names are known. Raises StoreError where the system refuses."""
    found = Committed(paths).measurement(number)
    tests = None if found is None else found[0].tests
    return None if tests is None else tuple(sorted(name for name, how in tests.outcomes.items() if how == FAILED))
