"""A replay on a real Dask cluster has the records of a local one, whatever happens to workers and scheduler."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fleet.conftest import free_port
from tests.replay.test_replay import OWN, without

distributed = pytest.importorskip("distributed", reason="Dask is not installed here: make suite NAME=fleet installs it")
TRACKER = str(Path(sys.executable).with_name("ralph-tracker"))
# Without an address they would be there for everyone, even with --no-dashboard.
NO_WEB_PAGES = ("--dashboard-address", "127.0.0.1:0")
OTHER_PYTEST = "pytest==8.3.5"
IDENTITY = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
LIMIT_S = 600
COMMITS = 6
# A suite that keeps a core busy for a while; each commit has another set of tests, and some of them fail.
SUITE = """
import pytest
from sums import busy

@pytest.mark.parametrize("number", range({count}))
def test_sum(number):
    assert busy(number) != {wrong}
"""
SUMS = "def busy(number):\n    return sum(each * each for each in range({rounds})) * 0 + number\n"
CONFIG = """
integrity: {rerun: never}
checks:
  tests:
    run: [pytest, -q, -p, "no:cacheprovider", "--junitxml={reports}/junit.xml"]
    reports: ["{reports}/junit.xml"]
    env: {PYTEST_DISABLE_PLUGIN_AUTOLOAD: "1"}
"""
# The commits by which the gain of two workers is measured: an even number of the same work.
EQUAL, EQUAL_TESTS, EQUAL_ROUNDS = int(os.environ.get("RALPH_TRACKER_FLEET_COMMITS", "4")), 8, 7_000_000
LEAST_GAIN = 1.7
LEAST_AT_ONCE = 1.3  # on a busy machine; starting the workers' Python takes a part of the time
QUIET_LOAD = 0.7


def environment(home: Path, *first: Path, **more: str) -> dict[str, str]:
    """Return the environment of a machine of its own."""
    home.mkdir(parents=True, exist_ok=True)
    path = os.pathsep.join([*map(str, first), str(Path(sys.executable).parent), os.environ["PATH"]])
    own = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "XDG_STATE_HOME": str(home / "state")}
    return {"PATH": path, "LC_ALL": "C.UTF-8", "RALPH_TRACKER_TRUST": "1", **own, **more}


DIFFERING = [SUITE.format(count=3 + n, wrong=n if n % 3 == 2 else -1) for n in range(COMMITS + 1)]


def repository(root: Path, rounds: int, suites: list[str]) -> Path:
    """Make a repository with a commit for each of those tests."""
    root.mkdir(parents=True)
    env = {**os.environ, **IDENTITY}
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=root, check=True)
    (root / "sums.py").write_text(SUMS.format(rounds=rounds))
    (root / ".gitignore").write_text("__pycache__/\n.aiwg/\nralph-tracker.yaml\n")
    for number, suite in enumerate(suites):
        (root / "test_sums.py").write_text(suite)
        subprocess.run(["git", "add", "-A"], cwd=root, check=True)
        subprocess.run(["git", "commit", "-q", "-m", f"Step {number}"], cwd=root, env=env, check=True)
    (root / "ralph-tracker.yaml").write_text(CONFIG)
    return root


def copy_of(root: Path, place: Path) -> Path:
    subprocess.run(["git", "clone", "-q", str(root), str(place)], check=True)
    (place / "ralph-tracker.yaml").write_text(CONFIG)
    return place


def replaying(root: Path, home: Path, *words: str, commits: int = COMMITS) -> subprocess.Popen:
    command = [TRACKER, "replay", f"HEAD~{commits}..HEAD", "--root", str(root), *words]
    return subprocess.Popen(
        command, env=environment(home), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=home
    )


def finished(process: subprocess.Popen) -> str:
    said = process.communicate(timeout=LIMIT_S)[0]
    assert process.returncode == 0, said
    return said


def records(root: Path) -> list[dict]:
    files = sorted(root.glob(".aiwg/ralph/replay-*/iterations/*/metrics.json"))
    texts = (re.sub(r"after \d+\.\d s", "after a while", file.read_text()) for file in files)
    return [without(json.loads(text), OWN - {"loop_id"}) for text in texts]


def recorded(root: Path) -> int:
    return len(list(root.glob(".aiwg/ralph/replay-*/iterations/*/metrics.json")))


class Machines:
    """A scheduler and workers, each with a home, a cache and a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.processes: dict[str, subprocess.Popen] = {}
        words = ["dask_scheduler", "--host", "127.0.0.1", "--port", str(self.port), *NO_WEB_PAGES]
        self._start("scheduler", words)

    def _start(self, name: str, words: list[str], *first: Path) -> None:
        home = self.folder / name
        module, *options = words
        env = environment(home, *first)
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{module}", *options], cwd=home, env=env, stdout=log, stderr=log
            )

    def worker(self, name: str, *first: Path) -> None:
        words = ["dask_worker", self.address, "--nthreads", "1", "--no-nanny", *NO_WEB_PAGES, "--name", name]
        self._start(name, [*words, "--host", "127.0.0.1", "--local-directory", str(self.folder / name)], *first)

    def ready(self, count: int) -> None:
        with distributed.Client(self.address, timeout=60, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=120)

    def signal(self, name: str, number: int) -> None:
        self.processes[name].send_signal(number)

    def is_at_work(self, name: str) -> bool:
        """Whether a worker has begun to measure a commit."""
        return any((self.folder / name / "cache").glob("ralph-tracker/commits/*"))

    def stop(self) -> None:
        for process in self.processes.values():
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()


@pytest.fixture
def machines(tmp_path) -> Iterator[Machines]:
    found = Machines(tmp_path)
    try:
        yield found
    finally:
        found.stop()


@pytest.fixture(scope="module")
def other_pytest(tmp_path_factory) -> Path:
    """Make an environment with another pytest; skip where the index cannot be reached."""
    folder = tmp_path_factory.mktemp("other") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    words = [sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install", "--quiet", OTHER_PYTEST]
    if subprocess.run(words, check=False, capture_output=True).returncode:
        pytest.skip("the package index cannot be reached; a worker with another pytest needs it")
    return folder / "bin"


@pytest.fixture(scope="module")
def local(tmp_path_factory) -> tuple[Path, list[dict]]:
    """Make the repository, and return it with the records of a local replay."""
    folder = tmp_path_factory.mktemp("local")
    root = repository(folder / "project", 300_000, DIFFERING)
    finished(replaying(root, folder / "home", "--jobs", "2"))
    found = records(root)
    assert len(found) == COMMITS + 1
    assert {each["iteration_metrics"]["testing"]["tests_failed"] for each in found} == {0, 1}
    return root, found


def until(holds, process: subprocess.Popen) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not holds():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_records_are_those_of_a_local_replay_with_workers_killed_slow_and_of_another_pytest(
    machines, local, other_pytest, tmp_path
):
    for name in ("killed", "slow", "good"):
        machines.worker(name)
    machines.worker("other", other_pytest)
    machines.ready(4)
    root = copy_of(local[0], tmp_path / "copy" / "project")
    process = replaying(root, tmp_path / "driver", "--cluster", machines.address)
    until(lambda: machines.is_at_work("killed") and machines.is_at_work("slow"), process)
    machines.signal("killed", signal.SIGKILL)
    machines.signal("slow", signal.SIGSTOP)
    time.sleep(5)
    machines.signal("slow", signal.SIGCONT)
    said = " ".join(finished(process).split())
    assert records(root) == local[1]
    assert "is not used: other tools: pytest 8.3.5, not " in said
    assert "it is gone; asked of another" in said
    assert not list((tmp_path / "driver" / "cache").glob("ralph-tracker/bundles/*"))
    assert machines.is_at_work("good")
    assert not machines.is_at_work("other")


def test_a_worker_that_hangs_costs_a_retry_elsewhere(machines, local, tmp_path):
    for name in ("hanging", "good"):
        machines.worker(name)
    machines.ready(2)
    root = copy_of(local[0], tmp_path / "copy" / "project")
    process = replaying(root, tmp_path / "driver", "--cluster", machines.address)
    until(lambda: machines.is_at_work("hanging"), process)
    machines.signal("hanging", signal.SIGSTOP)
    said = " ".join(finished(process).split())
    assert records(root) == local[1]
    assert "it takes too long; asked of another" in said


def test_after_the_scheduler_is_gone_the_replay_goes_on_here(machines, local, tmp_path):
    machines.worker("one")
    machines.ready(1)
    root = copy_of(local[0], tmp_path / "copy" / "project")
    process = replaying(root, tmp_path / "driver", "--cluster", machines.address)
    until(lambda: machines.is_at_work("one"), process)
    machines.signal("scheduler", signal.SIGKILL)
    said = " ".join(finished(process).split())
    assert records(root) == local[1]
    assert "is gone; the rest is measured here" in said


def test_where_no_scheduler_answers_one_line_says_so(local, tmp_path):
    root = copy_of(local[0], tmp_path / "copy" / "project")
    process = replaying(root, tmp_path / "driver", "--cluster", f"tcp://127.0.0.1:{free_port()}")
    said = process.communicate(timeout=LIMIT_S)[0]
    assert process.returncode == 1
    assert "no scheduler answers" in said.splitlines()[-1]


def test_candidates_are_compared_on_a_cluster_too_a_folder_among_them(machines, local, tmp_path):
    machines.worker("one")
    machines.ready(1)
    root = copy_of(local[0], tmp_path / "copy" / "project")
    attempt = copy_of(local[0], tmp_path / "attempt" / "project")
    (attempt / "test_sums.py").write_text(SUITE.format(count=30, wrong=-1))
    words = ["compare", "HEAD~1", str(attempt), "--base", f"HEAD~{COMMITS}", "--root", str(root), "--json"]
    command = [TRACKER, *words, "--cluster", machines.address]
    done = subprocess.run(
        command, env=environment(tmp_path / "driver"), capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["take"] == str(attempt)
    assert machines.is_at_work("one")


def worked(root: Path) -> float:
    """Return how long the checks of all commits took together."""
    files = root.glob(".aiwg/ralph/replay-*/iterations/*/checks.json")
    return sum(check["duration_s"] for file in files for check in json.loads(file.read_text())["checks"])


@pytest.mark.deep  # a measurement, which beside other suites has no limit by the clock
def test_two_workers_are_faster_than_one_job(machines, tmp_path, told):
    """By the clock on a quiet machine; on any by how many checks ran at once, which other work slows down alike."""
    for name in ("one", "two"):
        machines.worker(name)
    machines.ready(2)
    root = repository(
        tmp_path / "project", EQUAL_ROUNDS, [SUITE.format(count=EQUAL_TESTS, wrong=-1 - n) for n in range(EQUAL)]
    )
    quiet = os.getloadavg()[0] < QUIET_LOAD
    took, at_once = {}, {}
    for name, words in (("one job", ["--jobs", "1"]), ("two workers", ["--cluster", machines.address])):
        place = copy_of(root, tmp_path / name / "project")
        began = time.monotonic()
        finished(replaying(place, tmp_path / f"home of {name}", *words, commits=EQUAL - 1))
        took[name] = time.monotonic() - began
        at_once[name] = worked(place) / took[name]
    by_clock = took["one job"] / took["two workers"]
    gain = at_once["two workers"] / at_once["one job"]
    note = "" if quiet else "; the machine was not quiet, so that only the checks at once have a limit"
    told(
        f"{EQUAL} commits: one job {took['one job']:.0f} s, two workers {by_clock:.2f} times as fast; checks at once "
        f"{at_once['one job']:.2f} and {at_once['two workers']:.2f}, {gain:.2f} times as many{note}"
    )
    if (os.cpu_count() or 1) > 1:
        assert gain >= LEAST_AT_ONCE
        assert by_clock >= LEAST_GAIN or not quiet
