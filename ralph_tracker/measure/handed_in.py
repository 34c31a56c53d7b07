"""Read metrics and usage handed in by a runner that has measured already (semantics § 1)."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from ralph_tracker.config.regular_file import read_regular
from ralph_tracker.config.short_words import shortened
from ralph_tracker.config.yaml_io import PYTHONS_ADVICE, load_yaml
from ralph_tracker.core.known_tests import names_in_short
from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED, Metrics, TestResults, Usage
from ralph_tracker.errors import InputError
from ralph_tracker.measure.handed_in_fast_path import (
    OUTCOMES,
    Cases,
    NotPlainError,
    Values,
    plain_metrics,
    plain_usage,
)

PASS_RATE_TOLERANCE: Final = 0.1
_ROUNDING_SLACK: Final = 1e-9


def contradiction(given: Metrics) -> str | None:
    """Return which counts contradict each other, None if none do."""
    passed, failed, count = given.tests_passed, given.tests_failed, given.test_count
    covered, total = given.coverage_lines_covered, given.coverage_lines_total
    if covered is not None and total is not None and covered > total:
        return f"testing: coverage_lines_covered {covered} > coverage_lines_total {total}"
    parts = (passed, failed, given.tests_skipped)
    counted = sum(part or 0 for part in parts)
    if count is not None and (counted > count or (None not in parts and counted != count)):
        return f"testing: passed + failed + skipped is {counted}, but test_count is {count}"
    if given.pass_rate is not None and passed is not None and failed is not None and passed + failed:
        derived = passed / (passed + failed) * 100
        if abs(given.pass_rate - derived) > PASS_RATE_TOLERANCE + _ROUNDING_SLACK:
            return f"testing: pass_rate is {given.pass_rate:g}, but {passed} of {passed + failed} is {derived:.1f}"
    return None


class GivenMeasurement(NamedTuple):
    """Metrics as handed in.

    `quality_score` is None if it is computed, `tests` if not all of them are named; then `failing` are the failing ones
    among the names. `note` says so.
    """

    metrics: Metrics
    quality_score: float | None = None
    tests: TestResults | None = None
    failing: tuple[str, ...] = ()
    note: str = ""


def read_metrics(source: Mapping[str, Any] | str | Path) -> GivenMeasurement:
    """Read metrics from a mapping, or from a YAML or JSON file.

    Missing counts are computed from the names of all tests. Raises InputError, in one line, for unknown keys, values
    that are not finite numbers, negatives and contradictions.
    """
    name, raw = _raw(source, "metrics")
    try:
        given = plain_metrics(raw)
    except NotPlainError:
        from ralph_tracker.measure.handed_in_models import validated_metrics  # noqa: PLC0415  # pydantic, only for invalid input

        given = validated_metrics(raw, name)
    try:
        named = NamedTests(given.values, None) if given.cases is None else beside_counts(given.values, given.cases)
    except ValueError as error:
        raise InputError(f"{name}: {error}") from None
    metrics = Metrics(**named.values)
    problem = contradiction(metrics)
    if problem:
        raise InputError(f"{name}: {problem}")
    return GivenMeasurement(metrics, given.quality_score, named.tests, named.failing, named.note)


def read_usage(source: Mapping[str, Any] | str | Path) -> Usage:
    """Read usage from a mapping, or from a YAML or JSON file. Raises InputError as `read_metrics` does."""
    name, raw = _raw(source, "usage")
    try:
        return Usage(**plain_usage(raw))
    except NotPlainError:
        from ralph_tracker.measure.handed_in_models import validated_usage  # noqa: PLC0415  as above

        return Usage(**validated_usage(raw, name))


def _raw(source: Mapping[str, Any] | str | Path, kind: str) -> tuple[str, Any]:
    if isinstance(source, Mapping):
        return kind, dict(source)
    path = Path(source)
    try:
        data = read_regular(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); name a YAML or JSON file of {kind}") from None
    raw = _parsed(data, str(path))
    if not isinstance(raw, Mapping):
        raise InputError(f"{path}: expected keys and values at the top, found {shortened(raw)}")
    return str(path), raw


def _parsed(data: bytes, name: str) -> Any:  # noqa: ANN401  # any document
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: not UTF-8 (byte {error.start}); save it as UTF-8") from None
    if not text.lstrip().startswith("{"):
        return load_yaml(text, name)
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except RecursionError:
        raise InputError(f"{name}: nested too deeply; make it flatter") from None
    except ValueError as error:
        if not name.endswith(".json"):
            return load_yaml(text, name)  # YAML has mappings in braces too
        raise InputError(f"{name}: not readable as JSON: {str(error).removesuffix(PYTHONS_ADVICE)}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        keys = [key for key, _ in pairs]
        doubled = next(key for key in keys if keys.count(key) > 1)
        msg = f"key {doubled!r} is given twice; keep one"
        raise ValueError(msg)
    return mapping


def _no_constant(word: str) -> NoReturn:
    msg = f"{word} is no number; leave out what was not measured"
    raise ValueError(msg)


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
    for name, word in {_COUNT: "", **_PARTS}.items():
        if given[name] is not None and given[name] < least[name]:
            msg = f"testing: {name} is {given[name]}, but `tests` lists {least[name]}{word and f' {word}'}"
            raise ValueError(msg)
    most = _counts([OUTCOMES[word] for word in cases.words])
    completed = given | {name: count for name, count in least.items() if given[name] is None}
    if all(given[name] is None or given[name] <= most[name] for name in least):
        return NamedTests(completed, tests)
    if completed[_COUNT] != sum(completed[name] for name in _PARTS):
        completed = given
    failing = tuple(sorted(test for test, how in tests.outcomes.items() if how == FAILED))
    known = given[_COUNT] or sum(given[name] or 0 for name in _PARTS)
    said = f"tests: {least[_COUNT]} of {known} named, so the counts are compared, not the tests"
    return NamedTests(completed, None, failing, f"{said}; failing: {names_in_short(failing)}" if failing else said)


def _counts(outcomes: list[str]) -> dict[str, int]:
    counted = Counter(outcomes)
    return {_COUNT: len(outcomes), **{name: counted[word] for name, word in _PARTS.items()}}


def _results(cases: Cases) -> TestResults:
    """Return the last outcome of each test; a test with differing outcomes is flaky."""
    outcomes = dict(zip(cases.ids, map(OUTCOMES.__getitem__, cases.words), strict=True))
    flaky = set()
    if len(outcomes) < len(cases.ids):
        runs = zip(cases.ids, cases.words, strict=True)
        flaky = {test for test, word in runs if OUTCOMES[word] != outcomes[test]}
    return TestResults(outcomes, cases.durations, frozenset(flaky))
