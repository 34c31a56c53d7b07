"""Read metrics and usage handed in by a runner that has measured already (semantics § 1)."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NoReturn

from ralph_tracker.config.regular_file import read_regular
from ralph_tracker.config.short_words import shortened
from ralph_tracker.config.yaml_io import PYTHONS_ADVICE, load_yaml
from ralph_tracker.core.metrics import FAILED, PASSED, SKIPPED, Metrics, TestResults, Usage
from ralph_tracker.errors import InputError
from ralph_tracker.measure.given_fast_path import (
    OUTCOMES,
    Cases,
    Given,
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


def read_metrics(source: Mapping[str, Any] | str | Path) -> tuple[Metrics, float | None, TestResults | None]:
    """Read metrics from a mapping, or from a YAML or JSON file.

    Returns the metrics as given, the given quality_score (None: computed) and the tests by name (None: no names).
    Missing counts are computed from the names. Raises InputError, in one line, for unknown keys, values that are not
    finite numbers, negatives and contradictions.
    """
    name, raw = _raw(source, "metrics")
    given = _given(raw, name)
    tests = None if given.cases is None else _results(given.cases)
    metrics = Metrics(**(given.values if tests is None else _with_counts(given.values, tests)))
    problem = contradiction(metrics)
    if problem:
        raise InputError(f"{name}: {problem}")
    return metrics, given.quality_score, tests


def read_usage(source: Mapping[str, Any] | str | Path) -> Usage:
    """Read usage from a mapping, or from a YAML or JSON file. Raises InputError as `read_metrics` does."""
    name, raw = _raw(source, "usage")
    return Usage(**_usage(raw, name))


def _given(raw: Mapping[str, Any], name: str) -> Given:
    try:
        return plain_metrics(raw)
    except NotPlainError:
        from ralph_tracker.measure.given_models import validated_metrics  # noqa: PLC0415  # pydantic, only for invalid input

        return validated_metrics(raw, name)


def _usage(raw: Mapping[str, Any], name: str) -> Values:
    try:
        return plain_usage(raw)
    except NotPlainError:
        from ralph_tracker.measure.given_models import validated_usage  # noqa: PLC0415  as above

        return validated_usage(raw, name)


def _results(cases: Cases) -> TestResults:
    """Return the last outcome of each test; a test with differing outcomes is flaky."""
    outcomes = dict(zip(cases.ids, map(OUTCOMES.__getitem__, cases.words), strict=True))
    flaky = set()
    if len(outcomes) < len(cases.ids):
        runs = zip(cases.ids, cases.words, strict=True)
        flaky = {test for test, word in runs if OUTCOMES[word] != outcomes[test]}
    return TestResults(outcomes, cases.durations, frozenset(flaky))


def _with_counts(given: Values, tests: TestResults) -> Values:
    """Return the values with missing counts computed from the tests."""
    outcomes = list(tests.outcomes.values())
    counts = {
        "test_count": len(outcomes),
        "tests_passed": outcomes.count(PASSED),
        "tests_failed": outcomes.count(FAILED),
        "tests_skipped": outcomes.count(SKIPPED),
    }
    return given | {name: count for name, count in counts.items() if given[name] is None}


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
        msg = f"key {doubled!r} stands twice; keep one"
        raise ValueError(msg)
    return mapping


def _no_constant(word: str) -> NoReturn:
    msg = f"{word} is no number; leave out what was not measured"
    raise ValueError(msg)
