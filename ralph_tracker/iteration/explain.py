"""Explain the result of one iteration: its facts in lines, and its score, alerts, decision, changes and checks.

The facts are what passes, which tests were gained and lost, and what does not load.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypedDict

from ralph_tracker.codec import decode, document_of, encode
from ralph_tracker.core.alert_types import TYPE_BY_NAME, AlertType
from ralph_tracker.core.decision import DONE_RULE
from ralph_tracker.core.integrity_result import EarlierTests, Integrity
from ralph_tracker.core.known_tests import HELD_BACK, belongs_to_any, cut_short, names_in_short
from ralph_tracker.core.metrics import (
    FAILED,
    METRICS,
    PASSED,
    Value,
    delta,
    errors_at_size,
    known_score,
    plain_number,
    quantity,
    without_noise,
)
from ralph_tracker.core.thresholds import Thresholds
from ralph_tracker.core.walk import WalkedIteration
from ralph_tracker.errors import NoSnapshotError, RecordError, StoreError
from ralph_tracker.iteration.diff import (
    ComponentShare,
    Differences,
    DifferencesDocument,
    component_shares,
    differences_document,
    differences_of,
    recorded_values,
)
from ralph_tracker.iteration.open_problems import (
    RemainingProblems,
    build_lines,
    held_back_lines,
    not_loading_lines,
    remaining_problems,
    test_lines,
)
from ralph_tracker.records.iteration_record import RecordDocument
from ralph_tracker.report.wording import measured_in_words
from ralph_tracker.store.iteration_snapshots import CHECKS, CheckDocument, IterationSnapshots
from ralph_tracker.store.layout import LoopPaths, iteration_name
from ralph_tracker.store.read import SealedRecords
from ralph_tracker.store.record_packs import kept_json
from ralph_tracker.store.summary import state_after

Document = Mapping[str, Any]
_DECISIONS: Final[Mapping[int, Callable[[Thresholds], str]]] = {
    0: lambda _: "no iteration yet",
    1: lambda _: "the loop repeats itself",
    2: lambda _: "a limit of the loop is reached",
    3: lambda thresholds: f"it would be rollback {thresholds.decision.rollbacks_in_a_row} in a row",
    4: lambda _: "a CRITICAL alert is new, or still open and the score is not above the rollback target's",
    5: lambda thresholds: (
        f"a regression, more than {plain_number(thresholds.decision.rollback_margin)} below the best"
        " (decision.rollback_margin)"
    ),
    6: lambda _: "the runner reported that a person is needed",
    7: lambda _: "metrics are cycling",
    8: lambda thresholds: f"evidence below {plain_number(thresholds.decision.evidence)} (decision.evidence)",
    9: lambda thresholds: (
        f"the target {plain_number(thresholds.loop.target_score or 0)} is reached (loop.target_score)"
    ),
    10: lambda _: "the loop has stalled, and no task of the plan was done meanwhile",
    11: lambda _: "no other rule applies",
    DONE_RULE: lambda thresholds: (
        "everything passes, and "
        + (
            "nothing changed or tests were gained (loop.until)"
            if thresholds.loop.until == "green"
            else "nothing changed"
        )
    ),
}
# What each type of alert asks for that goes neither by thresholds nor by its tests, and the metric shown beside it.
_ASKS: Final[Mapping[str, str]] = {
    "test_deletion": "the count of tests must not fall",
    "functionality_loss": "passing tests must not be deleted, skipped or renamed away",
    "metric_missing": "what the loop has is to be measured in every iteration; missing, it counts 0",
    "config_changed": "the configuration is frozen at pre-loop; a change is reported but not used",
    "file_deletion": "the count of source files must not fall",
    "tests_dropped": "a passing test should not go while nothing replaces it",
    "failure_hidden": "a red test must not be deleted or skipped: its earlier form fails on this source",
    "green_by_edit": "a red test must turn green by the source: its earlier form fails on this source",
    "demand_changed": "a test that passed must not be edited to pass: its earlier form fails on this source",
    "outcome_forged": "settings and hooks must not decide how a test ends: the unedited test fails",
    "unproven": "a test turned green or went, and its earlier form could not be run on this source",
    "removed_with_code": "a person confirms that a feature was to be removed together with its failing test",
    "test_detected": "the source must not ask whether it is under test",
    "runner_forged": "only the runner says how a test ended",
    "equality_overloaded": "a comparison must compare",
    "special_cased": "the source must not know the values of its tests",
    "gate_lowered": "a gate must not be lowered within a loop",
    "records_edited": "records and frozen configuration are the tracker's own",
    "not_looked_into": "a file that decides about tests must stay readable",
}
_COMPARED: Final[Mapping[str, str]] = {
    "test_deletion": "test_count",
    "functionality_loss": "tests_passed",
    "file_deletion": "file_count",
}


class KeptPoint(NamedTuple):
    """What the trajectory holds of an iteration: its metrics by name, its score (None: nothing was measured)."""

    iteration: int
    values: Mapping[str, Any]
    score: float | None


def kept_point(paths: LoopPaths, number: int) -> KeptPoint:
    """Return an iteration's values; none where it is damaged."""
    row = state_after(paths, number).get("row")
    values, score = (row.get("metrics"), row.get("adjusted_score")) if isinstance(row, dict) else (None, None)
    known = values if isinstance(values, dict) else {}
    return KeptPoint(number, known, known_score(score, known.values()))


class IterationFacts(NamedTuple):
    """What an iteration brought since the one that it descends from.

    `counts` is a sentence part about tests, coverage and findings, with the values before where they differ. `lines`
    name tests and files; `tests` and `errors` are what they name, so that nothing has to be said twice. `before` is
    the score of the predecessor as recorded, None for a baseline.
    """

    counts: str
    lines: tuple[str, ...] = ()
    tests: frozenset[str] = frozenset()
    errors: tuple[str, ...] = ()
    before: float | None = None


def facts_of(committed: SealedRecords, number: int, previous: int | None) -> IterationFacts:
    """Return the facts of a recorded iteration since `previous` (None: a baseline); what is damaged is left out."""
    now = kept_point(committed.paths, number)
    before = None if previous is None else kept_point(committed.paths, previous)
    counts = measured_in_words(now.values, None if before is None else before.values)
    score = None if before is None else before.score
    try:
        problems = remaining_problems(committed, number)
    except (RecordError, StoreError):
        problems = None
    if problems is None:
        return IterationFacts(counts, before=score)
    moves = _moves(committed, number, previous, problems)
    failing = problems.failing or ()
    lines = test_lines("lost", [test for test in failing if test.name in moves.broken])
    lines += [f"lost: {names_in_short(moves.deleted)} (deleted)"] if moves.deleted else []
    lines += [f"lost: {names_in_short(moves.skipped)} (skipped)"] if moves.skipped else []
    lines += [f"deleted or skipped while failing: {names_in_short(moves.hidden)}"] if moves.hidden else []
    lines += [f"lost: {quantity(moves.uncollected, 'test')} (did not run)"] if moves.uncollected else []
    lines += [f"gained: {names_in_short(moves.fixed)}"] if moves.fixed else []
    lines += [f"gained: {names_in_short(moves.new)} (new)"] if moves.new else []
    lines += [*not_loading_lines(problems), *build_lines(problems)]
    lines += test_lines("failing", [test for test in failing if test.name not in moves.broken])
    lines += held_back_lines(problems)
    with suppress(NoSnapshotError, StoreError):  # then it is not known whether a file changed
        if previous is not None and not IterationSnapshots(committed).file_changes(previous, number):
            lines.append("no file changed")
    named = {*(test.name for test in failing), *moves.deleted, *moves.skipped, *moves.hidden}
    return IterationFacts(counts, tuple(lines), frozenset(named), tuple(problems.not_loaded.values()), score)


class _Moves(NamedTuple):
    """The names of tests whose outcome changed, without held-back ones.

    `deleted` passed before, `hidden` failed and are gone or skipped now.
    """

    broken: frozenset[str] = frozenset()
    deleted: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    uncollected: int = 0


def _moves(committed: SealedRecords, number: int, previous: int | None, problems: RemainingProblems) -> _Moves:
    """Compare by name with the predecessor; what an earlier form still shows, or went with its code, is not deleted."""
    now, old = committed.measurement(number), None if previous is None else committed.measurement(previous)
    if now is None or old is None or now[0].tests is None or old[0].tests is None:
        return _Moves()
    was = {name: how for name, how in old[0].tests.outcomes.items() if not name.startswith(HELD_BACK)}
    outcomes = {name: how for name, how in now[0].tests.outcomes.items() if not name.startswith(HELD_BACK)}
    earlier = (now[0].integrity or Integrity()).earlier or EarlierTests(against=0)
    gone = {name for name in was if name not in outcomes} - earlier.held - earlier.retired - earlier.fixed
    uncollected = {name for name in gone if belongs_to_any(name, problems.not_loaded)} | cut_short(gone, was, outcomes)
    before = {name: was.get(name) for name in outcomes}
    passing = [name for name, how in outcomes.items() if how == PASSED]
    idle = {name for name, how in outcomes.items() if how not in {PASSED, FAILED}}
    return _Moves(
        broken=frozenset(name for name, how in outcomes.items() if how == FAILED and before[name] == PASSED),
        deleted=tuple(sorted(name for name in gone - uncollected if was[name] == PASSED)),
        hidden=tuple(sorted(name for name in (gone - uncollected) | idle if was.get(name) == FAILED)),
        skipped=tuple(sorted(name for name in idle if before[name] == PASSED)),
        fixed=tuple(sorted(name for name in passing if before[name] not in {None, PASSED})),
        new=tuple(sorted(name for name in passing if before[name] is None)),
        uncollected=len(uncollected),
    )


class Explanation(NamedTuple):
    """The explanation of a recorded iteration.

    `alerts` are reasons by the id of a new alert. `rule` is the row of the decision table with its condition, None if
    unknown. `compared_with` is the iteration that this one descends from, None for the baseline. `best` are up to three
    sentences on why it is the iteration to take, () if it is not. `checks` are the results of the commands, None if
    none ran or they were not kept; `output` is the folder of their output, relative to the root. `problem` says what
    could not be read.
    """

    components: tuple[ComponentShare, ...]
    alerts: Mapping[str, str]
    rule: tuple[int, str] | None
    compared_with: int | None
    best: tuple[str, ...]
    differences: Differences
    checks: tuple[CheckDocument, ...] | None
    output: str | None
    problem: str | None


def explain(committed: SealedRecords, document: Document) -> Explanation:
    """Explain an iteration of one of our loops from its record and what is kept beside it."""
    from ralph_tracker.store.configured_loop import ConfiguredLoop  # noqa: PLC0415  # YAML, which `status` does without
    from ralph_tracker.store.write import LoopStore  # noqa: PLC0415  # as above

    record = document["iteration_metrics"]
    number, previous = record["iteration"], record["previous_iteration"]
    thresholds = problem = None
    try:  # the frozen thresholds: current ones could differ
        thresholds = ConfiguredLoop.read(LoopStore(committed.paths), lambda _: frozenset()).config.thresholds
    except (RecordError, StoreError) as error:
        problem = str(error)
    rule = None
    if thresholds is not None:
        kept = kept_json(committed.paths, number, "state.json")
        with suppress(KeyError, TypeError, ValueError):
            row = int(kept["summary"]["decision"]["rule"])
            rule = row, condition_of(row, thresholds)
    there = (committed.paths.iteration(number) / "output").is_dir()
    return Explanation(
        components=component_shares(record["weights"], record["components"]) if record["score"] == "computed" else (),
        alerts={}
        if thresholds is None
        else {alert["id"]: why_raised(alert, record, thresholds) for alert in record["alerts"]},
        rule=rule,
        compared_with=previous,
        best=_why_best(committed, number),
        differences=Differences() if previous is None else differences_of(committed, previous, number),
        checks=checks_of(committed, number),
        output=f"{committed.paths.shown}/iterations/{iteration_name(number)}/output" if there else None,
        problem=problem,
    )


def _why_best(committed: SealedRecords, number: int) -> tuple[str, ...]:
    try:
        summary = committed.summary()
        if summary.best_iteration != number:
            return ()
        rows, _ = committed.rows()
    except RecordError:
        return ()  # what is derived is damaged: the next hook makes it again
    later = [decode(WalkedIteration, row["walked"]) for row in rows if row["iteration"] > number]
    refused = [f"{each.iteration} {each.refusal.why}." for each in later if each.refusal is not None]
    return ("It is the latest that broke nothing and is not worse for nothing.", *refused[:2])


def checks_of(committed: SealedRecords, number: int) -> tuple[CheckDocument, ...] | None:
    """Return how each check of an iteration ended, None where that is not known."""
    kept = kept_json(committed.paths, number, CHECKS)
    checks = kept.get("checks") if isinstance(kept, dict) else None
    keys = CheckDocument.__required_keys__
    whole = isinstance(checks, list) and all(isinstance(each, dict) and each.keys() >= keys for each in checks)
    return tuple(checks) if isinstance(checks, list) and whole else None


if TYPE_CHECKING:  # mypy knows no TypedDict that is made
    ShareDocument = dict[str, Any]
else:
    ShareDocument = document_of(ComponentShare)


class RuleDocument(TypedDict):
    number: int
    condition: str


class ExplanationDocument(DifferencesDocument):
    """`rule` is the row of the decision table; `output` is the folder of what the checks printed."""

    components: list[ShareDocument]
    alerts: dict[str, str]
    rule: RuleDocument | None
    compared_with: int | None
    best: list[str]
    checks: list[CheckDocument] | None
    output: str | None


class ExplainedDocument(RecordDocument):
    explanation: ExplanationDocument


def explanation_document(found: Explanation) -> ExplanationDocument:
    """Return it as a document."""
    return {
        "components": encode(found.components),
        "alerts": dict(found.alerts),
        "rule": None if found.rule is None else {"number": found.rule[0], "condition": found.rule[1]},
        "compared_with": found.compared_with,
        "best": list(found.best),
        **differences_document(found.differences, patches=False),
        "checks": None if found.checks is None else list(found.checks),
        "output": found.output,
    }


class _AlertValues(NamedTuple):
    """What a rule looks at: recorded current and previous values, thresholds, and how many tests the alert names."""

    now: Mapping[str, Value]
    before: Mapping[str, Value]
    thresholds: Thresholds
    tests: int

    def numbers(self, name: str, unit: str = "") -> str:
        """Return both values of a metric as text, without unknown ones."""
        sides = (("before", self.before.get(name)), ("now", self.now.get(name)))
        return ", ".join(
            f"{when} {value if isinstance(value, str) else plain_number(value)}{unit}"
            for when, value in sides
            if value is not None
        )


def previous_values(record: Document) -> dict[str, Value]:
    """Return the previous values that a record was compared with, from its deltas."""
    now, deltas = recorded_values(record), (record.get("deltas") or {}).get("from_previous") or {}
    found: dict[str, Value] = {}
    for spec in METRICS:
        value, change = now.get(spec.name), deltas.get(spec.delta_name)
        if isinstance(value, int | float) and change is not None:
            found[spec.name] = delta(value, change, spec.decimals)
    return found


def why_raised(alert: Document, record: Document, thresholds: Thresholds) -> str:
    """Return the rule that raised an alert of a record, with the compared numbers; "" for an unknown type.

    `alert` is one of the record's own new alerts, as in the document.
    """
    kind = TYPE_BY_NAME.get(str(alert.get("type")))
    if kind is None:
        return ""
    at = _AlertValues(recorded_values(record), previous_values(record), thresholds, alert.get("tests_total") or 0)
    rule, numbers = _rule_with_numbers(kind, at)
    told = "; ".join(filter(None, numbers))
    return f"{rule}: {told}" if told else rule


def _rule_with_numbers(kind: AlertType, at: _AlertValues) -> tuple[str, Sequence[str]]:
    """Return the rule of a type of alert, and the numbers that it compares."""
    limits, numbers = at.thresholds, list[str]()
    match kind.name:
        case "working_tests_failing" if at.tests:
            rule = "a test that passed before must not fail"
            numbers = [f"{at.tests} {'does' if at.tests == 1 else 'do'}"]
        case "working_tests_failing":
            rule = "fewer tests must not pass while more fail"
            numbers = [f"passed {at.numbers('tests_passed')}", f"failed {at.numbers('tests_failed')}"]
        case "tests_replaced":
            rule, numbers = "tests must not disappear, though others came", [f"{at.tests} gone"]
        case "flaky_test":
            rule = "a test that passed before must not fail, unless it is known to be flaky or passes when repeated"
            numbers = [f"{at.tests} did"]
        case "build_broken":
            rule, numbers = "what loaded before must load", [f"{at.tests} tests not collected"] if at.tests else []
        case "coverage_regression":
            most = plain_number(limits.alerts.coverage_drop)
            rule = f"coverage may fall by at most {most} points (alerts.coverage_drop)"
            numbers = [at.numbers("coverage_percentage", "%")]
        case "error_increase":
            rule = f"errors may rise by at most {limits.alerts.error_increase} (alerts.error_increase)"
            numbers = [at.numbers("error_count")]
            count, loc, earlier = at.now.get("error_count"), at.now.get("loc_total"), at.before.get("loc_total")
            if isinstance(count, int) and isinstance(loc, int) and isinstance(earlier, int) and loc > earlier:
                numbers.append(f"{errors_at_size(count, loc, earlier)} at the size before, {earlier} of {loc} lines")
        case "complexity_explosion":
            growth, before = limits.alerts.complexity_growth, at.before.get("complexity_score")
            rule = f"complexity may grow by at most {plain_number(growth * 100)}% (alerts.complexity_growth)"
            numbers = [at.numbers("complexity_score")]
            if isinstance(before, int | float):
                numbers.append(f"limit {plain_number(without_noise(before * (1 + growth)))}")
        case "metric_cycling" | "infinite_loop":
            rule = (
                f"the last {limits.cycling.window} iterations must not repeat one another (cycling.window), "
                f"nor may the same files occur {limits.cycling.tree_visits} times (cycling.tree_visits)"
            )
            if kind.name == "infinite_loop":
                rule += f"; after iteration {limits.cycling.terminate_after} this ends the loop"
        case "stalled":
            rule = (
                f"{limits.stall.window} iterations in a row (stall.window) with every metric within "
                f"±{plain_number(limits.stall.tolerance)} of the one before (stall.tolerance) and no better score"
            )
        case _:
            rule = _ASKS.get(kind.name, "")
            numbers = [at.numbers(_COMPARED[kind.name])] if kind.name in _COMPARED else []
    return rule, numbers


def condition_of(rule: int, thresholds: Thresholds) -> str:
    """Return the condition of a row of the decision table in words; "" if there is no such row."""
    words = _DECISIONS.get(rule)
    return "" if words is None else words(thresholds)
