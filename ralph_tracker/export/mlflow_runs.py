"""Send loops to MLflow: a run a loop, a step an iteration, with reports and alerts as artifacts.

How far a run is, is a tag of the run itself, written after the values: any process on any machine goes on there. Values
that were sent twice because an answer got lost are the same to MLflow: time, step and value are those of the record.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from ralph_tracker.errors import ConfigError
from ralph_tracker.export.loop_rows import VALUES, ExportedLoop, Row
from ralph_tracker.export.send_with_retries import RefusedError, UnreachableError
from ralph_tracker.scratch import temporary_folder
from ralph_tracker.store.layout import report_name
from ralph_tracker.store.record_packs import kept_bytes
from ralph_tracker.store.summary import Summary
from ralph_tracker.version import __version__

ADDRESS: Final = "MLFLOW_TRACKING_URI"
KEY: Final = "ralph_tracker.loop"
SENT: Final = "ralph_tracker.iterations"
_MOST_PARAMETERS: Final = 100
_LONGEST: Final = 500
_MILLI: Final = 1000
# A request that is tried again by the library could make a second run: we look first.
_SETTINGS: Final = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0", "MLFLOW_DISABLE_TELEMETRY": "true"}
_TIMEOUT: Final = {"MLFLOW_HTTP_REQUEST_TIMEOUT": "60", "GIT_PYTHON_REFRESH": "quiet"}


class MlflowRuns:
    """The runs of an MLflow server; `experiment` None is that of the environment, else the project's folder.

    With `files`, the changed files of the selected iteration are sent at the end. Raises ConfigError if the library or
    the server's address is missing.
    """

    batch: Final = 1000 // len(VALUES)  # MLflow takes 1,000 values a request

    def __init__(self, environment: Mapping[str, str], experiment: str | None = None, *, files: bool = False) -> None:
        address = environment.get(ADDRESS)
        if not address:
            raise ConfigError(
                f"{ADDRESS} is not set; set it to the server's address, for example http://127.0.0.1:5000"
            )
        os.environ |= _SETTINGS
        for name, value in _TIMEOUT.items():
            os.environ.setdefault(name, value)
        try:
            from mlflow.tracking import MlflowClient  # noqa: PLC0415  # an extra
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] != "mlflow":
                raise
            raise ConfigError("the MLflow client is missing; pip install 'ralph-tracker[mlflow]'") from None
        self._client = MlflowClient(tracking_uri=address)
        self._named = experiment or environment.get("MLFLOW_EXPERIMENT_NAME")
        self._files = files
        self._ids: dict[str, str] = {}
        self._doubtful = False
        self.place = ""

    def open(self, loop: ExportedLoop, key: str) -> int:
        """Find the loop's run, else make it, and return the last iteration that it has, -1 for none."""
        self._loop = loop
        with _errors():
            experiment = self._experiment(self._named or loop.paths.root.name)
            found = self._find_runs(experiment, key)
            if not found:
                start = int(datetime.fromisoformat(loop.summary().started_at).timestamp() * _MILLI)
                tags = {
                    KEY: key,
                    "ralph_tracker.loop_id": loop.loop_id,
                    "ralph_tracker.project": loop.paths.root.name,
                    "ralph_tracker.version": __version__,
                    "mlflow.source.name": "ralph-tracker",
                }
                self._client.create_run(experiment, start, tags, loop.loop_id)
                found = self._find_runs(experiment, key)
            run, *twins = sorted(found, key=_progress, reverse=True)
            for twin in twins:  # of a request whose answer got lost
                if SENT not in twin.data.tags:
                    self._client.delete_run(twin.info.run_id)
            self._run = run.info.run_id
            self.place = f"run {self._run} of experiment {experiment}"
            there, _ = _progress(run)
            self._doubtful = bool(there >= 0 or run.data.metrics)
        return there

    def _experiment(self, name: str) -> str:
        if name not in self._ids:
            from mlflow.exceptions import MlflowException  # noqa: PLC0415  # an extra

            found = self._client.get_experiment_by_name(name)
            if found is None:
                try:
                    self._client.create_experiment(name)
                except MlflowException as error:  # another process makes it too
                    if error.error_code != "RESOURCE_ALREADY_EXISTS":
                        raise
                found = self._client.get_experiment_by_name(name)
            if found.lifecycle_stage != "active":
                raise RefusedError(f"MLflow: experiment {name} is deleted; restore it, or name another: --experiment")
            self._ids[name] = str(found.experiment_id)
        return self._ids[name]

    def _find_runs(self, experiment: str, key: str) -> list[Any]:
        return list(self._client.search_runs([experiment], f"tags.`{KEY}` = '{key}'", max_results=10))

    def send(self, rows: Sequence[Row], summary: Summary) -> None:
        """Send reports and alerts of the iterations, then their values, then how far the run is."""
        from mlflow.entities import Metric, Param, RunTag  # noqa: PLC0415  # an extra

        values = [  # MLflow groups them by slashes: score/quality
            Metric(name.replace(".", "/"), float(value), int(row.at.timestamp() * _MILLI), row.number)
            for row in rows
            for name, value in row.values.items()
        ]
        parameters = self._loop.parameters() if rows[0].number == 0 else {}
        given = [Param(name, value[:_LONGEST]) for name, value in parameters.items()]
        last = rows[-1]
        texts = {f"ralph_tracker.{name}": text[:_LONGEST] for name, text in last.texts.items()}
        about = {SENT: str(last.number), **texts, **_loop_tags(summary)}
        tags = [RunTag(name, value) for name, value in about.items()]
        with _errors():
            self._send_files(lambda folder: self._reports(rows, folder))
            kept = self._missing_values(values, rows[0].number) if self._doubtful else values
            for at in range(0, len(given), _MOST_PARAMETERS):
                self._client.log_batch(self._run, params=given[at : at + _MOST_PARAMETERS])
            self._client.log_batch(self._run, metrics=kept, tags=tags)
        self._doubtful = False

    def _missing_values(self, values: Sequence[Any], first: int) -> list[Any]:
        """Return the values that the run does not have: an earlier request may have got through in part."""
        names = dict.fromkeys(value.key for value in values)
        there = {
            (name, known.step)
            for name in names
            for known in self._client.get_metric_history(self._run, name)
            if known.step >= first
        }
        return [value for value in values if (value.key, value.step) not in there]

    def _reports(self, rows: Sequence[Row], folder: Path) -> None:
        for row in rows:
            report = report_name(row.number)
            data = kept_bytes(self._loop.paths, row.number, report)
            if data is not None:
                self._write(folder / report, data)
            if row.alerts:
                file = folder / "alerts" / f"iteration-{row.number:03d}.json"
                file.parent.mkdir(exist_ok=True)
                file.write_text(json.dumps(row.alerts, indent=1) + "\n", encoding="utf-8")

    def _copy_file(self, file: Path, folder: Path) -> None:
        """Copy a file that is there, with secret values masked."""
        if file.is_file() and not file.is_symlink():
            self._write(folder / file.name, file.read_bytes())

    def _write(self, file: Path, data: bytes) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(self._loop.masked_bytes(data))

    def _send_files(self, fill: Callable[[Path], None]) -> None:
        with temporary_folder() as folder:
            fill(folder)
            if any(folder.iterdir()):
                self._client.log_artifacts(self._run, str(folder))

    def close(self, summary: Summary) -> None:
        """Send the loop's reports and status; a loop that has ended ends its run."""
        paths = self._loop.paths

        def whole(folder: Path) -> None:
            for file in (paths.reports / "loop-report.md", paths.reports / "output-selection.md", paths.selection):
                self._copy_file(file, folder / "reports")
            if self._files and summary.best_iteration is not None:
                changed = paths.iteration(summary.best_iteration) / "artifacts"
                for file in changed.rglob("*") if changed.is_dir() else ():
                    self._copy_file(file, folder / "files" / file.relative_to(changed).parent)

        with _errors():
            if summary.status != "running":
                self._send_files(whole)
            status = {"running": "RUNNING", "finished": "FINISHED"}.get(summary.status, "KILLED")
            ended = (
                None if status == "RUNNING" else int(datetime.fromisoformat(summary.updated_at).timestamp() * _MILLI)
            )
            for name, value in _loop_tags(summary).items():
                self._client.set_tag(self._run, name, value)
            if status == "RUNNING":
                self._client.update_run(self._run, status)
            else:
                self._client.set_terminated(self._run, status, ended)


def _progress(run: Any) -> tuple[int, str]:  # noqa: ANN401  # a Run
    """Return the last iteration of a run, -1 for none, and the run's id."""
    told = run.data.tags.get(SENT, "")
    return int(told) if told.isdecimal() else -1, run.info.run_id


def _loop_tags(summary: Summary) -> dict[str, str]:
    best = {} if summary.best_iteration is None else {"ralph_tracker.best_iteration": str(summary.best_iteration)}
    alerts = " ".join(alert["id"] for alert in summary.alerts)
    return {**best, "ralph_tracker.status": summary.status, "ralph_tracker.alerts": alerts[:_LONGEST]}


@contextmanager
def _errors() -> Iterator[None]:
    """Turn errors of the library into ours, of one line."""
    from mlflow.exceptions import MlflowException  # noqa: PLC0415  # an extra

    try:
        yield
    except MlflowException as error:
        said = " ".join(str(error).split())[:_LONGEST]
        if error.error_code in {"INTERNAL_ERROR", "TEMPORARILY_UNAVAILABLE", "REQUEST_LIMIT_EXCEEDED", "ABORTED"}:
            raise UnreachableError(f"MLflow does not answer: {said}") from None
        raise RefusedError(f"MLflow refuses: {said}") from None
    except OSError as error:  # requests' errors are OSErrors: of artifacts, which the library does not wrap
        raise UnreachableError(f"MLflow does not answer: {' '.join(str(error).split())[:_LONGEST]}") from None
