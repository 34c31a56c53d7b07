"""Projects to keep: with git and without."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ralph_tracker.store.snapshots.index import Scanner

from .projects import Project


def at_home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder the home from now on, with no git settings from outside."""
    folder.mkdir()
    (folder / ".gitconfig").write_text(
        '[user]\n\tname = User\n\temail = user@example.org\n[protocol "file"]\n\tallow = always\n'
    )
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return folder


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test a home of its own."""
    return at_home(tmp_path / "home", monkeypatch)


@pytest.fixture
def while_reading(monkeypatch: pytest.MonkeyPatch):
    """Do something before or after what a scan found is read, each time."""

    def meddle(act: Callable[[], object], *, before: bool = False) -> None:
        def around(take_in: Callable[..., None]) -> Callable[..., None]:
            def taken(*arguments: object, **options: object) -> None:
                if before:
                    act()
                take_in(*arguments, **options)
                if not before:
                    act()

            return taken

        monkeypatch.setattr(Scanner, "take_in", around(Scanner.take_in))

    return meddle


@pytest.fixture
def bare_project(tmp_path: Path) -> Project:
    """Return a project without git."""
    return Project(tmp_path / "project")


@pytest.fixture(scope="session")
def _committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project in git with one commit; tests get copies of it."""
    folder = tmp_path_factory.mktemp("committed")
    made = Project(folder / "project")
    made.write("a.txt", "one\n")
    made.write("src/b.py", "print(1)\n")
    made.write("src/deep/c.py", "print(2)\n")
    made.write("run.sh", "#!/bin/sh\n", 0o755)
    made.write(".gitignore", "*.log\nbuild/\n")
    made.link("link", "a.txt")
    with pytest.MonkeyPatch.context() as monkeypatch:
        at_home(folder / "home", monkeypatch)
        made.init()
        made.commit()
    return made.root


@pytest.fixture
def project(bare_project: Project, _committed: Path) -> Project:
    """Return a project in git with one commit."""
    shutil.copytree(_committed, bare_project.root, symlinks=True, dirs_exist_ok=True)
    bare_project.git("update-index", "--refresh")  # git knows files by their times and numbers too
    return bare_project
