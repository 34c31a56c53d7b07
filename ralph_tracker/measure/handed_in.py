"""Read metrics and usage handed in by a runner that has measured already (semantics § 1)."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, NoReturn

from ralph_tracker.config.yaml_io import PYTHONS_ADVICE, load_yaml
from ralph_tracker.core.known_tests import names_in_short
from ralph_tracker.core.metrics import (
    FAILED,
    LARGEST_VALUE,
    LONGEST_TEST_ID,
    METRICS,
    PASSED,
    SECTIONS,
    SKIPPED,
    Metrics,
    MetricSpec,
    TestResults,
    Usage,
)
from ralph_tracker.errors import InputError, short_text
from ralph_tracker.safe_files import read_regular

PASS_RATE_TOLERANCE: Final = 0.1
_COUNT: Final = "test_count"
_PARTS: Final[Mapping[str, str]] = {"tests_passed": PASSED, "tests_failed": FAILED, "tests_skipped": SKIPPED}
OUTCOMES: Final[Mapping[str, str]] = {
    "passed": "passed",
    "failed": "failed",
    "error": "failed",
    "skipped": "skipped",
    "xfailed": "skipped",
    "xpassed": "passed",
}
_KEYS: Final = ("id", "outcome")
_SIZES: Final = frozenset({len(_KEYS), len(_KEYS) + 1})  # without a duration or with it

ValueKind = Literal["status", "count", "amount", "percent", "share"]
_MOST: Final = {"count": LARGEST_VALUE, "amount": LARGEST_VALUE, "percent": 100, "share": 1}
Values = dict[str, Any]  # by name, None if not measured


class NotPlainError(ValueError):
    """Raised if the input may be invalid, so that the validator has to check it."""


@dataclass(frozen=True, slots=True)
class Cases:
    """The tests as handed in, by columns; seconds by id, if known."""

    ids: list[str]
    words: list[str]
    durations: dict[str, float]


@dataclass(frozen=True, slots=True)
class HandedInMetrics:
    """The input: each metric by name, the given score, and the tests if there are names."""

    values: Values
    quality_score: float | None
    cases: Cases | None


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
        from ralph_tracker.measure.handed_in_models import GivenUsage, validate_input  # noqa: PLC0415  # pydantic, only for invalid input

        return Usage(**validate_input(raw, name, GivenUsage).model_dump())


def validated_metrics(raw: Mapping[str, Any], name: str) -> HandedInMetrics:
    """Return validated metrics. Raises InputError, in one line, for invalid ones; `name` is their source."""
    from ralph_tracker.measure.handed_in_models import GivenMetrics, validate_input  # noqa: PLC0415  # as above

    given = dict(validate_input(raw, name, GivenMetrics))
    values = {metric: value for section in SECTIONS for metric, value in given[section]}
    return HandedInMetrics(values, given["quality_score"], None if given["tests"] is None else cases_of(given["tests"]))


def _raw(source: Mapping[str, Any] | str | Path, kind: str) -> tuple[str, Any]:
    if isinstance(source, Mapping):
        return kind, dict(source)
    path = Path(source)
    try:
        data = read_regular(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); name a YAML or JSON file of {kind}") from None
    raw = _parse(data, str(path))
    if not isinstance(raw, Mapping):
        raise InputError(f"{path}: expected keys and values at the top, found {short_text(raw)}")
    return str(path), raw


def _parse(data: bytes, name: str) -> Any:  # noqa: ANN401  # any document
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
    tests, twice = _results(cases)
    least = _counts(list(tests.outcomes.values()))
    for name, word in {_COUNT: "", **_PARTS}.items():
        if given[name] is not None and given[name] < least[name]:
            msg = f"testing: {name} is {given[name]}, but `tests` lists {least[name]}{word and f' {word}'}"
            raise ValueError(msg)
    most = _counts([OUTCOMES[word] for word in cases.words])
    completed = given | {name: count for name, count in least.items() if given[name] is None}
    if all(given[name] is None or given[name] <= most[name] for name in least):
        if completed[_COUNT] != sum(completed[name] for name in _PARTS):  # each run was counted
            completed = given | {name: count for name, count in most.items() if given[name] is None}
        return NamedTests(completed, tests, note=twice)
    if completed[_COUNT] != sum(completed[name] for name in _PARTS):
        completed = given
    failing = tuple(sorted(test for test, how in tests.outcomes.items() if how == FAILED))
    known = given[_COUNT] or sum(given[name] or 0 for name in _PARTS)
    said = f"tests: {least[_COUNT]} of {known} named, so the counts are compared, not the tests"
    said = f"{said}; failing: {names_in_short(failing)}" if failing else said
    return NamedTests(completed, None, failing, "; ".join(filter(None, (said, twice))))


def _counts(outcomes: list[str]) -> dict[str, int]:
    counted = Counter(outcomes)
    return {_COUNT: len(outcomes), **{name: counted[word] for name, word in _PARTS.items()}}


def _results(cases: Cases) -> tuple[TestResults, str]:
    """Return the worst outcome of each test, and a note on those that are listed with different ones, "" without any.

    Nothing says that a test listed twice was repeated.
    """
    outcomes = dict(zip(cases.ids, map(OUTCOMES.__getitem__, cases.words), strict=True))
    differing = set()
    if len(outcomes) < len(cases.ids):
        for test, word in zip(cases.ids, cases.words, strict=True):
            if (how := OUTCOMES[word]) != outcomes[test]:
                differing.add(test)
                outcomes[test] = min(how, outcomes[test], key=(FAILED, SKIPPED, PASSED).index)
    note = f"listed with different outcomes, of which the worst counts: {names_in_short(differing)}"
    return TestResults(outcomes, cases.durations), note if differing else ""


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
        if abs(given.pass_rate - derived) > PASS_RATE_TOLERANCE + 1e-9:
            return f"testing: pass_rate is {given.pass_rate:g}, but {passed} of {passed + failed} is {derived:.1f}"
    return None


# What is valid as it is needs no validator: importing that costs more than everything else in a hook, and it makes an
# object of each of 100,000 tests, which are processed here by columns.


def cases_of(tests: Sequence[Mapping[str, Any]]) -> Cases:
    """Return the columns of a list of tests. Raises KeyError for a test without an id or outcome."""
    timed = [test for test in tests if "duration" in test]
    return Cases(
        ids=list(map(itemgetter(_KEYS[0]), tests)),
        words=list(map(itemgetter(_KEYS[1]), tests)),
        durations={test["id"]: float(test["duration"]) for test in timed if test["duration"] is not None},
    )


def plain_metrics(raw: Mapping[str, Any]) -> HandedInMetrics:
    """Return metrics that are valid. Raises NotPlainError if that is not certain."""
    if not raw.keys() <= _TOP:
        raise NotPlainError
    values: Values = {}
    for section in SECTIONS:
        values |= _read(raw.get(section, {}), _METRICS[section])
    score = raw.get("quality_score")
    tests = raw.get("tests")
    return HandedInMetrics(
        values, None if score is None else _plain(score, "share"), None if tests is None else _plain_cases(tests)
    )


def plain_usage(raw: Mapping[str, Any]) -> Values:
    """Return usage that is valid. Raises NotPlainError if that is not certain."""
    return _read(raw, _USAGE)


def _read(raw: Any, kinds: Mapping[str, ValueKind]) -> Values:  # noqa: ANN401  # any input
    if type(raw) is not dict or not raw.keys() <= kinds.keys():
        raise NotPlainError
    return {name: None if raw.get(name) is None else _plain(raw[name], kind) for name, kind in kinds.items()}


def _plain(value: Any, kind: ValueKind) -> Any:  # noqa: ANN401  # as above
    if kind == "status":
        fits = type(value) is str and value in ("success", "failure")
    else:
        types = (int,) if kind == "count" else (int, float)
        fits = type(value) in types and 0 <= value <= _MOST[kind]  # also refuses NaN
    if not fits:
        raise NotPlainError
    return value if kind in {"status", "count"} else float(value)


def _plain_cases(tests: Any) -> Cases:  # noqa: ANN401  # as above
    if type(tests) is not list or not {dict}.issuperset(map(type, tests)):
        raise NotPlainError
    try:
        # Each test has an id, an outcome and at most a duration.
        sizes = set(map(len, tests))
        if not sizes <= _SIZES:
            raise NotPlainError
        if len(sizes) > 1 or sizes == {max(_SIZES)}:
            for took in [test["duration"] for test in tests if len(test) > len(_KEYS)]:
                if took is not None and (type(took) not in (int, float) or not 0 <= took <= LARGEST_VALUE):
                    raise NotPlainError
        cases = cases_of(tests)
        plain = {str}.issuperset(map(type, cases.ids)) and OUTCOMES.keys() >= set(cases.words)
        "".join(cases.ids).encode()
    except (KeyError, TypeError, UnicodeEncodeError):  # a missing key, no text, or a lone surrogate
        raise NotPlainError from None
    if not plain or not all(cases.ids) or max(map(len, cases.ids), default=0) > LONGEST_TEST_ID:
        raise NotPlainError
    return cases


def _kind(spec: MetricSpec) -> ValueKind:
    if not spec.numeric:
        return "status"
    if not spec.decimals:
        return "count"
    return "percent" if spec.unit == "%" else "amount"


_METRICS: Final[Mapping[str, Mapping[str, ValueKind]]] = {
    section: {spec.name: _kind(spec) for spec in METRICS if spec.section == section} for section in SECTIONS
}
_USAGE: Final[Mapping[str, ValueKind]] = {
    "cost_usd": "amount",
    "input_tokens": "count",
    "output_tokens": "count",
    "turns": "count",
    "duration_s": "amount",
}
_TOP: Final = frozenset({*SECTIONS, "quality_score", "tests"})
