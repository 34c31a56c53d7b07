"""Run the tests that failed in the last iteration alone, so that a red one is known before the whole suite runs."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from ralph_tracker.core.known_tests import HELD_BACK
from ralph_tracker.core.metrics import FAILED, Group, quantity
from ralph_tracker.iteration.repeat_failing import MOST_FILES, file_or_suite, limited_to_tests, run_again
from ralph_tracker.measure.report_totals import measured_kind
from ralph_tracker.measure.run_checks import configured_checks, environment_for_checks
from ralph_tracker.scratch import temporary_folder
from ralph_tracker.short_text import first_few
from ralph_tracker.store.loop_configuration import ConfiguredLoop
from ralph_tracker.store.record_guard import RecordGuard

_SHOWN: Final = 5


class StillFailing(NamedTuple):
    """The tests that failed in iteration `number` and fail again, of `asked` that ran alone; nothing was recorded."""

    number: int
    tests: tuple[str, ...]
    asked: int

    @property
    def sentence(self) -> str:
        """Return what is known, and what is not."""
        names = first_few(self.tests, _SHOWN)
        of_those = f"{len(self.tests)} of {quantity(self.asked, 'test')} that failed in iteration {self.number}"
        return f"{of_those} still fail: {names}. No other test was run, and nothing was recorded"


def failing_first(
    loop: ConfiguredLoop,
    head: int | None,
    environment: Mapping[str, str],
    progress: Callable[[str], None] | None = None,
) -> StillFailing | None:
    """Run the tests that failed in the iteration `head`; None where none of them fails, so that all have to run.

    They run alone where one check has all tests and its runner can be given files; otherwise none runs here.
    Raises ConfigError for checks that cannot be run, StoreError if the disk refuses.
    """
    recorded = None if head is None else loop.store.measurement(head)
    if head is None or recorded is None or recorded[0].tests is None:
        return None
    outcomes = recorded[0].tests.outcomes
    failing = [test for test, how in outcomes.items() if how == FAILED and not test.startswith(HELD_BACK)]
    root, checks = loop.store.paths.root, configured_checks(loop.config.document)
    of_tests = [each for each in checks if measured_kind(each) in {None, Group.TESTS}]
    if not failing or len(of_tests) != 1 or len({file_or_suite(root, test) for test in failing}) > MOST_FILES:
        return None
    if limited_to_tests(of_tests[0], failing, root) == of_tests[0]:
        return None
    guard = RecordGuard(loop.store.paths)
    with temporary_folder() as folder, guard.read_only():
        variables = environment_for_checks(environment, root)
        asked = {of_tests[0].name: failing}
        now = run_again(asked, checks, root=root, folder=folder / "run", environment=variables, progress=progress)
        guard.put_back("the tests that failed")
    still = tuple(test for test in failing if now.get(test) == FAILED)
    return StillFailing(head, still, len(failing)) if still else None
