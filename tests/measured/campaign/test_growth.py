"""A large tree over many iterations: what is kept grows by what has changed."""

import os
import random
import time
from pathlib import Path

import pytest

from tests.sweep import FULL

from .outsider import copied, kept_of, tree_of

FILES, TURNS = (5_000, 200) if FULL else (2_000, 50)
CHANGED = 20
# Bytes on the disk for each byte of the files that changed: their content, plain copies, records, whole blocks.
LIMIT = 6

pytestmark = [pytest.mark.faults, pytest.mark.slow]


def on_disk(folder: Path) -> int:
    """Return the bytes of the blocks below a folder."""
    places = (os.lstat(Path(place, name)) for place, _, names in os.walk(folder) for name in names)
    return sum(status.st_blocks * 512 for status in places)


def test_what_is_kept_grows_by_what_has_changed(drive, shell, tmp_path, record_property):
    root = (tmp_path / "project").resolve()
    root.mkdir()
    draw = random.Random(1)
    files = [root / f"package{number // 100}/file{number}.py" for number in range(FILES)]
    for file in files:
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(draw.randbytes(3000).hex().encode())
    (root / "ralph-tracker.yaml").write_text("version: 1\ncodebase: {keep: always, include: [nothing]}\n")
    driven = drive(root)
    driven.start()
    before, changed, some, began = on_disk(root / ".aiwg"), 0, {}, time.monotonic()
    for turn in range(1, TURNS + 1):
        for file in draw.sample(files, CHANGED):
            content = draw.randbytes(3000).hex().encode()
            file.write_bytes(content)
            changed += len(content)
        driven.turn()
        if turn in {1, TURNS // 2, TURNS}:
            some[turn] = kept_of(tree_of(root))
    took = (time.monotonic() - began) / TURNS
    grown = on_disk(root / ".aiwg") - before
    record_property(
        "figure",
        f"{FILES} files, {TURNS} iterations of {CHANGED} changed files of 6 KB: {grown / TURNS / CHANGED / 1000:.1f} KB"
        f" a changed file, {grown / changed:.2f} x its bytes; {took * 1000:.0f} ms an iteration",
    )
    assert grown < LIMIT * changed
    at = shell(copied(root, tmp_path / "copy/project"))
    for turn, tree in some.items():
        assert at.ask(("restore", str(turn)))[0].code == 0
        assert kept_of(tree_of(at.root)) == tree
