"""What the sweeps share: projects to strike at, commands under strace, and the table of what was tried."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ...store.conftest import cut_short  # noqa: TID252  # the same way to die
from .promised import Command, Judge, begin, work
from .strace import Bench, Call, Ended, Point, calls_in, points_of, was_hit

__all__ = ["cut_short"]


@pytest.fixture(scope="session")
def _strace() -> None:
    """Skip where processes cannot be traced."""
    if sys.platform != "linux" or shutil.which("strace") is None:
        pytest.skip("needs strace: install it")
    tried = subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"strace may not trace here: {tried.stderr.strip()}")


@pytest.fixture
def bench(_strace: None) -> type[Bench]:
    """Return what runs commands under strace: `bench(root, place)`."""
    return Bench


@pytest.fixture(scope="session")
def points() -> Callable[[Ended, Path], list[Point]]:
    """List where faults can strike a command that strace has seen."""
    return points_of


@pytest.fixture(scope="session")
def hit() -> Callable[[Ended, Point, Path], bool]:
    """Tell whether a fault came where it was meant to."""
    return was_hit


@pytest.fixture(scope="session")
def system_calls() -> Callable[[str, Path], Iterator[Call]]:
    """Read the calls that strace has seen, in their order."""
    return calls_in


@pytest.fixture(scope="session")
def _made() -> dict[Command, Path]:
    """Return the projects that were made so far."""
    return {}


@pytest.fixture
def arena(
    _made: dict[Command, Path],
    workshop_at: type[Any],
    own_files: Callable[[Path], dict[str, bytes]],
    tmp_path_factory: pytest.TempPathFactory,
    tmp_path: Path,
) -> Callable[[Command], tuple[Callable[[], Any], Judge]]:
    """Return what gives fresh copies of a command's project, always at the same place, and judges its runs."""

    def prepared(command: Command) -> Path:
        if command not in _made:
            root = (tmp_path_factory.mktemp("struck") / "project").resolve()
            root.mkdir()
            shop = workshop_at(root).prepare()
            begin(shop, command)
            work(shop, command)
            assert shop.paths.store.is_dir() is bool(command.turns)
            _made[command] = root
        return _made[command]

    def opened(command: Command) -> tuple[Callable[[], Any], Judge]:
        source, root = prepared(command), (tmp_path / "copy" / "project").resolve()

        def copied() -> Any:
            shutil.rmtree(root.parent, ignore_errors=True)
            root.parent.mkdir()
            shutil.copytree(source, root, symlinks=True)
            return workshop_at(root)

        return copied, Judge(copied(), own_files, command)

    return opened


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print what the sweeps have tried."""
    rows = [
        value
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, [])
        for name, value in getattr(report, "user_properties", [])
        if name == "sweep" and report.when == "call"
    ]
    if not rows:
        return
    terminalreporter.section("points at which commands were struck")
    head = ("by", "command", "fault", "points", "tried", "not reached", "violations")
    total = ("all", "", "", *(sum(row[column] for row in rows) for column in range(3, len(head))))
    for row in (head, *sorted(map(tuple, rows)), total):
        terminalreporter.write_line("{:<7} {:<19} {:<9} {:>7} {:>7} {:>12} {:>11}".format(*row))
