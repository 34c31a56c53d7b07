"""What a metric is taken from that needs the kept tree and a report: the new lines, and the lines that are covered."""

from functools import partial
from pathlib import Path

import pytest

from ralph_tracker.core.metrics import BY_NAME
from ralph_tracker.formats.parsed_report import Block, CoverageReport
from ralph_tracker.iteration.file_forms import changed_files
from ralph_tracker.measure.tree_metrics import TREE_METRICS, CodeCount, TreeFacts
from ralph_tracker.store.iteration_snapshots import IterationSnapshots
from ralph_tracker.store.layout import ProjectPaths
from ralph_tracker.store.write import LoopStore

BEFORE = "def one():\n    return 1\n"
AFTER = "import os\n\n\ndef one():\n    return 1\n\n\ndef two():\n    return 2\n"


@pytest.fixture
def iteration_snapshots(tmp_path: Path) -> IterationSnapshots:
    root = (tmp_path / "project").resolve()
    root.mkdir()
    (root / "app.py").write_text(BEFORE)
    made = IterationSnapshots(LoopStore(ProjectPaths(root).loop("ralph-001")))
    made.create()
    made.name(0, made.capture(None, ()))
    return made


@pytest.fixture
def observe(iteration_snapshots):
    """Observe the tree as it is now, an iteration after the baseline, with the rows of a coverage report."""

    def at(files=None) -> TreeFacts:
        coverage = None if files is None else CoverageReport(0, 0, None, files=files)
        root = iteration_snapshots.paths.root
        kept = iteration_snapshots.capture(0, ((0, 0),))
        changed = partial(changed_files, iteration_snapshots, kept.since_baseline)
        return TreeFacts(root, changed, CodeCount(1, 2, None, "a tool"), coverage)

    return at


def test_what_is_new_since_the_baseline_and_no_line_that_was_there(iteration_snapshots, observe):
    (iteration_snapshots.paths.root / "app.py").write_text(AFTER)
    (iteration_snapshots.paths.root / "image.png").write_bytes(b"\0\n\1")
    assert observe().new_lines() == {"app.py": {1, 8, 9}}


def test_nothing_is_new_where_nothing_changed(observe):
    assert observe().new_lines() == {}


@pytest.mark.parametrize("named", ["app.py", "./app.py", "{root}/app.py"])
def test_covered_lines_are_told_by_the_paths_of_the_tree(iteration_snapshots, observe, named):
    seen = observe({named.format(root=iteration_snapshots.paths.root): {1: True, 2: False}})
    assert seen.covered_lines() == {"app.py": {1: True, 2: False}}


@pytest.mark.parametrize("files", [None, {}, {"app.py": {Block("1.1,2.2", 3): True}}], ids=["no report", "none", "Go"])
def test_a_report_without_lines_tells_of_none(observe, files):
    assert not any(observe(files).covered_lines().values())


def test_each_is_a_metric_of_the_table():
    assert TREE_METRICS.keys() <= BY_NAME.keys()
