"""Loops that measure: a project on disk with real git and checks of its own, driven through the tracker."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ralph_tracker.config.yaml_io import dump_yaml
from ralph_tracker.records.iteration_record import IterationRecord
from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.tracker import Tracker

IDENTITY = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@b"}
# One check that is as fast as a shell: it hands on the report that lies in the tree.
HANDS_ON = {"run": ["/bin/sh", "measure.sh", "{reports}"], "reports": ["{reports}/junit.xml"], "timeout": 20}
SCRIPT = 'cp results.xml "$1/junit.xml"\n'


def junit(outcomes: Mapping[str, str]) -> str:
    """Write a JUnit report of those tests."""
    inside = {"passed": "", "failed": "<failure/>", "skipped": "<skipped/>"}
    cases = "".join(f'<testcase classname="t" name="{name}">{inside[how]}</testcase>' for name, how in outcomes.items())
    return f'<testsuite name="s" tests="{len(outcomes)}">{cases}</testsuite>'


class Clock:
    def __init__(self) -> None:
        self.time = datetime(2026, 2, 2, 10, 0, tzinfo=UTC)

    def now(self) -> datetime:
        self.time += timedelta(minutes=1)
        return self.time


class Workshop:
    """A project and its loop; `passing` many tests are in the report that its check hands on."""

    def __init__(self, root: Path, clock: Clock | None = None) -> None:
        self.root, self.clock = root, clock or Clock()
        # Pytest does not load the plugins of this suite there, which takes it half of a second.
        quick = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(root.parent), **quick}
        self.paths = LoopPaths(root, "ralph-001")

    @property
    def tracker(self) -> Tracker:
        """Return a tracker as a new call has it."""
        return Tracker(self.root, None, self.clock, self.environment)

    def write(self, path: str, content: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    def configure(self, checks: Mapping[str, Any], **more: Any) -> "Workshop":
        self.write("ralph-tracker.yaml", dump_yaml({"version": 1, "checks": dict(checks), **more}))
        return self

    def results(self, **outcomes: str) -> "Workshop":
        self.write("results.xml", junit(outcomes))
        return self

    def passing(self, count: int) -> "Workshop":
        return self.results(**{f"t{number}": "passed" for number in range(count)})

    def prepare(self, count: int = 4) -> "Workshop":
        """Make a small project whose check hands on a report of passing tests."""
        self.write("app.py", "def one():\n    return 1\n")
        self.write("measure.sh", SCRIPT)
        self.write(".gitignore", ".aiwg/\n")
        return self.passing(count).configure({"tests": HANDS_ON})

    def git(self, *words: str, where: Path | None = None) -> str:
        home = {"HOME": str(self.root.parent), "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"], **IDENTITY}
        done = subprocess.run(["git", *words], cwd=where or self.root, env=home, capture_output=True, check=True)
        return done.stdout.decode().strip()

    def commit(self) -> "Workshop":
        """Make a repository of the project, with a commit, an older stash and a dirty index."""
        self.git("init", "-q", "-b", "main")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "first")
        self.write("stashed.txt", "put aside\n")
        self.git("stash", "-u", "-q")
        self.write("staged.txt", "staged\n")
        self.git("add", "staged.txt")
        return self

    def start(self, **options: Any) -> IterationRecord:
        return self.tracker.pre_loop(None, **options)

    def turn(self, **options: Any) -> IterationRecord:
        # What most tests change lies beside the tree.
        return self.tracker.post_iteration(None, **{"fresh": True, **options}).record

    def files(self) -> dict[str, bytes]:
        """Return what stands in the tree, apart from git's and our own folders."""
        found = (path for path in sorted(self.root.rglob("*")) if path.is_file())
        names = {path.relative_to(self.root).as_posix(): path for path in found}
        return {name: path.read_bytes() for name, path in names.items() if not name.startswith((".git/", ".aiwg/"))}


def content_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    """Return a project without a loop yet; its check hands on a report of four passing tests."""
    root = (tmp_path / "project").resolve()
    root.mkdir()
    return Workshop(root).prepare()


@pytest.fixture(scope="session")
def workshop_at() -> type[Workshop]:
    """Return the maker of projects, for loops that several tests look at."""
    return Workshop


@pytest.fixture(scope="session")
def _run_before(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """Return a loop with a baseline and three iterations: better, much worse, half of the way back."""
    root = (tmp_path_factory.mktemp("measured") / "project").resolve()
    root.mkdir()
    shop = Workshop(root).prepare()
    shop.write("old.txt", "from the beginning\n")
    shop.commit().start()
    shop.passing(6).write("app.py", "def one():\n    return 1\n\n\ndef two():\n    return 2\n")
    shop.write("data/odd \xe9\n.bin", b"\x00\r\n")
    (shop.root / "old.txt").unlink()
    shop.turn()
    shop.passing(2).write("app.py", "def two():\n    return 3\n")
    shop.turn()
    shop.results(t0="passed", t1="passed", t2="failed").write("notes.txt", "half way\n")
    shop.turn()
    return shop


@pytest.fixture
def run_before(_run_before: Workshop, tmp_path: Path) -> Workshop:
    """Return a copy of that loop, to be restored, applied or damaged; iteration 1 is its peak."""
    root = (tmp_path / "copy").resolve()
    shutil.copytree(_run_before.root, root, symlinks=True)
    return Workshop(root, _run_before.clock)


@pytest.fixture(scope="session")
def own_files() -> Callable[[Path], dict[str, bytes]]:
    """Return every file of the user's git folder: index, HEAD, refs, stash, objects; none of ours."""
    return lambda folder: {name: data for name, data in content_of(folder).items() if "ralph-tracker/" not in name}


@pytest.fixture(scope="session")
def without_git(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a PATH on which there is everything but git."""
    folders = []
    for folder in map(Path, os.environ["PATH"].split(os.pathsep)):
        if not (folder / "git").exists():
            folders.append(folder)
            continue
        folders.append(tmp_path_factory.mktemp("bin"))
        for program in folder.iterdir():
            if program.name != "git":
                (folders[-1] / program.name).symlink_to(program)
    return os.pathsep.join(map(str, folders))


@pytest.fixture(scope="session")
def tool() -> Callable[..., list[str]]:
    """Return how a tool of the running interpreter is called."""
    return lambda name, *words: [sys.executable, "-m", name, *words]


@pytest.fixture(scope="session")
def program() -> Path:
    """Return the command as it is installed."""
    return Path(sys.executable).with_name("ralph-tracker")
