"""Compare two iterations of a loop (scores, metrics, tests, files) for the command line and the reports."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypedDict, cast, get_args

from ralph_tracker.codec import document_of, encode
from ralph_tracker.core.metrics import (
    FAILED,
    METRICS,
    PASSED,
    SCORE_DECIMALS,
    SECTIONS,
    Direction,
    TestResults,
    Value,
    delta,
    half_up,
)
from ralph_tracker.core.score import COMPONENT_BY_NAME
from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.store.iteration_snapshots import IterationSnapshots
from ralph_tracker.store.read import SealedRecords
from ralph_tracker.store.snapshots.file_changes import FileChange
from ralph_tracker.store.snapshots.snapshot_types import as_utf8

Document = Mapping[str, Any]
ChangeVerdict = Literal["better", "worse", "same", "changed", "unknown"]
OutcomeWord = Literal["passed", "failed", "skipped"]
OutcomeKind = Literal["broken", "fixed", "newly_skipped", "new", "gone"]
OUTCOME_KINDS: Final[tuple[OutcomeKind, ...]] = get_args(OutcomeKind)
_KIND_NOW: Final[Mapping[str, OutcomeKind]] = {FAILED: "broken", PASSED: "fixed"}
_BUILD_RANK: Final[Mapping[Value, int]] = {"failure": 0, "success": 1}
NOT_OURS: Final = "AIWG wrote this loop; of tests and files it keeps nothing"


class ComponentShare(NamedTuple):
    """One component of a score.

    `value` is 0 to 100, None if not measured; `weight` is its share of the weights, which sum to 1, and `contribution`
    what it adds to the score of 0 to 1.
    """

    name: str
    dimension: str
    value: float | None
    weight: float
    contribution: float


def component_shares(
    weights: Mapping[str, float], components: Mapping[str, float | None]
) -> tuple[ComponentShare, ...]:
    """Split the weight of each dimension among its components; unknown ones and those without weight are left out."""
    known = [name for name in components if name in COMPONENT_BY_NAME and COMPONENT_BY_NAME[name].dimension in weights]
    dimensions = [COMPONENT_BY_NAME[name].dimension for name in known]
    shares = []
    for name, dimension in zip(known, dimensions, strict=True):
        share, value = weights[dimension] / dimensions.count(dimension), components[name]
        brings = half_up(share * (value or 0.0) / 100, SCORE_DECIMALS)
        shares.append(ComponentShare(name, dimension, value, half_up(share, SCORE_DECIMALS), brings))
    return tuple(shares)


def recorded_values(record: Document) -> dict[str, Value]:
    """Return the measured values of a record by metric name."""
    values = {name: value for section in SECTIONS for name, value in (record.get(section) or {}).items()}
    return {spec.name: values[spec.name] for spec in METRICS if values.get(spec.name) is not None}


class MetricChange(NamedTuple):
    """The change of a metric or score between two iterations.

    `change` is None if a side was not measured or is not a number. The verdict depends on the metric's direction:
    `changed` if it has none, `unknown` if a side was not measured.
    """

    name: str
    before: Value | None
    after: Value | None
    change: float | None
    verdict: ChangeVerdict


class OutcomeChange(NamedTuple):
    """A test whose outcome differs; None if the report does not have it."""

    id: str
    before: OutcomeWord | None
    after: OutcomeWord | None


OutcomeChanges = Mapping[OutcomeKind, tuple[OutcomeChange, ...]]


def metric_changes(before: Mapping[str, Value], after: Mapping[str, Value]) -> tuple[MetricChange, ...]:
    """Compare measured values by name, in the order of the table, without those that both lack."""
    found = []
    for spec in METRICS:
        old, new = before.get(spec.name), after.get(spec.name)
        if old is None and new is None:
            continue
        change: float | None = None
        verdict: ChangeVerdict
        if old is None or new is None:
            verdict = "unknown"
        elif isinstance(old, str) or isinstance(new, str):
            verdict = "same" if old == new else "changed"
            if old != new and old in _BUILD_RANK and new in _BUILD_RANK:
                verdict = _verdict(_BUILD_RANK[new] - _BUILD_RANK[old], spec.direction)
        else:
            change = delta(new, old, spec.decimals)
            verdict = _verdict(change, spec.direction)
        found.append(MetricChange(spec.name, old, new, change, verdict))
    return tuple(found)


def score_change(name: str, before: float | None, after: float | None) -> MetricChange:
    """Compare two scores of 0 to 1."""
    if before is None or after is None:
        return MetricChange(name, before, after, None, "unknown")
    change = half_up(after - before, SCORE_DECIMALS)
    return MetricChange(name, before, after, change, _verdict(change, Direction.UP_IS_BETTER))


def _verdict(change: float, direction: Direction) -> ChangeVerdict:
    if not change:
        return "same"
    if direction is Direction.NEUTRAL:
        return "changed"
    return "better" if (change > 0) is (direction is Direction.UP_IS_BETTER) else "worse"


def outcome_changes(before: Mapping[str, OutcomeWord], after: Mapping[str, OutcomeWord]) -> OutcomeChanges:
    """Sort the tests whose outcome differs into kinds, each by name; no test is in two.

    A test in both reports is `broken` if it fails now, `fixed` if it passes now, else `newly_skipped`.
    """
    found: dict[OutcomeKind, list[OutcomeChange]] = {kind: [] for kind in OUTCOME_KINDS}
    for name in sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name)):
        change = OutcomeChange(name, before.get(name), after.get(name))
        if change.before is None:
            kind: OutcomeKind = "new"
        elif change.after is None:
            kind = "gone"
        else:
            kind = _KIND_NOW.get(change.after, "newly_skipped")
        found[kind].append(change)
    return {kind: tuple(changes) for kind, changes in found.items()}


class Differences(NamedTuple):
    """The differences in tests and files between two iterations.

    Unknown tests or files are None, and the note says why.
    """

    tests: OutcomeChanges | None = None
    tests_note: str | None = None
    files: tuple[FileChange, ...] | None = None
    files_note: str | None = None


class IterationDiff(NamedTuple):
    """The comparison of two iterations; scores and metrics that both lack are left out."""

    before: int
    after: int
    classes: tuple[str | None, str | None]
    scores: tuple[MetricChange, ...]
    metrics: tuple[MetricChange, ...]
    differences: Differences


def side_by_side(before: Document, after: Document, differences: Differences) -> IterationDiff:
    """Compare two records of a loop, given as documents in the caller's order."""
    one, other = before["iteration_metrics"], after["iteration_metrics"]
    scores = (score_change(name, one.get(name), other.get(name)) for name in ("quality_score", "adjusted_score"))
    return IterationDiff(
        before=one["iteration"],
        after=other["iteration"],
        classes=(one.get("classification"), other.get("classification")),
        scores=tuple(score for score in scores if (score.before, score.after) != (None, None)),
        metrics=metric_changes(recorded_values(one), recorded_values(other)),
        differences=differences,
    )


def differences_of(committed: SealedRecords | None, before: int, after: int) -> Differences:
    """Compare the tests and the files of two recorded iterations; None is a loop that AIWG wrote.

    What is unknown or damaged is reported in a note, the rest is compared.
    """
    if committed is None:
        return Differences(tests_note=NOT_OURS, files_note=NOT_OURS)
    sides = [_tests(committed, number) for number in (before, after)]
    unknown = next((side for side in sides if isinstance(side, str)), None)
    # Reports are read as these words, which are plain text where they are stored.
    outcomes = [cast("Mapping[str, OutcomeWord]", side.outcomes) for side in sides if isinstance(side, TestResults)]
    files = why = None
    try:
        files = IterationSnapshots(committed).file_changes(before, after)
    except (NoSnapshotError, StoreError) as error:
        why = str(error)
    return Differences(
        tests=None if unknown else outcome_changes(*outcomes),
        tests_note=unknown,
        files=files,
        files_note=why,
    )


def _tests(committed: SealedRecords, number: int) -> TestResults | str:
    """Return the outcomes of an iteration, or why there are none."""
    found = committed.measurement(number)
    if found is None:
        return f"what iteration {number} measured is damaged; run `ralph-tracker verify`"
    return found[0].tests or f"iteration {number} has no names of tests"


class SideDocument(TypedDict):
    iteration: int
    classification: str | None


if TYPE_CHECKING:  # mypy knows no TypedDict that is made
    ChangeDocument = dict[str, Any]
    OutcomesDocument = dict[OutcomeKind, list[dict[str, Any]]]
    FileDocument = dict[str, Any]
else:
    ChangeDocument, FileDocument = document_of(MetricChange), document_of(FileChange)
    OutcomesDocument = TypedDict("OutcomesDocument", dict.fromkeys(OUTCOME_KINDS, list[document_of(OutcomeChange)]))
    OutcomesDocument.__doc__ = "The tests whose outcome differs; no test is in two."


class DifferencesDocument(TypedDict):
    """Where tests or files are not known they are null, and the note says why."""

    tests: OutcomesDocument | None
    tests_note: str | None
    files: list[FileDocument] | None
    files_note: str | None


class DiffDocument(DifferencesDocument):
    loop_id: str
    before: SideDocument
    after: SideDocument
    scores: list[ChangeDocument]
    metrics: list[ChangeDocument]


def diff_document(loop_id: str, diff: IterationDiff, *, patches: bool = True) -> DiffDocument:
    """Return it as a document; without `patches` those are None."""
    return {
        "loop_id": loop_id,
        "before": {"iteration": diff.before, "classification": diff.classes[0]},
        "after": {"iteration": diff.after, "classification": diff.classes[1]},
        "scores": encode(diff.scores),
        "metrics": encode(diff.metrics),
        **differences_document(diff.differences, patches=patches),
    }


def differences_document(found: Differences, *, patches: bool) -> DifferencesDocument:
    """Return the tests and the files as a document."""
    tests, files = found.tests, found.files
    return {
        "tests": None if tests is None else {kind: encode(tests[kind]) for kind in OUTCOME_KINDS},
        "tests_note": found.tests_note,
        "files": None if files is None else [_file_document(each, patch=patches) for each in files],
        "files_note": found.files_note,
    }


def _file_document(change: FileChange, *, patch: bool) -> FileDocument:
    old_path = None if change.old_path is None else as_utf8(change.old_path)
    shown = change._replace(path=as_utf8(change.path), old_path=old_path, patch=change.patch if patch else None)
    document: FileDocument = encode(shown)
    return document
