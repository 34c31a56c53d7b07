"""Projects to keep: with git and without."""

import os
from pathlib import Path

import pytest

from .projects import Project


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test a home of its own and no git settings from outside."""
    folder = tmp_path / "home"
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


@pytest.fixture
def bare_project(tmp_path: Path) -> Project:
    """Return a project without git."""
    return Project(tmp_path / "project")


@pytest.fixture
def project(bare_project: Project) -> Project:
    """Return a project in git with one commit."""
    bare_project.init()
    bare_project.write("a.txt", "one\n")
    bare_project.write("src/b.py", "print(1)\n")
    bare_project.write("src/deep/c.py", "print(2)\n")
    bare_project.write("run.sh", "#!/bin/sh\n", 0o755)
    bare_project.write(".gitignore", "*.log\nbuild/\n")
    bare_project.link("link", "a.txt")
    bare_project.commit()
    return bare_project
