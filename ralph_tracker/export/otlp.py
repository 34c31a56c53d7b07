"""Send loops over OTLP/HTTP: a gauge a value, an event a score and an alert, with the times of the records."""

import gzip
import http.client
import urllib.error
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from ralph_tracker.errors import ConfigError
from ralph_tracker.export.loop_rows import FURTHER, VALUES, ExportedLoop, Row
from ralph_tracker.export.send_with_retries import RefusedError, UnreachableError
from ralph_tracker.post import post
from ralph_tracker.store.export_queue import PendingExport
from ralph_tracker.store.summary import Summary
from ralph_tracker.version import __version__

# The names that receivers see, in one place, because dashboards are built on them. Those of events are of the semantic
# conventions of OpenTelemetry for generative AI (Development, as of 1.38).
SCHEMA_URL: Final = "https://opentelemetry.io/schemas/1.38.0"
SERVICE: Final = "ralph-tracker"
# Each value of an iteration is a gauge of this name and the value's: ralph_tracker.score.quality.
METRIC_PREFIX: Final = "ralph_tracker."
UNITS: Final = {
    "usage.cost_usd": "USD",
    "usage.duration_s": "s",
    "testing.pass_rate": "%",
    "testing.coverage_percentage": "%",
}
LOOP: Final = "ralph_tracker.loop.id"
ITERATION: Final = "ralph_tracker.iteration"
PROJECT: Final = "ralph_tracker.project"
# An event for each of these scores of an iteration.
EVALUATION: Final = "gen_ai.evaluation.result"
EVALUATIONS: Final = {"score.quality": "quality_score", "score.adjusted": "adjusted_score"}
# An event for each alert.
ALERT: Final = "ralph_tracker.alert"

ENDPOINT: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"
_SEVERITY: Final = {"CRITICAL": 21, "HIGH": 17, "MEDIUM": 13, "LOW": 9}  # FATAL, ERROR, WARN, INFO
_INFO: Final = 9


class OtlpReceiver:
    """The receiver that OTEL_EXPORTER_OTLP_ENDPOINT and its kin name, over HTTP with protobuf.

    What was sent is known by a file beside the loop: an iteration whose answer gets lost is sent again, with the same
    times. Raises ConfigError if the library or the address is missing.
    """

    batch: Final = 100

    def __init__(self, environment: Mapping[str, str]) -> None:
        try:
            from opentelemetry.proto.collector.logs.v1 import logs_service_pb2  # noqa: PLC0415  # an extra
            from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2  # noqa: PLC0415  # as above
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] not in {"opentelemetry", "google"}:
                raise
            raise ConfigError("opentelemetry-proto is missing; pip install 'ralph-tracker[otel]'") from None
        self._messages = (metrics_service_pb2, logs_service_pb2)
        self._environment = environment
        self._addresses = [_address(environment, signal) for signal in ("metrics", "logs")]
        self._headers = [_headers(environment, signal) for signal in ("metrics", "logs")]
        self.place = " and ".join(dict.fromkeys(urlsplit(each).netloc.rpartition("@")[2] for each in self._addresses))

    def open(self, loop: ExportedLoop, key: str) -> int:
        """Return the last iteration that was sent to this receiver, -1 for none."""
        self._loop, self._key = loop, key
        self._queue = PendingExport(loop.paths, "otlp")
        status = self._queue.status()
        return status.get("sent", -1) if status.get("receiver", self.place) == self.place else -1

    def send(self, rows: Sequence[Row], summary: Summary) -> None:
        """Send the iterations as one request of metrics and one of events, and keep that they were sent."""
        del summary
        resource = _attributes(
            {
                "service.name": SERVICE,
                "service.version": __version__,
                PROJECT: self._loop.paths.root.name,
            }
        )
        scope = {"name": SERVICE, "version": __version__}
        metrics, logs = self._messages
        gauges = {"metrics": self._gauges(rows), "scope": scope, "schema_url": SCHEMA_URL}
        found = [event for row in rows for event in self._events(row)]
        events = {"log_records": found, "scope": scope, "schema_url": SCHEMA_URL}
        of = {"resource": {"attributes": resource}}
        sent = metrics.ExportMetricsServiceRequest(resource_metrics=[{**of, "scope_metrics": [gauges]}])
        told = logs.ExportLogsServiceRequest(resource_logs=[{**of, "scope_logs": [events]}])
        for number, (message, answer) in enumerate(
            (
                (sent, metrics.ExportMetricsServiceResponse()),
                (told, logs.ExportLogsServiceResponse()),
            )
        ):
            answer.ParseFromString(_post(self._addresses[number], self._headers[number], message.SerializeToString()))
            said = answer.partial_success
            refused = getattr(said, "rejected_data_points", 0) or getattr(said, "rejected_log_records", 0)
            if refused:
                raise RefusedError(f"the OTLP receiver refused {refused} values: {said.error_message}")
        self._queue.note(sent=rows[-1].number, receiver=self.place, problem=None)

    def close(self, summary: Summary) -> None:
        """Send nothing: the values and events are all there is."""

    def _gauges(self, rows: Sequence[Row]) -> list[dict[str, Any]]:
        found = []
        further = {name: float for row in rows for name in row.values if name.startswith(FURTHER)}
        for name, kind in {**VALUES, **further}.items():
            field = "as_int" if kind is int else "as_double"
            points = [
                {"time_unix_nano": _nano(row), "attributes": self._of(row), field: row.values[name]}
                for row in rows
                if name in row.values
            ]
            if points:
                unit = UNITS.get(name, "1")
                found.append({"name": f"{METRIC_PREFIX}{name}", "unit": unit, "gauge": {"data_points": points}})
        return found

    def _of(self, row: Row) -> list[dict[str, Any]]:
        return _attributes({LOOP: self._loop.loop_id, "ralph_tracker.loop.key": self._key, ITERATION: row.number})

    def _events(self, row: Row) -> Iterable[dict[str, Any]]:
        """Yield an event for each score of an iteration and for each of its alerts."""
        for value, name in EVALUATIONS.items():
            yield self._event(
                row,
                EVALUATION,
                _INFO,
                row.texts["message"],
                {
                    "gen_ai.evaluation.name": name,
                    "gen_ai.evaluation.score.value": row.values[value],
                    "gen_ai.evaluation.score.label": row.texts["classification"],
                    "gen_ai.evaluation.explanation": row.texts["message"],
                },
            )

        for alert in row.alerts:
            severity = _SEVERITY.get(alert["severity"], _INFO)
            of = {"ralph_tracker.alert.id": alert["id"], "ralph_tracker.alert.type": alert["type"]}
            yield self._event(row, ALERT, severity, alert["message"], of)

    def _event(self, row: Row, name: str, severity: int, text: str, more: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "time_unix_nano": _nano(row),
            "observed_time_unix_nano": _nano(row),
            "event_name": name,
            "severity_number": severity,
            "body": {"string_value": text},
            "attributes": [*self._of(row), *_attributes(more)],
        }


def _nano(row: Row) -> int:
    return int(row.at.timestamp()) * 1_000_000_000 + row.at.microsecond * 1_000


def _attributes(values: Mapping[str, str | float]) -> list[dict[str, Any]]:
    kinds = {str: "string_value", int: "int_value", float: "double_value"}
    return [{"key": name, "value": {kinds[type(value)]: value}} for name, value in values.items()]


def _address(environment: Mapping[str, str], signal: str) -> str:
    """Return the address for a signal, by the rules of OpenTelemetry. Raises ConfigError."""
    own = environment.get(f"OTEL_EXPORTER_OTLP_{signal.upper()}_ENDPOINT")
    shared = environment.get(ENDPOINT)
    if not own and not shared:
        raise ConfigError(f"{ENDPOINT} is not set; set it to the receiver's address, for example http://127.0.0.1:4318")
    address = own or f"{str(shared).rstrip('/')}/v1/{signal}"
    if urlsplit(address).scheme not in {"http", "https"}:
        raise ConfigError(f"{ENDPOINT}: {address!r} is no address of a receiver; write http://HOST:4318")
    return address


def _headers(environment: Mapping[str, str], signal: str) -> dict[str, str]:
    """Return the headers that the environment names for a signal: `name=value,name=value`, percent-encoded."""
    own = environment.get(f"OTEL_EXPORTER_OTLP_{signal.upper()}_HEADERS")
    told = own or environment.get("OTEL_EXPORTER_OTLP_HEADERS", "")
    pairs = (each.partition("=") for each in told.split(",") if "=" in each)
    return {unquote(name.strip()): unquote(value.strip()) for name, _, value in pairs}


def _post(address: str, headers: Mapping[str, str], data: bytes) -> bytes:
    known = {"Content-Type": "application/x-protobuf", "Content-Encoding": "gzip"}
    where = urlsplit(address).netloc.rpartition("@")[2]
    try:
        return post(address, {**headers, **known}, gzip.compress(data, mtime=0), 30.0)
    except urllib.error.HTTPError as error:
        kind = UnreachableError if error.code in {429, 502, 503, 504} else RefusedError
        raise kind(f"the OTLP receiver {where} answers {error.code} {error.reason}") from None
    except (OSError, http.client.HTTPException) as error:
        raise UnreachableError(f"the OTLP receiver {where} does not answer: {error}") from None
