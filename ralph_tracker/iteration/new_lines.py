"""Facts of the measured tree: file count, lines and complexity (TREE_METRICS), and its new and its covered lines."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from ralph_tracker.core.metrics import Value
from ralph_tracker.formats.parsed_report import CoverageReport
from ralph_tracker.integrity.changed_text import ChangedFile, added_lines, read
from ralph_tracker.iteration.tamper_check import changed_files
from ralph_tracker.measure.code_metrics import CodeCount
from ralph_tracker.store.iteration_snapshots import IterationSnapshots, KeptIteration


class TreeFacts(NamedTuple):
    """The input of these metrics: the kept files, the counted code, the coverage (None: not measured)."""

    root: Path
    iteration_snapshots: IterationSnapshots
    kept: KeptIteration
    code: CodeCount
    coverage: CoverageReport | None = None

    def new_lines(self) -> Mapping[str, frozenset[int]]:
        """Return the lines added since the baseline, by path; files that are not text have none."""
        files = map(read, changed_files(self.iteration_snapshots, self.kept.since_baseline))
        return added_lines(file for file in files if isinstance(file, ChangedFile))

    def covered_lines(self) -> Mapping[str, Mapping[int, bool]]:
        """Return whether each coverable line was covered, by path in the tree; {} if no report lists lines.

        Files that a report does not name relative to the root are left out, as are Go's statement blocks.
        """
        files = {} if self.coverage is None else self.coverage.files or {}
        roots = {f"{self.root}/", f"{self.root.resolve()}/"}
        found: dict[str, Mapping[int, bool]] = {}
        for given, lines in files.items():
            path = given.replace("\\", "/").removeprefix("./")
            path = next((path.removeprefix(root) for root in roots if path.startswith(root)), path)
            found[path] = {at: hit for at, hit in lines.items() if isinstance(at, int)}
        return found


TREE_METRICS: Final[Mapping[str, Callable[[TreeFacts], Value | None]]] = {
    "file_count": lambda at: at.code.file_count,
    "loc_total": lambda at: at.code.loc_total,
    "complexity_score": lambda at: at.code.complexity_score,
}
