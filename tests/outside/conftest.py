"""What needs the package index: installing ourselves as strangers do. Skipped unless RALPH_TRACKER_OUTSIDE is set."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
PARTS = ("ralph_tracker", "templates", "pyproject.toml", "README.md", "LICENSE", "action.yml", ".pre-commit-hooks.yaml")
IDENTITY = ("-c", "user.name=A", "-c", "user.email=a@b")
REPORT = '<testsuite tests="1"><testcase classname="a" name="b"/></testsuite>'

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(autouse=True)
def _asked_for() -> None:
    if not os.environ.get("RALPH_TRACKER_OUTSIDE"):
        pytest.skip("needs the package index; set RALPH_TRACKER_OUTSIDE=1")


@pytest.fixture
def run() -> Run:
    """Return what runs a command in a folder, without what this run of the tests has set."""

    def start(*command: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
        foreign = ("GIT_", "GITHUB_", "RALPH_", "COVERAGE_", "PRE_COMMIT", "VIRTUAL_ENV")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        whole = {**kept, **environment}
        return subprocess.run(command, cwd=cwd, env=whole, capture_output=True, text=True, timeout=600, check=False)

    return start


@pytest.fixture
def published(run: Run, tmp_path: Path) -> Path:
    """Return a repository of the checkout as it stands, committed or not."""
    folder = tmp_path / "published"
    folder.mkdir()
    for name in PARTS:
        if (CHECKOUT / name).is_dir():
            shutil.copytree(CHECKOUT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(CHECKOUT / name, folder / name)
    return committed(run, folder)


@pytest.fixture
def project(run: Run, tmp_path: Path) -> Path:
    """Return a repository whose check hands on a report that lies in the tree."""
    folder = tmp_path / "project"
    folder.mkdir()
    check = '{run: "cp results.* {reports}/junit.xml", reports: ["{reports}/junit.xml"]}'
    (folder / "ralph-tracker.yaml").write_text(f"checks:\n  tests: {check}\n")
    (folder / "results.xml").write_text(REPORT)
    (folder / "app.py").write_text("def one():\n    return 1\n")
    return committed(run, folder)


def committed(run: Run, folder: Path) -> Path:
    """Make a repository of a folder, with one commit."""
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), (*IDENTITY, "commit", "-q", "-m", "first")):
        assert run("git", *words, cwd=folder).returncode == 0
    return folder
