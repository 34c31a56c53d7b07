"""Compare the tests that are handed in by name with the counts beside them (semantics § 1)."""

from collections import Counter
from collections.abc import Mapping
from typing import Final, NamedTuple

from ralph_tracker.core.known_tests import names_in_short
from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED, TestResults
from ralph_tracker.measure.given_fast_path import OUTCOMES, Cases, Values

_COUNT: Final = "test_count"
_PARTS: Final[Mapping[str, str]] = {"tests_passed": PASSED, "tests_failed": FAILED, "tests_skipped": SKIPPED}


class NamedTests(NamedTuple):
    """What a list of tests gives besides the counts.

    `values` are the metrics, completed from the list. `tests` is None if the list names only some of the tests: then
    the counts are compared, and `failing` are the failing ones among the names.
    """

    values: Values
    tests: TestResults | None
    failing: tuple[str, ...] = ()
    note: str = ""


def beside_counts(given: Values, cases: Cases) -> NamedTests:
    """Complete the counts from a list of all tests, or leave them beside a list of some.

    Raises ValueError, with the reason, if the list has more tests of an outcome than its count says.
    """
    tests = _results(cases)
    least = _counts(list(tests.outcomes.values()))
    _refuse_fewer(given, least)
    most = _counts([OUTCOMES[word] for word in cases.words])
    completed = given | {name: count for name, count in least.items() if given[name] is None}
    if all(given[name] is None or given[name] <= most[name] for name in least):
        return NamedTests(completed, tests)
    if completed[_COUNT] != sum(completed[name] for name in _PARTS):
        completed = given
    failing = tuple(sorted(test for test, how in tests.outcomes.items() if how == FAILED))
    return NamedTests(completed, None, failing, _note(given, least[_COUNT], failing))


def _refuse_fewer(given: Values, listed: Mapping[str, int]) -> None:
    for name, word in {_COUNT: "", **_PARTS}.items():
        if given[name] is not None and given[name] < listed[name]:
            msg = f"testing: {name} is {given[name]}, but `tests` lists {listed[name]}{word and f' {word}'}"
            raise ValueError(msg)


def _counts(outcomes: list[str]) -> dict[str, int]:
    counted = Counter(outcomes)
    return {_COUNT: len(outcomes), **{name: counted[word] for name, word in _PARTS.items()}}


def _note(given: Values, names: int, failing: tuple[str, ...]) -> str:
    known = given[_COUNT] or sum(given[name] or 0 for name in _PARTS)
    said = f"tests: {names} of {known} named, so the counts are compared, not the tests"
    return f"{said}; failing: {names_in_short(failing)}" if failing else said


def _results(cases: Cases) -> TestResults:
    """Return the last outcome of each test; a test with differing outcomes is flaky."""
    outcomes = dict(zip(cases.ids, map(OUTCOMES.__getitem__, cases.words), strict=True))
    flaky = set()
    if len(outcomes) < len(cases.ids):
        runs = zip(cases.ids, cases.words, strict=True)
        flaky = {test for test, word in runs if OUTCOMES[word] != outcomes[test]}
    return TestResults(outcomes, cases.durations, frozenset(flaky))
