"""Two iterations of a loop side by side: scores, metrics, tests, files. For the command line and the reports."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from ralph_tracker.core.iteration_diff import (
    MetricChange,
    OutcomeChanges,
    metric_changes,
    outcome_changes,
    score_change,
)
from ralph_tracker.core.metrics import TestResults
from ralph_tracker.core.reasons import recorded_values
from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.store.committed import Committed
from ralph_tracker.store.keeping import Keeper
from ralph_tracker.store.patches import FileChange
from ralph_tracker.store.snapshots import as_utf8

Document = Mapping[str, Any]
SCORES: Final = ("quality_score", "adjusted_score")
NOT_OURS: Final = "AIWG wrote this loop; of tests and files it keeps nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """Hold how the tests and the files of two iterations differ.

    Where tests or files are not known they are None, and the note says why.
    """

    tests: OutcomeChanges | None = None
    tests_note: str | None = None
    files: tuple[FileChange, ...] | None = None
    files_note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IterationDiff:
    """Hold two iterations side by side; scores and metrics that neither has are left out."""

    before: int
    after: int
    classes: tuple[str | None, str | None]
    scores: tuple[MetricChange, ...]
    metrics: tuple[MetricChange, ...]
    differences: Differences


def side_by_side(before: Document, after: Document, differences: Differences) -> IterationDiff:
    """Compare two records of a loop, given as documents; the order is the caller's."""
    one, other = before["iteration_metrics"], after["iteration_metrics"]
    scores = (score_change(name, one.get(name), other.get(name)) for name in SCORES)
    return IterationDiff(
        before=one["iteration"],
        after=other["iteration"],
        classes=(one.get("classification"), other.get("classification")),
        scores=tuple(score for score in scores if (score.before, score.after) != (None, None)),
        metrics=metric_changes(recorded_values(one), recorded_values(other)),
        differences=differences,
    )


def differences_of(committed: Committed | None, before: int, after: int) -> Differences:
    """Compare the tests and the files of two iterations on record; None is a loop that AIWG wrote.

    What is not known or damaged is said in a note, the rest goes on.
    """
    if committed is None:
        return Differences(tests_note=NOT_OURS, files_note=NOT_OURS)
    sides = [_tests(committed, number) for number in (before, after)]
    unknown = next((side for side in sides if isinstance(side, str)), None)
    outcomes = [side.outcomes for side in sides if isinstance(side, TestResults)]
    files, why = _files(committed, before, after)
    return Differences(
        tests=None if unknown else outcome_changes(*outcomes),
        tests_note=unknown,
        files=files,
        files_note=why,
    )


def _tests(committed: Committed, number: int) -> TestResults | str:
    """Return the outcomes of an iteration, or why there are none."""
    found = committed.measurement(number)
    if found is None:
        return f"what iteration {number} measured is damaged; run `ralph-tracker verify`"
    return found[0].tests or f"iteration {number} has no names of tests"


def _files(committed: Committed, before: int, after: int) -> tuple[tuple[FileChange, ...] | None, str | None]:
    try:
        return Keeper(committed).file_changes(before, after), None
    except (NoSnapshotError, StoreError) as error:
        return None, str(error)


def diff_document(diff: IterationDiff, *, patches: bool = True) -> dict[str, Any]:
    """Return it as a document; without `patches` those are None."""
    return {
        "before": {"iteration": diff.before, "classification": diff.classes[0]},
        "after": {"iteration": diff.after, "classification": diff.classes[1]},
        "scores": [asdict(score) for score in diff.scores],
        "metrics": [asdict(metric) for metric in diff.metrics],
        **differences_document(diff.differences, patches=patches),
    }


def differences_document(found: Differences, *, patches: bool) -> dict[str, Any]:
    """Return the tests and the files as a document."""
    tests, files = found.tests, found.files
    return {
        "tests": None if tests is None else {kind: [asdict(test) for test in all_] for kind, all_ in tests.items()},
        "tests_note": found.tests_note,
        "files": None if files is None else [_file(change, patches=patches) for change in files],
        "files_note": found.files_note,
    }


def _file(change: FileChange, *, patches: bool) -> dict[str, Any]:
    return {
        **asdict(change),
        "path": as_utf8(change.path),
        "old_path": None if change.old_path is None else as_utf8(change.old_path),
        "patch": change.patch if patches else None,
    }
