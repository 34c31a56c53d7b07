"""What an OTLP receiver gets is what is on record, with pinned names and the times of the records."""

import gzip
import http.server
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.fleet.make_loops import SECRET
from tests.fleet.test_mlflow import TRACKER, records

metrics_pb = pytest.importorskip("opentelemetry.proto.collector.metrics.v1.metrics_service_pb2")
logs_pb = pytest.importorskip("opentelemetry.proto.collector.logs.v1.logs_service_pb2")
STEPS = 130


class Receiver(http.server.ThreadingHTTPServer):
    """A receiver made from the protocol's own messages; the first answers are "not now"."""

    def __init__(self, port: int = 0) -> None:
        self.busy, self.metrics, self.logs, self.headers = 0, [], [], []
        super().__init__(("127.0.0.1", port), _Handler)
        self.thread = threading.Thread(target=self.serve_forever)
        self.thread.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:  # as the library calls it
        receiver: Receiver = self.server  # type: ignore[assignment]
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        if receiver.busy > 0:
            receiver.busy -= 1
            self.send_response(503)
            self.end_headers()
            return
        kind, kept = (metrics_pb, receiver.metrics) if self.path == "/v1/metrics" else (logs_pb, receiver.logs)
        name = "ExportMetricsService" if kind is metrics_pb else "ExportLogsService"
        kept.append(getattr(kind, f"{name}Request").FromString(body))
        receiver.headers.append(self.headers["x-key"])
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.end_headers()
        self.wfile.write(getattr(kind, f"{name}Response")().SerializeToString())

    def log_message(self, *_: object) -> None:
        return


def points(receiver):
    for request in receiver.metrics:
        (resource,) = request.resource_metrics
        for metric in resource.scope_metrics[0].metrics:
            for point in metric.gauge.data_points:
                of = {each.key: each.value for each in point.attributes}
                value = point.as_int if point.HasField("as_int") else point.as_double
                yield metric.name, of["ralph_tracker.iteration"].int_value, point.time_unix_nano, value


def events(receiver):
    for request in receiver.logs:
        for record in request.resource_logs[0].scope_logs[0].log_records:
            attributes = {each.key: each.value for each in record.attributes}
            yield record.event_name, attributes, record


@pytest.fixture
def receiver():
    yield from _receiver()


@pytest.fixture
def other():
    yield from _receiver()


def _receiver():
    with Receiver() as found:
        yield found
        found.shutdown()
        found.thread.join()


@pytest.fixture
def loop(tmp_path):
    program = str(Path(__file__).with_name("make_loops.py"))
    subprocess.run([sys.executable, program, str(tmp_path / "one"), "0", "1", str(STEPS)], check=True)
    return tmp_path / "one"


def export(root, receiver, **more):
    words = [TRACKER, "export", "--to", "otlp", "--root", str(root), "--patience", "30"]
    address = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.address, "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b"}
    known = {"PATH": "/usr/bin:/bin", **address, **more}
    done = subprocess.run(words, env=known, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_receiver_gets_each_value_and_score_once_with_the_time_of_its_record(loop, receiver):
    receiver.busy = 2
    assert f"{STEPS + 1} iterations sent" in export(loop, receiver)
    assert "0 iterations sent" in export(loop, receiver)
    known = {number: record for (_, number), record in records(loop).items()}
    for name, section, key in (
        ("ralph_tracker.testing.tests_passed", "testing", "tests_passed"),
        ("ralph_tracker.codebase.complexity_score", "codebase", "complexity_score"),
    ):
        there = sorted((number, value) for metric, number, _, value in points(receiver) if metric == name)
        assert there == sorted((number, record[section][key]) for number, record in known.items())
    keys = [(name, number) for name, number, _, _ in points(receiver)]
    assert len(keys) == len(set(keys))
    evaluations = [(of, record) for name, of, record in events(receiver) if name == "gen_ai.evaluation.result"]
    scores = {
        (of["gen_ai.evaluation.name"].string_value, of["ralph_tracker.iteration"].int_value): (
            of["gen_ai.evaluation.score.value"].double_value,
            of["gen_ai.evaluation.score.label"].string_value,
        )
        for of, _ in evaluations
    }
    assert len(evaluations) == len(scores) == 2 * len(known)
    assert {number: scores["quality_score", number] for number in known} == {
        number: (record["quality_score"], record["classification"]) for number, record in known.items()
    }
    alerts = sorted(of["ralph_tracker.alert.id"].string_value for name, of, _ in events(receiver) if "alert" in name)
    assert alerts == sorted(alert["id"] for record in known.values() for alert in record["alerts"])
    assert alerts
    assert set(receiver.headers) == {"a b"}
    assert SECRET.encode() not in b"".join(each.SerializeToString() for each in (*receiver.metrics, *receiver.logs))


def test_another_receiver_gets_all_of_it(loop, receiver, other):
    export(loop, receiver)
    assert f"{STEPS + 1} iterations sent" in export(loop, other)
