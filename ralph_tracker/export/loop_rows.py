"""Read a loop as rows of plain values, one an iteration, without what may be secret, and write loops as one table.

The table is CSV, JSON lines or Parquet, with the same columns for every loop.
"""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from ralph_tracker.core.metrics import METRICS, Usage
from ralph_tracker.core.thresholds import Thresholds
from ralph_tracker.errors import ConfigError
from ralph_tracker.measure.secrets import mask_secrets, secret_values
from ralph_tracker.safe_files import as_store_error, temporary_name
from ralph_tracker.store.configured_loop import ConfiguredLoop
from ralph_tracker.store.records_to_show import RecordHistory
from ralph_tracker.store.summary import Summary, with_events
from ralph_tracker.store.write import LoopStore

# What is exported of an iteration as a number, by its name; float where it may have decimals.
VALUES: Final[Mapping[str, type[int] | type[float]]] = {
    "score.quality": float,
    "score.adjusted": float,
    "score.evidence": float,
    **{f"score.{name}": float for name in Thresholds().score.weights},
    **{f"{spec.section}.{spec.name}": float if spec.decimals else int for spec in METRICS if spec.numeric},
    "quality.build_success": int,
    "alerts.new": int,
    "alerts.open": int,
    "plan.done": int,
    "plan.open": int,
    **{f"usage.{name}": int if name in {"input_tokens", "output_tokens", "turns"} else float for name in Usage._fields},
}
# Before the names of numbers that a configuration adds: objectives, metrics of plug-ins.
FURTHER: Final = "metrics."
TEXTS: Final = ("classification", "action", "verdict", "build_status", "message")
# Sections of the configuration that hold commands, addresses, names of files or people's words.
_NOT_PARAMETERS: Final = frozenset(
    {"version", "checks", "plan", "codebase", "snapshot", "prices", "severity", "export"}
)
# The only texts of a configuration that are exported: words that the schema lists.
_WORDS: Final = frozenset({"selection.mode", "integrity.rerun", "checkpoints.unattended"})
_KEYS: Final = ("loop_id", "iteration", "timestamp")
COLUMNS: Final = (*_KEYS, *TEXTS, *VALUES)


class Row(NamedTuple):
    """An iteration: its values by name (what was not measured is left out), its texts, its new alerts."""

    number: int
    at: datetime
    values: Mapping[str, int | float]
    texts: Mapping[str, str]
    alerts: tuple[Mapping[str, Any], ...]


class ExportedLoop:
    """A loop as it is exported; secret values of `environment` and of its checks' variables are masked."""

    def __init__(self, store: LoopStore, environment: Mapping[str, str]) -> None:
        self.store = store
        self.paths = store.paths
        self.loop_id = store.paths.loop_id
        self._config = ConfiguredLoop.read(store, lambda _: frozenset()).config.document
        variables = [check.get("env") or {} for check in self._config["checks"].values()]
        self._secrets = tuple(dict.fromkeys(v for each in (environment, *variables) for v in secret_values(each)))

    def summary(self) -> Summary:
        """Return the state of the loop now."""
        summary = with_events(self.store.summary(), self.store.events())
        return summary._replace(message=self.mask(summary.message))

    def rows(self, first: int, last: int) -> Iterator[Row]:
        """Yield the iterations from `first` to `last`. Raises RecordError for one whose record is damaged."""
        history = RecordHistory(self.store)
        for number in range(first, last + 1):
            yield self._row(number, history.one(number).require())

    def _row(self, number: int, document: Mapping[str, Any]) -> Row:
        iteration = document["iteration_metrics"]
        verdict = (iteration.get("integrity") or {}).get("verdict")
        texts = {
            "classification": iteration["classification"],
            "action": document["recommendation"]["action"],
            "verdict": verdict,
            "build_status": (iteration.get("quality") or {}).get("build_status"),
            "message": self.mask(document["message"]),
        }
        return Row(
            number,
            datetime.fromisoformat(iteration["timestamp"]),
            _values(iteration),
            {name: text for name, text in texts.items() if text is not None},
            tuple(
                {
                    name: self.mask(alert[name]) if isinstance(alert[name], str) else alert[name]
                    for name in alert
                    if name in {"id", "type", "severity", "message", "action", "tests"}
                }
                for alert in iteration["alerts"]
            ),
        )

    def mask(self, text: str) -> str:
        """Return a text with an asterisk for each byte of a secret value."""
        return self.masked_bytes(text.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")

    def masked_bytes(self, data: bytes) -> bytes:
        """Return data with an asterisk for each byte of a secret value."""
        return mask_secrets(data, self._secrets)

    def parameters(self) -> dict[str, str]:
        """Return thresholds and limits by dotted name, and the kind of each check.

        No command, variable, path or other text of the configuration is among them.
        """
        plain = {name: value for name, value in self._config.items() if name not in _NOT_PARAMETERS}
        checks = {f"checks.{name}.kind": check.get("kind") or name for name, check in self._config["checks"].items()}
        return {**dict(_parameters(plain)), **{name: self.mask(kind) for name, kind in checks.items()}}


def _parameters(document: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in document.items():
        path = f"{prefix}{name}"
        if isinstance(value, Mapping):
            yield from _parameters(value, f"{path}.")
        elif isinstance(value, bool | int | float) or (isinstance(value, str) and path in _WORDS):
            yield path, str(value).lower() if isinstance(value, bool) else str(value)


def _values(iteration: Mapping[str, Any]) -> dict[str, int | float]:
    quality = iteration.get("quality") or {}
    found: dict[str, Any] = {
        "score.quality": iteration["quality_score"],
        "score.adjusted": iteration["adjusted_score"],
        "score.evidence": iteration["evidence"],
        "alerts.new": len(iteration["alerts"]),
        "alerts.open": len(iteration["open_alerts"]),
        **{f"score.{name}": value for name, value in iteration["breakdown"].items()},
        **{f"{spec.section}.{spec.name}": (iteration.get(spec.section) or {}).get(spec.name) for spec in METRICS},
        **{f"plan.{name}": value for name, value in (iteration.get("plan") or {}).items()},
        **{f"usage.{name}": value for name, value in (iteration.get("usage") or {}).items()},
    }
    if "build_status" in quality:
        found["quality.build_success"] = int(quality["build_status"] == "success")
    known = {name: kind(found[name]) for name, kind in VALUES.items() if found.get(name) is not None}
    further = (iteration.get("metrics") or {}).items()
    return known | {f"{FURTHER}{name}": float(each["value"]) for name, each in further if each["value"] is not None}


def records(loops: Iterable[ExportedLoop]) -> Iterator[dict[str, Any]]:
    """Yield each iteration of the loops by column; None is "not measured".

    `metrics` beside the columns are numbers that a configuration adds, by their names, and `alerts` is a list.
    """
    for loop in loops:
        for row in loop.rows(0, loop.summary().iteration):
            keys = (loop.loop_id, row.number, row.at.isoformat())
            texts = {name: row.texts.get(name) for name in TEXTS}
            values = {name: row.values.get(name) for name in VALUES}
            further = {name: each for name, each in row.values.items() if name.startswith(FURTHER)}
            more = {"metrics": {name.removeprefix(FURTHER): each for name, each in further.items()}}
            yield {**dict(zip(_KEYS, keys, strict=True)), **texts, **values, "alerts": list(row.alerts), **more}


def csv_lines(loops: Iterable[ExportedLoop]) -> Iterator[str]:
    """Yield the table as CSV with a head; what was not measured is empty, alerts are their ids, metrics are JSON."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow((*COLUMNS, "alerts", "metrics"))
    for record in records(loops):
        yield _empty_buffer(buffer)
        ids = " ".join(alert["id"] for alert in record["alerts"])
        further = json.dumps(record["metrics"]) if record["metrics"] else ""
        writer.writerow([*(record[name] for name in COLUMNS), ids, further])
    yield _empty_buffer(buffer)


def _empty_buffer(buffer: io.StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text


def json_lines(loops: Iterable[ExportedLoop]) -> Iterator[str]:
    """Yield the table as one JSON object a line, with the alerts of each iteration."""
    for record in records(loops):
        yield json.dumps(record) + "\n"


def write_parquet(loops: Iterable[ExportedLoop], file: Path) -> int:
    """Write the table as a Parquet file, whole or not at all, and return the number of rows. Raises ConfigError."""
    try:
        import pyarrow as pa  # noqa: PLC0415  # an extra
        from pyarrow import parquet  # noqa: PLC0415  # as above
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "pyarrow":
            raise
        raise ConfigError("pyarrow is missing; pip install 'ralph-tracker[parquet]'") from None
    kinds = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    typed: dict[str, type] = {"loop_id": str, "iteration": int, **dict.fromkeys(TEXTS, str), **VALUES}
    fields = [(name, pa.timestamp("us", tz="UTC") if name == "timestamp" else kinds[typed[name]]) for name in COLUMNS]
    alert = pa.struct([(name, pa.string()) for name in ("id", "type", "severity", "message")])
    schema = pa.schema([*fields, ("alerts", pa.list_(alert)), ("metrics", pa.map_(pa.string(), pa.float64()))])
    staged, count = file.with_name(temporary_name()), 0
    with as_store_error(file):
        try:
            with parquet.ParquetWriter(staged, schema) as writer:
                rows = (
                    {**row, "timestamp": datetime.fromisoformat(row["timestamp"]), "metrics": [*row["metrics"].items()]}
                    for row in records(loops)
                )
                while batch := list(islice(rows, 5000)):
                    writer.write_table(pa.Table.from_pylist(batch, schema=schema))
                    count += len(batch)
            staged.replace(file)
        finally:
            staged.unlink(missing_ok=True)
    return count


# Those of plug-ins are such functions too.
TABLES: Final[Mapping[str, Callable[[Iterable[ExportedLoop]], Iterator[str]]]] = {"csv": csv_lines, "jsonl": json_lines}
