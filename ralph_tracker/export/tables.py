"""Write loops as one table: CSV, JSON lines or Parquet, a row an iteration, the same columns for every loop."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from ralph_tracker.errors import ConfigError
from ralph_tracker.export.exported_loop import TEXTS, VALUES, ExportedLoop
from ralph_tracker.store.files import as_store_error, temporary_name

_KEYS: Final = ("loop_id", "iteration", "timestamp")
COLUMNS: Final = (*_KEYS, *TEXTS, *VALUES)
_ROWS_AT_ONCE: Final = 5000


def records(loops: Iterable[ExportedLoop]) -> Iterator[dict[str, Any]]:
    """Yield each iteration of the loops by column; None is "not measured". `alerts` beside the columns is a list."""
    for loop in loops:
        for row in loop.rows(0, loop.summary().iteration):
            keys = (loop.loop_id, row.number, row.at.isoformat())
            texts = {name: row.texts.get(name) for name in TEXTS}
            values = {name: row.values.get(name) for name in VALUES}
            yield {**dict(zip(_KEYS, keys, strict=True)), **texts, **values, "alerts": list(row.alerts)}


def csv_lines(loops: Iterable[ExportedLoop]) -> Iterator[str]:
    """Yield the table as CSV with a head; what was not measured is empty, alerts are their ids."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow((*COLUMNS, "alerts"))
    for record in records(loops):
        yield _emptied(buffer)
        ids = " ".join(alert["id"] for alert in record["alerts"])
        writer.writerow([*(record[name] for name in COLUMNS), ids])
    yield _emptied(buffer)


def _emptied(buffer: io.StringIO) -> str:
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
    schema = pa.schema([*fields, ("alerts", pa.list_(alert))])
    staged, count = file.with_name(temporary_name()), 0
    with as_store_error(file):
        try:
            with parquet.ParquetWriter(staged, schema) as writer:
                for batch in _batches(_typed(loops)):
                    writer.write_table(pa.Table.from_pylist(batch, schema=schema))
                    count += len(batch)
            staged.replace(file)
        finally:
            staged.unlink(missing_ok=True)
    return count


def _typed(loops: Iterable[ExportedLoop]) -> Iterator[dict[str, Any]]:
    for record in records(loops):
        yield {**record, "timestamp": datetime.fromisoformat(record["timestamp"])}


def _batches(rows: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == _ROWS_AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch
