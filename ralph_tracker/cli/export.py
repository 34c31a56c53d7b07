"""ralph-tracker export: send loops to MLflow or an OTLP receiver, or write them as a table."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ralph_tracker import plugins
from ralph_tracker.cli.options import PluginChoice, place_options
from ralph_tracker.cli.terminal import say, say_source, say_wrapped
from ralph_tracker.core.metrics import quantity
from ralph_tracker.errors import EXIT_OK, ConfigError, RalphTrackerError
from ralph_tracker.safe_files import as_store_error, refuse_link_out
from ralph_tracker.store.find import checked_root, find_loop
from ralph_tracker.store.iteration_snapshots import leave_alone
from ralph_tracker.store.write import LoopStore

if TYPE_CHECKING:
    from ralph_tracker.export.loop_rows import ExportedLoop

_SERVERS: Final = ("mlflow", "otlp")


@click.command("export", short_help="Send loops to MLflow or an OTLP receiver, or write them as a table.")
@click.option(
    "--to",
    "kind",
    type=PluginChoice("destination", "exporters", (*_SERVERS, "csv", "jsonl", "parquet")),
    required=True,
    help="Where to, or which format.",
)
@click.option("--all", "every", is_flag=True, help="All loops of the project.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write the table there.")
@click.option("--experiment", metavar="NAME", help="MLflow's experiment; else MLFLOW_EXPERIMENT_NAME, else the folder.")
@click.option(
    "--files", is_flag=True, help="Also send the changed files of the best iteration, once the loop has ended."
)
@click.option(
    "--patience",
    type=click.FloatRange(min=0),
    default=120.0,
    metavar="SECONDS",
    help="How long to try again while a server does not answer.",
)
@click.option("--beside", is_flag=True, hidden=True, help="As the loop starts it: send until nothing is waiting.")
@place_options
def command(  # noqa: PLR0917  # as click passes them
    kind: str,
    every: bool,
    output: Path | None,
    experiment: str | None,
    files: bool,
    patience: float,
    beside: bool,
    root: Path,
    loop_id: str | None,
) -> int:
    """Send the iterations that are not there yet, or write all of them as a table.

    Servers are named by the environment: MLFLOW_TRACKING_URI, OTEL_EXPORTER_OTLP_ENDPOINT. Repeating it sends nothing
    twice; interrupted, the same command continues. Secret values are masked, and no command, variable or path of the
    configuration is sent.
    """
    if every and loop_id is not None:
        raise click.UsageError("--all and --loop-id exclude each other")
    if output is not None and kind in _SERVERS:
        raise click.UsageError(f"--output writes a table; --to {kind} sends to a server")
    if output is None and kind == "parquet":
        raise click.UsageError("--to parquet needs a file: -o FILE")
    refuse_link_out(root, output)
    loops = _loops(root, loop_id, every=every)
    if kind in _SERVERS:
        _send(loops, kind, _destination(kind, experiment, files=files), patience, beside=beside)
    else:
        _write(loops, kind, output)
        if output is not None:
            for loop in loops:
                leave_alone(loop.paths, output)
    return EXIT_OK


def _loops(root: Path, loop_id: str | None, *, every: bool) -> "list[ExportedLoop]":
    from ralph_tracker.export.loop_rows import ExportedLoop

    if not every:
        return [ExportedLoop(LoopStore(find_loop(root, loop_id, os.environ)), os.environ)]
    from ralph_tracker.errors import LoopError
    from ralph_tracker.store.layout import LOOP_ID, ProjectPaths

    project = ProjectPaths(checked_root(root))
    ids = sorted(path.parent.name for path in project.base.glob("*/loop.yaml") if LOOP_ID.match(path.parent.name))
    if not ids:
        raise LoopError("no loop here; `ralph-tracker hook pre-loop` starts one")
    return [ExportedLoop(LoopStore(project.loop(each)), os.environ) for each in ids]


def _destination(kind: str, experiment: str | None, *, files: bool) -> Any:  # noqa: ANN401  # a Destination
    if kind == "mlflow":
        from ralph_tracker.export.mlflow_runs import MlflowRuns

        return MlflowRuns(os.environ, experiment, files=files)
    from ralph_tracker.export.otlp import OtlpReceiver

    return OtlpReceiver(os.environ)


def _send(loops: "Iterable[ExportedLoop]", kind: str, destination: Any, patience: float, *, beside: bool) -> None:  # noqa: ANN401  # as above
    from ralph_tracker.export.send_with_retries import send
    from ralph_tracker.store.export_queue import PendingExport

    for loop in loops:
        while True:
            sent = send(loop, destination, kind, patience)
            say_wrapped(
                f"{loop.loop_id}: {quantity(sent.iterations, 'iteration')} sent, up to {sent.last}; {sent.place}"
            )
            if not (beside and PendingExport(loop.paths, kind).is_waiting()):
                break


def _write(loops: "list[ExportedLoop]", kind: str, output: Path | None) -> None:
    from ralph_tracker.export.loop_rows import TABLES, write_parquet

    if kind == "parquet" and output is not None:
        rows = write_parquet(loops, output)
        say(f"{output}: {quantity(rows, 'iteration')}")
        return
    lines = TABLES[kind](loops) if kind in TABLES else _lines_of_plugin(kind, loops)
    if output is None:
        for line in lines:
            say_source(line)
        return
    with as_store_error(output), output.open("w", encoding="utf-8") as file:
        file.writelines(lines)
    say(f"{output}: written")


def _lines_of_plugin(kind: str, loops: "list[ExportedLoop]") -> list[str]:
    """Return the lines that a plug-in makes of loops. Raises ConfigError where it does not load, or fails."""
    try:
        return list(plugins.load("exporters", kind)(loops))
    except RalphTrackerError:
        raise
    except plugins.PluginError as error:
        raise ConfigError(str(error)) from error
    except Exception as error:
        owner = plugins.distribution("exporters", kind)
        raise ConfigError(f"{kind}, a plug-in of {owner}, failed ({type(error).__name__}: {error})") from error
