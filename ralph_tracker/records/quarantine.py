"""Quarantine: flaky tests that a person sets aside until a date decide nothing in the loops that begin before it."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from ralph_tracker.codec import ValueObject
from ralph_tracker.core.known_tests import names_in_short
from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED, Measurement, quantity


class Run(NamedTuple):
    """One run of the tests on a tree (None: unknown); those `repeated` failed first and passed then."""

    tree: str | None
    outcomes: Mapping[str, str]
    repeated: Collection[str] = ()


class FlakyTest(ValueObject):
    """A test with two outcomes on one tree, or in quarantine `until` a date; how often it passed and failed."""

    test: str
    passed: int
    failed: int
    until: str | None = None

    @property
    def text(self) -> str:
        """Return it in words."""
        until = "" if self.until is None else f"; quarantined in loops that begin before {self.until}"
        return f"{self.test}: passed {quantity(self.passed, 'time')}, failed {quantity(self.failed, 'time')}{until}"


def in_quarantine(quarantine: Mapping[str, str], day: str) -> frozenset[str]:
    """Return the tests whose quarantine has not ended on a day; both are ISO dates."""
    return frozenset(test for test, until in quarantine.items() if day < until)


def set_aside(measurement: Measurement, names: Collection[str]) -> Measurement:
    """Return the measurement without those tests, which it then lists as quarantined."""
    tests, metrics = measurement.tests, measurement.metrics
    found = {} if tests is None else {name: how for name, how in tests.outcomes.items() if name in names}
    if tests is None or not found:
        return measurement
    outcomes = list(found.values())
    counts: dict[str, int | None] = {}
    for metric, fewer in (
        ("test_count", len(outcomes)),
        ("tests_passed", outcomes.count(PASSED)),
        ("tests_failed", outcomes.count(FAILED)),
        ("tests_skipped", outcomes.count(SKIPPED)),
    ):
        count = getattr(metrics, metric)
        counts[metric] = None if count is None else max(0, count - fewer)
    # Where both counts are known, the rate is derived from them again.
    known = counts["tests_passed"] is not None and counts["tests_failed"] is not None
    told = names_in_short(f"{name} ({how})" for name, how in found.items())
    return measurement._replace(
        metrics=metrics._replace(**counts, pass_rate=None if known else metrics.pass_rate),
        tests=tests._replace(
            outcomes={name: how for name, how in tests.outcomes.items() if name not in found},
            flaky=tests.flaky.difference(found),
            failed_first=tests.failed_first.difference(found),
        ),
        notes=(*measurement.notes, f"in quarantine, deciding nothing: {told}"),
        quarantined=found,
    )


def flaky_tests(runs: Iterable[Run], quarantine: Mapping[str, str]) -> tuple[FlakyTest, ...]:
    """Return the tests with two outcomes on one tree, and those in quarantine, sorted by name."""
    seen: dict[str, list[str]] = {}
    on_tree: dict[tuple[str, str], str] = {}
    flaky = set(quarantine)
    for run in runs:
        for test in run.repeated:
            seen.setdefault(test, []).append(FAILED)
        flaky.update(run.repeated)
        for test, how in run.outcomes.items():
            if how == SKIPPED:
                continue
            seen.setdefault(test, []).append(how)
            if run.tree is not None and on_tree.setdefault((run.tree, test), how) != how:
                flaky.add(test)
    return tuple(
        FlakyTest(test, seen.get(test, []).count(PASSED), seen.get(test, []).count(FAILED), quarantine.get(test))
        for test in sorted(flaky)
    )
