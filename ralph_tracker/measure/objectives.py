"""Read the numbers of objectives from what checks print, and from the reports of benchmark tools.

A check that failed has no number: tools leave a 0 or an old value behind.
"""

import csv
import hashlib
import json
import os
import platform
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Final, NamedTuple

from ralph_tracker.core.metrics import FurtherMetric, quantity
from ralph_tracker.core.objective import believable, median
from ralph_tracker.errors import short_text
from ralph_tracker.integrity.deciding_files import files_named_in_commands
from ralph_tracker.measure.run_checks import Check, CheckResult

# What a line says: METRIC lines, then the text of Criterion and of benchmark.js.
_LINES: Final = (
    re.compile(r"^METRIC (?P<name>[^\s=]+)=(?P<value>\S+)(?:[ \t]+(?P<unit>\S+))?[ \t]*$", re.MULTILINE),
    re.compile(r"^(?P<name>\S.*?)\s+time: +\[[\d.]+ \S+ (?P<value>[\d.]+) (?P<unit>\S+) ", re.MULTILINE),
    re.compile(r"^(?P<name>\S.*?) x (?P<value>[\d,.]+) (?P<unit>ops/sec) ", re.MULTILINE),
)
_GO: Final = re.compile(r"^(?P<name>Benchmark\S*?)(?:-\d+)?[ \t]+\d+(?P<pairs>(?:[ \t]+\S+ \S+)+)[ \t]*$", re.MULTILINE)
_GO_FAILED: Final = re.compile(r"^--- FAIL: (Benchmark\S*?)(?:-\d+)?$", re.MULTILINE)
_THOUSANDTHS: Final = {"s": 0, "ms": 1, "us": 2, "µs": 2, "μs": 2, "ns": 3, "ps": 4}


class _Benchmark(NamedTuple):
    """A number that a check reports: its name, its repeats, its unit (None: not said), and the tool that it failed."""

    name: str
    values: Sequence[Any]
    unit: str | None = None
    failed: str | None = None

    def in_unit(self, unit: str) -> Sequence[Any] | None:
        """Return the repeats in a unit; None where it is another one than the benchmark's, and both are no times."""
        if self.unit in {None, unit}:
            return self.values
        if self.unit not in _THOUSANDTHS or unit not in _THOUSANDTHS:
            return None
        by = _THOUSANDTHS[unit] - _THOUSANDTHS[self.unit]
        return [each * 1000**by if by > 0 else each / 1000**-by for each in self.values if _is_number(each)]


class _Layout(NamedTuple):
    """Where a tool's JSON has its benchmarks, and a benchmark its name and its values; `*` is each of a list or object.

    `unit` is None where the tool says none, and begins with / where it is a path; a benchmark failed where something at
    `failed` is true.
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
    _Layout("Google Benchmark", "benchmarks/*", "run_name", "real_time", "/time_unit", "error_occurred"),
    _Layout("vitest", "files/*/groups/*/benchmarks/*", "name", "median", "ms"),
    _Layout("mitata", "benchmarks/*/runs/*", "name", "stats/p50", "ns", "error"),
    _Layout("tinybench", "*", "name", "result/latency/p50", "ms"),
    _Layout("benchmark.js", "*", "name", "stats/sample/*", "s", "error"),
    _Layout("size-limit", "*", "name", "size", "B"),
    _Layout("JMH", "*", "benchmark", "primaryMetric/rawData/*/*", "/primaryMetric/scoreUnit"),
    _Layout("Criterion", "*", "id", "median/estimate", "/median/unit"),
    _Layout("Lighthouse", "audits/*", "id", "numericValue"),
)


class _NoNumberError(Exception):
    """Why an objective has no number; its text ends a sentence."""


class Objectives(NamedTuple):
    """The objectives of an iteration, and why some have no number."""

    found: tuple[FurtherMetric, ...]
    problems: tuple[str, ...]


def numbers_of(document: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the metrics of a configuration that a check measures; `objective` says of each whether it is one."""
    goals, metrics = document.get("objectives") or (), document.get("metrics") or {}
    return {name: {**each, "objective": name in goals} for name, each in metrics.items() if each.get("from")}


def repeat_checks(
    sections: Mapping[str, Mapping[str, Any]],
    results: Sequence[CheckResult],
    counted: Collection[str],
    run: Callable[[Sequence[Check], int], Sequence[CheckResult]],
) -> tuple[CheckResult, ...]:
    """Run the checks of objectives as often as these ask for, and return the results of all further runs.

    One that failed, or whose results are those of an earlier iteration, is not run again.
    """
    wanted: dict[str, int] = {}
    for section in sections.values():
        wanted[section["from"]] = max(wanted.get(section["from"], 1), section.get("repeats") or 1)
    ready = [each.check for each in results if each.finished.succeeded and each.check.name not in counted]
    found: list[CheckResult] = []
    for turn in range(1, max(wanted.values(), default=1)):
        checks = [check._replace(needs=()) for check in ready if wanted.get(check.name, 1) > turn]
        found += run(checks, turn) if checks else ()
    return tuple(found)


def segment_of(check: Check, files: Mapping[str, str | None]) -> str:
    """Return a name for the benchmark and the machine: what the check runs, the files that it names, the computer.

    `files` has the content of each file of the tree by its path.
    """
    named = files_named_in_commands([check.run])
    parts = [
        [check.run, check.cwd, sorted(check.env.items())],
        [(path, files[path]) for path in sorted(named & files.keys())],
        [platform.node(), platform.machine(), os.cpu_count()],
    ]
    return hashlib.sha256(json.dumps(parts, default=list).encode()).hexdigest()[:16]


def read_objectives(
    sections: Mapping[str, Mapping[str, Any]],
    results: Sequence[CheckResult],
    counted: Collection[str] = (),
    segments: Mapping[str, str] = {},
) -> Objectives:
    """Return the metrics of `numbers_of` with their numbers, and a line for each that has none.

    `counted` names the checks whose results are those of an earlier iteration. Of a check that ran several times all
    results count. `segments` has a name for the benchmark of each check.
    """
    found, problems = [], []
    for name, section in sections.items():
        samples: tuple[float, ...] = ()
        check, loss = section["from"], section.get("max_loss")
        try:
            runs: list[CheckResult | None] = [each for each in results if each.check.name == check] or [None]
            samples = tuple(value for run in runs for value in _samples(section.get("name") or name, section, run))
        except _NoNumberError as error:
            problems.append(f"{name} has no number: {error}")
        found.append(
            FurtherMetric(
                name,
                median(samples) if samples else None,
                section["unit"],
                section["direction"],
                samples,
                objective=section["objective"],
                max_loss=float(loss.rstrip(" %")) / 100 if isinstance(loss, str) else loss,
                counted=check in counted,
                segment=segments.get(check, ""),
            )
        )
    return Objectives(tuple(found), tuple(problems))


def _samples(name: str, section: Mapping[str, Any], result: CheckResult | None) -> tuple[float, ...]:
    check, unit = section["from"], section["unit"]
    if result is None or not result.finished.succeeded:
        raise _NoNumberError(f"check {check} did not run" if result is None else f"{check}: {result.finished.summary}")
    paths = [report.data_path for report in result.reports if report.data_path is not None] or [result.stdout]
    texts = list(map(_text, paths))
    if section.get("pointer"):
        values = [value for text in texts for value in _at_pointer(text, section["pointer"])]
    else:
        values = _named([each for text in texts for each in _benchmarks(text)], name, unit)
    numbers = [float(each) for each in values if _is_number(each)]
    if not numbers or len(numbers) < len(values) or not believable(numbers):
        raise _NoNumberError(f"what check {check} reports for {name} is no number")
    return tuple(numbers)


def _text(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(64 * 1024 * 1024).decode("utf-8", "replace")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _named(benchmarks: Sequence[_Benchmark], name: str, unit: str) -> list[Any]:
    """Return the repeats of a benchmark in a unit."""
    if not benchmarks:
        raise _NoNumberError(
            "its check has neither a line `METRIC name=value unit` nor the report of a known benchmark tool"
        )
    mine = [each for each in benchmarks if each.name == name]
    if not mine:
        known = list(dict.fromkeys(each.name for each in benchmarks))
        shown = ", ".join(map(short_text, known[:5]))
        raise _NoNumberError(
            f"no {short_text(name)} among {quantity(len(known), 'benchmark')} ({shown}); set its `name`"
        )
    if failed := next((each.failed for each in mine if each.failed), None):
        raise _NoNumberError(f"{failed} says that {short_text(name)} failed")
    fitting = [values for each in mine if (values := each.in_unit(unit)) is not None]
    if not fitting:
        raise _NoNumberError(
            f"its check says {short_text(str(mine[0].unit))}, the configuration {unit}; make them the same"
        )
    return [value for values in fitting for value in values]


def _benchmarks(text: str) -> list[_Benchmark]:
    """Return what a check's output or report has, by the first form that it has."""
    document = _json(text)
    events = [each for each in document if isinstance(each, dict)] if isinstance(document, list) else []
    if any("Action" in each for each in events):  # go test -json cuts lines into pieces
        by_package: dict[Any, list[str]] = {}
        for each in events:
            by_package.setdefault(each.get("Package"), []).append(str(each.get("Output", "")))
        text = "\n".join(map("".join, by_package.values()))
    readers = (_of_lines(text), _of_go(text), _of_table(text), _of_k6(document), _of_asv(document), _of_json(document))
    try:
        return next((found for found in map(list, readers) if found), [])
    except (AttributeError, KeyError, TypeError, ValueError, csv.Error):
        return []  # like a known report, but of another shape


def _of_lines(text: str) -> Iterator[_Benchmark]:
    for pattern in _LINES:
        for line in pattern.finditer(text):
            yield _Benchmark(line["name"], [_number(line["value"].replace(",", ""))], line["unit"])


def _of_go(text: str) -> Iterator[_Benchmark]:
    """Yield each number of `go test -bench` by its unit: of one benchmark there are several."""
    for name in _GO_FAILED.findall(text):
        yield _Benchmark(name, [], failed="go test")
    for line in _GO.finditer(text):
        words = line["pairs"].split()
        for value, unit in zip(words[::2], words[1::2], strict=True):
            yield _Benchmark(line["name"], [_number(value)], unit)


def _of_table(text: str) -> Iterator[_Benchmark]:
    """Yield what Criterion's raw.csv has, and the last row of a log of experiments (autoresearch's results.tsv)."""
    opening = text.partition("\n")[0]
    if opening.startswith("group,function,value,"):
        for row in csv.DictReader(text.splitlines()):
            measured, count = (_number(row[key] or "") for key in ("sample_measured_value", "iteration_count"))
            name = "/".join(filter(None, (row["group"], row["function"], row["value"])))
            yield _Benchmark(name, [measured / count if measured is not None and count else None], row["unit"])
    elif "status" in opening.split("\t"):
        *_, last = [*csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)] or [{}]
        failed = None if last.get("status") in {"keep", "discard"} else "the last row"
        yield from (_Benchmark(name, [_number(value or "")], failed=failed) for name, value in last.items() if name)


def _of_k6(document: Any) -> Iterator[_Benchmark]:  # noqa: ANN401  # as parsed
    """Yield the statistics of k6's summary, such as http_req_duration/med; a crossed threshold fails all.

    Of a stream of points it is the median of each metric: the requests of one run are no repeats of it.
    """
    if isinstance(document, list):
        points: dict[str, list[float]] = {}
        for each in document:
            if each.get("type") == "Point":
                points.setdefault(each["metric"], []).append(each["data"]["value"])
        yield from (_Benchmark(name, [median(values)]) for name, values in points.items())
    if not (isinstance(document, dict) and "root_group" in document):
        return
    crossed = [*_at(document, "metrics/*/thresholds/*"), *(not ok for ok in _at(document, "metrics/*/thresholds/*/ok"))]
    failed = "k6" if True in crossed else None
    for metric, said in document.get("metrics", {}).items():
        for name, value in said.get("values", said).items():
            if _is_number(value):
                yield _Benchmark(f"{metric}/{name}", [value], failed=failed)


def _of_asv(document: Any) -> Iterator[_Benchmark]:  # noqa: ANN401  # as parsed
    """Yield asv's results, one for each combination of parameters, with its samples where they were recorded."""
    if not (isinstance(document, dict) and "result_columns" in document):
        return
    for name, row in document.get("results", {}).items():
        cells = dict(zip(document["result_columns"], row or (), strict=False))
        cases = list(product(*(cells.get("params") or ())))
        results, samples = (cells.get(key) or [None] * len(cases) for key in ("result", "samples"))
        for case, result, repeats in zip(cases, results, samples, strict=False):
            yield _Benchmark(f"{name}({', '.join(case)})" if case else name, repeats or [result])


def _of_json(document: Any) -> Iterator[_Benchmark]:  # noqa: ANN401  # as parsed
    for layout in _LAYOUTS:
        alone = next(_at(document, layout.name), None)  # pyperf names a single benchmark beside it
        named = [(one, next(_at(one, layout.name), alone)) for one in _at(document, layout.benchmarks)]
        if any(title is not None and any(True for _ in _at(one, layout.values)) for one, title in named):
            for one, title in named:
                if title is not None and one.get("run_type") != "aggregate":
                    unit = layout.unit
                    if unit is not None and unit.startswith("/"):
                        unit = next(_at(one, unit[1:]), None)
                    failed = layout.tool if layout.failed and any(_at(one, layout.failed)) else None
                    yield _Benchmark(str(title), list(_at(one, layout.values)), unit, failed)
            return


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _json(text: str) -> Any:  # noqa: ANN401  # as parsed
    """Return the JSON of a text, or the list of its lines that are objects; None where one of these is cut."""
    try:
        return json.loads(text)
    except RecursionError:
        return None
    except ValueError:
        lines = [line for line in text.splitlines() if line.startswith("{")]
        try:
            return [json.loads(line) for line in lines]
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
