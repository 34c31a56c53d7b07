"""What a replay has on record of a public project's releases is what its tools print at each of them by hand.

The project is cachetools: src layout, tests in its source distributions. By hand means in a plain folder, without git
and without us, by the fixtures of this folder.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.projects.test_projects import same

NAME = "cachetools"
RELEASES = (
    *("4.2.0", "4.2.1", "4.2.2", "4.2.3", "4.2.4", "5.0.0", "5.1.0", "5.2.0", "5.2.1"),
    *("5.3.0", "5.3.1", "5.3.2", "5.3.3", "5.4.0", "5.5.0", "5.5.1", "5.5.2"),
)
IDENTITY = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
STAYS = {".venv", ".git", ".gitignore"}


def take(release: str, root: Path, index: Callable[[str, Path], Path], scratch: Path) -> None:
    """Make a folder the sources of a release; environment and git stay."""
    for path in root.iterdir():
        if path.name not in STAYS:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copytree(index(f"{NAME}=={release}", scratch / release), root, dirs_exist_ok=True)


def test_each_release_measures_what_its_tools_print(
    developed: Any, index: Any, recorded: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    project = developed(f"{NAME}=={RELEASES[-1]}", addopts="")
    root = project.root
    project.run("git", "init", "-q", "-b", "main")
    (root / ".gitignore").write_text(".venv/\n.aiwg/\n__pycache__/\n*.egg-info/\n")
    theirs = []
    for release in RELEASES:
        take(release, root, index, tmp_path / "releases")
        theirs.append(project.measured_by_hand(tmp_path, plugin=False, types=None))
        project.run("git", "add", "-A")
        project.run("git", "commit", "-q", "-m", release, **IDENTITY)
    program = str(Path(sys.executable).with_name("ralph-tracker"))
    words = ["replay", f"HEAD~{len(RELEASES) - 1}..HEAD", "--jobs", "2", "--json"]
    done = project.run(program, *words)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [each["subject"] for each in document["commits"]] == list(RELEASES)
    history = json.loads(project.ours("history", "--json", "--loop-id", document["loop_id"]))
    ours = [recorded(record) for record in history]
    unequal = [
        (release, name, value, by_hand[name])
        for release, numbers, by_hand in zip(RELEASES, ours, theirs, strict=True)
        for name, value in numbers.items()
        if not same(value, by_hand[name])
    ]
    assert unequal == []
    assert min(numbers["tests"] for numbers in ours) > 100
    assert subprocess.run(["git", "status", "--porcelain"], cwd=root, capture_output=True, check=True).stdout == b""
