"""Two iterations of a loop side by side: scores, metrics, tests, files. For the command line and the reports."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, get_args

from ralph_tracker.core.deltas import delta
from ralph_tracker.core.metrics import FAILED, METRICS, PASSED, Direction, MetricSpec, TestResults, Value
from ralph_tracker.core.rounding import SCORE_DECIMALS, half_up
from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.iteration.reasons import recorded_values
from ralph_tracker.store.keeping import Keeper
from ralph_tracker.store.records import Committed
from ralph_tracker.store.snapshots.patch import FileChange
from ralph_tracker.store.snapshots.values import as_utf8

Verdict = Literal["better", "worse", "same", "changed", "unknown"]
OutcomeKind = Literal["broken", "fixed", "newly_skipped", "new", "gone"]
OUTCOME_KINDS: Final[tuple[OutcomeKind, ...]] = get_args(OutcomeKind)
_KIND_NOW: Final[Mapping[str, OutcomeKind]] = {FAILED: "broken", PASSED: "fixed"}
_BUILD_RANK: Final[Mapping[Value, int]] = {"failure": 0, "success": 1}


@dataclass(frozen=True, slots=True)
class MetricChange:
    """Hold one metric or score of two iterations.

    `change` is None where a side was not measured or is no number. The verdict goes by the direction of the metric:
    `changed` where it has none, `unknown` where a side was not measured.
    """

    name: str
    before: Value | None
    after: Value | None
    change: float | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class OutcomeChange:
    """Hold one test whose outcome differs; None where the report does not have it."""

    id: str
    before: str | None
    after: str | None


OutcomeChanges = Mapping[OutcomeKind, tuple[OutcomeChange, ...]]


def metric_changes(before: Mapping[str, Value], after: Mapping[str, Value]) -> tuple[MetricChange, ...]:
    """Compare what was measured, by name, in the order of the table; what neither side has is left out."""
    both = ((spec, before.get(spec.name), after.get(spec.name)) for spec in METRICS)
    return tuple(_metric_change(spec, old, new) for spec, old, new in both if (old, new) != (None, None))


def _metric_change(spec: MetricSpec, before: Value | None, after: Value | None) -> MetricChange:
    if before is None or after is None:
        return MetricChange(spec.name, before, after, None, "unknown")
    if isinstance(before, str) or isinstance(after, str):
        return MetricChange(spec.name, before, after, None, _verdict_of_words(spec, before, after))
    change = delta(after, before, spec.decimals)
    return MetricChange(spec.name, before, after, change, _verdict(change, spec.direction))


def _verdict_of_words(spec: MetricSpec, before: Value, after: Value) -> Verdict:
    if before == after:
        return "same"
    if before not in _BUILD_RANK or after not in _BUILD_RANK:
        return "changed"
    return _verdict(_BUILD_RANK[after] - _BUILD_RANK[before], spec.direction)


def score_change(name: str, before: float | None, after: float | None) -> MetricChange:
    """Compare two scores of 0 to 1."""
    if before is None or after is None:
        return MetricChange(name, before, after, None, "unknown")
    change = half_up(after - before, SCORE_DECIMALS)
    return MetricChange(name, before, after, change, _verdict(change, Direction.UP_IS_BETTER))


def _verdict(change: float, direction: Direction) -> Verdict:
    if not change:
        return "same"
    if direction is Direction.NEUTRAL:
        return "changed"
    return "better" if (change > 0) is (direction is Direction.UP_IS_BETTER) else "worse"


def outcome_changes(before: Mapping[str, str], after: Mapping[str, str]) -> OutcomeChanges:
    """Sort the tests whose outcome differs into kinds, each by name; no test is in two.

    A test in both reports is `broken` where it fails now, `fixed` where it passes now, else `newly_skipped`.
    """
    found: dict[OutcomeKind, list[OutcomeChange]] = {kind: [] for kind in OUTCOME_KINDS}
    for name in sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name)):
        change = OutcomeChange(name, before.get(name), after.get(name))
        found[_kind_of(change)].append(change)
    return {kind: tuple(changes) for kind, changes in found.items()}


def _kind_of(change: OutcomeChange) -> OutcomeKind:
    if change.before is None:
        return "new"
    if change.after is None:
        return "gone"
    return _KIND_NOW.get(change.after, "newly_skipped")


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
