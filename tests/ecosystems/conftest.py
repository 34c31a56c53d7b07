"""Projects of other ecosystems, measured with their real tools.

Not part of `make test`, because it needs the npm registry and minutes: `make suite NAME=ecosystems` runs it.
"""

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from .sources import offline

_LIMIT_S = 600
_FOREIGN = re.compile(r"RALPH_TRACKER_.*|NODE_OPTIONS|NODE_ENV|CI|npm_.*|CARGO_TERM_.*|GOFLAGS|MAVEN_.*|GIT_.*")
_SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # a JVM of seconds earns nothing by compiling well
_AUTHOR = ("-c", "user.name=a", "-c", "user.email=a@example.org")


@dataclass(frozen=True)
class Project:
    """A project on disk, and the folders in which its programs are found."""

    root: Path
    path: str

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables with which its developer works."""
        kept = {name: value for name, value in os.environ.items() if not _FOREIGN.fullmatch(name)}
        return {**kept, "PATH": self.path, "NO_COLOR": "1", "MAVEN_OPTS": _SHORT_LIVED, "GRADLE_OPTS": _SHORT_LIVED}

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command as its developer does."""
        return subprocess.run(
            command, cwd=self.root, env=self.environment, capture_output=True, text=True, timeout=_LIMIT_S, check=False
        )

    def ours(self, *words: str) -> str:
        """Run ralph-tracker as a user does, and return what it printed."""
        done = self.run(str(Path(sys.executable).with_name("ralph-tracker")), *words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def record(self, phase: str) -> dict[str, Any]:
        """Run a hook, and return the iteration that it put on record."""
        metrics: dict[str, Any] = json.loads(self.ours("hook", phase, "--json"))["iteration_metrics"]
        return metrics

    def printed(self, *command: str) -> str:
        """Return what a tool prints by itself, where no iteration has been kept."""
        kept, aside = self.root / ".aiwg", self.root.with_name("aside")
        if kept.is_dir():
            kept.rename(aside)
        try:
            done = self.run(*command)
        finally:
            if aside.is_dir():
                aside.rename(kept)
        return done.stdout + done.stderr

    def changed(self) -> list[str]:
        """List the files that are not as they were committed."""
        return self.run("git", "status", "--porcelain").stdout.splitlines()


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., Project]:
    """Make a project in the folder of a test, as `project_in` does."""
    return partial(_made, tmp_path)


@pytest.fixture(scope="session")
def project_in() -> Callable[..., Project]:
    """Make a project in a folder: its files, what it installs, one commit; `programs` alone are on its PATH."""
    return _made


def _made(folder: Path, files: Mapping[str, str], install: Sequence[str] = (), programs: Sequence[str] = ()) -> Project:
    root = folder / "project"
    for name, text in offline(files).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    made = Project(root, _folder_of(folder / "programs", programs) if programs else os.environ["PATH"])
    if install and "workspaces" in files.get("package.json", ""):
        _npm(made, install)
    elif install:
        _copy_installed(made, install)
    for words in (["init", "-q"], ["add", "-A"], [*_AUTHOR, "commit", "-q", "-m", "first"]):
        assert made.run("git", *words).returncode == 0
    return made


def _npm(project: Project, packages: Sequence[str]) -> None:
    done = project.run("npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "--save-dev", *packages)
    assert done.returncode == 0, done.stdout + done.stderr


def _copy_installed(made: Project, packages: Sequence[str]) -> None:
    """Give a project what npm would install, which it does once for all projects, beside the tests' environment."""
    folder = Path(sys.prefix) / "ecosystems" / "+".join(packages).replace("/", "-")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "whole").exists():
            (folder / "package.json").write_text('{"private": true}')
            _npm(Project(folder, os.environ["PATH"]), packages)
            (folder / "whole").touch()
    shutil.copytree(folder / "node_modules", made.root / "node_modules", symlinks=True)
    shutil.copy(folder / "package-lock.json", made.root)
    own = made.root / "package.json"
    document = json.loads(own.read_text()) if own.exists() else {}
    document["devDependencies"] = json.loads((folder / "package.json").read_text())["devDependencies"]
    own.write_text(json.dumps(document, indent=2) + "\n")


def _folder_of(folder: Path, programs: Sequence[str]) -> str:
    folder.mkdir()
    for name in programs:
        found = shutil.which(name)
        assert found is not None
        (folder / name).symlink_to(found)
    return str(folder)


@pytest.fixture(scope="session")
def with_tools(request: pytest.FixtureRequest) -> Callable[[Sequence[str], Sequence[str]], None]:
    """Skip where a program is missing, or the registry of what a project installs."""

    def asked(needs: Sequence[str], install: Sequence[str]) -> None:
        missing = [name for name in needs if shutil.which(name) is None and not Path(name).is_file()]
        if missing:
            pytest.skip(f"{', '.join(missing)} not found; measured where it is installed")
        if install:
            request.getfixturevalue("registry")

    return asked


@pytest.fixture(scope="session")
def registry() -> None:
    """Skip where the npm registry cannot be reached."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed; projects of JavaScript are measured where it is")
    done = subprocess.run(["npm", "view", "is-number@7.0.0", "version"], capture_output=True, check=False, timeout=120)
    if done.returncode:
        pytest.skip("the npm registry cannot be reached; projects of JavaScript are measured where it can be")
