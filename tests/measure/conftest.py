"""Projects of a few files, and programs that are found on PATH and say what a test wants."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest


@pytest.fixture
def tree(tmp_path: Path) -> Callable[[Mapping[str, str]], Path]:
    """Make a project of the files given; what lies in a folder of programs can be run."""
    root = tmp_path / "project"

    def make(files: Mapping[str, str]) -> Path:
        (root / ".git").mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            if file.parent.name in {"bin", ".bin"} or file.name in {"mvnw", "gradlew"}:
                file.chmod(0o755)
        return root

    return make


@pytest.fixture
def on_path(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """Make programs, each a line for the shell, and return the environment that finds them."""
    folder = tmp_path / "programs"

    def make(**programs: str) -> dict[str, str]:
        folder.mkdir(exist_ok=True)
        for name, line in programs.items():
            file = folder / name.replace("_", "-")
            file.write_text(f"#!/bin/sh\n{line}\n")
            file.chmod(0o755)
        return {"PATH": str(folder)}

    return make
