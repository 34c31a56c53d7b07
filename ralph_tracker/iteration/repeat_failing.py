"""Run once more what worked before and fails now: what does not fail twice is no regression (semantics § 5).

Of tests that fail only their files are run; a check whose run failed beside its tests runs whole. Tests that failed in
the last iteration can be run alone first, so that a red one is known before the whole suite runs.
"""

import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event
from typing import Final, NamedTuple

from ralph_tracker.core.known_tests import HELD_BACK, STOPPED_RUN, WHOLE_RUN, KnownTests, names_in_short
from ralph_tracker.core.lineage import Lineage
from ralph_tracker.core.metrics import FAILED, OUTCOME_RANK, PASSED, Group, quantity
from ralph_tracker.iteration.open_problems import source_line_of
from ralph_tracker.measure.exit_status import was_cut_short
from ralph_tracker.measure.limit_to_test_files import limited_to_files
from ralph_tracker.measure.process import FinishedCommand
from ralph_tracker.measure.report_totals import CheckTotals, measured_kind, needed_checks, read_results
from ralph_tracker.measure.run_checks import Check, CheckResult, configured_checks, environment_for_checks, run_checks
from ralph_tracker.safe_files import as_store_error
from ralph_tracker.scratch import temporary_folder
from ralph_tracker.short_text import first_few
from ralph_tracker.store.configured_loop import ConfiguredLoop
from ralph_tracker.store.record_guard import RecordGuard

REPEAT: Final = "repeat"
SECOND_RUN: Final = "second-run"
# More files are no accident of one test, and their run takes as long as the first.
MOST_FILES: Final = 20
RunAgain = Callable[[Collection[str]], Mapping[str, str]]


def believed_tests(known: KnownTests) -> frozenset[str]:
    """Return the tests that passed when the lineage last reported them."""
    return frozenset(
        name for outcomes in (known.present, known.gone) for name, how in outcomes.items() if how == PASSED
    )


def repeat_failing(totals: CheckTotals, believed: Collection[str], root: Path, run_again: RunAgain) -> CheckTotals:
    """Run the believed tests that fail once more, and return the totals with those that pass then as flaky.

    They count as passed, and keep the message of their failure; all else stays as first measured. `run_again` runs at
    least the given tests and returns the outcomes; it is not called if no believed test fails, or if they are in more
    than 20 files below `root`.
    """
    tests = totals.tests
    failing = {
        test
        for test, how in ({} if tests is None else tests.outcomes).items()
        if how == FAILED and test in believed and not test.startswith(HELD_BACK)
    }
    if tests is None or not failing:
        return totals
    files = {file_or_suite(root, test) for test in failing}
    if len(files) > MOST_FILES:
        many = f"{quantity(len(failing), 'test')} that passed before fail in {len(files)} files"
        return totals._replace(notes=(*totals.notes, f"not repeated: {many}, more than {MOST_FILES}"))
    again = run_again(failing)
    flaky = {test for test in failing if again.get(test) == PASSED}
    missing = failing - again.keys()
    notes = list(totals.notes)
    if failing - flaky - missing:
        notes.append(f"failed again when repeated: {quantity(len(failing - flaky - missing), 'test')}")
    if missing:
        notes.append(f"failed, and not in the report when repeated: {names_in_short(missing)}")
    tests = tests._replace(failed_first=tests.failed_first | flaky)
    return with_flaky(totals._replace(tests=tests, notes=tuple(notes)), flaky)


def ran_well(lineage: Lineage) -> bool:
    """Return whether the latest iteration measured all that its lineage ever did, and everything in it loaded."""
    points = lineage.points
    return bool(points) and not lineage.not_loaded and points[-1].has(lineage.parts())


def failed_runs(results: Sequence[CheckResult], totals: CheckTotals) -> dict[str, str]:
    """Return the checks whose run failed, by name, with the reason: they gave nothing, did not load, or were ended.

    A check that cannot be started, and held-back tests, are none of them.
    """
    gave_nothing = {each.name: each.why for each in totals.measures if each.why is not None}
    not_loaded = [why for place, why in totals.not_loaded.items() if not place.endswith(STOPPED_RUN)]
    failed = {}
    for result in results:
        name, finished = result.check.name, result.finished
        if result.check.held_back is not None or finished.succeeded or finished.problem is not None:
            continue
        kind = measured_kind(result.check)
        if name in gave_nothing:
            failed[name] = gave_nothing[name]
        elif kind == Group.TESTS and not_loaded:
            failed[name] = not_loaded[0]
        elif kind is not None and was_cut_short(finished, 0):
            failed[name] = finished.summary
    return failed


def run_failed_again(
    results: Sequence[CheckResult],
    totals: CheckTotals,
    read: Callable[[Sequence[CheckResult]], CheckTotals],
    run: Callable[[Sequence[Check]], Sequence[CheckResult]],
) -> tuple[tuple[CheckResult, ...], CheckTotals]:
    """Run the checks whose run failed once more, whole, with all that they need or that needs them.

    What the second run gave counts, and a note names those that ran well then. `run` runs checks, `read` their results.
    """
    failed = failed_runs(results, totals)
    if not failed:
        return tuple(results), totals
    checks = [result.check for result in results if result.check.held_back is None]
    names = set(failed)
    for check in checks:  # in running order
        names |= {check.name} if names.intersection(check.needs) else set()
    second = {each.check.name: each for each in run(needed_checks(checks, names))}
    merged = tuple(second.get(each.check.name, each) for each in results)
    measured = read(merged)
    still = failed_runs(merged, measured)
    notes = [f"{name}: failed, and ran well when repeated: {why}" for name, why in failed.items() if name not in still]
    if again := failed.keys() & still.keys():
        notes.append(f"failed again when repeated: {names_in_short(again)}")
    tests = measured.tests
    of_tests = {result.check.name for result in results if measured_kind(result.check) == Group.TESTS}
    if tests is not None and (of_tests & failed.keys()) - still.keys():
        tests = tests._replace(failed_first=tests.failed_first | {WHOLE_RUN})
    return merged, measured._replace(tests=tests, notes=(*measured.notes, *notes))


def with_flaky(totals: CheckTotals, flaky: Collection[str]) -> CheckTotals:
    """Return the totals with those tests as flaky and passed: what can pass does."""
    tests, metrics = totals.tests, totals.metrics
    if tests is None or not flaky:
        return totals
    failed = sum(tests.outcomes[test] == FAILED for test in flaky)
    if metrics.tests_passed is not None and metrics.tests_failed is not None:
        metrics = metrics._replace(
            tests_passed=metrics.tests_passed + failed, tests_failed=metrics.tests_failed - failed
        )
    outcomes = {test: PASSED if test in flaky else how for test, how in tests.outcomes.items()}
    return totals._replace(
        tests=tests._replace(outcomes=outcomes, flaky=tests.flaky | frozenset(flaky)), metrics=metrics
    )


def file_or_suite(root: Path, test: str) -> str:
    """Return the file of a test, or the suite that its report names."""
    place = source_line_of(root, test)
    return test.rpartition("::")[0] if place is None else place.file


def run_again(
    tests: Mapping[str, Collection[str]],
    checks: Sequence[Check],
    *,
    root: Path,
    folder: Path,
    environment: Mapping[str, str],
    progress: Callable[[str], None] | None = None,
    stop: Event | None = None,
) -> dict[str, str]:
    """Run the files of tests (by the name of their check) again, after what their checks need; return the outcomes.

    A check runs whole if the file of one of its tests is unknown, or it cannot be limited to files. `checks` are all of
    the loop's. Output and reports go to `folder`, which must not exist.
    """
    ran = run_checks(
        [limited_to_tests(check, tests.get(check.name, ()), root) for check in needed_checks(checks, tests)],
        root=root,
        folder=folder / "output",
        reports=folder / "reports",
        environment=environment,
        on_progress=progress,
        stop=stop,
    )
    results = {each.check.name: each for each in ran}
    found: dict[str, str] = {}
    for outcomes in outcomes_by_check([results.get(check.name, _not_run(check)) for check in checks], root).values():
        for test, how in outcomes.items():  # of two checks that run a test the worse outcome counts
            found[test] = min(how, found.get(test, how), key=OUTCOME_RANK.__getitem__)
    return found


def outcomes_by_check(results: Sequence[CheckResult], root: Path) -> dict[str, Mapping[str, str]]:
    """Return the outcomes of the tests that each check reported, under the names that all checks together give them."""
    found: dict[str, Mapping[str, str]] = {}
    for result in results:
        if result.check.held_back is None and measured_kind(result.check) in {None, Group.TESTS}:
            alone = [each if each is result else each._replace(reports=()) for each in results]
            tests = read_results(alone, root=root).tests
            found[result.check.name] = {} if tests is None else tests.outcomes
    return found


def _not_run(check: Check) -> CheckResult:
    return CheckResult(check, FinishedCommand(problem="not run again"), (), Path(), Path())


def limited_to_tests(check: Check, tests: Collection[str], root: Path) -> Check:
    """Return the check limited to the files of the tests, which may be named from its own folder."""
    files = []
    for test in tests:
        place, folder = source_line_of(root, test), ""
        if place is None:
            place, folder = source_line_of(root / check.cwd, test), f"{check.cwd}/"
        if place is None:
            return check
        files.append(folder + place.file)
    return limited_to_files(check, sorted(set(files)), root).check


def run_again_in_place(
    results: Sequence[CheckResult],
    *,
    root: Path,
    scratch: Path,
    environment: Mapping[str, str],
    progress: Callable[[str], None] | None = None,
) -> RunAgain:
    """Return a function that runs tests again where the results were measured.

    The reports of the first run stay as they are, in the project too; those of this one are kept in `scratch`.
    """

    def again(tests: Collection[str]) -> Mapping[str, str]:
        wanted = {
            name: failing
            for name, outcomes in outcomes_by_check(results, root).items()
            if (failing := [test for test in tests if outcomes.get(test) == FAILED])
        }
        if progress is not None:
            progress(f"repeating {quantity(len(tests), 'failing test')} that passed before")
        with _put_back(results, scratch):
            return run_again(
                wanted,
                [result.check for result in results],
                root=root,
                folder=scratch / REPEAT,
                environment=environment,
                progress=progress,
            )

    return again


@contextmanager
def _put_back(results: Sequence[CheckResult], scratch: Path) -> Iterator[None]:
    """Put the reports that checks left in the project back afterwards: others may take them for those of all tests."""
    found = [report.data_path for result in results for report in result.reports if report.data_path is not None]
    aside = {path: scratch / "aside" / str(number) for number, path in enumerate(found) if not _lies_in(path, scratch)}
    with as_store_error(scratch):
        (scratch / "aside").mkdir()
        for path, copy in aside.items():
            shutil.copy2(path, copy)
    try:
        yield
    finally:
        for path, copy in aside.items():
            with suppress(OSError):
                shutil.copy2(copy, path)


def _lies_in(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())


class StillFailing(NamedTuple):
    """The tests that failed in iteration `number` and fail again, of `asked` that ran alone; nothing was recorded."""

    number: int
    tests: tuple[str, ...]
    asked: int

    @property
    def sentence(self) -> str:
        """Return what is known, and what is not."""
        names = first_few(self.tests, 5)
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
