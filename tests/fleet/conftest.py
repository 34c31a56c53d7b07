"""Real servers on loopback: MLflow over PostgreSQL. What cannot be had here is skipped, with the reason."""

import os
import pwd
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

POSTGRES_USER = "postgres"  # of Debian's package; its server refuses to run as root
START_S = 120
ROW = "fleet"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what was measured."""
    reports = terminalreporter.stats.get("passed", []) + terminalreporter.stats.get("failed", [])
    rows = [value for report in reports for name, value in report.user_properties if name == ROW]
    if rows:
        terminalreporter.section("what the fleet cost")
    for row in rows:
        terminalreporter.write_line(str(row))


@pytest.fixture
def told(record_property):
    """Print a line at the end of the run."""
    return lambda line: record_property(ROW, line)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Start a PostgreSQL server on loopback, not as root; yield the address of an empty database."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
    programs = found[-1] if found else Path(shutil.which("initdb") or "/nowhere").parent
    if not (programs / "initdb").exists():
        pytest.skip("PostgreSQL is not installed here (Debian: apt-get install postgresql)")
    user = {}
    if os.geteuid() == 0:
        try:
            pwd.getpwnam(POSTGRES_USER)
        except KeyError:
            pytest.skip(f"PostgreSQL does not run as root, and there is no user {POSTGRES_USER}")
        user = {"user": POSTGRES_USER, "group": POSTGRES_USER, "extra_groups": []}
    folder = Path(tempfile.mkdtemp(prefix="ralph-fleet-"))
    if user:
        shutil.chown(folder, POSTGRES_USER, POSTGRES_USER)
    data, port = folder / "data", free_port()
    clean = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": str(folder)}
    words = [programs / "initdb", "--auth=trust", "--username=mlflow", "--no-sync", "-D", data]
    subprocess.run(words, cwd=folder, env=clean, check=True, capture_output=True, **user)
    settings = ("listen_addresses=127.0.0.1", f"unix_socket_directories={folder}", "fsync=off", "max_connections=200")
    words = [programs / "postgres", "-D", data, "-p", str(port), *(f"--{each}" for each in settings)]
    with open(folder / "log", "wb") as log:  # noqa: PTH123  # handed to a process
        server = subprocess.Popen(words, cwd=folder, env=clean, stdout=log, stderr=log, **user)
    try:
        _wait(lambda: socket.create_connection(("127.0.0.1", port), 1).close(), server, folder / "log")
        time.sleep(0.5)
        words = [programs / "createdb", "-h", "127.0.0.1", "-p", str(port), "-U", "mlflow", "fleet"]
        _wait(lambda: subprocess.run(words, env=clean, check=True, capture_output=True), server, folder / "log")
        yield f"postgresql+psycopg2://mlflow@127.0.0.1:{port}/fleet"
    finally:
        server.terminate()
        server.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def _wait(act, server: subprocess.Popen, log: Path) -> None:
    deadline = time.monotonic() + START_S
    while True:
        try:
            act()
        except (OSError, subprocess.CalledProcessError) as error:
            if server.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"{error}\n{log.read_text(errors='replace')[-3000:]}") from None
            time.sleep(0.2)
        else:
            return


class MlflowServer:
    """An MLflow server over a database, which can be stopped hard and started again at the same address."""

    def __init__(self, database: str, folder: Path) -> None:
        self.database, self.folder, self.port = database, folder, free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen | None = None

    def start(self) -> None:
        words = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(self.port)]
        words += ["--backend-store-uri", self.database, "--artifacts-destination", str(self.folder / "artifacts")]
        words += ["--workers", "2"]
        kept = {name: value for name, value in os.environ.items() if not re.match(r"MLFLOW_|OTEL_", name)}
        kept |= {
            "MLFLOW_DISABLE_TELEMETRY": "true",
            "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
            "DO_NOT_TRACK": "true",
            "HOME": str(self.folder),
        }
        log = self.folder / "server.log"
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                words, cwd=self.folder, env=kept, stdout=out, stderr=out, start_new_session=True
            )
        _wait(lambda: urllib.request.urlopen(f"{self.address}/health", timeout=2).close(), self._process, log)  # noqa: S310  # ours

    def stop(self) -> None:
        """Kill the server and its workers, whatever they are at."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, 9)
            self._process.wait(30)
            self._process = None


@pytest.fixture(scope="session")
def mlflow_server(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MlflowServer]:
    """Start MLflow's own server over the database."""
    pytest.importorskip("mlflow.server", reason="make suite NAME=fleet installs MLflow's server")
    pytest.importorskip("psycopg2", reason="psycopg2 is not installed here: make suite NAME=fleet installs it")
    server = MlflowServer(postgres, tmp_path_factory.mktemp("mlflow"))
    try:
        server.start()
        yield server
    finally:
        server.stop()
