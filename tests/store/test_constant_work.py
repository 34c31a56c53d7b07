"""An iteration late in a loop costs what an early one costs: nothing rereads the history."""

import os
import sys
from collections import Counter
from pathlib import Path

import pytest

IO = Path("/proc/self/io")
EARLY = 10
FEW = 3
TESTS = {f"tests/test_module.py::test_number_{number}": "passed" for number in range(20)}


def turn(loop, number: int) -> None:
    loop.turn(tests=TESTS, coverage_percentage=80.0 + number % 5, lint_errors=number % 3)


def characters() -> tuple[int, int]:
    """Return how many bytes this process has read and written so far."""
    values = dict(line.split(": ") for line in IO.read_text().splitlines())
    return int(values["rchar"]), int(values["wchar"])


def cost(loop, number: int) -> tuple[list[int], int, list[str]]:
    """Return the bytes read and written by one iteration, how many files it opened, and which folders it listed."""
    told: list[tuple[str, str]] = []
    listening = [True]

    def hear(event: str, arguments: tuple) -> None:
        if listening and event in {"open", "os.listdir", "os.scandir"} and isinstance(arguments[0], str | Path):
            told.append((event, str(arguments[0])))

    sys.addaudithook(hear)
    before = characters()
    turn(loop, number)
    spent = [now - then for now, then in zip(characters(), before, strict=True)]
    listening.clear()
    opened = Counter(event for event, path in told if path.startswith(str(loop.root)))
    return spent, opened["open"], [path for event, path in told if event != "open"]


def come_to(loop, first: int, last: int) -> tuple[list[int], int, list[str]]:
    """Record the iterations up to the last in haste, and return what that one cost."""
    really, os.fsync = os.fsync, lambda _: None  # this process ends soon
    for number in range(first, last):
        turn(loop, number)
    os.fsync = really
    return cost(loop, last)


@pytest.mark.skipif(not IO.exists(), reason="only Linux tells what a process has read")
# Neither packs records, and all three follow an iteration that is as good: after a worse one the outcomes of the kept
# iteration are read too.
@pytest.mark.parametrize("far", [115, 310])
@pytest.mark.slow
def test_bytes_and_files_are_the_same_at_iteration_10_and_late_in_the_loop(driven, together, far):
    driven.start(tests=TESTS)
    costs = []
    for first, last in ((1, EARLY), (EARLY + 1, far)):
        together(lambda first=first, last=last: come_to(driven, first, last))
        costs += together.wait()
    (early, opened_early, listed_early), (late, opened_late, listed_late) = costs
    assert opened_late == opened_early
    for before, after in zip(early, late, strict=True):
        assert after == pytest.approx(before, rel=0.1)
    assert all(is_staged(driven, path) for path in (*listed_early, *listed_late))


def test_no_more_is_listed_where_many_iterations_are_kept_than_where_few_are(driven, together):
    (driven.root / "ralph-tracker.yaml").write_text("codebase: {keep: always}\n")
    (driven.root / "app.py").write_text("def one():\n    return 1\n")
    driven.start(tests=TESTS)
    together(lambda: come_to(driven, 1, FEW))
    _, _, listed_early = together.wait()[0]
    names = driven.paths.folder / "store/refs/iterations"
    for more in range(200):
        (names / f"{1000 + more}").write_bytes((names / "1").read_bytes())
    together(lambda: come_to(driven, FEW + 1, FEW + 1))
    _, _, listed_late = together.wait()[0]
    early, late = ([path for path in listed if not is_staged(driven, path)] for listed in (listed_early, listed_late))
    assert late == early
    assert not [path for path in late if path.startswith(f"{names.parent.parent}/refs")]


def is_staged(loop, path: str) -> bool:
    return path.startswith(os.fspath(loop.paths.staging))
