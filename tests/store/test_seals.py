"""A file that the disk does not give is named as damaged, like one that is gone: looking never fails."""

import json
import sys
from pathlib import Path

import pytest

from ralph_tracker.store.layout import LoopPaths
from ralph_tracker.store.seals import Seals

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a file that every read of fails is Linux's")
UNREADABLE = Path("/proc/self/mem")


@pytest.fixture
def paths(tmp_path: Path) -> LoopPaths:
    paths = LoopPaths(tmp_path, "ralph-001")
    for number in (0, 1):
        paths.iteration(number).mkdir(parents=True)
    return paths


def test_a_seal_that_cannot_be_read_breaks_the_chain(paths: LoopPaths) -> None:
    (paths.iteration(0) / "seal.json").symlink_to(UNREADABLE)
    (paths.iteration(1) / "seal.json").write_text(json.dumps({"previous_seal": "a" * 64}))
    assert Seals(paths).broken_chain(0) == ("seal.json",)


def test_a_record_that_cannot_be_read_is_altered(paths: LoopPaths) -> None:
    (paths.iteration(0) / "seal.json").write_text(json.dumps({"record": "a" * 64}))
    record = paths.record(0)
    record.parent.mkdir(parents=True, exist_ok=True)
    record.symlink_to(UNREADABLE)
    assert Seals(paths).altered_record(0) == (record.relative_to(paths.folder).as_posix(),)
