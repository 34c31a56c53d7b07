"""Run again the tests whose outcome differs between candidates, to tell flaky ones from changed ones."""

from collections.abc import Collection, Iterator, Sequence

from ralph_tracker.core.metrics import FAILED, PASSED, Metrics, TestResults
from ralph_tracker.replay.measuring import CommitMeasurer, Measured


def with_reruns(measurer: CommitMeasurer, measured: Sequence[Measured], times: int) -> Iterator[Measured]:
    """Yield what was measured; a test that differs from the first commit and does not always end the same is flaky."""
    outcomes = [_outcomes(each) for each in measured]
    differing = [{test for test, how in now.items() if outcomes[0].get(test) != how} for now in outcomes]
    differing[0] = set().union(*differing) & outcomes[0].keys()
    for each, tests in zip(measured, differing, strict=True):
        yield _rerun(measurer, each, tests, times) if tests else each


def _outcomes(measured: Measured) -> dict[str, str]:
    tests = measured.results.totals.tests
    return {} if tests is None else dict(tests.outcomes)


def _rerun(measurer: CommitMeasurer, measured: Measured, tests: Collection[str], times: int) -> Measured:
    first = measured.results.totals.tests
    if first is None:
        return measured
    runs = [first.outcomes, *measurer.again(measured, tests, times)]
    flaky = {test for test in tests if len({run[test] for run in runs if test in run}) > 1}
    totals = measured.results.totals
    counted = totals._replace(tests=_settled(first, flaky), metrics=_counted(totals.metrics, first, flaky))
    return measured._replace(results=measured.results._replace(totals=counted))


def _settled(first: TestResults, flaky: Collection[str]) -> TestResults:
    """Return the results; a flaky test can pass, so it does."""
    outcomes = {test: PASSED if test in flaky else how for test, how in first.outcomes.items()}
    return first._replace(outcomes=outcomes, flaky=first.flaky | frozenset(flaky))


def _counted(metrics: Metrics, first: TestResults, flaky: Collection[str]) -> Metrics:
    failed = sum(first.outcomes[test] == FAILED for test in flaky)
    if metrics.tests_passed is None or metrics.tests_failed is None:
        return metrics
    return metrics._replace(tests_passed=metrics.tests_passed + failed, tests_failed=metrics.tests_failed - failed)
