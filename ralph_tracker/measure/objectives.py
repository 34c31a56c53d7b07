"""Read the numbers of objectives from what checks print, and from the reports of benchmark tools.

A check that failed has no number: tools leave a 0 or an old value behind.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple

from ralph_tracker.core.metrics import FurtherMetric, quantity
from ralph_tracker.core.objective import believable
from ralph_tracker.errors import short_text
from ralph_tracker.measure.run_checks import CheckResult

_METRIC: Final = re.compile(r"^METRIC (?P<name>[^\s=]+)=(?P<value>\S+)(?:[ \t]+(?P<unit>\S+))?[ \t]*$", re.MULTILINE)
_GO: Final = re.compile(r"^(?P<name>Benchmark\S*?)(?:-\d+)?\s+\d+\s+(?P<value>[\d.]+) (?P<unit>ns/op)", re.MULTILINE)


class _Layout(NamedTuple):
    """Where a tool's JSON has its benchmarks, and a benchmark its name and its values; `*` is each of a list or object.

    `unit` is None where the tool says none; a benchmark failed where something at `failed` is true.
    """

    tool: str
    benchmarks: str
    name: str
    values: str
    unit: str | None = None
    failed: str | None = None


# The first one by which a file has a benchmark with a name and numbers counts.
_LAYOUTS: Final = (
    _Layout("hyperfine", "results/*", "command", "times/*", "s", "exit_codes/*"),
    _Layout("pytest-benchmark", "benchmarks/*", "name", "stats/data/*", "s"),
    _Layout("pytest-benchmark", "benchmarks/*", "name", "stats/median", "s"),
    _Layout("pyperf", "benchmarks/*", "metadata/name", "runs/*/values/*", "s"),
    _Layout("Google Benchmark", "benchmarks/*", "run_name", "real_time", None, "error_occurred"),
    _Layout("vitest", "files/*/groups/*/benchmarks/*", "name", "median", "ms"),
    _Layout("mitata", "benchmarks/*/runs/*", "name", "stats/p50", "ns"),
    _Layout("tinybench", "*", "name", "result/latency/p50", "ms"),
    _Layout("size-limit", "*", "name", "size", "B"),
    _Layout("JMH", "*", "benchmark", "primaryMetric/rawData/*/*"),
    _Layout("Lighthouse", "audits/*", "id", "numericValue"),
)


class _NoNumberError(Exception):
    """Why an objective has no number; its text ends a sentence."""


class Objectives(NamedTuple):
    """The objectives of an iteration, and why some have no number."""

    found: tuple[FurtherMetric, ...]
    problems: tuple[str, ...]


def read_objectives(
    sections: Mapping[str, Mapping[str, Any]], results: Sequence[CheckResult], counted: Collection[str] = ()
) -> Objectives:
    """Return the objectives of a configuration with their numbers, and a line for each that has none.

    `counted` names the checks whose results are those of an earlier iteration.
    """
    by_name = {result.check.name: result for result in results}
    found, problems = [], []
    for name, section in sections.items():
        samples: tuple[float, ...] = ()
        try:
            samples = _samples(section.get("name") or name, section, by_name.get(section["check"]))
        except _NoNumberError as error:
            problems.append(f"{name} has no number: {error}")
        value = median(samples) if samples else None
        unit, direction, loss = section["unit"], section["direction"], section.get("max_loss")
        old = section["check"] in counted
        found.append(FurtherMetric(name, value, unit, direction, samples, objective=True, max_loss=loss, counted=old))
    return Objectives(tuple(found), tuple(problems))


def _samples(name: str, section: Mapping[str, Any], result: CheckResult | None) -> tuple[float, ...]:
    check, unit = section["check"], section["unit"]
    if result is None or not result.finished.succeeded:
        raise _NoNumberError(f"check {check} did not run" if result is None else f"{check}: {result.finished.summary}")
    paths = [report.data_path for report in result.reports if report.data_path is not None] or [result.stdout]
    text = "\n".join(map(_text, paths))
    values = _at_pointer(text, section["pointer"]) if section.get("pointer") else _named(text, name, unit)
    numbers = [float(each) for each in values if _is_number(each)]
    if not numbers or len(numbers) < len(values) or not believable(numbers):
        raise _NoNumberError(f"what check {check} reports for {name} is no number")
    return tuple(numbers)


def _text(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(64 * 1024 * 1024).decode("utf-8", "replace")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _named(text: str, name: str, unit: str) -> list[Any]:
    """Return the values of a benchmark: of METRIC lines, of lines of Go's benchmarks, or of a tool's JSON."""
    for pattern in (_METRIC, _GO):
        lines = list(pattern.finditer(text))
        if lines:
            mine = [line for line in lines if line["name"] == name]
            _refuse_unknown(name, mine, (line["name"] for line in lines))
            _refuse_other_units(unit, {line["unit"] for line in mine} - {None})
            return [_number(line["value"]) for line in mine]
    document = _json(text)
    for layout in _LAYOUTS:
        alone = next(_at(document, layout.name), None)  # pyperf names a single benchmark beside it
        each = [(one, next(_at(one, layout.name), alone)) for one in _at(document, layout.benchmarks)]
        if any(
            title is not None and next(_at(benchmark, layout.values), None) is not None for benchmark, title in each
        ):
            own = [benchmark for benchmark, title in each if title == name]
            _refuse_unknown(name, own, (str(title) for _, title in each if title is not None))
            if layout.failed and any(any(_at(benchmark, layout.failed)) for benchmark in own):
                raise _NoNumberError(f"{layout.tool} says that {short_text(name)} failed")
            _refuse_other_units(unit, {layout.unit} - {None})
            own = [benchmark for benchmark in own if benchmark.get("run_type") != "aggregate"]
            return [value for benchmark in own for value in _at(benchmark, layout.values)]
    raise _NoNumberError(
        "its check has neither a line `METRIC name=value unit` nor the report of a known benchmark tool"
    )


def _refuse_unknown(name: str, mine: Sequence[object], names: Iterable[str]) -> None:
    if not mine:
        known = list(dict.fromkeys(names))
        shown = ", ".join(map(short_text, known[:5]))
        raise _NoNumberError(
            f"no {short_text(name)} among {quantity(len(known), 'benchmark')} ({shown}); set its `name`"
        )


def _refuse_other_units(unit: str, units: Iterable[str | None]) -> None:
    for other in units:
        if other != unit:
            raise _NoNumberError(
                f"its check says {short_text(str(other))}, the configuration {unit}; make them the same"
            )


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _json(text: str) -> Any:  # noqa: ANN401  # as parsed
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _at(value: Any, path: str) -> Iterator[Any]:  # noqa: ANN401  # as parsed
    """Yield what a document has at a path."""
    key, _, rest = path.partition("/")
    if key == "*":
        within = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    else:
        within = [value[key]] if isinstance(value, dict) and key in value else []
    for each in within:
        yield from _at(each, rest) if rest else (each,)


def _at_pointer(text: str, pointer: str) -> list[Any]:
    """Return the number, or the list of numbers, at a JSON pointer."""
    value = _json(text)
    for part in pointer[1:].split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        try:
            value = value[int(key)] if isinstance(value, list) else value[key]
        except (LookupError, TypeError, ValueError):
            raise _NoNumberError(f"its report has nothing at {short_text(pointer)}") from None
    return value if isinstance(value, list) else [value]
