"""The commands of docs/fleet.md are run in their order as they are written, with real servers on loopback."""

import importlib.util
import os
import re
import signal
import socket
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.docs.conftest import CHECKOUT, Place, blocks_of
from tests.docs.test_pages import fits
from tests.fleet.test_otlp import Receiver, points

distributed = pytest.importorskip("distributed", reason="Dask is not installed here: make suite NAME=fleet installs it")
pytest.importorskip("mlflow.server", reason="MLflow's server is not installed here: make suite NAME=fleet installs it")
MlflowClient = pytest.importorskip("mlflow.tracking").MlflowClient

PAGE = CHECKOUT / "docs" / "fleet.md"
WORKERS = 4
SERVERS = ("dask scheduler", "dask worker", "mlflow server")
PORTS = {"dask scheduler": 8786, "mlflow server": 5000, "otlp": 4318}
# What the page installs; `make suite NAME=fleet` has done it.
INSTALLED = {"cluster": "distributed", "mlflow": "mlflow", "otel": "opentelemetry.proto", "": "mlflow.server"}
CLUSTER = f"ralph-tracker replay main..work --cluster tcp://127.0.0.1:{PORTS['dask scheduler']}"
START_S = 300
LOOPBACK = "127.0.0.1"


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((LOOPBACK, port)) == 0


def joined(printed: str) -> str:
    return " ".join(printed.split())


def until(holds, what: str) -> None:
    deadline = time.monotonic() + START_S
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.2)


class Reader:
    """Somebody who follows the page: servers run in another terminal, on a machine with a home of its own."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.place, self.stack = Place(folder), stack
        self.place.environment = self._at(self.place.home)
        self.elsewhere = folder / "elsewhere"
        self.elsewhere.mkdir()

    def _at(self, home: Path) -> dict[str, str]:
        named = ("MLFLOW_", "OTEL_", "DASK_", "XDG_")
        kept = {name: value for name, value in self.place.environment.items() if not name.startswith(named)}
        quiet = {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"}
        return {**kept, **quiet, "HOME": str(home), "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}

    def types(self, text: str) -> str:
        """Run a block, the address of its machine replaced, and return what it printed."""
        lines = [line for line in text.replace("10.0.0.1", LOOPBACK).splitlines() if not self._is_installed(line)]
        server = next((name for name in SERVERS for line in lines if line.startswith(name)), None)
        if server is not None:
            self._starts(server, "\n".join(lines))
            return ""
        done = self.place.run("\n".join(lines))
        assert done.returncode == 0, f"{text}\n{done.stdout}"
        return done.stdout

    @staticmethod
    def _is_installed(line: str) -> bool:
        named = re.match(r"pip install (?:'ralph-tracker\[(\w+)\]'|mlflow)$", line)
        return named is not None and importlib.util.find_spec(INSTALLED[named[1] or ""]) is not None

    def _starts(self, name: str, script: str) -> None:
        log = self.elsewhere / f"{name}.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                ["bash", "-c", script],
                cwd=self.elsewhere,
                env=self._at(self.elsewhere),
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        self.stack.callback(process.wait, 30)
        self.stack.callback(os.killpg, process.pid, signal.SIGKILL)
        until(lambda: self._is_ready(name), f"{name}: {log}")

    @staticmethod
    def _is_ready(name: str) -> bool:
        if name in PORTS:
            return listens(PORTS[name])
        with distributed.Client(f"tcp://{LOOPBACK}:{PORTS['dask scheduler']}", set_as_default=False) as client:
            return len(client.nthreads()) == WORKERS


def test_what_the_page_says_works(tmp_path):
    busy = [port for port in PORTS.values() if listens(port)]
    if busy:
        pytest.skip(f"the ports of the page are in use here: {busy}")
    with ExitStack() as stack:
        reader = Reader(tmp_path, stack)
        root = reader.place.root
        receiver = stack.enter_context(Receiver(PORTS["otlp"]))
        stack.callback(receiver.shutdown)
        printed, said = "", {}
        for block in blocks_of(PAGE):
            if block.file is not None:
                (root / block.file).write_text(block.text)
            elif block.language == "text":
                assert fits(block.text, printed), f"line {block.line}: printed was\n{printed}"
            elif block.language == "shell":
                if "--cluster" in block.text:
                    without_setup = reader.place.run("rm -rf .aiwg ~/.cache\n" + CLUSTER).stdout
                    reader.place.run("rm -rf .aiwg ~/.cache")  # else nothing would be left to measure
                printed = reader.types(block.text)
                said[block.text.partition("\n")[0]] = printed
        assert "no worker has the tools of this machine, so that all is measured here" in joined(without_setup)
        cluster = said["# where the repository is"]
        assert "Mean of nothing is 0" in cluster.partition("\nTake ")[2]
        assert "measured here" not in cluster
        assert list(reader.elsewhere.glob(".cache/ralph-tracker/bundles/*"))
        (loop,) = root.glob(".aiwg/ralph/replay-*")
        client = MlflowClient(f"http://{LOOPBACK}:{PORTS['mlflow server']}")
        experiment = client.get_experiment_by_name(root.name).experiment_id

        def iterations() -> dict[str, str | None]:
            runs = client.search_runs([experiment])
            return {run.info.run_name: run.data.tags.get("ralph_tracker.iterations") for run in runs}

        assert iterations() == {loop.name: "1"}
        assert sorted({number for _, number, _, _ in points(receiver)}) == [0, 1]

        address = f"MLFLOW_TRACKING_URI=http://{LOOPBACK}:{PORTS['mlflow server']}"
        live = reader.place.run(f"export {address}; ralph-tracker hook pre-loop && ralph-tracker hook post-iteration")
        assert live.returncode == 0, live.stdout
        until(lambda: iterations() == {loop.name: "1", "ralph-001": "1"}, "sent after each iteration")
