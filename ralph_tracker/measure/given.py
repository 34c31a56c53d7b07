"""Metrics and usage handed in by a runner that has measured already (semantics § 1)."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NoReturn, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ralph_tracker.config.problems import first_problem
from ralph_tracker.config.yaml_io import MAX_BYTES, load_yaml
from ralph_tracker.core.metrics import Metrics, TestResults, Usage
from ralph_tracker.errors import InputError

PASS_RATE_TOLERANCE: Final = 0.1
_ROUNDING_SLACK: Final = 1e-9
_OUTCOMES: Final[Mapping[str, str]] = {
    "passed": "passed",
    "failed": "failed",
    "error": "failed",
    "skipped": "skipped",
    "xfailed": "skipped",
    "xpassed": "passed",
}

Count = Annotated[int, Field(ge=0, strict=True)]
Percent = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False, strict=True)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)]


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class GivenTesting(_Given):
    test_count: Count | None = None
    tests_passed: Count | None = None
    tests_failed: Count | None = None
    tests_skipped: Count | None = None
    pass_rate: Percent | None = None
    coverage_percentage: Percent | None = None
    coverage_lines_covered: Count | None = None
    coverage_lines_total: Count | None = None


class GivenQuality(_Given):
    lint_errors: Count | None = None
    lint_warnings: Count | None = None
    type_errors: Count | None = None
    build_status: Literal["success", "failure"] | None = None
    error_count: Count | None = None


class GivenCodebase(_Given):
    file_count: Count | None = None
    loc_total: Count | None = None
    complexity_score: Amount | None = None


class GivenTest(_Given):
    id: Annotated[str, Field(min_length=1, max_length=10_000)]
    outcome: Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed"]
    duration: Amount | None = None


class GivenMetrics(_Given):
    """Metrics as a file or a mapping has them; every group and every value is optional."""

    testing: GivenTesting = GivenTesting()
    quality: GivenQuality = GivenQuality()
    codebase: GivenCodebase = GivenCodebase()
    quality_score: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)] | None = None
    tests: list[GivenTest] | None = None

    @model_validator(mode="after")
    def _no_contradiction(self) -> Self:
        problem = contradiction(self.testing)
        if problem:
            raise ValueError(problem)
        return self


class GivenUsage(_Given):
    """What the iteration cost; every value is optional, unknown is not 0."""

    cost_usd: Amount | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    turns: Count | None = None
    duration_s: Amount | None = None


def contradiction(given: GivenTesting) -> str | None:
    """Say which counts contradict each other, None where none does."""
    passed, failed = given.tests_passed, given.tests_failed
    covered, total = given.coverage_lines_covered, given.coverage_lines_total
    if covered is not None and total is not None and covered > total:
        return f"testing: coverage_lines_covered {covered} > coverage_lines_total {total}"
    if passed is None or failed is None:
        return None
    counted = passed + failed + (given.tests_skipped or 0)
    count = given.test_count
    if count is not None and (counted > count or (given.tests_skipped is not None and counted != count)):
        return f"testing: passed + failed + skipped is {counted}, but test_count is {count}"
    if given.pass_rate is not None and passed + failed:
        derived = passed / (passed + failed) * 100
        if abs(given.pass_rate - derived) > PASS_RATE_TOLERANCE + _ROUNDING_SLACK:
            return f"testing: pass_rate is {given.pass_rate:g}, but {passed} of {passed + failed} is {derived:.1f}"
    return None


def read_metrics(source: Mapping[str, Any] | str | Path) -> tuple[Metrics, float | None, TestResults | None]:
    """Read metrics from a mapping, or from a YAML or JSON file.

    Returns the metrics as given, the given quality_score (None: computed) and the tests by name (None: no names).
    Counts that are absent come from the names. Raises InputError, in one line, for unknown keys, what is no finite
    number, negatives and contradictions.
    """
    name, raw = _raw(source, "metrics")
    try:
        given = GivenMetrics.model_validate(raw)
    except ValidationError as error:
        raise InputError(f"{name}: {first_problem(error, GivenMetrics)}") from None
    tests = None if given.tests is None else _results(given.tests)
    values = given.testing.model_dump() | given.quality.model_dump() | given.codebase.model_dump()
    if tests is not None:
        for key, count in _counts(tests).items():
            values[key] = count if values[key] is None else values[key]
    return Metrics(**values), given.quality_score, tests


def read_usage(source: Mapping[str, Any] | str | Path) -> Usage:
    """Read usage from a mapping, or from a YAML or JSON file. Raises InputError as `read_metrics` does."""
    name, raw = _raw(source, "usage")
    try:
        return Usage(**GivenUsage.model_validate(raw).model_dump())
    except ValidationError as error:
        raise InputError(f"{name}: {first_problem(error, GivenUsage)}") from None


def _results(tests: list[GivenTest]) -> TestResults:
    """Take the last outcome of a test that stands twice; where they differ it is flaky."""
    outcomes: dict[str, str] = {}
    flaky = set()
    for test in tests:
        outcome = _OUTCOMES[test.outcome]
        if outcomes.get(test.id, outcome) != outcome:
            flaky.add(test.id)
        outcomes[test.id] = outcome
    durations = {test.id: test.duration for test in tests if test.duration is not None}
    return TestResults(outcomes, durations, frozenset(flaky))


def _counts(tests: TestResults) -> dict[str, int]:
    outcomes = list(tests.outcomes.values())
    return {
        "test_count": len(outcomes),
        "tests_passed": outcomes.count("passed"),
        "tests_failed": outcomes.count("failed"),
        "tests_skipped": outcomes.count("skipped"),
    }


def _raw(source: Mapping[str, Any] | str | Path, kind: str) -> tuple[str, Any]:
    if isinstance(source, Mapping):
        return kind, source
    path = Path(source)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); name a YAML or JSON file of {kind}") from None
    raw = _parsed(data, str(path))
    if not isinstance(raw, Mapping):
        raise InputError(f"{path}: expected keys and values at the top, found {type(raw).__name__}")
    return str(path), raw


def _parsed(data: bytes, name: str) -> Any:  # noqa: ANN401  # any document
    if len(data) > MAX_BYTES:
        raise InputError(f"{name}: larger than {MAX_BYTES // 1024 // 1024} MiB; hand in less")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: not UTF-8 (byte {error.start}); save it as UTF-8") from None
    if not text.lstrip().startswith("{"):
        return load_yaml(text, name)
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name}: not readable as JSON: {error}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        keys = [key for key, _ in pairs]
        doubled = next(key for key in keys if keys.count(key) > 1)
        msg = f"key {doubled!r} stands twice"
        raise ValueError(msg)
    return mapping


def _no_constant(word: str) -> NoReturn:
    msg = f"{word} is no number; leave out what was not measured"
    raise ValueError(msg)
