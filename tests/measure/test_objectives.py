"""The numbers of objectives: lines of a check, a place in a JSON report, the reports of benchmark tools."""

import json
from pathlib import Path

import pytest

from ralph_tracker.measure.find_reports import FoundReport
from ralph_tracker.measure.objectives import read_objectives
from ralph_tracker.measure.process import FinishedCommand
from ralph_tracker.measure.run_checks import Check, CheckResult
from tests.tables import table

HYPERFINE = {"results": [{"command": "build", "times": [1.5, 1.7, 1.6], "exit_codes": [0, 0, 0]}]}
PYTEST = {"benchmarks": [{"name": "test_sum", "stats": {"data": [0.2, 0.4], "median": 0.3}}]}
GOOGLE = {
    "benchmarks": [
        {"name": "copy", "run_name": "copy", "run_type": "iteration", "real_time": 18.0, "time_unit": "ns"},
        {"name": "copy", "run_name": "copy", "run_type": "iteration", "real_time": 20.0, "time_unit": "ns"},
        {"name": "copy_mean", "run_name": "copy", "run_type": "aggregate", "real_time": 99.0, "time_unit": "ns"},
        {"name": "bad", "run_name": "bad", "run_type": "iteration", "real_time": 0.0, "error_occurred": True},
    ]
}
MITATA = {"benchmarks": [{"runs": [{"name": "join", "stats": {"p50": 390.5}}, {"name": "bad", "error": {}}]}]}
LINES = "starts\nMETRIC p95=4.1 ms\nMETRIC p95=4.3 ms\nMETRIC size=12 kB\n"
GO_JSON = "".join(
    json.dumps({"Action": "output", "Package": package, "Output": output}) + "\n"
    for package, output in (
        ("a", "BenchmarkJoin-2 \t 185"),
        ("b", "PASS\n"),
        ("a", "\t 67.5 ns/op\t 1 allocs/op\n"),
        ("a", "BenchmarkJoin-2 \t 167\t 60.5 ns/op\t 1 allocs/op\n"),
    )
)
GO_FAILS = "BenchmarkJoin-2 \t 185\t 67.5 ns/op\n--- FAIL: BenchmarkJoin-2\n    a_test.go:3: broken\nFAIL\n"
ASV = {
    "result_columns": ["result", "params", "samples"],
    "results": {
        "b.time_sum": [[2.5, 21.5], [["10", "1000"]]],
        "b.time_all": [[3.0], [], [[2.0, 4.0]]],
        "b.time_fail": [None, []],
        "b.lost": None,
    },
}
K6 = {"root_group": {}, "metrics": {"http_req_duration": {"med": 1.5, "p(95)": 8.25, "thresholds": {"p(95)<9": False}}}}
K6_CROSSED = {
    "root_group": {},
    "metrics": {**K6["metrics"], "http_req_failed": {"value": 1, "thresholds": {"rate<1": True}}},
}
K6_OWN = {
    "root_group": {},
    "metrics": {"latency": {"values": {"med": 1.5}, "thresholds": {"med<1": {"ok": False}}}},
}
CRITERION = (
    "Benchmarking grp/sum: Analyzing\ngrp/sum                 time:   [112.19 ns 117.52 ns 122.03 ns]\n"
    "                        change: [-3.3% +0.2% +4.1%] (p = 0.92 > 0.05)\n"
    "a name that is long\n                        time:   [1.1000 µs 1.2500 µs 1.3000 µs]\n"
)
RAW_CSV = (
    "group,function,value,throughput_num,throughput_type,sample_measured_value,unit,iteration_count\n"
    "grp,sum,,,,300.0,ns,2\ngrp,sum,,,,640.0,ns,4\n"
)
CARGO_CRITERION = (
    '{"reason":"benchmark-complete","id":"norm","median":{"estimate":3.5,"unit":"ns"}}\n'
    '{"reason":"group-complete","group_name":"norm"}\n'
)
BENCHMARK_JS = [
    {"name": "concat", "hz": 9.5, "stats": {"sample": [0.25, 0.5]}},
    {"name": "boom", "hz": 0, "error": "Error: bad", "stats": {"sample": []}},
]
RESULTS = "commit\tval_bpb\tstatus\tdescription\na1\t0.998\tkeep\tstart\nb2\t0.991\tdiscard\twider\n"
GO = "goos: linux\nBenchmarkJoin-2 \t 185\t 67.5 ns/op\t 1 allocs/op\nBenchmarkJoin-2 \t 167\t 60.5 ns/op\nPASS\n"


def read(tmp_path: Path, text: str, name: str, unit: str, *, exit_code: int = 0, **more: object):
    output = tmp_path / "speed.stdout"
    output.write_text(text)
    check = Check("speed", "./bench", kind="metrics")
    result = CheckResult(check, FinishedCommand(exit_code, duration_s=1.0), (), output, output)
    section = {"from": "speed", "objective": True, "direction": "down", "unit": unit, "name": name, **more}
    (metric,), problems = read_objectives({"goal": section}, [result])
    return metric, problems


@table(
    ("report", "name", "unit", "samples"),
    [
        pytest.param(LINES, "p95", "ms", (4.1, 4.3), id="lines"),
        pytest.param(GO, "BenchmarkJoin", "ns/op", (67.5, 60.5), id="go"),
        pytest.param(GO, "BenchmarkJoin", "allocs/op", (1.0,), id="another unit of go"),
        pytest.param(GO_JSON, "BenchmarkJoin", "ns/op", (67.5, 60.5), id="go test -json, whose lines are in pieces"),
        pytest.param(ASV, "b.time_sum(1000)", "s", (21.5,), id="asv"),
        pytest.param(ASV, "b.time_all", "s", (2.0, 4.0), id="asv with its samples"),
        pytest.param(K6, "http_req_duration/p(95)", "ms", (8.25,), id="k6"),
        pytest.param(CRITERION, "grp/sum", "ns", (117.52,), id="Criterion's text"),
        pytest.param(CRITERION, "a name that is long", "ns", (1250.0,), id="a long name and another unit"),
        pytest.param(RAW_CSV, "grp/sum", "ns", (150.0, 160.0), id="Criterion's raw.csv"),
        pytest.param(CARGO_CRITERION, "norm", "ns", (3.5,), id="cargo-criterion"),
        pytest.param(BENCHMARK_JS, "concat", "ms", (250.0, 500.0), id="benchmark.js"),
        pytest.param(
            "concat x 1,476,799 ops/sec ±10.79% (8 runs sampled)\nboom: \n",
            "concat",
            "ops/sec",
            (1476799.0,),
            id="its text",
        ),
        pytest.param(RESULTS, "val_bpb", "bits/byte", (0.991,), id="the last row of results.tsv"),
        pytest.param("METRIC p95=4100 us\n", "p95", "ms", (4.1,), id="another unit of time"),
        pytest.param(HYPERFINE, "build", "s", (1.5, 1.7, 1.6), id="hyperfine"),
        pytest.param(PYTEST, "test_sum", "s", (0.2, 0.4), id="pytest-benchmark"),
        pytest.param(
            {"benchmarks": [{"name": "sum", "stats": {"median": 0.3}}]}, "sum", "s", (0.3,), id="without its data"
        ),
        pytest.param(
            {"benchmarks": [{"runs": [{}, {"values": [2.5, 3.5]}], "metadata": {"name": "sum"}}]},
            "sum",
            "s",
            (2.5, 3.5),
            id="pyperf",
        ),
        pytest.param(
            {"benchmarks": [{"runs": [{"values": [2.5]}]}], "metadata": {"name": "sum"}},
            "sum",
            "s",
            (2.5,),
            id="one alone",
        ),
        pytest.param([{"name": "app", "size": 0}], "app", "B", (0.0,), id="a number that is 0"),
        pytest.param(GOOGLE, "copy", "ns", (18.0, 20.0), id="Google Benchmark without its aggregates"),
        pytest.param(
            {"files": [{"groups": [{"benchmarks": [{"name": "join", "median": 0.002}]}]}]},
            "join",
            "ms",
            (0.002,),
            id="vitest",
        ),
        pytest.param(MITATA, "join", "ns", (390.5,), id="mitata"),
        pytest.param(
            [{"name": "a", "result": {"latency": {"p50": 0.5}}}, {"name": "bad", "result": {"state": "errored"}}],
            "a",
            "ms",
            (0.5,),
            id="tinybench",
        ),
        pytest.param([{"name": "app", "passed": True, "size": 4220}], "app", "B", (4220.0,), id="size-limit"),
        pytest.param(
            [{"benchmark": "p.A.b", "primaryMetric": {"rawData": [[1.0, 2.0], [3.0]]}}],
            "p.A.b",
            "ms/op",
            (1.0, 2.0, 3.0),
            id="JMH",
        ),
        pytest.param(
            {"audits": {"speed-index": {"id": "speed-index", "numericValue": 656.5}}},
            "speed-index",
            "ms",
            (656.5,),
            id="Lighthouse",
        ),
    ],
)
def test_every_repeat_is_kept(tmp_path, report, name, unit, samples):
    metric, problems = read(tmp_path, report if isinstance(report, str) else json.dumps(report), name, unit)
    assert (metric.samples, problems) == (samples, ())


@table(
    ("pointer", "samples"),
    [
        pytest.param("/metrics/p95", (7.5,), id="a number"),
        pytest.param("/runs", (1.0, 2.0), id="a list of repeats"),
        pytest.param("/runs/1", (2.0,), id="one of a list"),
        pytest.param("/a~1b", (3.0,), id="a key with a slash"),
    ],
)
def test_a_pointer_names_a_place_in_json(tmp_path, pointer, samples):
    report = json.dumps({"metrics": {"p95": 7.5}, "runs": [1, 2], "a/b": 3})
    assert read(tmp_path, report, "p95", "ms", pointer=pointer)[0].samples == samples


@table(
    ("text", "name", "more", "why"),
    [
        pytest.param(LINES, "p95", {"exit_code": 1}, "speed: exit 1", id="the check failed"),
        pytest.param("", "p95", {}, "has neither a line", id="nothing was said"),
        pytest.param(LINES, "p99", {}, "no 'p99' among 2 benchmarks ('p95', 'size')", id="another name"),
        pytest.param(LINES, "size", {}, "its check says 'kB', the configuration ms", id="another unit"),
        pytest.param(
            json.dumps(GOOGLE), "copy", {"unit": "MB"}, "its check says 'ns', the configuration MB", id="no time"
        ),
        pytest.param(GO_FAILS, "BenchmarkJoin", {"unit": "ns/op"}, "go test says that 'BenchmarkJoin' failed", id="go"),
        pytest.param(json.dumps(ASV), "b.time_fail", {}, "is no number", id="asv says null"),
        pytest.param(json.dumps(K6_CROSSED), "http_req_duration/med", {}, "k6 says that", id="a threshold is crossed"),
        pytest.param(json.dumps(K6_OWN), "latency/med", {}, "k6 says that", id="of a summary of one's own"),
        pytest.param(json.dumps(BENCHMARK_JS), "boom", {}, "benchmark.js says that 'boom' failed", id="benchmark.js"),
        pytest.param("boom: \n", "boom", {}, "has neither a line", id="its text"),
        pytest.param(RESULTS + "c3\t0.000000\tcrash\toom\n", "val_bpb", {}, "the last row says", id="a crash is 0"),
        pytest.param(RESULTS.partition("\n")[0], "val_bpb", {}, "has neither a line", id="no row"),
        pytest.param(CARGO_CRITERION[:-20], "norm", {}, "has neither a line", id="a line that is cut"),
        pytest.param('{"root_group": {}, "metrics": {"a": 7}}', "a", {}, "has neither a line", id="another shape"),
        pytest.param("METRIC p95=nan ms\n", "p95", {}, "is no number", id="not a number"),
        pytest.param("METRIC p95=inf ms\n", "p95", {}, "is no number", id="infinity"),
        pytest.param("METRIC p95=crash ms\n", "p95", {}, "is no number", id="a word"),
        pytest.param(
            '{"results": [{"command": "x", "times": [0.0], "exit_codes": [1]}]}',
            "x",
            {},
            "hyperfine says that 'x' failed",
            id="a run that failed stands as 0",
        ),
        pytest.param(json.dumps(GOOGLE), "bad", {}, "Google Benchmark says that 'bad' failed", id="an error as 0"),
        pytest.param(json.dumps(MITATA), "bad", {"unit": "ns"}, "is no number", id="an error without a number"),
        pytest.param('{"a": 1}', "p95", {"pointer": "/b"}, "has nothing at '/b'", id="nothing there"),
        pytest.param('{"a": true}', "p95", {"pointer": "/a"}, "is no number", id="a truth value"),
    ],
)
def test_no_number_is_not_0_and_says_why(tmp_path, text, name, more, why):
    metric, problems = read(tmp_path, text, name, **{"unit": "ms", **more})
    assert (metric.value, metric.samples) == (None, ())
    assert why in problems[0]


def test_the_value_is_the_median(tmp_path):
    assert read(tmp_path, "METRIC a=1 s\nMETRIC a=9 s\nMETRIC a=2 s\n", "a", "s")[0].value == 2.0


def test_a_check_that_is_not_there_has_no_number():
    section = {"from": "speed", "objective": True, "direction": "down", "unit": "ms"}
    assert read_objectives({"p95": section}, []).problems == ("p95 has no number: check speed did not run",)


def test_a_report_counts_before_what_is_printed(tmp_path):
    output, report = tmp_path / "out", tmp_path / "report.txt"
    output.write_text("METRIC p95=1 ms\n")
    report.write_text("METRIC p95=2 ms\n")
    found = (FoundReport("report.txt", report),)
    result = CheckResult(Check("speed", "./bench"), FinishedCommand(0), found, output, output)
    section = {"from": "speed", "objective": True, "direction": "down", "unit": "ms"}
    assert read_objectives({"p95": section}, [result]).found[0].samples == (2.0,)


def test_each_of_several_reports_is_read(tmp_path):
    found = []
    for name, value in (("a", 1), ("b", 2)):
        report = tmp_path / f"{name}.json"
        report.write_text(json.dumps([{"name": name, "size": value}]))
        found.append(FoundReport(report.name, report))
    result = CheckResult(Check("speed", "./bench"), FinishedCommand(0), tuple(found), tmp_path, tmp_path)
    section = {"from": "speed", "objective": True, "direction": "down", "unit": "B"}
    read = read_objectives({"a": section, "b": section}, [result])
    assert ([each.samples for each in read.found], read.problems) == ([(1.0,), (2.0,)], ())
