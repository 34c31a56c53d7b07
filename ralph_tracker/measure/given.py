"""Metrics and usage handed in by a runner that has measured already (semantics § 1)."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NoReturn,
    NotRequired,  # pydantic brings it, and needs it before Python 3.12
    TypeVar,
)

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from typing_extensions import TypedDict

from ralph_tracker.config.problems import first_problem
from ralph_tracker.config.wording import shortened
from ralph_tracker.config.yaml_io import MAX_BYTES, PYTHONS_ADVICE, load_yaml, without_surrogates
from ralph_tracker.core.metrics import Metrics, TestResults, Usage
from ralph_tracker.errors import InputError

PASS_RATE_TOLERANCE: Final = 0.1
MOST: Final = 10**12  # more than any loop counts, and small enough to reckon with exactly
_ROUNDING_SLACK: Final = 1e-9
_OUTCOMES: Final[Mapping[str, str]] = {
    "passed": "passed",
    "failed": "failed",
    "error": "failed",
    "skipped": "skipped",
    "xfailed": "skipped",
    "xpassed": "passed",
}

Count = Annotated[int, Field(ge=0, le=MOST, strict=True)]
Percent = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False, strict=True)]
Model = TypeVar("Model", bound=BaseModel)
Amount = Annotated[float, Field(ge=0, le=MOST, allow_inf_nan=False, strict=True)]


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


class GivenTest(TypedDict):
    """One test by name; a plain mapping, since there may be 100,000 of them."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]  # pydantic's own way to refuse more keys
    id: Annotated[str, Field(min_length=1, max_length=10_000)]
    outcome: Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed"]
    duration: NotRequired[Amount | None]


class GivenMetrics(_Given):
    """Metrics as a file or a mapping has them; every group and every value is optional."""

    testing: GivenTesting = GivenTesting()
    quality: GivenQuality = GivenQuality()
    codebase: GivenCodebase = GivenCodebase()
    quality_score: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)] | None = None
    tests: list[GivenTest] | None = None


class GivenUsage(_Given):
    """What the iteration cost; every value is optional, unknown is not 0."""

    cost_usd: Amount | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    turns: Count | None = None
    duration_s: Amount | None = None


def contradiction(given: GivenTesting) -> str | None:
    """Say which counts contradict each other, None where none does."""
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
    Counts that are absent come from the names. Raises InputError, in one line, for unknown keys, what is no finite
    number, negatives and contradictions.
    """
    name, given = _validated(source, "metrics", GivenMetrics)
    tests = None if given.tests is None else _results(given.tests)
    testing = given.testing if tests is None else _counted(given.testing, tests)
    problem = contradiction(testing)
    if problem:
        raise InputError(f"{name}: {problem}")
    values = testing.model_dump() | given.quality.model_dump() | given.codebase.model_dump()
    return Metrics(**values), given.quality_score, tests


def read_usage(source: Mapping[str, Any] | str | Path) -> Usage:
    """Read usage from a mapping, or from a YAML or JSON file. Raises InputError as `read_metrics` does."""
    return Usage(**_validated(source, "usage", GivenUsage)[1].model_dump())


def _validated(source: Mapping[str, Any] | str | Path, kind: str, model: type[Model]) -> tuple[str, Model]:
    name, raw = _raw(source, kind)
    try:
        try:
            return name, model.model_validate(raw)
        except ValidationError as error:
            if all(problem["type"] != "string_unicode" for problem in error.errors(include_url=False)):
                raise
            return name, model.model_validate(without_surrogates(raw))  # JSON may hold what no text can
    except ValidationError as error:
        raise InputError(f"{name}: {first_problem(error, model)}") from None


def _results(tests: list[GivenTest]) -> TestResults:
    """Take the last outcome of a test that stands twice; where they differ it is flaky."""
    outcomes = {test["id"]: _OUTCOMES[test["outcome"]] for test in tests}
    durations = {test["id"]: took for test in tests if (took := test.get("duration")) is not None}
    flaky = set()
    if len(outcomes) < len(tests):
        flaky = {test["id"] for test in tests if _OUTCOMES[test["outcome"]] != outcomes[test["id"]]}
    return TestResults(outcomes, durations, frozenset(flaky))


def _counted(given: GivenTesting, tests: TestResults) -> GivenTesting:
    """Take the counts that are absent from the names."""
    outcomes = list(tests.outcomes.values())
    counts = {
        "test_count": len(outcomes),
        "tests_passed": outcomes.count("passed"),
        "tests_failed": outcomes.count("failed"),
        "tests_skipped": outcomes.count("skipped"),
    }
    return given.model_copy(update={key: count for key, count in counts.items() if getattr(given, key) is None})


def _raw(source: Mapping[str, Any] | str | Path, kind: str) -> tuple[str, Any]:
    if isinstance(source, Mapping):
        return kind, dict(source)
    path = Path(source)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); name a YAML or JSON file of {kind}") from None
    raw = _parsed(data, str(path))
    if not isinstance(raw, Mapping):
        raise InputError(f"{path}: expected keys and values at the top, found {shortened(raw)}")
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
    except RecursionError:
        raise InputError(f"{name}: nested too deeply; make it flatter") from None
    except ValueError as error:
        if not name.endswith(".json"):
            return load_yaml(text, name)  # which has mappings in braces too
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
