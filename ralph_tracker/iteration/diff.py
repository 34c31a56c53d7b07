"""Compare two iterations of a loop (scores, metrics, tests, files) for the command line and the reports."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypedDict, cast, get_args

from ralph_tracker.core.alert_types import TYPE_BY_NAME
from ralph_tracker.core.metrics import (
    FAILED,
    METRICS,
    PASSED,
    SCORE_DECIMALS,
    SECTIONS,
    Direction,
    OutcomeWord,
    TestResults,
    Value,
    delta,
    errors_at_size,
    half_up,
    plain_number,
    without_noise,
)
from ralph_tracker.core.rules import Rules
from ralph_tracker.core.score import COMPONENT_BY_NAME
from ralph_tracker.errors import NoSnapshotError, StoreError
from ralph_tracker.store.iteration_files import IterationFiles
from ralph_tracker.store.records import LoopRecords
from ralph_tracker.store.snapshots.patch import FileChange, FileStatus, Kind
from ralph_tracker.store.snapshots.values import as_utf8

Document = Mapping[str, Any]
_DECISIONS: Final[Mapping[int, Callable[[Rules], str]]] = {
    0: lambda _: "no iteration yet",
    1: lambda _: "the loop goes round in circles",
    2: lambda _: "a limit of the loop is reached",
    3: lambda rules: f"it would be rollback {rules.decision.rollbacks_in_a_row} in a row",
    4: lambda _: "a CRITICAL alert is new, or open while the score is not above that of the rollback's target",
    5: lambda rules: (
        f"a regression, more than {plain_number(rules.decision.rollback_margin)} below the best"
        " (decision.rollback_margin)"
    ),
    6: lambda _: "the runner says that a person is needed",
    7: lambda _: "metrics are cycling",
    8: lambda rules: f"evidence below {plain_number(rules.decision.evidence)} (decision.evidence)",
    9: lambda rules: f"the target {plain_number(rules.loop.target_score or 0)} is reached (loop.target_score)",
    10: lambda _: "the loop has stalled, and no task of the plan was done meanwhile",
    11: lambda _: "no other rule holds",
}
ChangeVerdict = Literal["better", "worse", "same", "changed", "unknown"]
OutcomeKind = Literal["broken", "fixed", "newly_skipped", "new", "gone"]
OUTCOME_KINDS: Final[tuple[OutcomeKind, ...]] = get_args(OutcomeKind)
_KIND_NOW: Final[Mapping[str, OutcomeKind]] = {FAILED: "broken", PASSED: "fixed"}
_BUILD_RANK: Final[Mapping[Value, int]] = {"failure": 0, "success": 1}
SCORES: Final = ("quality_score", "adjusted_score")
NOT_OURS: Final = "AIWG wrote this loop; of tests and files it keeps nothing"


@dataclass(frozen=True, slots=True)
class ComponentShare:
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


@dataclass(frozen=True, slots=True)
class _Facts:
    """What a rule looks at: recorded current and previous values, thresholds, and how many tests the alert names."""

    now: Mapping[str, Value]
    before: Mapping[str, Value]
    rules: Rules
    tests: int

    def numbers(self, name: str, unit: str = "") -> str:
        """Return both values of a metric as text, without unknown ones."""
        sides = (("before", self.before.get(name)), ("now", self.now.get(name)))
        return ", ".join(f"{when} {_written(value)}{unit}" for when, value in sides if value is not None)


def _written(value: Value) -> str:
    return value if isinstance(value, str) else plain_number(value)


def recorded_values(record: Document) -> dict[str, Value]:
    """Return the measured values of a record by metric name."""
    values = {name: value for section in SECTIONS for name, value in (record.get(section) or {}).items()}
    return {spec.name: values[spec.name] for spec in METRICS if values.get(spec.name) is not None}


def previous_values(record: Document) -> dict[str, Value]:
    """Return the previous values that a record was compared with, from its deltas."""
    now, deltas = recorded_values(record), (record.get("deltas") or {}).get("from_previous") or {}
    found: dict[str, Value] = {}
    for spec in METRICS:
        value, change = now.get(spec.name), deltas.get(spec.delta_name)
        if isinstance(value, int | float) and change is not None:
            found[spec.name] = delta(value, change, spec.decimals)
    return found


def why_raised(alert: Document, record: Document, rules: Rules) -> str:
    """Return the rule that raised an alert of a record, with the compared numbers; "" for an unknown type.

    `alert` is one of the record's own new alerts, as in the document.
    """
    kind = TYPE_BY_NAME.get(str(alert.get("type")))
    if kind is None:
        return ""
    at = _Facts(recorded_values(record), previous_values(record), rules, alert.get("tests_total") or 0)
    if kind.name in _BY_NUMBERS:
        return _BY_NUMBERS[kind.name](at)
    return _with(kind.asks, "" if kind.metric is None else at.numbers(kind.metric))


def _with(rule: str, *numbers: str) -> str:
    told = "; ".join(number for number in numbers if number)
    return f"{rule}: {told}" if told else rule


def _working_tests_failing(at: _Facts) -> str:
    if at.tests:
        return _with("a test that passed before must not fail", f"{at.tests} {'does' if at.tests == 1 else 'do'}")
    passed, failed = at.numbers("tests_passed"), at.numbers("tests_failed")
    return _with("fewer tests must not pass while more fail", f"passed {passed}", f"failed {failed}")


def _coverage_regression(at: _Facts) -> str:
    limit = plain_number(at.rules.alerts.coverage_drop)
    rule = f"coverage may fall by {limit} points (alerts.coverage_drop)"
    return _with(rule, at.numbers("coverage_percentage", "%"))


def _error_increase(at: _Facts) -> str:
    rule = f"errors may rise by {at.rules.alerts.error_increase} (alerts.error_increase)"
    count, loc, earlier = (at.now.get("error_count"), at.now.get("loc_total"), at.before.get("loc_total"))
    sized = ""
    if isinstance(count, int) and isinstance(loc, int) and isinstance(earlier, int) and loc > earlier:
        sized = f"{errors_at_size(count, loc, earlier)} at the size before, {earlier} of {loc} lines"
    return _with(rule, at.numbers("error_count"), sized)


def _complexity_explosion(at: _Facts) -> str:
    growth, before = at.rules.alerts.complexity_growth, at.before.get("complexity_score")
    rule = f"complexity may grow by {plain_number(growth * 100)}% (alerts.complexity_growth)"
    limit = f"limit {_written(without_noise(before * (1 + growth)))}" if isinstance(before, int | float) else ""
    return _with(rule, at.numbers("complexity_score"), limit)


def _metric_cycling(at: _Facts) -> str:
    limits = at.rules.cycling
    return (
        f"the last {limits.window} iterations must not repeat one another (cycling.window), "
        f"nor the same files stand there {limits.tree_visits} times (cycling.tree_visits)"
    )


def _infinite_loop(at: _Facts) -> str:
    return f"{_metric_cycling(at)}; after iteration {at.rules.cycling.terminate_after} this ends the loop"


def _stalled(at: _Facts) -> str:
    limits = at.rules.stall
    return (
        f"{limits.window} iterations in a row (stall.window) with every metric within "
        f"±{plain_number(limits.tolerance)} of the one before (stall.tolerance) and no better score"
    )


# What the table of types cannot say, because it goes by thresholds or by the tests of the alert.
_BY_NUMBERS: Final[Mapping[str, Callable[[_Facts], str]]] = {
    "working_tests_failing": _working_tests_failing,
    "infinite_loop": _infinite_loop,
    "coverage_regression": _coverage_regression,
    "error_increase": _error_increase,
    "metric_cycling": _metric_cycling,
    "complexity_explosion": _complexity_explosion,
    "tests_replaced": lambda at: _with("tests must not disappear, though others came", f"{at.tests} gone"),
    "flaky_test": lambda at: _with("a test known to be flaky passed before and fails now", f"{at.tests} of them"),
    "stalled": _stalled,
    "build_broken": lambda at: _with(
        "what loaded before must load", f"{at.tests} tests not collected" if at.tests else ""
    ),
}


def condition_of(rule: int, rules: Rules) -> str:
    """Return the condition of a row of the decision table in words; "" if there is no such row."""
    words = _DECISIONS.get(rule)
    return "" if words is None else words(rules)


@dataclass(frozen=True, slots=True)
class MetricChange:
    """The change of a metric or score between two iterations.

    `change` is None if a side was not measured or is not a number. The verdict depends on the metric's direction:
    `changed` if it has none, `unknown` if a side was not measured.
    """

    name: str
    before: Value | None
    after: Value | None
    change: float | None
    verdict: ChangeVerdict


@dataclass(frozen=True, slots=True)
class OutcomeChange:
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
        found[_kind_of(change)].append(change)
    return {kind: tuple(changes) for kind, changes in found.items()}


def _kind_of(change: OutcomeChange) -> OutcomeKind:
    if change.before is None:
        return "new"
    if change.after is None:
        return "gone"
    return _KIND_NOW.get(change.after, "newly_skipped")


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """The differences in tests and files between two iterations.

    Unknown tests or files are None, and the note says why.
    """

    tests: OutcomeChanges | None = None
    tests_note: str | None = None
    files: tuple[FileChange, ...] | None = None
    files_note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IterationDiff:
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
    scores = (score_change(name, one.get(name), other.get(name)) for name in SCORES)
    return IterationDiff(
        before=one["iteration"],
        after=other["iteration"],
        classes=(one.get("classification"), other.get("classification")),
        scores=tuple(score for score in scores if (score.before, score.after) != (None, None)),
        metrics=metric_changes(recorded_values(one), recorded_values(other)),
        differences=differences,
    )


def differences_of(committed: LoopRecords | None, before: int, after: int) -> Differences:
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
        files = IterationFiles(committed).file_changes(before, after)
    except (NoSnapshotError, StoreError) as error:
        why = str(error)
    return Differences(
        tests=None if unknown else outcome_changes(*outcomes),
        tests_note=unknown,
        files=files,
        files_note=why,
    )


def _tests(committed: LoopRecords, number: int) -> TestResults | str:
    """Return the outcomes of an iteration, or why there are none."""
    found = committed.measurement(number)
    if found is None:
        return f"what iteration {number} measured is damaged; run `ralph-tracker verify`"
    return found[0].tests or f"iteration {number} has no names of tests"


class SideDocument(TypedDict):
    iteration: int
    classification: str | None


class ChangeDocument(TypedDict):
    """The verdict goes by the direction of the metric: `changed` where it has none."""

    name: str
    before: float | str | None
    after: float | str | None
    change: float | None
    verdict: ChangeVerdict


class OutcomeDocument(TypedDict):
    id: str
    before: OutcomeWord | None
    after: OutcomeWord | None


class OutcomesDocument(TypedDict):
    """The tests whose outcome differs; no test is in two."""

    broken: list[OutcomeDocument]
    fixed: list[OutcomeDocument]
    newly_skipped: list[OutcomeDocument]
    new: list[OutcomeDocument]
    gone: list[OutcomeDocument]


class FileDocument(TypedDict):
    """Modes are git's, null where the file is absent; lines and patch are null where the content is no text."""

    path: str
    status: FileStatus
    old_path: str | None
    old_mode: str | None
    new_mode: str | None
    content: Kind
    added: int | None
    deleted: int | None
    patch: str | None


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
        "scores": [_change(score) for score in diff.scores],
        "metrics": [_change(metric) for metric in diff.metrics],
        **differences_document(diff.differences, patches=patches),
    }


def differences_document(found: Differences, *, patches: bool) -> DifferencesDocument:
    """Return the tests and the files as a document."""
    tests, files = found.tests, found.files
    return {
        "tests": None if tests is None else _outcomes(tests),
        "tests_note": found.tests_note,
        "files": None
        if files is None
        else [
            {
                "path": as_utf8(change.path),
                "status": change.status,
                "old_path": None if change.old_path is None else as_utf8(change.old_path),
                "old_mode": change.old_mode,
                "new_mode": change.new_mode,
                "content": change.content,
                "added": change.added,
                "deleted": change.deleted,
                "patch": change.patch if patches else None,
            }
            for change in files
        ],
        "files_note": found.files_note,
    }


def _change(of: MetricChange) -> ChangeDocument:
    return {"name": of.name, "before": of.before, "after": of.after, "change": of.change, "verdict": of.verdict}


def _outcomes(tests: OutcomeChanges) -> OutcomesDocument:
    def listed(kind: OutcomeKind) -> list[OutcomeDocument]:
        return [{"id": test.id, "before": test.before, "after": test.after} for test in tests[kind]]

    return {
        "broken": listed("broken"),
        "fixed": listed("fixed"),
        "newly_skipped": listed("newly_skipped"),
        "new": listed("new"),
        "gone": listed("gone"),
    }
