"""A fast path for metrics and usage that are valid as they are.

The validator only handles the rest: importing it costs more than everything else in a hook, and it makes an object of
each of 100,000 tests, which are processed here by columns.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final

from ralph_tracker.core.metrics import METRICS, SECTIONS, MetricSpec, Value

MOST: Final = 10**12  # more than any loop counts, and small enough for exact arithmetic
LONGEST_ID: Final = 10_000
OUTCOMES: Final[Mapping[str, str]] = {
    "passed": "passed",
    "failed": "failed",
    "error": "failed",
    "skipped": "skipped",
    "xfailed": "skipped",
    "xpassed": "passed",
}
_STATUSES: Final = ("success", "failure")
_KEYS: Final = ("id", "outcome")
_SIZES: Final = frozenset({len(_KEYS), len(_KEYS) + 1})  # without a duration or with it

Reader = Callable[[Any], Value]
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
class Given:
    """The input: each metric by name, the given score, and the tests if there are names."""

    values: Values
    quality_score: float | None
    cases: Cases | None


def cases_of(tests: Sequence[Mapping[str, Any]]) -> Cases:
    """Return the columns of a list of tests. Raises KeyError for a test without an id or outcome."""
    timed = [test for test in tests if "duration" in test]
    return Cases(
        ids=list(map(itemgetter(_KEYS[0]), tests)),
        words=list(map(itemgetter(_KEYS[1]), tests)),
        durations={test["id"]: float(test["duration"]) for test in timed if test["duration"] is not None},
    )


def plain_metrics(raw: Mapping[str, Any]) -> Given:
    """Return metrics that are valid. Raises NotPlainError if that is not certain."""
    if not raw.keys() <= _TOP:
        raise NotPlainError
    values: Values = {}
    for section in SECTIONS:
        values |= _read(raw.get(section, {}), _METRICS[section])
    score = raw.get("quality_score")
    tests = raw.get("tests")
    return Given(values, None if score is None else _share(score), None if tests is None else _plain_cases(tests))


def plain_usage(raw: Mapping[str, Any]) -> Values:
    """Return usage that is valid. Raises NotPlainError if that is not certain."""
    return _read(raw, _USAGE)


def _read(raw: Any, readers: Mapping[str, Reader]) -> Values:  # noqa: ANN401  # any input
    if type(raw) is not dict or not raw.keys() <= readers.keys():
        raise NotPlainError
    return {name: None if raw.get(name) is None else read(raw[name]) for name, read in readers.items()}


def _count(value: Any) -> int:  # noqa: ANN401  # as above
    if type(value) is not int or not 0 <= value <= MOST:
        raise NotPlainError
    return value


def _up_to(most: float) -> Callable[[Any], float]:
    def read(value: Any) -> float:  # noqa: ANN401  # as above
        if type(value) not in (int, float) or not 0 <= value <= most:  # also refuses NaN
            raise NotPlainError
        return float(value)

    return read


def _status(value: Any) -> str:  # noqa: ANN401  # as above
    if type(value) is not str or value not in _STATUSES:
        raise NotPlainError
    return value


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
                _ = took is None or _amount(took)
        cases = cases_of(tests)
        plain = {str}.issuperset(map(type, cases.ids)) and OUTCOMES.keys() >= set(cases.words)
        "".join(cases.ids).encode()
    except (KeyError, TypeError, UnicodeEncodeError):  # a missing key, no text, or a lone surrogate
        raise NotPlainError from None
    if not plain or not all(cases.ids) or max(map(len, cases.ids), default=0) > LONGEST_ID:
        raise NotPlainError
    return cases


_share, _amount = _up_to(1), _up_to(MOST)


def _reader(spec: MetricSpec) -> Reader:
    if not spec.numeric:
        return _status
    if not spec.decimals:
        return _count
    return _up_to(100) if spec.unit == "%" else _amount


_METRICS: Final[Mapping[str, Mapping[str, Reader]]] = {
    section: {spec.name: _reader(spec) for spec in METRICS if spec.section == section} for section in SECTIONS
}
_USAGE: Final[Mapping[str, Reader]] = {
    "cost_usd": _amount,
    "input_tokens": _count,
    "output_tokens": _count,
    "turns": _count,
    "duration_s": _amount,
}
_TOP: Final = frozenset({*SECTIONS, "quality_score", "tests"})
